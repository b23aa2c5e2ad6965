"""What structured backbones share: parts and plans, batches, units and nodes, turns beside what was derived."""

import inspect
import re
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.backbones.stitch.settings import Way
from goalmem_cli.backbones.structured.beside import hits_beside_turns, ranked_units
from goalmem_cli.backbones.structured.indexing import about_tokens, batches, derive_all, plan, sessions_of, summary
from goalmem_cli.backbones.structured.settings import MOST, NoSettings, settings_from
from goalmem_cli.backbones.structured.stretches import stretches_of
from goalmem_cli.backbones.structured.summaries import filled, lines_of, summary_part
from goalmem_cli.backbones.structured.units import derived_unit, node
from goalmem_cli.errors import UsageError
from goalmem_cli.memory_records import Derivation
from goalmem_cli.ports import PartDone
from goalmem_cli.records import FORWARDED_FROM, QUOTES, Derived, Part, Query, Turn, Usage
from tests.conftest import CHECKOUT
from tests.fakes import SessionNotes
from tests.store.samples import CAFE, START, chat, open_store

TURNS = chat(with_ids=True, per_session=2).turns
SESSIONS = sessions_of(TURNS)
NOTES = SessionNotes.NAME


def line(part: Part, problem: str | None = None, name: str | None = None) -> Derived:
    """Return the line of the ledger that the part has once it is done."""
    return Derived(NOTES, part.conversation, name or part.name, tuple(turn.id for turn in part.turns), (), problem)


def test_sessions_are_parts_in_order() -> None:
    """Each session of each conversation, under its number."""
    parts = sessions_of([*TURNS, *chat(CAFE[:3], name="other").turns])
    assert [(part.conversation, part.name, len(part.turns)) for part in parts] == [
        ("chat", "0", 2), ("chat", "1", 2), ("chat", "2", 2), ("other", "0", 3)
    ]  # fmt: skip
    assert len({part.digest for part in parts}) == 4
    assert sessions_of([]) == []


def test_what_is_new_changed_or_failed_is_pending() -> None:
    """Known parts are not; lines of parts that there are no more are stale."""
    first, second, third = SESSIONS
    grown = Part(second.conversation, second.name, (*second.turns, third.turns[0]))
    work = plan([first, grown, third], [line(first), line(second), line(third, "cut off"), line(third, name="3")])
    assert work.pending == (grown, third)
    assert work.failed == 1
    assert [stale.name for stale in work.stale] == ["3"]
    outlook = work.outlook(7, 900)
    assert (outlook.parts, outlook.turns, outlook.failed, outlook.calls, outlook.tokens) == (2, 5, 1, 7, 900)
    assert plan([], []).pending == ()


def test_a_part_that_failed_and_changed_counts_as_failed() -> None:
    """It is the same part, whatever was said in it since."""
    grown = Part("chat", "0", TURNS[:3])
    assert plan([grown], [line(SESSIONS[0], "cut off")]).failed == 1


def test_batches_fill_the_model() -> None:
    """Parts come in order, together as long as their requests fit; one of more requests than that comes alone."""
    sizes = {"0": 1, "1": 2, "2": 5}
    assert [[part.name for part in batch] for batch in batches(SESSIONS, 3, lambda part: sizes[part.name])] == [
        ["0", "1"], ["2"]
    ]  # fmt: skip
    assert [len(batch) for batch in batches(SESSIONS, 1, lambda _: 1)] == [1, 1, 1]
    assert list(batches([], 3, lambda _: 1)) == []


def test_what_was_reported_is_stored(tmp_path: Path) -> None:
    """Interrupted at any batch, the parts reported are in the ledger and no other; the next indexing does the rest."""
    store = open_store(tmp_path / "store")
    store.add_turns(TURNS)
    reported: list[str] = []

    def stopping(part: PartDone) -> None:
        reported.append(part.name)
        if len(reported) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SessionNotes(store, at_once=1).index(stopping)
    assert [done.name for done in store.derived(NOTES)] == reported == ["0", "1"]
    done = SessionNotes(store).index(lambda part: reported.append(part.name))
    assert reported == ["0", "1", "2"]
    assert (done.parts, done.units["note"]) == (1, 3)
    assert store.verify() == []


def test_parts_that_are_no_more_are_dropped(tmp_path: Path) -> None:
    """Indexing by other parts replaces what the earlier ones gave."""
    store = open_store(tmp_path / "store")
    store.add_turns(TURNS)
    SessionNotes(store).index(lambda _: None)
    whole = Part("chat", "all", tuple(store.turns()))
    work = plan([whole], store.derived(NOTES))
    unit = derived_unit(NOTES, "note", "everything", whole.turns)
    done = derive_all(
        store, NOTES, work, [work.pending], lambda _: [Derivation(whole, (unit,), usage=Usage(2, 10))], lambda _: None
    )
    assert [line.name for line in store.derived(NOTES)] == ["all"]
    assert [unit.text for unit in store.units_of(NOTES, ["note"])] == ["everything"]
    made = summary(store, NOTES, done, {"odd": 1})
    assert (made.parts, made.units["note"], made.usage, made.failed) == (1, 1, Usage(2, 10), ())
    assert made.noted == {"odd": 1}
    assert store.verify() == []


def test_a_derived_unit_stands_where_its_last_turn_does() -> None:
    """A question as of an earlier time does not see it; it has a speaker where they all have the same."""
    unit = derived_unit(NOTES, "note", "tea", [TURNS[2], TURNS[0]], attributes={"of": 1})
    assert (unit.session, unit.ordinal, unit.said) == (1, 2, START + timedelta(hours=2))
    assert (unit.speaker, unit.labels) == ("Alice", ("D2:1", "D1:1"))
    assert derived_unit(NOTES, "note", "tea", TURNS[:2]).speaker == ""
    other = derived_unit(NOTES, "note", "tea", [TURNS[2], TURNS[0]], identity=("again",))
    assert len({unit.id, other.id, derived_unit(NOTES, "gist", "tea", [TURNS[2], TURNS[0]]).id}) == 3


def test_what_was_derived_is_said_by_nobody_who_only_passed_it_on() -> None:
    """A forward keeps its author; what rests on a quote too has no speaker, and its text says who says what."""
    own, more = (Turn("chat", 0, at, "Ana", "I like tea.") for at in (0, 1))
    forwards = [Turn("chat", 0, at, "Ana", "I am vegan.", attributes={FORWARDED_FROM: "Marta"}) for at in (2, 3)]
    quotes = Turn("chat", 0, 4, "Ana", "Look:\n> I moved.", attributes={QUOTES: [{"start": 6, "end": 16}]})

    def told(*turns: Turn) -> tuple[str, str]:
        unit = derived_unit("notes", "fact", "so it is", turns)
        return unit.speaker, unit.author

    assert told(own, more) == ("Ana", "Ana")
    assert told(*forwards) == ("Ana", "Marta")
    assert told(own, forwards[0]) == told(quotes) == told(own, quotes) == ("", "")
    (stretch,) = stretches_of([own, quotes], 1000)
    assert stretch.told == "Ana: I like tea.\nAna: Look:\nAna: [quoted] I moved."


def test_a_node_is_the_same_whoever_is_behind_it() -> None:
    """It has all of their turns, each once, and stands where the first of them does."""
    one, two = (derived_unit(NOTES, "note", "tea", TURNS[start : start + 2]) for start in (0, 1))
    both = node(NOTES, "word", "tea", [two, one])
    assert both.id == node(NOTES, "word", "tea", [one]).id
    assert sorted(both.labels) == ["D1:1", "D1:2", "D2:1"]
    assert (both.session, both.ordinal) == (0, 1)
    assert both == node(NOTES, "word", "tea", [one, two])


def test_turns_are_found_beside_what_was_derived(tmp_path: Path) -> None:
    """Both kinds of hit come best first, with the rank that each ranking gave, and a weight of zero silences one."""
    store = open_store(tmp_path / "store")
    store.add_turns(TURNS)
    SessionNotes(store).index(lambda _: None)
    query = Query("Who ordered the Kyoto Latte?")
    with store.reading() as reader:
        own = ranked_units(reader, query, NOTES, ("note",))
        hits = hits_beside_turns(reader, query, 4, own, dict.fromkeys(own, 100.0))
        silent = hits_beside_turns(reader, query, 50, own, {})
    assert set(own) == {"own-bm25", "own-dense"}
    assert hits[0].unit.kind == "note"
    assert "kyoto" in hits[0].unit.text
    assert hits[0].ranks["own-bm25"] == 1
    assert len(hits) == 4
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert {hit.unit.kind for hit in silent} == {"turn"}


def test_tokens_are_estimated_rather_too_high() -> None:
    """A text has at least one; longer ones have more."""
    assert about_tokens([]) == 0
    assert about_tokens(["", "a"]) == 2
    assert about_tokens(["matcha and oat milk"]) >= 5


def test_the_page_shows_the_smallest_backbone_as_it_is() -> None:
    """What the documentation prints is what the tests run."""
    page = (CHECKOUT / "goalmem_cli" / "backbones" / "README.md").read_text("utf-8")
    assert f"```python\n{inspect.getsource(SessionNotes).rstrip()}\n```" in page


@dataclass(frozen=True)
class Knobs:
    """What a backbone may have to be told."""

    count: int = 7
    share: float = 0.5
    way: Way = Way.WEIGHTED
    factor: float = field(default=1.0, metadata={MOST: 3})


def test_what_is_told_is_taken_and_the_rest_stays() -> None:
    """Words, whole numbers and shares; a whole number is a share too."""
    assert settings_from("x", Knobs, {}) == Knobs()
    assert settings_from("x", Knobs, {"way": "gated", "share": 1}) == Knobs(share=1.0, way=Way.GATED)
    assert settings_from("x", Knobs, {"factor": 2.5}) == Knobs(factor=2.5)
    assert settings_from("x", NoSettings, {}) == NoSettings()


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        (Knobs, {"counts": 3}, "x has no setting 'counts'"),
        (NoSettings, {"count": 3}, "x has no setting 'count'"),
        (Knobs, {"count": 0}, "count is below 1"),
        (Knobs, {"count": "3"}, "count cannot be '3'"),
        (Knobs, {"count": True}, "count is a number or a word, not true"),
        (Knobs, {"count": None}, "count cannot be None"),
        (Knobs, {"share": 1.5}, "share is not between 0 and 1"),
        (Knobs, {"share": float("nan")}, "share is not between 0 and 1"),
        (Knobs, {"factor": 3.5}, "factor is not between 0 and 3"),
        (Knobs, {"way": "sideways"}, "way cannot be 'sideways': it is one of "),
    ],
)
def test_what_a_backbone_cannot_be_told_is_a_usage_error(kind: type, given: dict[str, object], said: str) -> None:
    """The message names the backbone, the hint what it has or what to do."""
    with pytest.raises(UsageError, match=re.escape(said)) as raised:
        settings_from("x", kind, given)
    assert raised.value.message.startswith("backbones: x")
    assert raised.value.hint


def test_a_summary_is_named_by_its_members(tmp_path: Path) -> None:
    """The same members give the same part in any order, others another; each turn comes once, in its order."""
    turns = {turn.id: turn for turn in TURNS}
    one, two, three = (derived_unit(NOTES, "note", "tea", TURNS[start : start + 2]) for start in (0, 1, 4))
    part = summary_part("layer1", [two, one], turns)
    assert part == summary_part("layer1", [one, two], turns)
    assert (part.conversation, part.turns) == ("chat", TURNS[:3])
    assert (
        len({part.name, summary_part("layer2", [one, two], turns).name, summary_part("layer1", [one], turns).name}) == 3
    )
    ledger = [line(part), line(summary_part("layer10", [three], turns)), line(SESSIONS[0])]
    assert lines_of("layer1", ledger) == ledger[:1]


@given(st.lists(st.integers(1, 9), max_size=12), st.integers(1, 20), st.integers(0, 20))
def test_stretches_may_overlap(sizes: list[int], most: int, overlap: int) -> None:
    """Each begins with what the one before ended with, as far as that is short enough and something new fits in too.

    Without what is said again all turns come once, in order; none is longer than wished but for a single turn; and
    turns that follow change the last stretch at most.
    """
    turns = [Turn("chat", 0, place, "A", "x" * size) for place, size in enumerate(sizes)]
    found = [[turn.ordinal for turn, _ in stretch.lines] for stretch in stretches_of(turns, most, overlap=overlap)]
    new: list[int] = []
    for stretch in found:
        again = [place for place in stretch if place in new]
        assert sum(sizes[place] for place in again) <= overlap
        assert again == new[len(new) - len(again) :]
        assert stretch[len(again) :]
        assert len(stretch) == 1 or sum(sizes[place] for place in stretch) <= most
        new += stretch[len(again) :]
    assert new == list(range(len(sizes)))
    if not overlap:
        assert sum(map(len, found)) == len(sizes)
    shorter = [[turn.ordinal for turn, _ in each.lines] for each in stretches_of(turns[:-1], most, overlap=overlap)]
    assert shorter[:-1] == found[: max(0, len(shorter) - 1)]


def test_a_budget_is_filled_in_order() -> None:
    """As many as fit at a time; what is longer than all of it comes alone."""
    texts = ["one two", "three", "a much longer text than that", "four"]
    assert list(filled(texts, 5, str)) == [texts[:2], texts[2:3], texts[3:]]
    assert list(filled([], 5, str)) == []
