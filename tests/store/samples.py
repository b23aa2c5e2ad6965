"""Conversations and stores for the tests of the store."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from goalmem_cli.records import Conversation, Turn
from goalmem_cli.store.store import Store
from goalmem_cli.testing import HashEmbedder

START = datetime(2023, 5, 8, 13, 56)

CAFE = (
    "Hi Ben, have you tried the new cafe?",
    "You mean Momoco? Not yet.",
    "I ordered the Kyoto Latte there.",
    "What is in it?",
    "Matcha and oat milk, mostly.",
    "My sister would love that.",
)


def chat(
    texts: Sequence[str] = CAFE,
    *,
    name: str = "chat",
    form: str = "openai",
    own_id: str | None = None,
    with_ids: bool = False,
    start: datetime | None = START,
    per_session: int = 100,
    speakers: tuple[str, str] = ("Alice", "Ben"),
) -> Conversation:
    """Return a conversation of two who take turns, an hour apart."""
    turns = tuple(
        Turn(
            name, place // per_session, place, speakers[place % 2], text,
            said=None if start is None else start + timedelta(hours=place),
            own_id=f"D{place // per_session + 1}:{place % per_session + 1}" if with_ids else None,
        )
        for place, text in enumerate(texts)
    )  # fmt: skip
    return Conversation(name, form, turns, own_id)


def open_store(
    path: Path, announce: Callable[[str], None] = lambda _: None, *, patience: float = 60.0, dimension: int = 16
) -> Store:
    """Return the store in the folder, with the hashing embedder."""
    return Store(path, HashEmbedder(dimension), announce=announce, patience=patience)
