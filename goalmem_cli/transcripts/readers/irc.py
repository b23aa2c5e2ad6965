"""Reads logs of IRC, one message a line, as the programs in `STYLES` write them by default (2010 to 2026).

ZNC has a folder for each channel with a file for each day. Most others name the day in lines of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.reading.drafts import Draft
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import Opening, messages_from_openings
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp, stamp_from_text
from goalmem_cli.transcripts.reading.zipped import Place

_CLOCK, _ISO_DAY = r"(?P<clock>\d\d:\d\d(?::\d\d)?)", r"(?P<day>\d{4}-\d\d-\d\d)"
_MODE, _DEED = r"[ @+%&~!]?", r"(?P<actor>[^\s*]{1,64})[ \t](?P<deed>.*)"
_NICK, _TEXT = r"(?P<who>[^<>\s]{1,64})", r"(?P<text>.*)"
_SAID = rf"(?:<{_MODE}{_NICK}>[ \t]{_TEXT}|[ ]?\*[ \t]{_DEED})"
STYLES = {  # WeeChat 0.3 to 4, irssi 0.8 to 1.4, ZNC 0.2 to 1.9, mIRC 7, HexChat 2
    "WeeChat": re.compile(rf"{_ISO_DAY} {_CLOCK}\t(?:(?![ ]?[*=-]){_MODE}{_NICK}\t{_TEXT}| \*\t{_DEED})"),
    "irssi": re.compile(rf"{_CLOCK} {_SAID}"),
    "ZNC, mIRC": re.compile(rf"\[{_CLOCK}\] {_SAID}"),
    "HexChat": re.compile(rf"(?P<day>[A-Z][a-z]{{2}} \d\d) {_CLOCK} <{_MODE}{_NICK}>\t{_TEXT}"),
    "Limnoria": re.compile(rf"{_ISO_DAY}T{_CLOCK}  {_SAID}"),
    "BotBot": re.compile(rf"{_ISO_DAY}T{_CLOCK} <{_NICK}> {_TEXT}"),
    "a day without its year": re.compile(rf"\[(?P<day>\d{{1,2}} [A-Z][a-z]{{2}}) {_CLOCK}\] {_SAID}"),
}
_STAMPED = re.compile(
    rf"(?:\[?(?:{_ISO_DAY}[T ]|\d{{1,2}} [A-Z][a-z]{{2}} )?{_CLOCK}\]?|[A-Z][a-z]{{2}} \d\d \d\d:\d\d:\d\d)[ \t].*"
)
"""A line with a time on which nobody says anything: somebody joins, or a mode is set."""
_DAY = re.compile(
    r"(?:--- (?:Log opened|Log closed|Day changed)|\*{4} (?:BEGIN|ENDING) LOGGING AT|Session \w+:) (?P<when>.*\d)?.*"
)
_DATED_FILE = re.compile(r"(?:.*[_.-])?(\d{4})-?(\d\d)-?(\d\d)(?:\.[a-z]{1,8})*", re.ASCII)
_DAILY = re.compile(r"\d{4}-\d\d-\d\d\.log", re.ASCII)
_COLOUR = re.compile(r"\x03(?:\d{1,2}(?:,\d{1,2})?)?|[\x02\x0f\x11\x16\x1d-\x1f]")
_FIRST_LINES, _FEWEST = 200, 2


class IrcReader(DraftReader):
    """Reads a file, or a folder of daily files, as a conversation under its name. Times are local; turns have ids."""

    name = "irc"
    suffixes = (".weechatlog", ".txt")
    sign = "lines such as `10:36 <mira> text`, or a time, a nick and a text between tabs"
    is_of_people = True

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether half of the first lines are in one program's style, and two of them say something."""
        if glimpse.folder is None:
            return _is_log(glimpse.head)
        return any(_is_log(_head_of(file)) for file in _days_in(glimpse.folder)[:1])

    def _drafts(self, source: Source) -> Iterator[Draft]:
        draft = Draft(title=Path(source.file).name if source.folder is not None else None)
        files = [source] if source.folder is None else [source.part(file) for file in _days_in(source.folder)]
        openings = (opening for file in files for opening in _openings_in(draft, file))
        messages = messages_from_openings(draft, openings)
        return draft.fill(messages)


def _days_in(folder: Place) -> list[Place]:
    """Return the files of a channel's days, sorted; none if the folder holds other files too."""
    try:
        files = [file for file in folder.iterdir() if not file.name.startswith(".")]
        return sorted(files, key=str) if files and all(_DAILY.fullmatch(file.name) for file in files) else []
    except OSError:
        return []  # the reader will say why it cannot be read


def _head_of(file: Place) -> str:
    try:
        return Source.from_path(file).head
    except InputError:
        return ""


def _is_log(head: str) -> bool:
    lines = [line for line in head.split("\n") if line.strip()][:_FIRST_LINES]
    said = sum(map(bool, map(style.fullmatch, lines))) if (style := _style_of(lines)) else 0
    others = sum(bool(_DAY.fullmatch(line) or _STAMPED.fullmatch(line)) for line in lines)
    return said >= min(_FEWEST, len(lines)) and 2 * max(said, others) >= len(lines)


def _style_of(lines: list[str]) -> re.Pattern[str] | None:
    """Return the style that most of the lines match; None if no line matches any."""
    counts = {style: sum(map(bool, map(style.fullmatch, lines))) for style in STYLES.values()}
    best = max(STYLES.values(), key=counts.__getitem__)
    return best if counts[best] else None


@dataclass(slots=True)
class _Day:
    """The day of the current lines, as far as it is known."""

    text: str = ""

    def at(self, match: re.Match[str]) -> Stamp | None:
        """Return the time of a line; None if its day is unknown."""
        day = match.groupdict().get("day") or self.text
        if match.re is STYLES["HexChat"]:
            day = f"{day} {self.text[:4]}" if self.text else ""
        try:
            return stamp_from_text(f"{day} {match['clock']}") if day[-4:].isdigit() or day[:4].isdigit() else None
        except ValueError:
            return None

    def turn(self, when: str | None) -> None:
        """Take the day from a line that names it."""
        try:
            stamp = stamp_from_text(when or "")
        except ValueError:
            stamp = None
        self.text = self.text if stamp is None else f"{stamp.moment:%Y-%m-%d}"


def _openings_in(draft: Draft, source: Source) -> Iterator[Opening]:
    """Yield one opening for each message in the file."""
    dated = _DATED_FILE.fullmatch(Path(source.file).stem)
    day = _Day()
    day.turn("-".join(dated.groups()) if dated else None)
    style = _style_of([line for line in source.head.split("\n") if line.strip()])
    for _, line in source.lines():
        if header := _DAY.fullmatch(line):
            day.turn(header["when"])
        elif style is not None and (match := style.fullmatch(line)):
            yield _opening(match, day.at(match))
        elif line.strip():
            is_known = _STAMPED.fullmatch(line) is not None
            draft.count("notices left out" if is_known else "lines outside any message left out")


def _opening(match: re.Match[str], said: Stamp | None) -> Opening:
    """Return the message: its speaker, its time, and what was said or done."""
    who, text, actor = match["who"], match["text"], match.groupdict().get("actor")
    return Opening(actor or who, said, _COLOUR.sub("", f"{actor} {match['deed']}" if actor else text))
