"""What transcripts call the two sides of a chat with a model, and the programs beside them."""

from __future__ import annotations

import re

USER, ASSISTANT = "user", "assistant"

_ROLES = {
    "human": USER,
    "user": USER,
    "gpt": ASSISTANT,
    "ai": ASSISTANT,
    "assistant": ASSISTANT,
    "chatgpt": ASSISTANT,
    "bing": ASSISTANT,
    "bard": ASSISTANT,
    "model": ASSISTANT,
    "system": "system",
    "system_prompt": "system",
    "_system_prompt": "system",
    "tool": "tool",
    "observation": "tool",
    "function_response": "tool",
}
# What exporters call the sides where both are named: alone, some of these are people, or parts of a document.
_SIDES = _ROLES | {
    "you": USER,
    "me": USER,
    "prompt": USER,
    "you asked": USER,
    "you said": USER,
    "agent": ASSISTANT,
    "bot": ASSISTANT,
    "llm": ASSISTANT,
    "response": ASSISTANT,
}
_MODELS = re.compile(
    r"(?:chatgpt|gpt|claude|gemini|copilot|github copilot|cursor|deepseek|grok|llama|mistral|le chat|qwen|bing|bard"
    r"|perplexity|pi)(?:[ -][\w.+-]{1,20}){0,3}"
)
_DECORATION = re.compile(r"[^\w\s.+-]")


def role_of(name: str) -> str | None:
    """Return the role that a transcript means by the name; None for a name of any other kind."""
    return _ROLES.get(name.lower())


def side_of(name: str) -> str | None:
    """Return the role that the name has where the other side has one too: so `You` and `Claude` are user and assistant.

    Emoji and marks around the name do not count.
    """
    plain = " ".join(_DECORATION.sub(" ", name).casefold().split())
    return _SIDES.get(plain) or (ASSISTANT if _MODELS.fullmatch(plain) else None)
