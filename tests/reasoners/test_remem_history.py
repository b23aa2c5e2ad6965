"""A made-up history of 300 turns: counting, first and last, and overlaps, answered by scripted choices of exact tools."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from goalmem_cli.backbones.remem import NAME
from goalmem_cli.backbones.remem.backbone import Remem as Memory
from goalmem_cli.backbones.remem.tools import Tool, ToolCall, run
from goalmem_cli.logic.dates import say_period
from goalmem_cli.logic.days import Period
from goalmem_cli.memory_records import Derivation
from goalmem_cli.ports import Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.records import Conversation, Part, Query, Turn, Unit
from goalmem_cli.store.store import Store
from tests.backbones.derived import no_kit
from tests.backbones.remem_samples import fact, gist
from tests.reasoners.forward import both_profiles
from tests.reasoners.test_remem import ask, finishes, retrieves, says
from tests.store.samples import open_store

PEOPLE, TOWNS = ("Ana", "Ben", "Cleo"), ("Leeds", "York", "Ghent", "Lille", "Oslo", "Turin")
SHOPS = ("the mill", "the dairy")
FIRST = datetime(2019, 1, 7, 10)


@dataclass(frozen=True)
class Told:
    """What a turn tells: a visit on a day, or work from one year to another; nothing where it has no deed."""

    who: str
    deed: str
    where: str
    first: date
    last: date


def story(count: int = 300, seed: int = 28) -> tuple[list[Turn], list[Told | None]]:
    """Return the turns and what each tells."""
    random = Random(seed)  # noqa: S311 - a made-up history, not a secret
    turns: list[Turn] = []
    told: list[Told | None] = []
    for place in range(count):
        who, said = random.choice(PEOPLE), FIRST + timedelta(days=5 * place)
        day = said.date() - timedelta(days=random.randrange(1, 400))
        match random.randrange(6):
            case 0:
                text, deed = "The tea here is far too strong, and the cups are small.", None
            case 1:
                shop, year = random.choice(SHOPS), random.randrange(2012, 2019)
                until = year + random.randrange(1, 8)
                text = f"I worked at {shop} from {year} to {until}."
                deed = Told(who, "worked at", shop, date(year, 1, 1), date(until, 12, 31))
            case _:
                town = random.choice(TOWNS)
                text = f"I visited {town} on {say_period(Period(day, day))}, and the weather is always odd there."
                deed = Told(who, "visited", town, day, day)
        turns.append(Turn("chat", place // 10, place, who, text, said, f"D{place // 10 + 1}:{place % 10 + 1}"))
        told.append(deed)
    return turns, told


TURNS, TOLD = story()
VISITS = {each for each in TOLD if each is not None and each.deed == "visited"}
WORK = {each for each in TOLD if each is not None and each.deed == "worked at"}


def units(turn: Turn, told: Told) -> list[Unit]:
    """Return the gist and the fact that a model would extract, with its times checked as they are when indexing."""
    if told.deed == "visited":
        day = told.first.isoformat()
        return [
            gist(turn, f"{told.who} visited {told.where} and had a good day.", day),
            fact(turn, told.who, told.deed, told.where, day),
        ]
    years = str(told.first.year), str(told.last.year)
    return [fact(turn, told.who, told.deed, told.where, start=years[0], end=years[1])]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store of the history."""
    return remembered(tmp_path_factory.mktemp("history"))


def remembered(folder: Path) -> Store:
    """Return a store that holds the history and what came of it."""
    memory = open_store(folder, dimension=64)
    memory.add(Conversation("chat", "openai", tuple(TURNS), "chat"))
    derived = [
        Derivation(
            Part("chat", str(session), tuple(turn for turn in TURNS if turn.session == session)),
            tuple(
                unit
                for turn, told in zip(TURNS, TOLD, strict=True)
                if turn.session == session and told is not None
                for unit in units(turn, told)
            ),
        )
        for session in range(TURNS[-1].session + 1)
    ]
    memory.derive(NAME, derived)
    return memory


@pytest.fixture(scope="module")
def memory(store: Store) -> Memory:
    """The graph over it."""
    return Memory(store, no_kit)


def seen(pattern: str) -> Callable[[Request], str]:
    """Return an answer that is read from what the memory said last, and cites the first fact that was shown."""

    def reply(request: Request) -> str:
        found = re.findall(pattern, request.growing)
        number = re.findall(r"^(F\d+)\. ", request.growing, re.MULTILINE)[0]
        text = re.search(rf"^{number}\. (.*)$", request.growing, re.MULTILINE)
        assert text is not None
        return says(text[1][:40], tool="output_answer", answer=found[-1])(request)

    return reply


def first_town(who: str, year: int | None, *, is_last: bool = False) -> str:
    """Return the town that somebody visited first, or last, within a year if one is given."""
    visits = [each for each in VISITS if each.who == who and (year is None or each.first.year == year)]
    return sorted(visits, key=lambda each: each.first)[-1 if is_last else 0].where


COUNT = r"count (\d+)"
FACT = r"\(\w+, visited, (\w+)\)"
ENTITY = {"tool": "find_entity_contexts"}
QUESTIONS: dict[str, tuple[dict[str, Any], str, str]] = {
    "How often did Ana visit Leeds?": (
        {"subject": "Ana", "predicate": "visited", "object": "Leeds", "aggregation": "count"}, COUNT,
        str(len([each for each in VISITS if (each.who, each.where) == ("Ana", "Leeds")])),
    ),
    "How often did Ben visit any town in 2020?": (
        {"subject": "Ben", "predicate": "visited", "start_time": "2020", "end_time": "2020", "aggregation": "count"},
        COUNT, str(len([each for each in VISITS if each.who == "Ben" and each.first.year == 2020])),
    ),
    "How many different towns did Cleo visit in 2019?": (
        {"subject": "Cleo", "predicate": "visited", "start_time": "2019", "end_time": "2019",
         "aggregation": "count_unique_objects"},
        COUNT, str(len({each.where for each in VISITS if each.who == "Cleo" and each.first.year == 2019})),
    ),
    "Which town did Ben visit first of all?": (
        {"subject": "Ben", "predicate": "visited", "ordering": "asc", "limit": 1}, FACT, first_town("Ben", None),
    ),
    "Which town did Ana visit last in 2021?": (
        {"subject": "Ana", "predicate": "visited", "start_time": "2021", "end_time": "2021", "ordering": "desc",
         "limit": 1}, FACT, first_town("Ana", 2021, is_last=True),
    ),
    "How many people worked at the mill at some time in 2016?": (
        {"predicate": "worked at", "object": "mill", "start_time": "2016", "start_operator": "le", "end_time": "2016",
         "end_operator": "ge", "aggregation": "count_unique_subjects"}, COUNT,
        str(len({each.who for each in WORK
                 if each.where == "the mill" and each.first.year <= 2016 <= each.last.year})),
    ),
}  # fmt: skip


@both_profiles
@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_of_counting_order_and_overlap_are_answered_right(
    memory: Memory, book: PromptBook, question: str
) -> None:
    """The tool's own numbers and its first fact are the answers that plain Python gives over the same 300 turns."""
    fields, pattern, answer = QUESTIONS[question]
    asked = ask(memory, retrieves("visited worked"), says(**ENTITY, **fields), seen(pattern), book=book)

    assert asked.trace.answer == answer


@both_profiles
def test_each_step_says_how_many_are_left(memory: Memory, book: PromptBook) -> None:
    """The last one is the answer."""
    asked = ask(memory, retrieves("visited"), retrieves("worked"), finishes("unknown"), book=book, steps=2)
    lefts = [re.search(r"Steps left[^:]*: (\d)", request.tail) for request in asked.model.seen]

    assert [found and found[1] for found in lefts] == ["3", "2", "1"]


def test_a_word_that_nothing_has_and_a_name_that_most_have_are_said(store: Store) -> None:
    """The rare word ranks, whatever the length of the texts with the name alone; what is cut says how to go on."""
    with store.reading() as reader:
        asked = ToolCall(Tool.LEXICAL_RETRIEVE, "Zanzibar visited Turin")
        found = run(reader, Query(""), asked)
        more = run(reader, Query(""), replace(asked, offset=found.following or 0))

    assert (found.unmatched, found.common) == (("zanzibar",), ("visited",))
    assert all("Turin" in hit.unit.text for hit in found.hits)
    assert found.following == 10
    assert not {hit.unit.id for hit in found.facts} & {hit.unit.id for hit in more.facts}


def test_pages_follow_one_another_to_the_end(store: Store) -> None:
    """Going on where the result says shows every fact once; the last page says nothing more."""
    shown: list[str] = []
    offset: int | None = 0
    with store.reading() as reader:
        while offset is not None:
            found = run(reader, Query(""), ToolCall(Tool.FIND_ENTITY_CONTEXTS, predicate="visited", offset=offset))
            shown += [hit.unit.id for hit in found.facts]
            offset = found.following

    assert len(shown) == len(set(shown)) == found.total == len(VISITS)


def test_a_gist_that_repeats_its_triple_is_not_shown_beside_it(tmp_path: Path) -> None:
    """Twenty results are twenty things: another gist takes its place."""
    memory = open_store(tmp_path, dimension=64)
    memory.add(Conversation("chat", "openai", tuple(TURNS[:3]), "chat"))
    derived = [
        unit
        for turn, name in zip(TURNS[:3], PEOPLE, strict=True)
        for unit in (gist(turn, f"{name} kept a goat."), fact(turn, name, "kept", "a goat"))
    ]
    derived.append(gist(TURNS[0], "Ana kept a goat for her uncle in the hills."))
    memory.derive(NAME, [Derivation(Part("chat", "0", tuple(TURNS[:3])), tuple(derived))])
    with memory.reading() as reader:
        for tool in (Tool.SEMANTIC_RETRIEVE, Tool.LEXICAL_RETRIEVE):
            found = run(reader, Query(""), ToolCall(tool, "kept a goat"))
            assert [hit.unit.text[:33] for hit in found.gists] == ["Ana kept a goat for her uncle in "]
            assert len(found.facts) == 3
