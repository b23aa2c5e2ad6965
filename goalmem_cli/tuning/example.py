"""A training example: the request that the engine would make, and the reply wanted."""

from __future__ import annotations

from dataclasses import dataclass

from goalmem_cli.ports import Request


@dataclass(frozen=True, slots=True)
class Example:
    """`kind` is the step, in finer grain where what is learnt differs; `case` the question it comes from.

    Examples of one `group` have the beginning of their prompts in common.
    """

    kind: str
    case: str
    request: Request
    reply: str
    group: str = ""
