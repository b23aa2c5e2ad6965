"""Names that transcripts use for the two sides of a chat with a model, and for tools and system messages."""

from __future__ import annotations

from functools import lru_cache

from goalmem_cli.languages.patterns import late

USER, ASSISTANT, TOOL = "user", "assistant", "tool"

_ROLES = {
    "human": USER,
    "user": USER,
    "prompter": USER,
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
    "tool": TOOL,
    "observation": TOOL,
    "function_response": TOOL,
}
# Names of the sides that count only if both sides have one: alone, some are people or parts of a document.
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
_MODELS = late(
    r"(?:chatgpt|gpt|claude|gemini|copilot|github copilot|cursor|deepseek|grok|llama|mistral|le chat|qwen|bing|bard"
    r"|perplexity|pi)(?:[ -][\w.+-]{1,20}){0,3}"
)
_DECORATION = late(r"[^\w\s.+-]")


@lru_cache(maxsize=1024)
def role_of(name: str) -> str | None:
    """Return the role that a transcript means by the name, or None for other names."""
    return _ROLES.get(name.lower())


def side_of(name: str) -> str | None:
    """Return the role of a name if the other side's name has a role too (`You` is user, `Claude` assistant), or None.

    Emoji and marks around the name are ignored.
    """
    plain = " ".join(_DECORATION.sub(" ", name).casefold().split())
    return _SIDES.get(plain) or (ASSISTANT if _MODELS.fullmatch(plain) else None)
