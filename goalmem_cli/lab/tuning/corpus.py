"""The corpus as training takes it: conversations with their questions, and which of them it never sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.datasets.loading import read_dataset
from goalmem_cli.records import Conversation

DOMAINS = ("assistant", "family", "friends", "messaging", "planning", "work")
HELD_OUT = (*(f"{domain}-{number}" for domain in DOMAINS for number in (12, 13)), "assistant-01", "work-02")
"""The conversations that are never trained on: two of each domain, and those that `sample_convos` shows."""


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation and the questions about it, which have gold plans in the corpus and the minis."""

    conversation: Conversation
    cases: tuple[Case, ...]

    @property
    def name(self) -> str:
        """What the conversation is called."""
        return self.conversation.name

    @property
    def domain(self) -> str:
        """The group whose conversations share a memory: its domain, or its name up to the last hyphen."""
        return self.cases[0].domain or self.name.rpartition("-")[0] or self.name

    @property
    def speakers(self) -> tuple[str, ...]:
        """Who speaks in it, in the order that they first do."""
        return tuple(dict.fromkeys(turn.speaker for turn in self.conversation.turns))


def read_corpus(folder: Path) -> list[Talk]:
    """Return the conversations of the folder, by name.

    Raises:
        InputError: the folder cannot be read, or a file is not of LoCoMo's form, which the corpus has too.
    """
    dataset = read_dataset([folder])
    cases: dict[str, list[Case]] = {}
    for case in dataset.cases:
        cases.setdefault(case.conversation, []).append(case)
    talks = [Talk(conversation, tuple(cases[conversation.name])) for conversation in dataset.conversations(cases)]
    return sorted(talks, key=lambda talk: talk.name)


def split(talks: Sequence[Talk]) -> tuple[list[Talk], list[Talk]]:
    """Return the conversations to train on, and those held out."""
    return [talk for talk in talks if talk.name not in HELD_OUT], [talk for talk in talks if talk.name in HELD_OUT]


def by_domain(talks: Sequence[Talk]) -> dict[str, list[Talk]]:
    """Return the conversations of each domain: what one memory holds together."""
    domains: dict[str, list[Talk]] = {}
    for talk in talks:
        domains.setdefault(talk.domain, []).append(talk)
    return domains
