"""Asking a model for a reply of a given form, once more when the first is unusable."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Generic, TypeAlias, TypeVar

from goalmem_cli.errors import ContextOverflow, ReplyUnusable
from goalmem_cli.ports import Completion, JsonShape, LanguageModel, Request
from goalmem_cli.records import Usage

T = TypeVar("T")

Fields: TypeAlias = Mapping[str, tuple[str, ...]]
"""A reply as what it says under each name, in the reply's order."""
NO_NUMBER = "0"
"""The number that stands for none of the numbered things."""


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """A step's outcome and cost; `value` is None when the reply could not be used twice, and `problem` says why."""

    value: T | None
    usage: Usage
    problem: str = ""


def ask(
    model: LanguageModel,
    build: Callable[[str], list[Request]],
    parse: Callable[[list[str]], T],
    *,
    takes_parts: bool = False,
) -> Reply[T]:
    """Return the parsed texts of the replies to the requests that `build` makes; see `ask_whole`."""
    return ask_whole(
        model, build, lambda completions: parse([each.text for each in completions]), takes_parts=takes_parts
    )


def ask_whole(
    model: LanguageModel,
    build: Callable[[str], list[Request]],
    parse: Callable[[list[Completion]], T],
    *,
    takes_parts: bool = False,
) -> Reply[T]:
    """Return the parsed replies to the requests that `build` makes.

    `build` gets what was wrong with the last reply, empty the first time; `parse` raises ReplyUnusable. A reply that
    was cut off at its greatest length is unusable, unless `parse` `takes_parts`.
    """
    usage, problem = Usage(), ""
    for _ in range(2):
        started = perf_counter()
        completions = model.complete(build(problem))
        usage += _tokens_of(completions) + Usage(calls=1, seconds=perf_counter() - started)
        value, problem = _parsed(completions, parse, takes_parts=takes_parts)
        if not problem:
            return Reply(value, usage)
    return Reply(None, usage, problem)


def ask_each(
    model: LanguageModel,
    builds: Sequence[Callable[[str], Request]],
    parse: Callable[[str], T] | Sequence[Callable[[str], T]],
) -> list[Reply[T]]:
    """Return a reply for each of several questions that have nothing to do with one another, asked in one call.

    `parse` reads the text of any of the replies, or there is one for each. Those whose reply is unusable are asked once
    more, in one call again. Each reply has the cost of its own tokens; the call itself, and its time, is with the first
    of those asked. A prompt that is longer than the model's context is the problem of that reply alone.
    """
    replies: dict[int, Reply[T]] = {}
    parses = [parse] * len(builds) if callable(parse) else parse
    problems = dict.fromkeys(range(len(builds)), "")
    for _ in range(2):
        asked = list(problems)
        if not asked:
            break
        started = perf_counter()
        found = _completed(model, [builds[place](problems[place]) for place in asked])
        call = Usage(calls=1, seconds=perf_counter() - started)
        for place, completion in zip(asked, found, strict=True):
            earlier = replies[place].usage if place in replies else Usage()
            if completion is None:
                replies[place] = Reply(None, earlier + call, "its prompt is longer than the model's context")
            else:
                value, problem = _parsed([completion], _of_text(parses[place]))
                replies[place] = Reply(value, earlier + _tokens_of([completion]) + call, problem)
            call = Usage()
        problems = {place: replies[place].problem for place in asked if replies[place].problem}
    return [replies[place] for place in range(len(builds))]


def _of_text(parse: Callable[[str], T]) -> Callable[[list[Completion]], T]:
    return lambda completions: parse(completions[0].text)


def _completed(model: LanguageModel, requests: Sequence[Request]) -> list[Completion | None]:
    """Return the completions of the requests, None for each whose prompt is too long for the model."""
    try:
        return list(model.complete(requests))
    except ContextOverflow:
        if len(requests) == 1:
            return [None]
    return [completion for request in requests for completion in _completed(model, [request])]


def _tokens_of(completions: Sequence[Completion]) -> Usage:
    return Usage(
        prompt_tokens=sum(completion.prompt_tokens for completion in completions),
        cached_tokens=sum(completion.cached_tokens for completion in completions),
        completion_tokens=sum(completion.completion_tokens for completion in completions),
    )


def _parsed(
    completions: list[Completion], parse: Callable[[list[Completion]], T], *, takes_parts: bool = False
) -> tuple[T | None, str]:
    """Return what the completions say, or why that is not to be had."""
    if not takes_parts and not all(completion.is_complete for completion in completions):
        return None, "it was cut off at its greatest length"
    try:
        return parse(completions), ""
    except ReplyUnusable as error:
        return None, error.message


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
        # The schema itself was checked when the prompt was read: `jsonschema.validate` would do so for every reply.
        fault = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(reply))
    except ValueError as error:
        raise ReplyUnusable(f"it is not one JSON document: {error}") from error
    except RecursionError as error:
        raise ReplyUnusable("it is nested too deep") from error
    if fault is not None:
        raise ReplyUnusable(f"{fault.json_path}: {fault.message[:160]}") from fault
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


def picked(fields: Fields, name: str, known: Sequence[T]) -> tuple[T, ...]:
    """Return those of the numbered things, counted from 1, whose numbers a field gives, each once.

    Raises:
        ReplyUnusable: a number is none of theirs.
    """
    numbers = [number for number in fields.get(name, ()) if number != NO_NUMBER]
    if wrong := [number for number in numbers if not number.isdecimal() or not 1 <= int(number) <= len(known)]:
        raise ReplyUnusable(f"{wrong[0][:20]!r} is none of the numbers")
    return tuple(known[place - 1] for place in dict.fromkeys(map(int, numbers)))


def numbers_of(known: Sequence[object]) -> list[str]:
    """Return what a reply may give for `picked`: the number of each, and one for none of them."""
    return [NO_NUMBER, *(str(number) for number in range(1, len(known) + 1))]


def _as_texts(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(text for item in value for text in _as_texts(item))
    if isinstance(value, dict):
        return (" ".join(text for item in value.values() for text in _as_texts(item)),)
    if isinstance(value, bool):
        return ("yes" if value else "no",)
    return () if value is None else (in_one_line(str(value)),)
