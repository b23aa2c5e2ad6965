"""What readers have in common: each makes drafts of a file's conversations, and all are completed in the same way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.readers.quotes import with_quotes
from goalmem_cli.transcripts.reading.drafts import Draft, conversations_from_drafts
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.nodes import Node
from goalmem_cli.transcripts.reading.source import Source


class DraftReader(ABC):
    """A format whose reader makes drafts.

    `form` says how to write a message, for errors. If `is_of_people`, messages may quote other people; None if that
    holds for all conversations but those with a model.
    """

    name: str
    form = "check the file"
    is_of_people: bool | None = False

    def read(self, source: Source) -> Iterator[Conversation]:
        """Yield the file's conversations, in stretches if they are long.

        Raises:
            UnclearDates: its dates leave open whether the day or the month comes first.
            InputError: the file cannot be read, nobody says anything in it, or it does not have the layout; the place
                is the line, or the path to the value.
        """
        conversations = conversations_from_drafts(source, self.name, self._drafts(source), self.form)
        if self.is_of_people is False:
            return conversations
        return with_quotes(conversations, may_be_of_model=self.is_of_people is None)

    @abstractmethod
    def _drafts(self, source: Source) -> Iterable[Draft]:
        """Yield each conversation whenever its draft is full, and at its end; raises as `read`."""


class RecordReader(DraftReader):
    """A format that is recognised by its records if its files end in .json, and by its lines if they end in .jsonl."""

    suffixes: tuple[str, ...] = (".json",)

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether one of the first records or lines has what only this format has."""
        is_so = self._is_meant
        is_record = ".json" in self.suffixes and glimpse.has_record(is_so)
        return is_record or (".jsonl" in self.suffixes and glimpse.has_line(is_so))

    @abstractmethod
    def _is_meant(self, node: Node, /) -> bool:
        """Say whether the record or line has what only this format has. An InputError means that it has not."""
