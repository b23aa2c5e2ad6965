"""Reads what was said in meetings: subtitles (WebVTT and SubRip) of Teams, Zoom and others, and timed lines.

WebVTT is the W3C's (2019), with the speaker as ``<v Name>`` or before a colon. Timed lines are
``[00:00:01] Name: text``. Zoom's saved chats are ``10:36:02 From Mira to Everyone: text``. Their text may be indented
below, since 2022 the day precedes the clock, and chats of recordings have tabs. Its saved captions have
``[Mira Holt] 10:36:02`` above what is said, and Otter.ai's text export has ``Mira Holt  0:07``. Zoom names its folders
by the day, and recordings by when they began.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import NearMisses, are_log_levels
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp

_CLOCK = r"(?:(?P<hour>\d{1,3}):)?(?P<minute>\d\d):(?P<second>\d\d)(?:[.,]\d{1,3})?"
_CUE = re.compile(
    r"\s*(?:(?P<hour>\d{1,3}):)?(?P<minute>\d{1,2}):(?P<second>\d{1,2})(?:[.,]\d{1,3})?\s+-->\s+[\d:.,]+.*"
)
_LINE = re.compile(rf"[\[(]{_CLOCK}[\])] ?(?P<speaker>[^\W\d_][^:\n]{{0,59}}): ?(?P<text>.*)")
_CHAT = re.compile(
    rf"(?:(?P<day>\d{{4}}-\d\d-\d\d)\s+)?{_CLOCK}\s+(?:From|Von|De|Da)\s+(?P<speaker>[^:\n]{{1,120}}?)(?:\s+(?:[Tt]o|an|à|a)\s+[^:\n]{{1,120}}?)?\s*:\s*(?P<text>.*)"
)
_CLOUD = re.compile(rf"{_CLOCK}\t(?P<speaker>[^\W\d_][^:\t\n]{{0,119}}):\t(?P<text>.*)")
_HEAD = re.compile(
    r"(?P<speaker>[^\W\d_][^:\n]{0,59}?) {2,}(?:(?P<hour>\d{1,3}):)?(?P<minute>\d{1,2}):(?P<second>\d\d) *(?P<text>)"
)
_CAPTION = re.compile(rf"\[(?P<speaker>[^\[\]\n]{{1,120}})\] {_CLOCK} *(?P<text>)")
_NEARLY = re.compile(r"(?:\d{4}-\d\d-\d\d\s+)?\d\d:\d\d:\d\d\s+From\s")
_FOOTER = re.compile(r"\n\s*Transcribed by https://otter\.ai\s*\Z")
_VOICE = re.compile(r"<v(?:\.[^ >]*)? (?P<speaker>[^<>]{1,100})>")
_TITLE = r"(?:(?:Dr|Mr|Mrs|Ms|Prof|St|Sr|Sra|Srta)\. ){0,2}"
_NAMED = re.compile(rf"(?P<speaker>{_TITLE}[^\W\d_][^:\n.!?]{{0,59}}): (?P<text>.+)", re.DOTALL)
_TAG = re.compile(r"</?[a-z][^<>]*>|<\d[\d:.]*>", re.IGNORECASE)
_DAY = re.compile(r"(?<!\d)(20\d\d)[-_. ]?(\d\d)[-_. ]?(\d\d)(?!\d)")
_DATED = re.compile(r"20\d\d-?\d\d-?\d\d(?: \d\d\.\d\d\.\d\d .*)?")
"""A folder that is named by the day, as Zoom's folder of a meeting is."""
_RECORDED = re.compile(r"GMT(\d{8}-\d{6})_Recording")
"""What Zoom calls its recordings and their chats: when they began."""
_FIRST_LINES = 40
_FIRST_CUE = 6
_FEWEST = 2


@dataclass(frozen=True, slots=True)
class _Cue:
    """What is said from a time on; `speaker` is "" if it is the speaker before.

    `at` is None if the time may be one since the beginning or one of the day: ``[09:14]``. `day` is set if the line has
    it.
    """

    at: timedelta | None
    speaker: str
    text: str
    day: datetime | None = None


_Begun = tuple[timedelta | None, str, datetime | None]
"""The time, speaker and day with which a cue begins."""


class SubtitlesReader(DraftReader):
    """Reads a file as one conversation. Times are on the day in the name of the file or its folder, else unknown."""

    name = "subtitles"
    suffixes = (".vtt", ".srt", ".txt")
    sign = "`00:00:01.000 --> 00:00:04.000` and who says what, or lines `[00:00:01] Name: text`"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the first lines have cues, or two of them a time, a name and a colon."""
        lines = [line for line in glimpse.head.split("\n") if line.strip()][:_FIRST_LINES]
        if any(map(_CUE.fullmatch, lines[:_FIRST_CUE])):
            is_named = any(_VOICE.search(line) or _NAMED.fullmatch(line.strip()) for line in lines)
            return is_named or glimpse.suffix != ".txt"  # subtitles of a film, which name nobody, end in .srt
        if sum(_heads(line, below) for line, below in pairwise(lines)) >= _FEWEST and _head_of(lines[0]):
            return 3 * sum(map(bool, map(_head_of, lines))) >= len(lines)
        lines = [line for line in lines if not line.startswith("\t")]
        found = [match for line in lines if (match := _said_on(line))]
        names = [match["speaker"] for match in found]
        fewest = 1 if any(map(_CHAT.fullmatch, lines[:1])) else _FEWEST
        return len(found) >= fewest and 2 * len(found) >= len(lines) and not are_log_levels(names)

    def _drafts(self, source: Source) -> Iterator[Draft]:
        draft, day = Draft(), _day_of(Path(source.file))
        messages = (Message(cue.speaker, cue.text, _said(cue, day)) for cue in _joined(_cues(source, draft)))
        return draft.fill(messages)


def _said_on(line: str) -> re.Match[str] | None:
    """Return the match if the line has one of the forms with time, speaker and text on one line."""
    if line.startswith(("[", "(")):
        return _LINE.fullmatch(line)
    return _CHAT.fullmatch(line) or _CLOUD.fullmatch(line) if line[:1].isdigit() else None


def _head_of(line: str) -> re.Match[str] | None:
    """Return the match if the line has only a speaker and a time, for the text below."""
    return (_CAPTION if line.startswith("[") else _HEAD).fullmatch(line)


def _heads(line: str, below: str) -> bool:
    """Say whether the line names the speaker of the text below; in a list of songs, another song follows."""
    return _head_of(line) is not None and _head_of(below) is None


def _said(cue: _Cue, day: datetime | None) -> Stamp | None:
    """Return the time of the cue, on its own day or on the file's."""
    day = cue.day or day
    return None if day is None or cue.at is None else Stamp(day + cue.at)


def _day_of(file: Path) -> datetime | None:
    """Return when a recording of Zoom began, else the day that the file's name or its folder's is."""
    if recorded := _RECORDED.match(file.stem):
        return _moment(f"{recorded[1]}+0000", "%Y%m%d-%H%M%S%z")
    folder = file.parent.name
    return _day_in(file.stem) or (_day_in(folder) if _DATED.fullmatch(folder) else None)


def _day_in(text: str) -> datetime | None:
    """Return the day that the text names, None if there is none."""
    found = _DAY.search(text)
    return None if found is None else _moment("".join(found.groups()), "%Y%m%d")


def _moment(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form)
    except ValueError:
        return None


def _cues(source: Source, draft: Draft) -> Iterator[_Cue]:
    """Yield the cues of subtitles, timed lines or text below heads; lines that nobody says are counted in the draft."""
    begun: _Begun | None = None
    texts: list[str] = []
    is_headed = False
    near_misses = NearMisses(draft, _NEARLY, source)
    for _, line in source.lines():
        cue = None if is_headed or "-->" not in line else _CUE.fullmatch(line)
        head = _head_of(line) if is_headed or begun is None else None
        said = head if is_headed or cue is not None else _said_on(line) or head
        if cue is None and said is None:
            if "From" in line:
                near_misses.look_at(line)
            texts.append(line)
            continue
        if begun is not None:
            yield _cue(begun, texts)
        elif cue is None:
            draft.count_stray(sum(map(bool, map(str.strip, texts))))
        is_headed = is_headed or (said is not None and said is head)
        begun, texts = _begun(cue, said, is_headed), [] if said is None else [said["text"]]
    if begun is not None:
        yield _cue(begun, texts)


def _begun(cue: re.Match[str] | None, said: re.Match[str] | None, is_headed: bool) -> _Begun:
    """Return the beginning of a cue."""
    if said is None:
        return _since_start(cue) if cue is not None else None, "", None
    at = _since_start(said) if said["hour"] or is_headed else None
    return at, said["speaker"].strip(), _day_in(said["day"] or "") if said.re is _CHAT else None


def _cue(begun: _Begun, lines: list[str]) -> _Cue:
    """Return the cue without tags. The next cue's number or name follows a blank line, and is dropped."""
    at, speaker, day = begun
    text = "\n".join([line.removeprefix("\t") for line in lines])
    text = _FOOTER.sub("", text) if "Transcribed by" in text else text
    if not speaker:
        text = text.partition("\n\n")[0]
        voice = _VOICE.search(text) if "<v" in text else None
        speaker = voice["speaker"].strip() if voice else ""
    text = html.unescape(_TAG.sub("", text) if "<" in text else text).strip()
    named = None if speaker else _NAMED.fullmatch(text)
    return _Cue(at, named["speaker"].strip(), named["text"].strip(), day) if named else _Cue(at, speaker, text, day)


def _since_start(found: re.Match[str]) -> timedelta:
    return timedelta(hours=int(found["hour"] or 0), minutes=int(found["minute"]), seconds=int(found["second"]))


def _joined(cues: Iterable[_Cue]) -> Iterator[_Cue]:
    """Yield the cues; consecutive cues of one speaker are joined."""
    held: _Cue | None = None
    for cue in cues:
        if not cue.text:
            continue
        if held is not None and cue.speaker in ("", held.speaker):
            held = replace(held, text=f"{held.text} {cue.text}")
            continue
        if held is not None:
            yield held
        held = cue if cue.speaker else replace(cue, speaker="unknown")
    if held is not None:
        yield held
