"""Unwraps texts of coding agents whose logs hold only messages: Cline, Roo Code and Kilo Code (2024 to 2026)."""

from __future__ import annotations

import re

_MARKS = ("<task>", "<environment_details>", "<user_message>", "<feedback>", "<answer>")
_ASIDE = re.compile(r"<(environment_details|file_content|folder_content)\b[^<>]*>.*?</\1>", re.DOTALL)
_TYPED = re.compile(r"<(task|user_message|feedback|answer)>\s*(.*?)\s*</\1>", re.DOTALL)
_TOOLS = re.compile(r"\[[a-z_]+ for [^\n]*\] Result:|\[ERROR\]|The user has provided feedback")
_THOUGHT = re.compile(r"<thinking>.*?</thinking>", re.DOTALL)
_SAID = re.compile(r"<(?:result|question|response)>\s*(.*?)\s*</(?:result|question|response)>", re.DOTALL)
_CALL = re.compile(r"<([a-z]+_[a-z_]+)>.*?</\1>", re.DOTALL)


def is_of_an_agent(text: str) -> bool:
    """Return whether the text of a user has the marks that these agents put around what was typed."""
    return any(text.lstrip().startswith(mark) for mark in _MARKS) or "<environment_details>" in text


def typed_in(text: str) -> str:
    """Return what the user typed; "" if the text is only a tool's answer."""
    typed = _TYPED.findall(text)
    if typed:
        return "\n\n".join(words for _, words in typed)
    rest = _ASIDE.sub("", text).strip()
    return "" if _TOOLS.match(rest) else rest


def answered_in(text: str) -> str:
    """Return what the assistant said: no thoughts and no tool calls, but what a call tells the user."""
    text = _THOUGHT.sub("", text)
    return _CALL.sub(lambda call: "\n".join(_SAID.findall(call[0])), text).strip()
