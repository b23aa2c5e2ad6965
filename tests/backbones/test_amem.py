"""The backbone `a-mem`: notes that are linked and evolve, each version kept; searched by keywords."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.backbones.amem import DESCRIBE, EVOLVE, KEYWORDS, LINK, NAME, NOTE, STEPS
from goalmem_cli.backbones.amem.backbone import AMem
from goalmem_cli.backbones.amem.notes import LINKS, details_of
from goalmem_cli.backbones.amem.settings import AMemSettings
from goalmem_cli.backbones.structured.alike import DIGITS
from goalmem_cli.backbones.structured.decisions import DECISION, SUPERSEDES, acts_of
from goalmem_cli.backbones.structured.units import listed
from goalmem_cli.ports import JsonShape, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.records import Conversation, Query, Turn, Unit
from goalmem_cli.store.store import Store
from goalmem_cli.testing import HashEmbedder, ScriptedModel
from tests.backbones.derived import Sample, books, contents_of, filled, no_kit, replay
from tests.conftest import examples

FULL, COMPACT, both_profiles = books(STEPS)
contents = partial(contents_of, NAME)
TALK = (
    "boat paint red",
    "boat mast new",
    "cello lesson Hull",
    "boat sold now",
    "cello lesson Leeds",
    "um well",
    "cello string",
)
Says = Callable[[Request], str]


def says(request: Request) -> str:
    """Return what a model says to which notes belong together that begin with the same word."""
    if request.step == KEYWORDS:
        words = {"keywords": request.growing.split()[-1]}
        return json.dumps(words) if isinstance(request.shape, JsonShape) else f"keywords: {words['keywords']}"
    if request.step == DESCRIBE:
        first, *rest = re.findall(r": (.*?)(?: \[[-\d]+\])?$", request.growing.strip())[0].split()
        told = {"keywords": rest, "context": f"On the {first}.", "tags": [first]}
        if isinstance(request.shape, JsonShape):
            return json.dumps(told)
        return f"keywords: {', '.join(rest)}\ncontext: {told['context']}\ntags: {first}"
    acts = evolved(known_of(request), re.findall(r"^N1\. (.*)$", request.tail, re.M)[0])
    listed_acts = [{"new": "N1", "event": event, "on": on, "text": text} for event, on, text in acts]
    if isinstance(request.shape, JsonShape):
        return json.dumps({"acts": listed_acts})
    return "\n".join(f"N1 {event} {on}" + f" | {text}" * bool(text) for event, on, text in acts)


def evolved(known: Sequence[str], new: str) -> list[tuple[str, str, str]]:
    """Return what a new note does to those known: links, tags of its own, and for the first linked a context."""
    topic, last = (new.split(": ", 1)[1].split(" [")[0].split()[place] for place in (0, -1))
    same = [str(number) for number, text in enumerate(known, 1) if text.split(": ", 1)[1].startswith(topic)]
    if not same:
        return [("NONE", "0", "")]
    acts = [("LINK", number, "") for number in same]
    acts.append(("UPDATE", same[0], f"Then came {last}. # {topic}, {last}"))
    if len(same) > 1:
        acts += [("UPDATE", same[1], f"# {last}"), ("TAG", "0", f"{topic}, {len(same)}")]
    return acts


def known_of(request: Request) -> list[str]:
    """Return the notes that are shown."""
    return re.findall(r"^\d+\. (.*) \[[-\d]+\]$", request.growing, re.M)


SAMPLE = Sample(NAME, AMem, says, FULL, TALK, 3)
said, backbone, indexed = SAMPLE.said, SAMPLE.backbone, SAMPLE.indexed


def searching(store: Store, told: AMemSettings | None = None) -> AMem:
    """Return the backbone, whose keywords are the question itself."""
    return AMem(store, no_kit, told, keywords=lambda query: query.text)


def notes(store: Store, at: datetime | None = None) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return the context and tags of each note as they were at a time, by its content."""
    current = replay(store.units_of(NAME, [NOTE, DECISION]), at)[0].values()
    return {content_of(unit): (details_of(unit).context, details_of(unit).tags) for unit in current}


def content_of(unit: Unit) -> str:
    """Return what was said."""
    return str(unit.attributes["content"])


@both_profiles
def test_notes_are_linked_and_evolve(tmp_path: Path, book: PromptBook) -> None:
    """What the original overwrites is a version of its own; content and keywords of a note stay."""
    store = filled(tmp_path, said(TALK[:4]))
    done = indexed(store, book=book)
    assert all(part.problem is None for part in done)
    assert sum(part.turns for part in done) == 4
    assert notes(store) == {
        "boat paint red": ("Then came now.", ("boat", "now")),
        "boat mast new": ("On the boat.", ("now",)),
        "cello lesson Hull": ("On the cello.", ("cello",)),
        "boat sold now": ("On the boat.", ("boat", "2")),
    }
    at = said()[1].said
    assert notes(store, at) == {
        "boat paint red": ("Then came new.", ("boat", "new")), "boat mast new": ("On the boat.", ("boat",))
    }  # fmt: skip
    versions = [unit for unit in store.units_of(NAME, [NOTE]) if content_of(unit) == "boat paint red"]
    assert [details_of(unit).keywords for unit in versions] == [("paint", "red")] * 3
    assert {unit.labels for unit in versions} == {("D1:1",), ("D1:1", "D1:2"), ("D1:1", "D1:2", "D2:1")}
    by_id = {unit.id: unit for unit in store.units_of(NAME)}
    links = {(content_of(by_id[edge.source]), content_of(by_id[edge.target])) for edge in store.edges_of(NAME, [LINK])}
    assert links == {
        ("boat mast new", "boat paint red"), ("boat sold now", "boat paint red"), ("boat sold now", "boat mast new")
    }  # fmt: skip
    assert len(store.edges_of(NAME, [SUPERSEDES])) == 3
    (now,) = [unit for unit in versions if len(unit.labels) == 3]
    history = searching(store).history(now.id)
    assert [(each.event, each.turns) for each in history if each.event in ("ADD", "UPDATE")] == [
        ("ADD", ("D1:1",)), ("UPDATE", ("D1:2",)), ("UPDATE", ("D2:1",))
    ]  # fmt: skip


def test_a_note_is_followed_by_those_it_is_linked_to(tmp_path: Path) -> None:
    """As they are, or were; each once, at most k, and only where that is wished."""
    store = filled(tmp_path, said(TALK[:4]))
    indexed(store)
    hits = searching(store).retrieve(Query("boat sold now boat 2"), 3)
    assert [content_of(hit.unit) for hit in hits] == ["boat sold now", "boat paint red", "boat mast new"]
    assert len(searching(store).retrieve(Query("boat sold now"), 2)) == 2
    every = [hit.unit for hit in searching(store).retrieve(Query("boat sold now"), 9)]
    assert len(every) == len({content_of(unit) for unit in every}) == 4
    early = searching(store).retrieve(Query("boat", until=said()[1].said), 9)
    assert {content_of(hit.unit) for hit in early} == {"boat paint red", "boat mast new"}
    assert {hit.unit.kind for hit in searching(store, AMemSettings(beside=True)).retrieve(Query("boat"), 60)} == {
        NOTE,
        "turn",
    }
    alone = searching(store, AMemSettings(linked=False)).retrieve(Query("cello lesson Hull"), 4)
    assert content_of(alone[0].unit) == "cello lesson Hull"


@both_profiles
def test_keywords_are_searched_in_place_of_the_question(tmp_path: Path, book: PromptBook) -> None:
    """Without a usable reply the question is, as is announced; without asking nobody is asked."""
    announced: list[str] = []
    store = filled(tmp_path, said(), announced.append)
    indexed(store, book=book)
    model = ScriptedModel(says)
    (hit,) = backbone(store, model, book=book).retrieve(Query("What is with it, you know, the well"), 1)
    assert [request.step for request in model.seen] == [KEYWORDS]
    assert content_of(hit.unit) == "um well"
    wrong = ScriptedModel(lambda _: "{}" if book is FULL else "?")
    assert backbone(store, wrong, book=book).retrieve(Query("cello string"), 1)[0].unit.labels[0] == "D3:1"
    assert [line for line in announced if "the question is searched" in line]
    assert AMem(store, no_kit, AMemSettings(asks=False)).retrieve(Query("cello string"), 1)


def test_the_first_note_is_compared_with_nothing(tmp_path: Path) -> None:
    """Each later one with the five that are most like its content, or as many as are wished."""
    texts = [f"thing{place} blue{place}" for place in range(9)]
    for neighbours in (5, 2):
        store = filled(tmp_path / str(neighbours), said(texts))
        model = ScriptedModel(says)
        backbone(store, model, AMemSettings(neighbours=neighbours)).index(lambda _: None)
        shown = [len(known_of(request)) for request in model.seen if request.step == EVOLVE]
        assert shown == [min(place, neighbours) for place in range(1, 9)]


def test_what_is_shown_is_what_changes(tmp_path: Path) -> None:
    """Issue 32 of the original: ranks of the result were taken for positions, and other notes were rewritten."""
    store = filled(tmp_path, said(["um so", "um oh", "cello lesson Hull", "um no", "cello lesson Leeds"]))
    indexed(store, AMemSettings(neighbours=1))
    changed = {unit.id: unit for unit in store.units_of(NAME, [NOTE])}
    ended = [
        changed[act.on] for unit in store.units_of(NAME, [DECISION]) for act in acts_of(unit) if act.event == "UPDATE"
    ]
    assert "cello lesson Hull" in {content_of(unit) for unit in ended}
    for unit in store.units_of(NAME, [NOTE]):
        author = "" if unit.speaker else f"{unit.attributes['author']}: "
        assert unit.text.startswith(f"{author}{unit.attributes['content']} [")


@dataclass
class Overwritten:
    """The state that the original keeps: one entry a note, whose context and tags are overwritten."""

    entries: list[dict[str, object]] = field(default_factory=list)

    def add(self, turn: Turn, neighbours: int) -> None:
        """Take in a turn as the original does."""
        embedder = HashEmbedder(64)
        topic, *rest = turn.text.split()
        content = f"{turn.speaker}: {turn.text}"
        new: dict[str, object] = {
            "content": content, "keywords": rest, "context": f"On the {topic}.", "tags": [topic], "links": []
        }  # fmt: skip
        shown: list[dict[str, object]] = []
        if self.entries:
            rows = np.asarray(embedder.embed([text_of(entry) for entry in self.entries]))
            cosines = (rows @ np.asarray(embedder.embed([content]))[0]).round(DIGITS)
            places = sorted(np.argsort(-cosines, kind="stable")[:neighbours].tolist())
            shown = [self.entries[place] for place in places]
        for event, on, text in evolved([text_of(entry) for entry in shown], text_of(new)) if shown else []:
            if event == "LINK":
                linked = str(shown[int(on) - 1]["content"]).split(": ", 1)[1]
                new["links"] = [*new["links"], linked]  # type: ignore[misc]
            elif event == "TAG":
                new["tags"] = text.split(", ")
            elif event == "UPDATE":
                context, _, tags = (part.strip() for part in text.partition("#"))
                entry = shown[int(on) - 1]
                entry["context"] = context or entry["context"]
                entry["tags"] = tags.split(", ") if tags else entry["tags"]
        self.entries.append(new)

    def state(self) -> set[tuple[str, ...]]:
        """Return what it knows now."""
        return {(text_of(entry), *map(str, entry["links"])) for entry in self.entries}  # type: ignore[call-overload]


def with_speaker(unit: Unit) -> str:
    """Return a note with who said it."""
    return f"{unit.speaker}: {unit.text}" if unit.speaker else unit.text


def text_of(entry: dict[str, object]) -> str:
    """Return a note as the backbone writes it."""
    told = (entry["context"], *(f"{name}: {', '.join(entry[name])}" for name in ("keywords", "tags") if entry[name]))  # type: ignore[arg-type]
    return f"{entry['content']} [{'; '.join(map(str, told))}]"


@pytest.mark.slow
@settings(max_examples=examples(10), deadline=None)
@given(st.lists(st.sampled_from(TALK), min_size=1, max_size=9, unique=True).flatmap(st.permutations), st.integers(1, 5))
def test_at_every_time_it_knows_what_the_original_knew(
    tmp_path_factory: pytest.TempPathFactory, texts: Sequence[str], neighbours: int
) -> None:
    """The replay equals a plain simulation that overwrites, after each turn."""
    turns = said(texts)
    store = filled(tmp_path_factory.mktemp("store"), turns)
    indexed(store, AMemSettings(neighbours=neighbours))
    units = store.units_of(NAME, [NOTE, DECISION])
    contents_by_key = {
        str(unit.attributes["note"]): str(unit.attributes["content"]) for unit in units if unit.kind == NOTE
    }
    original = Overwritten()
    for turn in turns:
        original.add(turn, neighbours)
        current = replay(units, turn.said)[0].values()
        known = {(with_speaker(unit), *(contents_by_key[key] for key in listed(unit, LINKS))) for unit in current}
        assert known == original.state()


@both_profiles
def test_what_cannot_be_read_is_tried_again(tmp_path: Path, book: PromptBook) -> None:
    """A note without details is there meanwhile, and one that nothing was decided about is linked to nothing."""

    def cannot(request: Request) -> str:
        if request.step == DESCRIBE:
            return "?" if "mast" in request.growing else says(request)
        return "?" if "sold now" in request.tail else says(request)

    store = filled(tmp_path, said())
    failed = [part for part in indexed(store, model=cannot, book=book) if part.problem is not None]
    assert len(failed) == 2
    assert notes(store)["boat mast new"][0] in ("", "Then came now.")
    assert len(notes(store)) == len(TALK)
    assert backbone(store, ScriptedModel(says), book=book).outlook().failed == 2
    indexed(store, book=book)
    SAMPLE.ends_as_new(store, tmp_path, book=book)


def test_the_outlook_is_about_what_indexing_does(tmp_path: Path) -> None:
    """Without asking; nothing once it is done; a turn more costs two calls."""
    store = filled(tmp_path, said()[:6])
    outlook, done = SAMPLE.estimated(store)
    assert (outlook.parts, outlook.calls, outlook.turns) == (done.parts, done.usage.calls, 6)
    assert outlook.tokens > outlook.parts * 100
    store.add(Conversation("chat", "openai", tuple(said()), "chat"))
    grown = backbone(store, ScriptedModel(says)).outlook()
    assert (grown.parts, grown.calls, grown.turns) == (2, 2, 1)


def test_long_and_blank_messages(tmp_path: Path) -> None:
    """A long turn has several notes, a blank one none."""
    long = " ".join(f"boat number{place} sails." for place in range(900))
    store = filled(tmp_path, said([long, " ", "cello string"]))
    reported = indexed(store)
    assert sum(part.turns for part in reported) == 2
    current = replay(store.units_of(NAME, [NOTE, DECISION]))[0].values()
    assert len(current) > 2
    assert AMem(filled(tmp_path / "blank", said([" "])), no_kit).outlook().parts == 0
