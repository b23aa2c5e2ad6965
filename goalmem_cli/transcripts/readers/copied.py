"""Reads messages that stand in text below a line with a name and a time.

Telegram Desktop gives such text when messages are copied: `Name, [01.05.2024 10:00]`. DiscordChatExporter (2.9 to 2.46)
writes it as plain text: `[5/1/2024 10:00 AM] name`, below a head with `Guild:` and `Channel:`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.readers.quotes import with_quotes
from goalmem_cli.transcripts.reading.attributes import attributes
from goalmem_cli.transcripts.reading.day_orders import Written, dating_of, settled
from goalmem_cli.transcripts.reading.drafts import Draft, conversations_from_drafts
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import Opening, messages_from_openings, openings_with_text
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp
from goalmem_cli.transcripts.reading.written_times import written_from_text

_TIME = r"\[(?P<said>\d[^\[\]\n]{6,30}\d(?:[ \u202f][AaPp]\.?[Mm]\.?)?)\]"
_TELEGRAM = re.compile(rf"(?P<who>[^\[\]\n]{{1,100}}), {_TIME}:?")
_DISCORD = re.compile(rf"{_TIME} (?P<who>[^\n]{{1,100}}?)(?: \(pinned\))?")
_GUILD = re.compile(r"={20,}\nGuild: .*\nChannel: (?:.* / )?(?P<channel>.+)\n")
_FOOT = re.compile(r"^={20,}\nExported [\d.,\s]+ message\(s\)\n={20,}\s*\Z", re.MULTILINE)
_BESIDE = re.compile(r"^\{(?:Attachments|Embed|Stickers|Reactions)\}(?:\n.+)*", re.MULTILINE)
_ANSWERS = re.compile(r"\[In reply to [^\[\]\n]{1,100}\]\n")
_FORWARDED = re.compile(r"\[Forwarded from (?P<author>[^\[\]\n]{1,100})\]\n", re.IGNORECASE)
_MEDIA = re.compile(r"\[ ?(?:Photo|Video|Voice|Sticker|GIF|File|Audio|Location|Contact|Poll|Album)\b[^\[\]]*\]")
_FEWEST = 2


class CopiedReader:
    """Reads a file as one conversation. Times are local."""

    name = "copied-messages"
    suffixes = (".txt", ".md")
    sign = "`Name, [01.05.2024 10:00]` above the text, or `[5/1/2024 10:00 AM] name` below `Guild:`"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the text begins with DiscordChatExporter's head, or a message and another as Telegram has."""
        if _GUILD.match(glimpse.head):
            return True
        heads = [_head_in(_TELEGRAM, line) is not None for line in glimpse.head.split("\n") if line.strip()]
        return sum(heads) >= _FEWEST and heads[0]

    def read(self, source: Source) -> Iterator[Conversation]:
        """Yield the file's conversation.

        Raises:
            UnclearDates: its dates leave open whether the day or the month comes first.
            InputError: nobody says anything in it, or it cannot be read.
        """
        return with_quotes(conversations_from_drafts(source, self.name, _drafts(source)))


def _drafts(source: Source) -> Iterator[Draft]:
    guild = _GUILD.match(source.head)
    form = _TELEGRAM if guild is None else _DISCORD
    draft = Draft(title=None if guild is None else guild["channel"])
    written = (found for _, line in source.lines() if (head := _head_in(form, line)) and (found := _written(head)))
    dating = dating_of(written)
    order = None if dating is None else settled(source, dating).order

    def opening_of(line: str) -> Opening | None:
        head = _head_in(form, line)
        moment = None if head is None or order is None or (found := _written(head)) is None else found.moment(order)
        return None if head is None or moment is None else Opening(head["who"].strip(), Stamp(moment), "")

    openings = openings_with_text(source, opening_of, lambda: None)
    return draft.fill(messages_from_openings(draft, _said_in(draft, openings)))


def _head_in(form: re.Pattern[str], line: str) -> re.Match[str] | None:
    """Return the match of a line above a message, if its time can be one."""
    head = form.fullmatch(line.strip()) if "]" in line else None
    return head if head is not None and _written(head) is not None else None


def _written(head: re.Match[str]) -> Written | None:
    return written_from_text(head["said"])


def _said_in(draft: Draft, openings: Iterable[Opening]) -> Iterator[Opening]:
    """Yield what people said; media, attachments and reactions are counted."""
    for opening in openings:
        text, beside = _BESIDE.subn("", _FOOT.sub("", opening.text))
        if beside:
            draft.count("attachments, embeds, stickers and reactions left out", beside)
        text = _ANSWERS.sub("", f"{text.strip()}\n", count=1)
        forwarded = _FORWARDED.match(text)
        text = text[forwarded.end() :] if forwarded else text
        text, media = _MEDIA.subn("", text)
        if media and not text.strip():
            draft.count("messages of media alone left out")
            continue
        if forwarded:
            said = f"[forwarded from {forwarded['author']}] {text.strip()}"
            yield replace(opening, text=said, attributes=attributes(forwarded_from=forwarded["author"]))
        else:
            yield replace(opening, text=text.strip())
