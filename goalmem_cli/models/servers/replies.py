"""What is said to an OpenAI-compatible server and what it says back, as plain data: nothing here reaches a network."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from goalmem_cli.ports import Completion, GrammarShape, JsonShape, Request
from goalmem_cli.records import encodable

# No model says this of itself, so a reply that has it was held to the schema.
PROBED_WORD = "quokka-7391"
PROBE = Request(
    step="probe", system="", examples=(), growing="Hello.", tail="",
    shape=JsonShape(
        {
            "type": "object",
            "properties": {"word": {"type": "string", "enum": [PROBED_WORD]}},
            "required": ["word"],
            "additionalProperties": False,
        }
    ),
    max_tokens=256,
)  # fmt: skip
OPTIONAL = ("seed", "temperature", "grammar")
OLD_LIMIT, NEW_LIMIT = "max_tokens", "max_completion_tokens"
SHOWN_LENGTH, READ_LENGTH = 200, 4000

_UNWANTED = re.compile(r"unsupported|not support|unrecogni[sz]ed|unknown|unexpected|extra inputs|not permitted", re.I)
_NO_SYSTEM = re.compile(r"system (role|message|prompt)s? (is |are )?not support|roles must alternate", re.I)
_OVERFLOW = re.compile(r"context[ _](length|size|window)|max_model_len|prompt is too long", re.I)
_SCHEMA = re.compile(r"response_format|schema|grammar|structured", re.I)
_FENCED = re.compile(r"\s*```[\w-]*[ \t]*\r?\n(?P<inside>.*?)\r?\n?\s*```\s*", re.DOTALL)


class Form(Enum):
    """How a server is told the schema of a reply; `PLAIN` is within the prompt, and holds the model to nothing."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    PLAIN = "plain"


HELD_FORMS = (Form.JSON_SCHEMA, Form.JSON_OBJECT)


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model of a server; `context` is its length in tokens, `trained` the most it could be, None where not said."""

    name: str
    context: int | None = None
    trained: int | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """What a server says is wrong, in one line, and which parameter and status it names in that; 0 for none."""

    reason: str = ""
    parameter: str = ""
    status: int = 0

    @property
    def is_overflow(self) -> bool:
        """Whether the prompt, with its reply, is longer than the context."""
        return _OVERFLOW.search(self.reason) is not None

    @property
    def is_of_schema(self) -> bool:
        """Whether the server cannot work with the schema of the reply."""
        return _SCHEMA.search(f"{self.parameter} {self.reason}") is not None

    def is_of(self, parameter: str) -> bool:
        """Return whether the server does not take the parameter."""
        is_named = parameter == self.parameter or re.search(rf"\b{parameter}\b", self.reason) is not None
        return is_named and _UNWANTED.search(self.reason) is not None


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a model's server takes, as far as its refusals have shown: parameters, and messages of the system's role."""

    limit: str = OLD_LIMIT
    refused: frozenset[str] = field(default_factory=frozenset)
    has_system: bool = True

    def body(self, model: str, request: Request, form: Form, seed: int) -> dict[str, object]:
        """Return the request as a server takes it."""
        body: dict[str, object] = {"model": model, "messages": self._messages(request, form)}
        body[self.limit] = request.max_tokens
        optional: dict[str, object] = {"temperature": 0, "seed": seed}
        if isinstance(request.shape, GrammarShape):
            optional["grammar"] = request.shape.grammar
        elif form in HELD_FORMS:
            body["response_format"] = _response_format(request.shape, form)
        body.update({name: value for name, value in optional.items() if name not in self.refused})
        return body

    def after(self, problem: Problem) -> Dialect | None:
        """Return the dialect without what the server does not take, None where the problem is another."""
        if self.limit == OLD_LIMIT and NEW_LIMIT in problem.reason:
            return replace(self, limit=NEW_LIMIT)
        if self.has_system and _NO_SYSTEM.search(problem.reason):
            return replace(self, has_system=False)
        unwanted = {name for name in OPTIONAL if name not in self.refused and problem.is_of(name)}
        return replace(self, refused=self.refused | unwanted) if unwanted else None

    def _messages(self, request: Request, form: Form) -> list[dict[str, str]]:
        messages = [{"role": role, "content": text} for role, text in request.talk]
        if form is Form.PLAIN and isinstance(request.shape, JsonShape):
            schema = json.dumps(request.shape.schema, ensure_ascii=False)
            messages[-1]["content"] += f"\n\nJSON schema:\n{schema}"
        if request.system and not self.has_system:
            messages[0]["content"] = f"{request.system}\n\n{messages[0]['content']}"
        is_apart = bool(request.system) and self.has_system
        return [{"role": "system", "content": request.system}, *messages] if is_apart else messages


def _response_format(shape: JsonShape, form: Form) -> dict[str, object]:
    if form is Form.JSON_OBJECT:
        return {"type": "json_object", "schema": shape.schema}
    return {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": shape.schema}}


def is_held(text: str) -> bool:
    """Return whether the reply to `PROBE` shows that the server holds the model to the schema."""
    try:
        return bool(json.loads(text) == {"word": PROBED_WORD})
    except (ValueError, RecursionError):
        return False


def completion_from(reply: object, request: Request, form: Form) -> Completion | None:
    """Return the reply's text and cost, None where it is no chat completion.

    A refusal, a call of a tool and a reply that never got beyond its reasoning have no text, which whoever reads the
    completion finds unusable. A plain reply loses the fence that models put around JSON.
    """
    body = _mapping(reply)
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None
    text = _text(_mapping(choices[0].get("message")).get("content"))
    if isinstance(request.shape, JsonShape):
        fenced = _FENCED.fullmatch(text) if form is Form.PLAIN else None
        text = _strict_json(fenced["inside"] if fenced else text)
    usage = _mapping(body.get("usage"))
    prompt = _count(usage.get("prompt_tokens"))
    details = _mapping(usage.get("prompt_tokens_details"))
    cached = _count(details.get("cached_tokens")) or _count(_mapping(body.get("timings")).get("cache_n"))
    return Completion(
        encodable(text), prompt, min(cached, prompt), _count(usage.get("completion_tokens")),
        is_complete=choices[0].get("finish_reason") != "length",
    )  # fmt: skip


def _strict_json(text: str) -> str:
    """Return JSON as `json.dumps` writes it, other text as it is.

    The grammars of some servers let raw line breaks into strings, and halves of surrogate pairs as escapes.
    """
    try:
        return json.dumps(json.loads(text, strict=False), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def served_models(reply: object) -> list[ServedModel] | None:
    """Return the models that a server lists, None where the reply is no such list."""
    listed = reply if isinstance(reply, list) else _mapping(reply).get("data", reply)
    if listed is None:  # how Ollama lists none
        return []
    if not isinstance(listed, list):
        return None
    return [
        ServedModel(
            encodable(entry["id"]),
            _count(entry.get("max_model_len")) or _count(_mapping(entry.get("meta")).get("n_ctx")) or None,
            _count(_mapping(entry.get("meta")).get("n_ctx_train")) or None,
        )
        for entry in listed
        if isinstance(entry, dict) and isinstance(entry.get("id"), str) and entry["id"]
    ]


def named_among(models: Sequence[ServedModel], name: str) -> ServedModel | None:
    """Return the model of that name, or the first where none is named; a name without a tag has Ollama's ``latest``."""
    wanted = {name, f"{name}:latest"}
    return next((model for model in models if not name or model.name in wanted), None)


def problem_in(reply: object) -> Problem:
    """Return what a reply says is wrong, in any of the ways that servers do."""
    body = _mapping(reply)
    error = body.get("error", body)
    if isinstance(error, str):
        return Problem(in_one_line(error))
    found = _mapping(error)
    said = next((found[key] for key in ("message", "detail", "error") if found.get(key)), "")
    reason = said if isinstance(said, str) else json.dumps(said)
    parameter, kind = (found.get(key) if isinstance(found.get(key), str) else "" for key in ("param", "type"))
    if kind == "exceed_context_size_error" and not _OVERFLOW.search(reason):
        reason = f"context size: {reason}"
    return Problem(in_one_line(reason), str(parameter), _count(found.get("code")))


def in_one_line(text: str) -> str:
    """Return the head of foreign text as one line of printable characters."""
    head = text[:READ_LENGTH]
    return " ".join("".join(character if character.isprintable() else " " for character in head).split())


def cut(text: str) -> str:
    """Return a line no longer than an error may have it."""
    return text if len(text) <= SHOWN_LENGTH else f"{text[:SHOWN_LENGTH]}..."


def _text(content: object) -> str:
    """Return a message's text, which some servers give in parts."""
    if isinstance(content, list):
        return "".join(_text(_mapping(part).get("text")) for part in content)
    return content if isinstance(content, str) else ""


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
