"""Read REALTALK's questions, with speakers renamed to their names in the turns.

The published questions use other names for some speakers: turns of ``Emi`` answer questions about ``Kate``, and
``Elisa`` is a misspelling of ``elise``. A name is replaced only if the file itself identifies the speaker:

- The events and the `name` object give a pair of names, one for each speaker. If one of the pair is a speaker's name
  (or a word of it), the other belongs to the other speaker.
- A name that no turn mentions is a misspelling if it differs from a known name in at most two letters after the third.

If neither name of a pair is a speaker's, both are left, and the questions with them are counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.datasets.locomo import case_from_question, questions_of
from goalmem_cli.lab.evaluation.datasets.questions import Repair
from goalmem_cli.transcripts.readers.locomo import numbered_sessions
from goalmem_cli.transcripts.readers.realtalk import drafts_from_chat
from goalmem_cli.transcripts.reading.drafts import names_of_drafts
from goalmem_cli.transcripts.reading.nodes import Node, records
from goalmem_cli.transcripts.reading.source import Source

CATEGORIES: Mapping[str, str] = {"1": "multi-hop", "2": "temporal", "3": "commonsense"}

_UNKNOWN = "questions that name a speaker of whom the turns do not tell which one it is, left so"
_NAME = re.compile(r"\b[^\W\d_a-z][^\W\d_]+\b")
_WORD = re.compile(r"[^\W\d_]+")
_SHORTEST, _SAME, _SLIPS = 5, 3, 2


@dataclass(frozen=True, slots=True)
class Speakers:
    """The speakers of a chat with their other names, and the words of its turns. Keys are casefolded.

    `names` maps every known name to the speaker's name in the turns. `unknown` are speakers' names that cannot be
    assigned.
    """

    names: Mapping[str, str]
    unknown: frozenset[str]
    said: frozenset[str]

    @classmethod
    def from_chat(cls, chat: Node) -> Speakers:
        """Read a chat's turns, events and `name`.

        Raises:
            InputError: the chat has another layout; the place is the path to the value.
        """
        turns = [turn for key in numbered_sessions(chat) for turn in _listed(chat.child(key))]
        names = {speaker.casefold(): speaker for turn in turns if (speaker := turn.child("speaker").optional_text())}
        speakers = tuple(names.values())
        unknown: set[str] = set()
        for pair in (_named(chat), _subjects(chat)):
            if len(speakers) != 2 or not all(pair):
                continue
            told = _matched(pair, speakers, names)
            names |= told
            unknown |= set() if told else {name.casefold() for name in pair}
        said = {word.casefold() for turn in turns for word in _WORD.findall(turn.child("clean_text").optional_text())}
        return cls(names, frozenset(unknown - names.keys()), frozenset(said))

    def speaker(self, name: str) -> str | None:
        """Return the name in the turns of the speaker with this name, or None."""
        folded = name.casefold()
        if folded in self.names:
            return self.names[folded]
        if folded in self.said or len(folded) < _SHORTEST:
            return None
        near = {speaker for known, speaker in self.names.items() if _is_slip(folded, known)}
        return near.pop() if len(near) == 1 else None


def read_cases(source: Source, repairs: Counter[str]) -> Iterator[Case]:
    """Yield the questions of the file's chats and count repairs; a chat may have none.

    Raises:
        InputError: the file cannot be read or is not in REALTALK's layout; the place is the path to the value.
    """
    chats = list(records(source))
    drafts = [list(drafts_from_chat(chat))[-1] for chat in chats]
    for chat, draft, name in zip(chats, drafts, names_of_drafts(source, drafts), strict=True):
        questions = questions_of(chat)
        if not draft.is_begun:
            repairs[Repair.NO_MESSAGES] += len(questions)
            continue
        speakers = Speakers.from_chat(chat)
        for number, question in enumerate(questions, 1):
            case = case_from_question(question, f"{name}:{number}", name, draft.message_ids, CATEGORIES, repairs)
            yield _renamed(case, speakers, repairs)


def _renamed(case: Case, speakers: Speakers, repairs: Counter[str]) -> Case:
    """Return the case with the speakers' names replaced in question and answer."""
    replaced: set[tuple[str, str]] = set()

    def one(match: re.Match[str]) -> str:
        name = match[0]
        speaker = speakers.speaker(name)
        if speaker is None or name.casefold() in _WORD.findall(speaker.casefold()):
            return name
        speaker = speaker[:1].upper() + speaker[1:]
        replaced.add((name, speaker))
        return speaker

    question = _NAME.sub(one, case.question)
    answer = None if case.answer is None else _NAME.sub(one, case.answer)
    for name, speaker in replaced:
        repairs[f"questions that say {name} for {speaker}, renamed"] += 1
    words = {word.casefold() for word in _NAME.findall(f"{case.question} {case.answer}")}
    repairs[_UNKNOWN] += not words.isdisjoint(speakers.unknown)
    return replace(case, question=question, answer=answer)


def _listed(node: Node) -> list[Node]:
    return [] if node.value is None else node.elements()


def _named(chat: Node) -> tuple[str, str]:
    """Return the two names of the `name` object, or blanks."""
    name = chat.child("name")
    if name.value is None:
        return "", ""
    return name.child("speaker_1").optional_text(), name.child("speaker_2").optional_text()


def _subjects(chat: Node) -> tuple[str, str]:
    """Return the name with which most events of each speaker begin, or "" if there is none."""
    first: dict[str, Counter[str]] = {"agent_a": Counter(), "agent_b": Counter()}
    for key in numbered_sessions(chat):
        events = chat.child(f"events_{key}")
        for agent in first if events.value is not None else ():
            texts = [event.child("sub-event").optional_text() for event in _listed(events.child(agent))]
            first[agent].update(match[0] for text in texts if (match := _NAME.match(text)))
    most = [counts.most_common(1)[0] if counts else ("", 0) for counts in first.values()]
    totals = [counts.total() for counts in first.values()]
    (a, b) = (name if 2 * times > total else "" for (name, times), total in zip(most, totals, strict=True))
    return a, b


def _matched(pair: tuple[str, str], speakers: Sequence[str], names: Mapping[str, str]) -> dict[str, str]:
    """Return the speakers of a pair of names if one of them is known and the other fits the other speaker."""
    known = [_known(name, names) for name in pair]
    if known[0] == known[1]:
        return {}
    for place in (0, 1):
        if known[place] is None:
            known[place] = next(speaker for speaker in speakers if speaker != known[1 - place])
    return {name.casefold(): speaker for name, speaker in zip(pair, known, strict=True) if speaker is not None}


def _known(name: str, names: Mapping[str, str]) -> str | None:
    """Return the only speaker whose names share a word with this name, or None."""
    words = set(_WORD.findall(name.casefold()))
    found = {speaker for known, speaker in names.items() if words & set(_WORD.findall(known))}
    return found.pop() if len(found) == 1 else None


def _is_slip(name: str, known: str) -> bool:
    slips = sum(one != other for one, other in zip(name, known, strict=False))
    return len(name) == len(known) and name[:_SAME] == known[:_SAME] and slips <= _SLIPS
