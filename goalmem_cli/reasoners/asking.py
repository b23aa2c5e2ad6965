"""Asking a model for a reply of a given form, once more when the first is unusable; and how facts read in a prompt."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter
from typing import Any, Generic, TypeAlias, TypeVar

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.logic.questions import speaks_of_asker
from goalmem_cli.ports import Completion, JsonShape, LanguageModel, Request
from goalmem_cli.records import Question, Usage
from goalmem_cli.trace import Fact

T = TypeVar("T")

Fields: TypeAlias = Mapping[str, tuple[str, ...]]
"""A reply as what it says under each name, in the reply's order."""


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """A step's outcome and cost; `value` is None when the reply could not be used twice, and `problem` says why."""

    value: T | None
    usage: Usage
    problem: str = ""


def ask(model: LanguageModel, build: Callable[[str], list[Request]], parse: Callable[[list[str]], T]) -> Reply[T]:
    """Return the parsed texts of the replies to the requests that `build` makes; see `ask_whole`."""
    return ask_whole(model, build, lambda completions: parse([completion.text for completion in completions]))


def ask_whole(
    model: LanguageModel, build: Callable[[str], list[Request]], parse: Callable[[list[Completion]], T]
) -> Reply[T]:
    """Return the parsed replies to the requests that `build` makes.

    `build` gets what was wrong with the last reply, empty the first time; `parse` raises ReplyUnusable.
    """
    usage, problem = Usage(), ""
    for _ in range(2):
        started = perf_counter()
        completions = model.complete(build(problem))
        usage += Usage(
            calls=1,
            prompt_tokens=sum(completion.prompt_tokens for completion in completions),
            cached_tokens=sum(completion.cached_tokens for completion in completions),
            completion_tokens=sum(completion.completion_tokens for completion in completions),
            seconds=perf_counter() - started,
        )
        if not all(completion.is_complete for completion in completions):
            problem = "it was cut off at its greatest length"
            continue
        try:
            return Reply(parse(completions), usage)
        except ReplyUnusable as error:
            problem = error.message
    return Reply(None, usage, problem)


def asker_in(question: Question) -> str:
    """Return who asks, where the question speaks of them; empty otherwise, since a small model brings up every name."""
    return in_one_line(question.asker or "") if speaks_of_asker(question.text) else ""


def say_time(moment: datetime | None) -> str:
    """Return a time as the prompts write it: 6:20 pm, 21 May 2023."""
    if moment is None:
        return "time unknown"
    hour = moment.hour % 12 or 12
    half = "am" if moment.hour < 12 else "pm"
    return f"{hour}:{moment.minute:02d} {half}, {say_day(moment)}"


def say_day(moment: datetime) -> str:
    """Return the day as the prompts write it: 21 May 2023."""
    return f"{moment.day} {moment:%B} {moment.year}"


def fact_line(fact: Fact) -> str:
    """Return the fact as one numbered line of a prompt."""
    return f"{fact.number}. {said_line(fact)}"


def said_line(fact: Fact) -> str:
    """Return who said what, and when, as one line of a prompt; whatever breaks lines in it does not."""
    said = f"said {say_time(fact.said)}" if fact.said is not None else say_time(None)
    about = "; ".join((said, *map(in_one_line, fact.times)))
    return f"{in_one_line(fact.speaker)}: {in_one_line(fact.text)} [{about}]"


def in_one_line(text: str) -> str:
    """Return the text with single blanks for whatever blanks and line breaks it has."""
    return " ".join(text.split())


def parse_json(text: str, schema: Mapping[str, object]) -> Any:
    """Return the reply's JSON value, checked against the schema here too, since a server may ignore it.

    Raises:
        ReplyUnusable: it is no JSON, or does not fit.
    """
    import jsonschema  # only here, as the compact prompts have grammars

    try:
        reply = json.loads(text)
        jsonschema.validate(reply, schema)
    except ValueError as error:
        raise ReplyUnusable(f"it is not one JSON document: {error}") from error
    except RecursionError as error:
        raise ReplyUnusable("it is nested too deep") from error
    except jsonschema.ValidationError as error:
        raise ReplyUnusable(f"{error.json_path}: {error.message[:160]}") from error
    return reply


def read_fields(text: str, request: Request) -> Fields:
    """Return a reply's fields, whichever form it was asked for in.

    A JSON object gives its values as text (true as ``yes``; an object in a list as its values with blanks between);
    a line reply has ``name: value`` on each line, and a name on several lines has several values. Every value is on one
    line, so that it begins none of its own in the prompts that it goes into.

    Raises:
        ReplyUnusable: the reply is not of the form that the request asks for.
    """
    if isinstance(request.shape, JsonShape):
        reply = parse_json(text, request.shape.schema)
        if not isinstance(reply, dict):
            raise ReplyUnusable("it is no JSON object")
        return {name: _as_texts(value) for name, value in reply.items()}
    fields: dict[str, tuple[str, ...]] = {}
    for line in text.strip().split("\n"):
        name, colon, value = line.partition(":")
        if not colon:
            raise ReplyUnusable(f"the line {line[:60]!r} names no field")
        fields[name.strip()] = (*fields.get(name.strip(), ()), in_one_line(value))
    return fields


def _as_texts(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(text for item in value for text in _as_texts(item))
    if isinstance(value, dict):
        return (" ".join(text for item in value.values() for text in _as_texts(item)),)
    if isinstance(value, bool):
        return ("yes" if value else "no",)
    return () if value is None else (in_one_line(str(value)),)
