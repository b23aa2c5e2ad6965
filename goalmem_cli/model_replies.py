"""Ask a model for a reply of a given form, and once more if the first is unusable."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, Generic, TypeAlias, TypeVar

from goalmem_cli.errors import ContextOverflow, ReplyUnusable
from goalmem_cli.ports import Completion, JsonShape, LanguageModel, Request
from goalmem_cli.records import Usage

T = TypeVar("T")

Fields: TypeAlias = Mapping[str, tuple[str, ...]]
"""The values of a reply by field name, in the reply's order."""
NO_NUMBER = "0"
"""The number that means "none of them"."""


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """The result and cost of a step; after two unusable replies, `value` is None and `problem` says why."""

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
    """Return the parsed texts of the replies to the requests of `build`; see `ask_whole`."""
    return ask_whole(model, build, lambda _, said: parse([each.text for each in said]), takes_parts=takes_parts)


def ask_whole(
    model: LanguageModel,
    build: Callable[[str], list[Request]],
    parse: Callable[[list[Request], list[Completion]], T],
    *,
    takes_parts: bool = False,
) -> Reply[T]:
    """Return the parsed replies to the requests of `build`.

    `build` receives the problem of the last reply, "" at first. `parse` receives the requests with their completions,
    and raises ReplyUnusable. A reply that was cut off at its maximum length is unusable, unless `takes_parts`.
    """
    usage, problem = Usage(), ""
    for _ in range(2):
        started = perf_counter()
        requests = build(problem)
        completions = model.complete(requests)
        usage += _tokens_of(completions) + Usage(calls=1, seconds=perf_counter() - started)
        value, problem = _parsed(completions, partial(parse, requests), takes_parts=takes_parts)
        if not problem:
            return Reply(value, usage)
    return Reply(None, usage, problem)


def ask_each(
    model: LanguageModel,
    builds: Sequence[Callable[[str], Request]],
    parse: Callable[[str], T] | Sequence[Callable[[str], T]],
) -> list[Reply[T]]:
    """Ask several independent questions in one call, and return a reply for each.

    `parse` reads any reply's text, or there is one parser for each. Unusable replies are asked once more, again in one
    call. Each reply has the cost of its own tokens; the call and its time count for the first question asked. If a
    prompt is longer than the context, only that reply has a problem.
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
    """Return the completions of the requests; None for each prompt that is too long for the model."""
    try:
        return list(model.complete(requests))
    except ContextOverflow:
        if len(requests) == 1:
            return [None]
    return [completion for request in requests for completion in _completed(model, [request])]


def _tokens_of(completions: Sequence[Completion]) -> Usage:
    """Return the summed tokens of the completions."""
    return Usage(
        prompt_tokens=sum(completion.prompt_tokens for completion in completions),
        cached_tokens=sum(completion.cached_tokens for completion in completions),
        completion_tokens=sum(completion.completion_tokens for completion in completions),
    )


def _parsed(
    completions: list[Completion], parse: Callable[[list[Completion]], T], *, takes_parts: bool = False
) -> tuple[T | None, str]:
    """Return the parsed value, or None and the problem."""
    if not takes_parts and not all(completion.is_complete for completion in completions):
        return None, "it was cut off at its greatest length"
    try:
        return parse(completions), ""
    except ReplyUnusable as error:
        return None, error.message


def in_one_line(text: str) -> str:
    """Return the text with each run of white space as one blank."""
    return " ".join(text.split())


def parse_json(text: str, schema: Mapping[str, object]) -> Any:
    """Return the reply's JSON value after checking it against the schema, which a server may ignore.

    Raises:
        ReplyUnusable: it is no JSON, or does not fit the schema.
    """
    import jsonschema  # imported here because compact prompts have grammars

    try:
        reply = json.loads(text)
        # The schema itself was checked when the prompt was read: `jsonschema.validate` would do so for every reply.
        fault = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(reply))
    except ValueError as error:
        raise ReplyUnusable(f"it is not one JSON document: {error}") from error
    except RecursionError as error:
        raise ReplyUnusable("it is nested too deep") from error
    if fault is not None:
        reason = fault.message[:160]  # it begins with the value, and would not come to what is wrong with a long list
        if fault.validator == "maxItems":
            reason = f"it has {len(fault.instance)} elements, and at most {fault.validator_value} may be"
        raise ReplyUnusable(f"{fault.json_path}: {reason}") from fault
    return reply


def read_json(text: str, request: Request) -> Any:
    """Return the reply's JSON value after checking it against the schema of the request; see `parse_json`."""
    return parse_json(text, request.shape.schema if isinstance(request.shape, JsonShape) else {})


def read_fields(text: str, request: Request) -> Fields:
    """Return the fields of a reply in either form.

    A JSON object gives its values as text: true becomes ``yes``, an object in a list its values joined by blanks. A
    line reply has ``name: value`` on each line; a name on several lines has several values. Each value is put on one
    line, so that it cannot start a new line in later prompts.

    Raises:
        ReplyUnusable: the reply does not have the requested form.
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
    """Return the items whose numbers (from 1) the field gives, each once.

    Raises:
        ReplyUnusable: a number matches no item.
    """
    numbers = [number for number in fields.get(name, ()) if number != NO_NUMBER]
    if wrong := [number for number in numbers if not number.isdecimal() or not 1 <= int(number) <= len(known)]:
        raise ReplyUnusable(f"{wrong[0][:20]!r} is none of the numbers")
    return tuple(known[place - 1] for place in dict.fromkeys(map(int, numbers)))


def numbers_of(known: Sequence[object]) -> list[str]:
    """Return the values that a reply may give for `picked`: each number, and the one for none."""
    return [NO_NUMBER, *(str(number) for number in range(1, len(known) + 1))]


def _as_texts(value: object) -> tuple[str, ...]:
    """Return the texts in a JSON value; an object's values are joined."""
    if isinstance(value, list):
        return tuple(text for item in value for text in _as_texts(item))
    if isinstance(value, dict):
        return (" ".join(text for item in value.values() for text in _as_texts(item)),)
    if isinstance(value, bool):
        return ("yes" if value else "no",)
    return () if value is None else (in_one_line(str(value)),)
