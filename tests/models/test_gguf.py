"""The header of a GGUF file: what it says, and that a damaged one is an error at once."""

import os
import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goalmem_cli.errors import ModelMissing, ModelUnreadable
from goalmem_cli.models.catalogue import COMPACT, FULL, profile_of
from goalmem_cli.models.weights.gguf import GgufHeader, Tensor, file_digest, read_header
from tests.models.conftest import gguf_text, small_gguf


def test_the_bundled_model_says_what_it_is(bundled_path: Path) -> None:
    """Architecture, trained context, parameters and metadata of a real file are read from its header."""
    header = read_header(bundled_path)
    assert (header.architecture, header.context, header.parameters) == ("llama", 8192, 134_515_008)
    assert header.size == bundled_path.stat().st_size
    assert "<|im_start|>" in str(header.values["tokenizer.chat_template"])


def test_a_small_file_is_read(tmp_path: Path) -> None:
    """Lists are passed over, scalars and texts are kept, parameters are counted over all tensors."""
    path = tmp_path / "small.gguf"
    path.write_bytes(small_gguf(((4, 8), (3,))) + bytes(64))
    header = read_header(path)
    assert header.values == {"general.architecture": "llama", "llama.context_length": 4096}
    assert header.parameters == 35


@pytest.mark.parametrize("kept", [0, 3, 4, 7, 8, 20, 60, 150, -1])
def test_a_truncated_file_is_refused(tmp_path: Path, kept: int) -> None:
    """Wherever the header ends too early, the error says that the file is empty, foreign or not whole."""
    path = tmp_path / "cut.gguf"
    path.write_bytes(small_gguf()[:kept])
    with pytest.raises(ModelUnreadable, match=r"is empty|not a GGUF file|not whole") as raised:
        read_header(path)
    assert raised.value.hint


def test_a_file_without_its_tensors_is_refused(bundled_path: Path, tmp_path: Path) -> None:
    """A download that broke off after the header is recognised from the places that its tensors should have."""
    path = tmp_path / "cut.gguf"
    with bundled_path.open("rb") as whole:
        path.write_bytes(whole.read(4_000_000))
    with pytest.raises(ModelUnreadable, match="not whole"):
        read_header(path)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """A missing path, a folder and a pipe are told apart; a pipe is not opened, as that would wait for a writer."""
    with pytest.raises(ModelMissing):
        read_header(tmp_path / "none.gguf")
    with pytest.raises(ModelUnreadable, match="not a file"):
        read_header(tmp_path)
    os.mkfifo(tmp_path / "pipe.gguf")
    with pytest.raises(ModelUnreadable, match="not a file"):
        read_header(tmp_path / "pipe.gguf")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"PK\x03\x04 a zip file", "not a GGUF file"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "version"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60), "garbled"),
        (small_gguf(extra=gguf_text("x") + struct.pack("<I", 99), extra_entries=1), "garbled"),
        (
            small_gguf(extra=gguf_text("x") + struct.pack("<IIQ", 9, 8, 1 << 40) + bytes(4096), extra_entries=1),
            "garbled",
        ),
        (small_gguf(extra=struct.pack("<Q", 1 << 63), extra_entries=1), "not whole"),
        (small_gguf(((1,) * 9,)), "garbled"),
    ],
)
def test_a_garbled_header_is_refused(tmp_path: Path, data: bytes, reason: str) -> None:
    """Foreign data, other versions, unknown types and absurd lengths are errors, found without walking or allocating."""
    path = tmp_path / "bad.gguf"
    path.write_bytes(data)
    with pytest.raises(ModelUnreadable, match=reason):
        read_header(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(4, 250), st.integers(0, 255)), min_size=1, max_size=6))
def test_any_damage_is_an_error_of_ours_or_a_header(tmp_path: Path, damage: list[tuple[int, int]]) -> None:
    """Whatever bytes are changed, reading ends with a header or with ModelUnreadable."""
    data = bytearray(small_gguf() + bytes(128))
    for place, value in damage:
        data[place % len(data)] = value
    path = tmp_path / "damaged.gguf"
    path.write_bytes(bytes(data))
    try:
        assert read_header(path).size == len(data)
    except ModelUnreadable as error:
        assert error.hint


@pytest.mark.parametrize(
    ("parameters", "profile"), [(134_515_008, COMPACT), (1_800_000_000, COMPACT), (3_090_000_000, FULL)]
)
def test_the_profile_follows_the_number_of_parameters(parameters: int, profile: str) -> None:
    """Models of about three billion parameters and more get the full prompts, smaller ones the compact prompts."""
    assert profile_of(GgufHeader(Path("m.gguf"), 1, {}, {"all": Tensor(0, (parameters,), 0)})) == profile


def test_a_part_of_a_split_model_counts_as_large() -> None:
    """The first of several files may hold few parameters itself, but only large models are split."""
    assert (
        profile_of(GgufHeader(Path("m-00001-of-00002.gguf"), 1, {"split.count": 2}, {"few": Tensor(0, (10,), 0)}))
        == FULL
    )


def test_the_digest_sees_a_change_anywhere(tmp_path: Path) -> None:
    """Files of one size that differ at their ends, or in any stretch as long as a layer, have different digests."""
    size = 8 << 20
    path = tmp_path / "weights.gguf"
    path.write_bytes(bytes(size))
    seen = {file_digest(path)}
    for start in (0, size // 3, size // 2, size - 100_000):
        data = bytearray(size)
        data[start : start + 100_000] = b"x" * 100_000
        path.write_bytes(data)
        seen.add(file_digest(path))
    path.write_bytes(bytes(size + 1))
    assert len(seen | {file_digest(path)}) == 6
    path.write_bytes(bytes(size))
    assert file_digest(path) in seen
