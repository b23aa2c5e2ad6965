"""How questions and facts read in a prompt."""

from __future__ import annotations

from datetime import datetime

from goalmem_cli.asking import Reply, ask, ask_whole, in_one_line, parse_json
from goalmem_cli.logic.questions import speaks_of_asker
from goalmem_cli.records import Question
from goalmem_cli.trace import Fact

__all__ = [
    "Reply",
    "ask",
    "ask_whole",
    "asker_in",
    "fact_line",
    "parse_json",
    "said_line",
    "say_day",
    "say_time",
]


def asker_in(question: Question) -> str:
    """Return who asks, where the question speaks of them; empty otherwise, since a small model brings up every name."""
    return in_one_line(question.asker or "") if speaks_of_asker(question.text) else ""


def say_time(moment: datetime | None) -> str:
    """Return a time as the prompts write it: 6:20 pm, 21 May 2023."""
    if moment is None:
        return "time unknown"
    hour = moment.hour % 12 or 12
    half = "am" if moment.hour < 12 else "pm"
    return f"{hour}:{moment.minute:02d} {half}, {say_day(moment)}"


def say_day(moment: datetime) -> str:
    """Return the day as the prompts write it: 21 May 2023."""
    return f"{moment.day} {moment:%B} {moment.year}"


def fact_line(fact: Fact) -> str:
    """Return the fact as one numbered line of a prompt."""
    return f"{fact.number}. {said_line(fact)}"


def said_line(fact: Fact) -> str:
    """Return who said what, and when, as one line of a prompt; whatever breaks lines in it does not."""
    said = f"said {say_time(fact.said)}" if fact.said is not None else say_time(None)
    about = "; ".join((said, *map(in_one_line, fact.times)))
    speaker = f"{in_one_line(fact.speaker)}: " if fact.speaker else ""  # what several said has none
    return f"{speaker}{in_one_line(fact.text)} [{about}]"
