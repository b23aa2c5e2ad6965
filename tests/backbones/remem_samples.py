"""A small episodic memory for the tests of `remem`: two sessions, their gists and facts, in a real store."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from goalmem_cli.backbones.remem import NAME
from goalmem_cli.backbones.remem.event_times import judge_point, judge_span
from goalmem_cli.backbones.remem.graph import LINKS, Gist, Statement, fact_unit, gist_unit, phrase_edges
from goalmem_cli.backbones.structured.triples import phrase_units
from goalmem_cli.memory_records import Derivation
from goalmem_cli.records import Conversation, Edge, Part, Turn, Unit
from goalmem_cli.store.queries.episodes import FACT, GIST, PHRASE, SYNONYMY
from goalmem_cli.store.store import Store
from tests.store.samples import open_store

SAID = datetime(2023, 5, 8, 13, 56)  # a Monday
TEXTS = (
    "I moved to Leeds last Saturday.",
    "I have coached E57 since March 2021.",
    "And I coached E95 from 2018 to February 2021.",
    "We visited Momoco yesterday.",
    "We went to Momoco again, on 20 April 2023!",
    "No, it was not Leeds, I moved to York.",
)


def turns(conversation: str = "chat", texts: Sequence[str] = TEXTS) -> list[Turn]:
    """Return a conversation of two who take turns, an hour apart; a new session begins after every third."""
    return [
        Turn(
            conversation, place // 3, place, ("Priya", "Tom")[place % 2], text, SAID + timedelta(hours=place),
            f"D{place // 3 + 1}:{place % 3 + 1}",
        )
        for place, text in enumerate(texts)
    ]  # fmt: skip


def fact(turn: Turn, subject: str, predicate: str, thing: str, point: str = "", start: str = "", end: str = "") -> Unit:
    """Return a fact of the turn."""
    told = f"{subject} {predicate} {thing}"
    event = judge_span(start, end, told, [turn]) if start or end else judge_point(point, told, [turn])
    return fact_unit(Statement(subject, predicate, thing, (turn,), event), turn.ordinal // 3)


def gist(turn: Turn, text: str, when: str = "") -> Unit:
    """Return a gist of the turn."""
    return gist_unit(Gist(text, (turn,), judge_point(when, text, [turn])), turn.ordinal // 3)


def derived(said: Sequence[Turn]) -> list[Unit]:
    """Return the gists and facts of the six turns."""
    return [
        gist(said[0], "Priya moved to Leeds last Saturday.", "2023-05-06"),
        gist(said[3], "Tom visited Momoco yesterday."),
        gist(said[4], "Priya and Tom visited Momoco on 20 April 2023.", "2023-04-20"),
        gist(said[5], "Tom says that he moved to York."),
        fact(said[0], "Priya", "moved to", "Leeds", "2023-05-06"),
        fact(said[1], "Tom", "coaches", "E57", start="2021-03"),
        fact(said[2], "Priya", "coached", "E95", start="2018", end="2021-02"),
        fact(said[3], "Tom", "visited", "Momoco", "2023-05-07"),
        fact(said[4], "Priya", "visited", "the Momoco", "2023-04-20"),
        fact(said[5], "Tom", "moved to", "York"),
        fact(said[5], "Tom", "lives in", "York city"),
    ]


def stored(path: Path) -> Store:
    """Return a store that holds the conversation and all that came from it."""
    store, said = open_store(path, dimension=64), turns()
    store.add(Conversation("chat", "openai", tuple(said), "chat"))
    units = derived(said)
    store.derive(
        NAME,
        [
            Derivation(
                Part("chat", str(session), tuple(turn for turn in said if turn.session == session)),
                tuple(unit for unit in units if unit.session == session),
            )
            for session in (0, 1)
        ],
    )
    gists, facts = ([unit for unit in units if unit.kind == kind] for kind in (GIST, FACT))
    edges = [*phrase_edges(gists, facts), Edge(gists[1].id, gists[2].id, SYNONYMY, 0.9)]
    store.shared(NAME, PHRASE, phrase_units(NAME, facts), edges, links=LINKS)
    return store


def without_time(said: Sequence[Turn]) -> list[Turn]:
    """Return the turns as a transcript without times has them."""
    return [replace(turn, said=None) for turn in said]
