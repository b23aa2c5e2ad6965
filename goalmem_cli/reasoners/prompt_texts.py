"""Words questions and facts for prompts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from goalmem_cli.languages.finding import ENGLISH, language_asked, spoken_in
from goalmem_cli.languages.names import name_of
from goalmem_cli.languages.words import words_of
from goalmem_cli.logic.dates import with_days_in_words
from goalmem_cli.logic.forms import time_in, weekday_of, with_its_day
from goalmem_cli.logic.people import with_owners
from goalmem_cli.logic.questions import asks_for_weekday, asks_when, speaks_of_asker
from goalmem_cli.model_replies import in_one_line
from goalmem_cli.ports import Reasoner
from goalmem_cli.records import Question
from goalmem_cli.trace import Fact, Trace

VERDICTS = ("yes", "no", "likely yes", "likely no")
"""The answers to a question of yes or no, as reasoners give them."""


def asker_in(question: Question) -> str:
    """Return the asker's name if the question says "I" or "my", else an empty text: small models use any name given."""
    return in_one_line(question.asker or "") if speaks_of_asker(question.text) else ""


def asked_in(text: str, facts: Iterable[Fact] = ()) -> str:
    """Return a question as a prompt with these facts shows it, with the language to answer in if not all is in English.

    What is in English alone stays as it is: certainties were fitted to that.
    """
    language = language_asked(text)
    is_plain = not language or (
        language == ENGLISH and {spoken_in(fact.conversation) for fact in facts} <= {"", ENGLISH}
    )
    return text if is_plain else f"{text} (Answer in {name_of(language)}.)"


def say_time(moment: datetime | None) -> str:
    """Return a time as the prompts write it: 6:20 pm, 21 May 2023."""
    if moment is None:
        return "time unknown"
    return f"{say_clock(moment)}, {say_day(moment)}"


def say_clock(moment: datetime) -> str:
    """Return the time of day as the prompts write it: 6:20 pm."""
    return f"{moment.hour % 12 or 12}:{moment.minute:02d} {'am' if moment.hour < 12 else 'pm'}"


def say_day(moment: datetime) -> str:
    """Return the day as the prompts write it: 21 May 2023."""
    return f"{moment.day} {moment:%B} {moment.year}"


def fact_line(fact: Fact) -> str:
    """Return the fact as one numbered line of a compact prompt."""
    return f"{fact.number}. {said_line(fact)}"


def said_line(fact: Fact) -> str:
    """Return who said what, and when, as one line of a compact prompt."""
    said = f"said {say_time(fact.said)}" if fact.said is not None else say_time(None)
    return told_words(_named(fact), fact.text, fact.times, said)


def told_line(fact: Fact, said: str = "") -> str:
    """Return who said what to whom as one line of a full prompt. `said` is the time, if no heading above shows it."""
    return told_words(saying_to(_named(fact), fact.to), fact.text, fact.times, said)


def named_as(author: str, by: str, *, is_quoted: bool) -> str:
    """Return the author's name, with who forwarded or quoted the words if `by` is given."""
    return f"{author} ({'quoted' if is_quoted else 'forwarded'} by {by})" if by else author


def _named(fact: Fact) -> str:
    return named_as(fact.speaker, fact.quoted_by or fact.forwarded_by, is_quoted=bool(fact.quoted_by))


def saying_to(speaker: str, to: str) -> str:
    """Return "speaker to hearer", as far as both are known."""
    return f"{speaker} to {to}" if speaker and to else speaker


def told_words(speaker: str, text: str, times: Sequence[str], said: str) -> str:
    """Return a fact's line: "speaker: text [said; times]". Line breaks in the parts become spaces."""
    about = "; ".join((*filter(None, (said,)), *map(in_one_line, times)))
    named = f"{in_one_line(speaker)}: " if speaker else ""  # what several said has none
    return f"{named}{with_days_in_words(in_one_line(text))}{about and f' [{about}]'}"


def in_words(question: Question) -> Question:
    """Return the question with its days written as facts have them (16.01.2024: 16 January 2024).

    Without such days the same object is returned.
    """
    text = with_days_in_words(question.text)
    return question if text == question.text else replace(question, text=text)


class DaysInWords:
    """Wraps a reasoner and writes the question's days as facts have them.

    It does not suit `oracle`, which knows its questions by identity and words them itself.
    """

    def __init__(self, reasoner: Reasoner) -> None:
        self._reasoner = reasoner

    def answer(self, question: Question) -> Trace:
        """Return the reasoner's trace with the question as it was asked."""
        return replace(self._reasoner.answer(in_words(question)), question=question.text)


class AsAsked:
    """Wraps a reasoner and words answers for who asks: in the question's language, with names for "my" and "your"."""

    def __init__(self, reasoner: Reasoner) -> None:
        self._reasoner = reasoner

    def answer(self, question: Question) -> Trace:
        """Return the reasoner's trace with its answer, guess and values in conflict worded for who asks.

        A verdict or a time is in the question's language, a day that is asked for as a weekday is one, and "my" and
        "your" become names (`with_owners`).
        """
        trace = self._reasoner.answer(question)

        def worded(answer: str, numbers: Sequence[str]) -> str:
            return _as_asked(answer, question, [trace.facts[number] for number in numbers if number in trace.facts])

        guess = trace.guess and replace(trace.guess, answer=worded(trace.guess.answer, trace.guess.evidence))
        sides = tuple(replace(side, value=worded(side.value, side.facts)) for side in trace.conflict)
        return replace(trace, answer=trace.answer and worded(trace.answer, trace.evidence), guess=guess, conflict=sides)


def _as_asked(answer: str, question: Question, cited: Sequence[Fact]) -> str:
    told = words_of(question.text)
    if told is None:
        if asks_when(question.text):
            answer = with_its_day(answer, [fact.text for fact in cited])
        named = with_owners(answer, cited, question.text, question.asker)
        return weekday_of(named) if asks_for_weekday(question.text) else named
    return told.says(answer) if answer in VERDICTS else time_in(answer, told.code)
