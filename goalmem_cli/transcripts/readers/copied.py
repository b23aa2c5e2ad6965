"""Reads messages that stand in text below a line with a name and a time.

Telegram Desktop gives such text when messages are copied: `Name, [01.05.2024 10:00]`. DiscordChatExporter (2.9 to 2.46)
writes it as plain text: `[5/1/2024 10:00 AM] name`, below a head with `Guild:` and `Channel:`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.reading.attributes import attributes
from goalmem_cli.transcripts.reading.day_orders import Written, dating_of, settled
from goalmem_cli.transcripts.reading.drafts import Draft
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import Opening, messages_from_openings, openings_with_text
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp
from goalmem_cli.transcripts.reading.written_times import written_from_text

_TIME = r"\[(?P<said>\d[^\[\]\n]{6,30}\d(?:[ \u202f][AaPp]\.?[Mm]\.?)?)\]"
_TELEGRAM = re.compile(rf"(?P<who>[^\[\]\n]{{1,100}}), {_TIME}:?")
_DISCORD = re.compile(rf"{_TIME} (?P<who>[^\n]{{1,100}}?)(?: \(pinned\))?")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+[-+.\w]*", re.IGNORECASE)
_GUILD = re.compile(r"={20,}\nGuild: .*\nChannel: (?P<channel>.+)\n")
_FOOT = re.compile(r"^={20,}\nExported [\d.,\s]+ message\(s\)\n={20,}\s*\Z", re.MULTILINE)
_BESIDE = re.compile(r"^\{(?:Attachments|Embed|Stickers|Reactions)\}[ \t]*$", re.MULTILINE)
_NOTICE = re.compile(r"Joined the server\.|Pinned a message\.|Started a call that lasted \d[\d.,]* minutes?\.")
_ANSWERS = re.compile(r"\[In reply to [^\[\]\n]{1,100}\]\n")
_FORWARDED = re.compile(r"\[Forwarded from (?P<author>[^\[\]\n]{1,100})\]\n", re.IGNORECASE)
# A line in the place of media; other words in brackets are the person's.
_MEDIA = re.compile(
    r"\[ ?(?:(?:Photo|Video|Voice message|Video message|Sticker|GIF|File|Audio file|Location|Contact|Poll|Album)"
    r"(?: ?[:,] [^\]]*)?|Sticker [^\w\s\[\]]{1,12}|[^\w\s\[\]]{1,12} Sticker) ?\]"
)
_FEWEST = 2


class CopiedReader(DraftReader):
    """Reads a file as one conversation. Times are local."""

    name = "copied-messages"
    suffixes = (".txt", ".md")
    sign = "`Name, [01.05.2024 10:00]` above the text, or `[5/1/2024 10:00 AM] name` below `Guild:`"
    is_of_people = True

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the text begins with DiscordChatExporter's head, or a message and another as Telegram has."""
        if _GUILD.match(glimpse.head):
            return True
        found = _Heads(_TELEGRAM)
        lines = [(found.of(line) is not None, line) for line in glimpse.head.split("\n")]
        heads = [is_head for is_head, line in lines if line.strip()]
        return sum(heads) >= _FEWEST and heads[0]

    def _drafts(self, source: Source) -> Iterator[Draft]:
        guild = _GUILD.match(source.head)
        form = _TELEGRAM if guild is None else _DISCORD
        draft = Draft(title=None if guild is None else guild["channel"].rpartition(" / ")[2])
        first, second = _Heads(form), _Heads(form)  # the file is read twice
        written = (found for _, line in source.lines() if (head := first.of(line)) and (found := _written(head)))
        dating = dating_of(written)
        order = None if dating is None else settled(source, dating).order

        def opening_of(line: str) -> Opening | None:
            head = second.of(line)
            moment = None if head is None or order is None or (found := _written(head)) is None else found.moment(order)
            return None if head is None or moment is None else Opening(head["who"].strip(), Stamp(moment), "")

        openings = openings_with_text(source, opening_of)
        said = _said_in_telegram(draft, openings) if guild is None else _said_in_discord(draft, openings)
        return draft.fill(messages_from_openings(draft, said))


class _Heads:
    """Finds the lines above messages, if it is given all lines in order.

    Such a line is the first one, or stands below a blank line or another such line; elsewhere somebody quotes it.
    """

    def __init__(self, form: re.Pattern[str]) -> None:
        self._form = form
        self._may_begin = True

    def of(self, line: str) -> re.Match[str] | None:
        """Return the match of the line if a message begins below it, its time can be one, and no version is named."""
        head = self._form.fullmatch(line.strip()) if self._may_begin and "]" in line else None
        if head is not None and (_written(head) is None or _is_version(self._form, head["who"])):
            head = None
        self._may_begin = head is not None or not line.strip()
        return head


def _is_version(form: re.Pattern[str], name: str) -> bool:
    return form is _TELEGRAM and _VERSION.fullmatch(name.strip()) is not None


def _written(head: re.Match[str]) -> Written | None:
    return written_from_text(head["said"])


def _said_in_discord(draft: Draft, openings: Iterable[Opening]) -> Iterator[Opening]:
    """Yield what people said, which stands before attachments, embeds and reactions; these and notices are counted."""
    for opening in openings:
        text = _FOOT.sub("", opening.text)
        beside = _BESIDE.search(text)
        if beside is not None:
            draft.count("attachments, embeds, stickers and reactions left out")
            text = text[: beside.start()]
        if _NOTICE.fullmatch(text.strip()):
            draft.count("notices left out")
        else:
            yield replace(opening, text=text.strip())


def _said_in_telegram(draft: Draft, openings: Iterable[Opening]) -> Iterator[Opening]:
    """Yield what people said; messages of media alone are counted."""
    for opening in openings:
        text = _ANSWERS.sub("", f"{opening.text.strip()}\n", count=1)
        forwarded = _FORWARDED.match(text)
        text = text[forwarded.end() :] if forwarded else text
        lines = text.split("\n")
        said = [line for line in lines if not _MEDIA.fullmatch(line.strip())]
        text = "\n".join(said).strip()
        if len(said) < len(lines) and not text:
            draft.count("messages of media alone left out")
            continue
        if forwarded:
            text = f"[forwarded from {forwarded['author']}] {text}"
            yield replace(opening, text=text, attributes=attributes(forwarded_from=forwarded["author"]))
        else:
            yield replace(opening, text=text)
