"""What transcripts call the two sides of a chat with a model, and the programs beside them."""

from __future__ import annotations

_ROLES = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "ai": "assistant",
    "assistant": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "model": "assistant",
    "system": "system",
    "tool": "tool",
    "observation": "tool",
    "function_response": "tool",
}


def role_of(name: str) -> str | None:
    """Return the role that a transcript means by the name; None for a name of any other kind."""
    return _ROLES.get(name.lower())
