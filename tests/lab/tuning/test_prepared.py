"""Prepared examples: written and read again whole, with the same conversations set aside each time."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.errors import InputError
from goalmem_cli.lab.tuning import prepared
from goalmem_cli.lab.tuning.batches import Tokens

TOKEN = st.lists(st.integers(0, 65_535), min_size=1, max_size=8).map(tuple)
KIND = st.sampled_from(["unify", "read", "stop"])
EXAMPLES = st.lists(st.builds(Tokens, KIND, TOKEN, TOKEN, st.text("ab/1", max_size=3)), max_size=6).map(tuple)


@given(trained=EXAMPLES, aside=EXAMPLES, held_out=EXAMPLES)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    trained: tuple[Tokens, ...],
    aside: tuple[Tokens, ...],
    held_out: tuple[Tokens, ...],
) -> None:
    """Every example comes back in its part, in its order, and so does what is said of them."""
    file = tmp_path_factory.mktemp("prepared") / "examples.npz"
    made = prepared.Prepared(trained, aside, held_out, {"conversations": 3, "held_out": ["work-13"]}, "d1", (5, 9))
    prepared.write(made, file)

    assert prepared.read(file) == made


def test_one_conversation_in_twenty_is_set_aside() -> None:
    """By name alone: about one in twenty of many names."""
    names = [f"talk-{number:03}" for number in range(2000)]

    assert 60 < sum(map(prepared.is_aside, names)) < 140
    assert prepared.is_aside(next(filter(prepared.is_aside, names)))


@pytest.mark.parametrize("data", [b"", b"no archive"])
def test_other_files_are_refused(tmp_path: Path, data: bytes) -> None:
    """What prepare did not write is an error with a hint, not a traceback."""
    (tmp_path / "other").write_bytes(data)
    with pytest.raises(InputError) as caught:
        prepared.read(tmp_path / "other")
    assert "prepare" in caught.value.hint
