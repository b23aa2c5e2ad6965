"""Passages, moments, traces and the vector files, each by itself."""

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.errors import StoreDamaged, StoreError, UsageError
from goalmem_cli.logic.moments import Moment
from goalmem_cli.records import Turn, Unit, content_hash
from goalmem_cli.store.database.unit_rows import VectorPair
from goalmem_cli.store.indexes.derived import Indexed
from goalmem_cli.store.indexes.vector_index import VectorIndex
from goalmem_cli.store.passages import estimate_tokens, has_blocks, split_at_blocks, split_into_passages
from goalmem_cli.store.traces import TraceFolder
from goalmem_cli.store.units import UnitEntry, entries_from_units, units_from_turns
from goalmem_cli.trace import Status, Trace

MARKDOWN = st.lists(st.sampled_from(("# ", "- ", "1. ", "```", "  ", "\n", "\n\n", "x = 1", "a b. ", "**so**"))).map(
    "".join
)


@given(st.text(max_size=600) | MARKDOWN, st.integers(min_value=1, max_value=20), st.booleans())
def test_passages_are_short_and_lose_nothing(text: str, limit: int, are_blocks: bool) -> None:
    """Every passage keeps the limit, and together they hold all that is not blank."""
    passages = [text for text, _ in split_at_blocks(text, limit)] if are_blocks else split_into_passages(text, limit)
    assert all(estimate_tokens(passage) <= limit for passage in passages)
    assert "".join("".join(passages).split()) == "".join(text.split())


def test_a_short_text_is_one_passage() -> None:
    """What fits is left whole, inner blanks included."""
    assert split_into_passages("One.  Two.\n\nThree.") == ["One.  Two.\n\nThree."]


def test_passages_end_where_paragraphs_or_sentences_do() -> None:
    """A paragraph's end is preferred to a sentence's, and that to a word's."""
    assert split_into_passages("One two. Three four.\n\nFive six.", 7) == ["One two. Three four.", "Five six."]
    assert split_into_passages("One two. Three four. Five six.", 4) == ["One two.", "Three four.", "Five six."]
    assert split_into_passages("one two three four", 2) == ["one two", "three four"]


def test_text_without_blanks_is_cut_all_the_same() -> None:
    """Neither Chinese nor an endless word overruns the limit."""
    assert split_into_passages("我" * 5, 2) == ["我我", "我我", "我"]
    assert len(split_into_passages("x" * 4000)) > 1


HULL = """For a boat of 7 m:

# Hull

The keel comes first. It is of oak.

## Planks

- Larch is cheap, and it lasts.
- Oak is dear.

```python
for plank in planks:
    nail(plank)

    caulk(plank)
```

# Sail

Cotton will do.
"""


def test_markdown_is_cut_where_blocks_end() -> None:
    """Headings begin a passage, code stays together, and each passage has the headings that it stands under."""
    assert split_at_blocks(HULL, 24) == [
        ("For a boat of 7 m:\n\n# Hull\n\nThe keel comes first. It is of oak.", ""),
        ("## Planks\n\n- Larch is cheap, and it lasts.\n- Oak is dear.", "Hull"),
        ("```python\nfor plank in planks:\n    nail(plank)\n\n    caulk(plank)\n```", "Hull > Planks"),
        ("# Sail\n\nCotton will do.", ""),
    ]
    assert [heading for _, heading in split_at_blocks("**Wood**\n\n- oak\n- larch", 8)] == ["", "Wood"]


@given(
    st.lists(st.integers(min_value=0, max_value=3), min_size=1, max_size=30), st.integers(min_value=20, max_value=60)
)
def test_no_line_of_code_is_cut(lengths: list[int], limit: int) -> None:
    """Whatever the code is, each of its lines is whole in one passage."""
    lines = [f"    call{place}(" + "a.b, " * length + "c)" for place, length in enumerate(lengths)]
    passages = split_at_blocks(
        "\n".join(["Do it so. Like this:", "", "~~~", *lines, "~~~", "- Run it. Then rest."]), limit
    )
    assert all(any(line.strip() in passage for passage, _ in passages) for line in lines)


def test_only_long_markdown_is_cut_at_blocks() -> None:
    """Prose is cut as ever, however long it is, and so is what fits into a passage."""
    assert has_blocks("- Plane the oak.\n" * 90)
    assert not has_blocks("- Plane the oak.\n" * 20)
    assert not has_blocks("We plane the oak. " * 90)


OFFSETS = st.integers(min_value=-14, max_value=14).map(lambda hours: timezone(timedelta(hours=hours)))


def test_the_context_of_a_long_turn_is_of_turns() -> None:
    """Its passages are read with what it answers, and its neighbours with its nearest passage: not with its length."""
    long = "\n\n".join(letter * 1200 for letter in "pqr")
    texts = ("Hello.", "Plan the hull?", long, "And the sail?", "Use cotton.", "How dear?")
    turns = [Turn("boat", 0, place, "", text, None) for place, text in enumerate(texts)]
    contexts = [entry.context for entry in entries_from_units(units_from_turns(turns))]
    first, last = "p" * 1200, "r" * 1200

    assert [context.split("\n") for context in contexts if "q" not in context] == [
        ["Hello.", "Plan the hull?", first],
        ["Hello.", "Plan the hull?", first, "And the sail?"],
        ["Plan the hull?", first],
        ["Plan the hull?", last],
        ["Plan the hull?", last, "And the sail?", "Use cotton.", "How dear?"],
        [last, "And the sail?", "Use cotton.", "How dear?"],
        ["And the sail?", "Use cotton.", "How dear?"],
    ]


@given(st.datetimes(timezones=OFFSETS), st.datetimes(timezones=OFFSETS))
def test_moments_compare_as_times_do(one: datetime, other: datetime) -> None:
    """Of two times with offsets the instants decide; of two without, the clocks."""
    first, second = Moment.from_datetime(one), Moment.from_datetime(other)
    assert first.instant is not None
    assert second.instant is not None
    assert (first.instant <= second.instant) == (one <= other)
    assert (first.clock <= second.clock) == (one.replace(tzinfo=None) <= other.replace(tzinfo=None))


TRACE = Trace(Status.UNKNOWN, "goal-mem", "Which drink?", datetime(2023, 5, 21, 18, 20))


def test_a_saved_trace_comes_back_by_any_unique_beginning(tmp_path: Path) -> None:
    """Ids sort by the time of saving and can be cut short."""
    times = iter(datetime(2024, 1, day, tzinfo=UTC) for day in (1, 2, 3))
    folder = TraceFolder(tmp_path / "traces", lambda: next(times))
    assert folder.ids() == []
    ids = [folder.save(TRACE) for _ in range(3)]
    assert folder.ids() == ids == sorted(ids)
    assert folder.load(ids[1]) == folder.load("20240102") == TRACE
    assert len(list(folder.path.iterdir())) == 3


@pytest.mark.parametrize("prefix", ["2024", "2025", "../secret", "", "*", "20240101/../x"])
def test_an_id_that_names_no_single_trace_is_refused(tmp_path: Path, prefix: str) -> None:
    """Ambiguous and unknown beginnings are usage errors, and no text becomes a path."""
    times = iter(datetime(2024, 1, day, tzinfo=UTC) for day in (1, 2))
    folder = TraceFolder(tmp_path / "traces", lambda: next(times))
    (tmp_path / "secret.json").write_text("{}")
    folder.save(TRACE)
    folder.save(TRACE)
    with pytest.raises(UsageError) as error:
        folder.load(prefix)
    assert error.value.hint


@pytest.mark.parametrize("content", ["{half", "[]", "{}", '{"schema_version": 99}', '"text"', "[" * 99999])
def test_a_garbled_trace_is_damaged(tmp_path: Path, content: str) -> None:
    """A file that is no trace says so, by name."""
    folder = TraceFolder(tmp_path)
    id_ = folder.save(TRACE)
    (tmp_path / f"{id_}.json").write_text(content)
    with pytest.raises(StoreDamaged, match=id_):
        folder.load(id_)


@pytest.mark.parametrize(
    ("key", "value"),
    [("question", 5), ("asked", 5), ("status", "perhaps"), ("usage", {"calls": "x"})],
)
def test_a_trace_of_the_wrong_types_is_damaged(tmp_path: Path, key: str, value: object) -> None:
    """A value of the wrong type is found when the file is read, not when it is shown."""
    folder = TraceFolder(tmp_path)
    id_ = folder.save(TRACE)
    path = tmp_path / f"{id_}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(StoreDamaged, match=id_):
        folder.load(id_)


def test_a_trace_is_readable_json(tmp_path: Path) -> None:
    """The file is what `ask --json` prints."""
    folder = TraceFolder(tmp_path)
    document = json.loads((tmp_path / f"{folder.save(TRACE)}.json").read_text("utf-8"))
    assert document["question"] == "Which drink?"


def test_traces_load_neither_duckdb_nor_tantivy() -> None:
    """Showing a past proof needs only its JSON file."""
    code = (
        "import sys; from goalmem_cli.store import TraceFolder; "
        "print([name for name in ('duckdb', 'tantivy', 'torch') if name in sys.modules])"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert done.stdout == "[]\n"


def indexed(number: int, dimension: int = 4) -> Indexed:
    """Return a unit whose vectors hold its number."""
    unit = Unit(content_hash(str(number)), "turn", "x", "c", "s", None, ("t",), ("t",))
    vector = np.full(dimension, number, dtype="<f4").tobytes()
    return Indexed(UnitEntry(unit, "s: x", "s: x"), VectorPair(vector, vector))


def test_dead_rows_are_moved_out_once_they_are_many(tmp_path: Path) -> None:
    """Rewriting a unit leaves a dead row; after a thousand of them the files hold the living only."""
    index = VectorIndex(tmp_path, 4)
    index.rebuild([indexed(number) for number in range(1100)], "store", 1)
    index.apply([], [indexed(number) for number in range(400)], "store", 2)
    assert index.snapshot().manifest.rows == 1500
    index.apply([content_hash(str(number)) for number in range(700)], [], "store", 3)
    assert index.snapshot().manifest.rows == 400
    assert index.snapshot().manifest.dead == ()
    assert index.reached("store") == 3
    kept = {content_hash(str(number)): indexed(number).vectors for number in range(700, 1100)}
    snapshot = index.snapshot()
    assert {unit: VectorPair(text, context) for unit, text, context in snapshot.rows(snapshot.units())} == kept
    assert len(list(tmp_path.iterdir())) == 4


def test_a_snapshot_outlives_compaction(tmp_path: Path) -> None:
    """Whoever reads a generation goes on reading it while the next is written."""
    index = VectorIndex(tmp_path, 4)
    index.rebuild([indexed(1), indexed(2)], "store", 1)
    before = index.snapshot()
    index.apply([content_hash("1")], [], "store", 2)
    index.compact()
    vector = np.array([1, 0, 0, 0], dtype=np.float32)
    found = before.search(vector, in_context=False, allowed=before.living, depth=5)
    assert [scored.unit for scored in found] == [content_hash("2"), content_hash("1")]


def test_unit_ids_must_fit(tmp_path: Path) -> None:
    """An id that is no content hash cannot be a row of the matrix."""
    index = VectorIndex(tmp_path, 4)
    long = indexed(1)
    unit = Unit("x" * 33, "turn", "x", "c", "s", None, ("t",), ("t",))
    with pytest.raises(StoreError, match="longer than 32 bytes"):
        index.rebuild([Indexed(UnitEntry(unit, "", ""), long.vectors)], "store", 1)
