"""Build requests for an OpenAI-compatible server and read its replies, as plain data without network."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from goalmem_cli.ports import Completion, GrammarShape, JsonShape, Request
from goalmem_cli.records import encodable

# No model says this by itself, so a reply with it shows that the server enforces the schema.
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
    """How the server receives the schema of a reply; `PLAIN` puts it into the prompt, where it is not enforced."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    PLAIN = "plain"


HELD_FORMS = (Form.JSON_SCHEMA, Form.JSON_OBJECT)


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model of a server; `context` is its length in tokens, `trained` its maximum; None if not stated."""

    name: str
    context: int | None = None
    trained: int | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """An error that a server reports: one line, the parameter that it names, and its status (0 if none)."""

    reason: str = ""
    parameter: str = ""
    status: int = 0

    @property
    def is_overflow(self) -> bool:
        """Whether prompt and reply are longer than the context."""
        return _OVERFLOW.search(self.reason) is not None

    @property
    def is_of_schema(self) -> bool:
        """Whether the server cannot handle the schema of the reply."""
        return _SCHEMA.search(f"{self.parameter} {self.reason}") is not None

    def is_of(self, parameter: str) -> bool:
        """Return whether the server does not accept the parameter."""
        is_named = parameter == self.parameter or re.search(rf"\b{parameter}\b", self.reason) is not None
        return is_named and _UNWANTED.search(self.reason) is not None


@dataclass(frozen=True, slots=True)
class Dialect:
    """The parameters and roles that a server accepts, as learnt from its refusals."""

    limit: str = OLD_LIMIT
    refused: frozenset[str] = field(default_factory=frozenset)
    has_system: bool = True

    def body(self, model: str, request: Request, form: Form, seed: int) -> dict[str, object]:
        """Return the body of the request in this dialect."""
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
        """Return the dialect without what the server refused, or None if the problem is another."""
        if self.limit == OLD_LIMIT and NEW_LIMIT in problem.reason:
            return replace(self, limit=NEW_LIMIT)
        if self.has_system and _NO_SYSTEM.search(problem.reason):
            return replace(self, has_system=False)
        unwanted = {name for name in OPTIONAL if name not in self.refused and problem.is_of(name)}
        return replace(self, refused=self.refused | unwanted) if unwanted else None

    def _messages(self, request: Request, form: Form) -> list[dict[str, str]]:
        """Return the request's messages as the server wants them, with the schema in the text if it is `PLAIN`."""
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
    """Return whether the reply to `PROBE` shows that the server enforces the schema."""
    try:
        return bool(json.loads(text) == {"word": PROBED_WORD})
    except (ValueError, RecursionError):
        return False


def completion_from(reply: object, request: Request, form: Form) -> Completion | None:
    """Return the reply's text and cost, or None if it is no chat completion.

    A refusal, a tool call, or a reply that only has reasoning gives an empty text, which the reader rejects. In a
    `PLAIN` reply, the code fence around the JSON is removed.
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
        is_complete=choices[0].get("finish_reason") != "length", shown_tokens=_shown(request, form, prompt),
    )  # fmt: skip


def _shown(request: Request, form: Form, prompt: int) -> int:
    """Return an estimate of the prompt's tokens beside what its step always says: their share of its bytes."""
    own = _bytes_of(request.growing + request.tail)
    always = [request.system, *(part for each in request.examples for part in (each.input, each.output))]
    if form is Form.PLAIN and isinstance(request.shape, JsonShape):
        always.append(json.dumps(request.shape.schema, ensure_ascii=False))
    return round(prompt * own / max(1, own + sum(map(_bytes_of, always))))


def _bytes_of(text: str) -> int:
    return len(encodable(text).encode())


def _strict_json(text: str) -> str:
    """Return JSON as `json.dumps` writes it; other text unchanged.

    The grammars of some servers allow raw line breaks in strings, and escapes of half a surrogate pair.
    """
    try:
        return json.dumps(json.loads(text, strict=False), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def served_models(reply: object) -> list[ServedModel] | None:
    """Return the models that a server lists, or None if the reply is no such list."""
    listed = reply if isinstance(reply, list) else _mapping(reply).get("data", reply)
    if listed is None:  # Ollama's empty list
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
    """Return the model of that name (the first if ""), or None; "name" also matches Ollama's ``name:latest``."""
    wanted = {name, f"{name}:latest"}
    return next((model for model in models if not name or model.name in wanted), None)


def problem_in(reply: object) -> Problem:
    """Return the problem that a reply reports, in any of the forms that servers use."""
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
    """Return the beginning of foreign text as one line of printable characters."""
    head = text[:READ_LENGTH]
    return " ".join("".join(character if character.isprintable() else " " for character in head).split())


def cut(text: str) -> str:
    """Return the line, truncated to the length allowed in an error."""
    return text if len(text) <= SHOWN_LENGTH else f"{text[:SHOWN_LENGTH]}..."


def _text(content: object) -> str:
    """Return a message's text; some servers give it in parts."""
    if isinstance(content, list):
        return "".join(_text(_mapping(part).get("text")) for part in content)
    return content if isinstance(content, str) else ""


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
