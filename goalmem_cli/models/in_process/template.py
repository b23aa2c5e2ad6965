"""Render a request with a model's chat template, and keep the template's own text apart from the contents.

Only the template's own text may become control tokens: a transcript that contains ``<|im_end|>`` must reach the model
as plain characters. So the template is rendered with placeholders for the contents and split there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from goalmem_cli.errors import ModelUnreadable
from goalmem_cli.ports import Request

PLACE = re.compile("\ue000(\\d+)\ue001")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a prompt: template text, or (`is_content`) text that must not act as control tokens."""

    text: str
    is_content: bool


class ChatTemplate:
    """A model's chat template, from its GGUF file."""

    def __init__(self, source: str, bos: str = "", eos: str = "") -> None:
        """Compile the template; `bos` and `eos` are the texts of the model's start and end tokens.

        Raises:
            ModelUnreadable: Jinja cannot compile the template.
        """
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        environment.globals["raise_exception"] = _refuse
        environment.globals["strftime_now"] = _now
        try:
            self._template = environment.from_string(source)
        except TemplateError as error:
            raise _unusable(str(error)) from error
        self._bos = bos
        self._eos = eos

    def pieces(self, request: Request) -> list[Piece]:
        """Return the prompt of a request as pieces, up to the start of the model's reply.

        If the template has no system role, the system text goes before the first message.

        Raises:
            ModelUnreadable: the template fails, or leaves a message out.
        """
        roles, talk = zip(*request.talk, strict=True)
        if not request.system:
            return self._render(roles, talk)
        try:
            return self._render(["system", *roles], [request.system, *talk])
        except ModelUnreadable:
            return self._render(roles, [f"{request.system}\n\n{talk[0]}", *talk[1:]])

    def _render(self, roles: Sequence[str], contents: Sequence[str]) -> list[Piece]:
        """Return the rendered prompt as pieces; the contents never pass through the template."""
        messages = [{"role": role, "content": f"\ue000{number}\ue001"} for number, role in enumerate(roles)]
        try:
            text = self._template.render(
                messages=messages, add_generation_prompt=True, bos_token=self._bos, eos_token=self._eos
            )
        except (TemplateError, TypeError, ValueError, KeyError) as error:
            raise _unusable(str(error)) from error
        parts = PLACE.split(text)
        if [int(number) for number in parts[1::2]] != list(range(len(contents))):
            raise _unusable("it leaves a message out, or moves one")
        pieces = [
            Piece(contents[int(part)], is_content=True) if place % 2 else Piece(part, is_content=False)
            for place, part in enumerate(parts)
        ]
        return [piece for piece in pieces if piece.text]


def _refuse(message: str) -> None:
    raise TemplateError(message)


def _now(form: str) -> str:
    """Return a fixed date; a real one would change prompts daily and make runs unrepeatable."""
    return datetime(2024, 1, 1).strftime(form)


def _unusable(reason: str) -> ModelUnreadable:
    return ModelUnreadable(f"the model's chat template cannot be used: {reason}", "choose another instruct model")
