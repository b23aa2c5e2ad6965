"""Reads what was said in meetings: subtitles (WebVTT and SubRip) of Teams, Zoom and others, and timed lines.

WebVTT is the W3C's (2019), with the speaker as ``<v Name>`` or before a colon. Timed lines are
``[00:00:01] Name: text``. Zoom's saved chats are ``10:36:02 From Mira to Everyone: text``. Their text may be indented
below, since 2022 the day precedes the clock, and chats of recordings have tabs. Otter.ai's text export has
``Mira Holt  0:07`` above what is said.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.reading.drafts import Draft, Message, conversations_from_drafts
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.messenger import are_log_levels
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import Stamp

_CLOCK = r"(?:(?P<hour>\d{1,3}):)?(?P<minute>\d\d):(?P<second>\d\d)(?:[.,]\d{1,3})?"
_CUE = re.compile(rf"\s*{_CLOCK}\s+-->\s+[\d:.,]+.*")
_LINE = re.compile(rf"[\[(]{_CLOCK}[\])] ?(?P<speaker>[^\W\d_][^:\n]{{0,59}}): ?(?P<text>.*)")
_CHAT = re.compile(
    rf"(?:(?P<day>\d{{4}}-\d\d-\d\d)\s+)?{_CLOCK}\s+(?:From|Von|De|Da)\s+(?P<speaker>[^:\n]{{1,60}}?)(?:\s+(?:to|an|à|a)\s+[^:\n]{{1,60}}?)?\s*:\s*(?P<text>.*)"
)
_CLOUD = re.compile(rf"{_CLOCK}\t(?P<speaker>[^\W\d_][^:\t\n]{{0,59}}):\t(?P<text>.*)")
_HEAD = re.compile(
    r"(?P<speaker>[^\W\d_][^:\n]{0,59}?) {2,}(?:(?P<hour>\d{1,3}):)?(?P<minute>\d{1,2}):(?P<second>\d\d) *(?P<text>)"
)
_FOOTER = re.compile(r"\n\s*Transcribed by https://otter\.ai\s*\Z")
_VOICE = re.compile(r"<v(?:\.[^ >]*)? (?P<speaker>[^<>]{1,100})>")
_TITLE = r"(?:(?:Dr|Mr|Mrs|Ms|Prof|St|Sr|Sra|Srta)\. ){0,2}"
_NAMED = re.compile(rf"(?P<speaker>{_TITLE}[^\W\d_][^:\n.!?]{{0,59}}): (?P<text>.+)", re.DOTALL)
_TAG = re.compile(r"</?[a-z][^<>]*>|<\d[\d:.]*>", re.IGNORECASE)
_DAY = re.compile(r"(?<!\d)(20\d\d)[-_. ]?(\d\d)[-_. ]?(\d\d)(?!\d)")
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


class SubtitlesReader:
    """Reads a file as one conversation. Times are on the day in the file's name, and unknown without one."""

    name = "subtitles"
    suffixes = (".vtt", ".srt", ".txt")
    sign = "`00:00:01.000 --> 00:00:04.000` and who says what, or lines `[00:00:01] Name: text`"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the first lines have cues, or two of them a time, a name and a colon."""
        lines = [line for line in glimpse.head.split("\n") if line.strip()][:_FIRST_LINES]
        if any(map(_CUE.fullmatch, lines[:_FIRST_CUE])):
            is_named = any(_VOICE.search(line) or _NAMED.fullmatch(line.strip()) for line in lines)
            return is_named or glimpse.suffix != ".txt"  # subtitles of a film, which name nobody, end in .srt
        if sum(_heads(line, below) for line, below in pairwise(lines)) >= _FEWEST and _HEAD.fullmatch(lines[0]):
            return 3 * sum(map(bool, map(_HEAD.fullmatch, lines))) >= len(lines)
        lines = [line for line in lines if not line.startswith("\t")]
        found = [match for line in lines if (match := _said_on(line))]
        names = [match["speaker"] for match in found]
        fewest = 1 if any(map(_CHAT.fullmatch, lines[:1])) else _FEWEST
        return len(found) >= fewest and 2 * len(found) >= len(lines) and not are_log_levels(names)

    def read(self, source: Source) -> Iterator[Conversation]:
        """Yield the file's conversation.

        Raises:
            InputError: nobody says anything in it, or it cannot be read.
        """
        draft, day = Draft(), _day_in(Path(source.file).stem)
        messages = (Message(cue.speaker, cue.text, _said(cue, day)) for cue in _joined(_cues(source)))
        return conversations_from_drafts(source, self.name, draft.fill(messages))


def _said_on(line: str) -> re.Match[str] | None:
    """Return the match if the line has one of the forms with time, speaker and text on one line."""
    forms = (_LINE,) if line[:1] in ("[", "(") else (_CHAT, _CLOUD) if line[:1].isdigit() else ()
    return next((match for form in forms if (match := form.fullmatch(line))), None)


def _heads(line: str, below: str) -> bool:
    """Say whether the line names the speaker of the text below; in a list of songs, another song follows."""
    return _HEAD.fullmatch(line) is not None and _HEAD.fullmatch(below) is None


def _said(cue: _Cue, day: datetime | None) -> Stamp | None:
    """Return the time of the cue, on its own day or on the file's."""
    day = cue.day or day
    return None if day is None or cue.at is None else Stamp(day + cue.at)


def _day_in(text: str) -> datetime | None:
    """Return the day that the text names, None if there is none."""
    found = _DAY.search(text)
    try:
        return None if found is None else datetime(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None


def _cues(source: Source) -> Iterator[_Cue]:
    """Yield the cues of subtitles, timed lines or Otter's text, with their lines."""
    at: timedelta | None = None
    day: datetime | None = None
    has_begun = False
    texts: list[str] = []
    speaker = ""
    is_headed = False
    for _, line in source.lines():
        cue = None if is_headed or "-->" not in line else _CUE.fullmatch(line)
        head = _HEAD.fullmatch(line) if is_headed or not has_begun else None
        said = head if is_headed else _said_on(line) or head
        if cue is not None or said is not None:
            if has_begun:
                yield _cue(at, day, speaker, texts)
            is_headed = is_headed or (said is not None and said is head)
            has_begun, texts, speaker = True, [], ""
            day = _day_in(said["day"] or "") if said is not None and said.re is _CHAT else None
            at = _since_start(cue) if cue is not None else None
            if said is not None:
                at = _since_start(said) if said["hour"] or is_headed else None
                speaker, texts = said["speaker"].strip(), [said["text"]]
        elif has_begun:
            texts.append(line)
    if has_begun:
        yield _cue(at, day, speaker, texts)


def _cue(at: timedelta | None, day: datetime | None, speaker: str, lines: list[str]) -> _Cue:
    """Return the cue without tags. The next cue's number or name follows a blank line, and is dropped."""
    text = _FOOTER.sub("", "\n".join(line.removeprefix("\t") for line in lines))
    if not speaker:
        text = text.partition("\n\n")[0]
        voice = _VOICE.search(text)
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
