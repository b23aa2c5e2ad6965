"""Makes questions of what a storyboard's state gives, and chooses among them: evenly over types and forms."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from goalmem_cli.lab.bench.came.records import Place, QuestionLabels, StoryQuestion, StoryTurn

REVISION, RECALL, MULTI_HOP, SYNTHESIS = "type_1", "type_2", "type_3", "type_4"
TYPES = (REVISION, RECALL, MULTI_HOP, SYNTHESIS)


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of question: its type, and the gold event and entity types of the turns that hold its answer."""

    name: str
    type: str
    events: tuple[str, ...]
    entity_types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question that could be asked. It is hard if it has like facts of other places to be mistaken for."""

    question: StoryQuestion
    is_hard: bool = True


def candidate(
    turns: Sequence[StoryTurn],
    form: Form,
    text: str,
    answers: Iterable[str],
    evidence: Iterable[int],
    place: Place,
    *,
    named: Iterable[str] = (),
    entity_types: Iterable[str] = (),
    answer: str | None = None,
    is_hard: bool = True,
    target: str = "",
    attribute: str = "",
    owner: str = "",
) -> Candidate:
    """Return a question of a form; `evidence` are places in `turns`, `named` the gold scopes that its words give."""
    holding = [turns[index] for index in sorted(set(evidence))]
    distinct = tuple(dict.fromkeys(answers))
    labels = QuestionLabels(
        scopes=tuple(dict.fromkeys(turn.labels.scope for turn in holding)),
        named_scopes=tuple(dict.fromkeys(named)),
        events=form.events,
        entity_types=tuple(dict.fromkeys((*form.entity_types, *entity_types))),
    )
    question = StoryQuestion(
        id="",
        type=form.type,
        form=form.name,
        text=text,
        answer="; ".join(distinct) if answer is None else answer,
        answers=distinct,
        evidence=tuple(turn.id for turn in holding),
        labels=labels,
        place=place,
        target=target,
        attribute=attribute,
        owner=owner,
    )
    return Candidate(question, is_hard)


def chosen(candidates: Iterable[Candidate], per_type: int, chance: random.Random) -> tuple[StoryQuestion, ...]:
    """Return at most so many questions of each type, hard ones first, every form of the type in its turn."""
    forms: dict[tuple[str, str], list[Candidate]] = {}
    for one in candidates:
        forms.setdefault((one.question.type, one.question.form), []).append(one)
    for members in forms.values():
        chance.shuffle(members)
        members.sort(key=lambda member: not member.is_hard)
    return tuple(
        replace(one.question, id=f"{kind}-{number}")
        for kind in TYPES
        for number, one in enumerate(_in_turn(kind, forms)[:per_type], 1)
    )


def _in_turn(kind: str, forms: Mapping[tuple[str, str], Sequence[Candidate]]) -> list[Candidate]:
    members = [found for (of, _), found in forms.items() if of == kind]
    return [one for one in chain.from_iterable(zip_longest(*members)) if one is not None]
