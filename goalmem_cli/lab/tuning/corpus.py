"""The training corpus: conversations with their questions, and those that are held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
from goalmem_cli.records import Conversation

DOMAINS = ("assistant", "family", "friends", "messaging", "planning", "work")
HELD_OUT = (*(f"{domain}-{number}" for domain in DOMAINS for number in (12, 13)), "assistant-01", "work-02")
"""The conversations that are never trained on: two of each domain, and those in `sample_convos`."""
ASSISTANTS = Path(__file__).with_name("assistants.json")
"""Talks with an assistant: five short ones of each of twelve people, and two of each of three who tell many details.

A person's talks are a domain, and share a memory.
"""
ASIDE = ("p03", "p06", "p09", "p12", "p15")
"""The people among them whose talks are held out."""


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation with its questions; those in the corpus and the minis have gold plans."""

    conversation: Conversation
    cases: tuple[Case, ...]

    @property
    def name(self) -> str:
        """The conversation's name."""
        return self.conversation.name

    @property
    def domain(self) -> str:
        """The group whose conversations share a memory: its domain, or its name up to the last hyphen."""
        return self.cases[0].domain or self.name.rpartition("-")[0] or self.name

    @property
    def speakers(self) -> tuple[str, ...]:
        """The speakers, in the order of their first turns."""
        return tuple(dict.fromkeys(turn.speaker for turn in self.conversation.turns))


def read_corpus(folder: Path) -> list[Talk]:
    """Return the conversations in the folder, by name.

    Raises:
        InputError: the folder cannot be read, or a file is not in LoCoMo's form, which the corpus uses.
    """
    dataset = read_dataset([folder])
    cases: dict[str, list[Case]] = {}
    for case in dataset.cases:
        cases.setdefault(case.conversation, []).append(case)
    talks = [Talk(conversation, tuple(cases[conversation.name])) for conversation in dataset.conversations(cases)]
    return sorted(talks, key=lambda talk: talk.name)


def split(talks: Sequence[Talk]) -> tuple[list[Talk], list[Talk]]:
    """Return the training conversations and the held-out ones."""
    parts: tuple[list[Talk], list[Talk]] = ([], [])
    for talk in talks:
        parts[talk.name in HELD_OUT or talk.domain in ASIDE].append(talk)
    return parts


def by_domain(talks: Sequence[Talk]) -> dict[str, list[Talk]]:
    """Return the conversations of each domain, which share one memory."""
    domains: dict[str, list[Talk]] = {}
    for talk in talks:
        domains.setdefault(talk.domain, []).append(talk)
    return domains
