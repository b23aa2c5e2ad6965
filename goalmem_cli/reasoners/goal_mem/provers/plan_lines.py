"""Plans in the form of the compact prompts: writes them (for training), reads them, and fills their grammar."""

from __future__ import annotations

import re
from collections.abc import Sequence

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.logic import Atom, Variable
from goalmem_cli.logic.computing.question_words import computed_step, plain_answer
from goalmem_cli.logic.questions import (
    asks_for_current_state,
    asks_for_something,
    asks_yes_or_no,
    kinds_asked_for,
    may_ask_for_several,
)
from goalmem_cli.reasoners.goal_mem.plan_texts import parse_plan, parse_reply_atom
from goalmem_cli.reasoners.goal_mem.records import Plan
from goalmem_cli.reasoners.prompt_texts import asker_in
from goalmem_cli.records import Question

_WORD, _CAPITAL = re.compile(r"\w+"), re.compile("[A-Z0-9]")
_ADDRESSED = "Assistant"
"""The name for "you" in a question."""
_SUBGOAL = re.compile(r"\d\. (.+)")


def write_plan(goal: str, subgoals: Sequence[str]) -> str:
    """Return a plan as a reply: the goal, whose variables are the answer's, then one numbered line per subgoal."""
    return "\n".join((goal, *(f"{number}. {text}" for number, text in enumerate(subgoals, start=1))))


def read_plan(text: str, question: Question) -> Plan:
    """Return the plan of a reply. If its subgoals lack an answer variable, the goal is the only subgoal.

    A subgoal that only counts the time between two dates becomes an expression, since small models miscount.

    Raises:
        ReplyUnusable: the reply has another form, or is no plan for the question.
    """
    goal, *rest = text.strip().split("\n")
    matches = [_SUBGOAL.fullmatch(line) for line in rest]
    if not matches or None in matches:
        raise ReplyUnusable("it must be a goal line and numbered subgoals")
    subgoals = [match[1] for match in matches if match is not None]
    answer = [variable.name for variable in parse_reply_atom(goal).variables]
    said = {variable.name for subgoal in subgoals for variable in parse_reply_atom(subgoal).variables}
    if not said.issuperset(answer):
        subgoals = [goal]
    atoms = [parse_reply_atom(subgoal) for subgoal in subgoals]
    step = computed_step(answer[0], atoms) if len(answer) == 1 else None
    if step is not None:
        at, expression = step
        rest = [*subgoals[:at], *subgoals[at + 1 :]]
        return parse_plan(question, goal, rest, [expression], {}, asks_for_current_state(question.text))
    wanted = [variable for name in answer for variable in _having(name, atoms)]
    computed = plain_answer(question.text, wanted, atoms)
    return parse_plan(question, goal, subgoals, computed, {}, asks_for_current_state(question.text))


def _having(name: str, atoms: Sequence[Atom]) -> list[Variable]:
    """Return the variable as the first subgoal with it writes it: a list of one, or none."""
    return [variable for atom in atoms for variable in atom.variables if variable.name == name][:1]


def plan_choices(question: Question) -> dict[str, list[str]]:
    """Return the choices for the grammar of a plan: the goal's variables, their types, and the names it may use."""
    is_several = may_ask_for_several(question.text)
    return {
        "kinds": [] if is_several else list(kinds_asked_for(question.text)),
        "open": ["x"] if asks_for_something(question.text) else [],
        "several": ["x and y"] if is_several else [],
        "closed": ["yes or no"] if asks_yes_or_no(question.text) else [],
        "names": _names(question.text, asker_in(question), _ADDRESSED),
    }


def _names(*texts: str) -> list[str]:
    """Return the words with a capital or digit that a plan may use, so that a small model cannot make names up.

    If the first text has no capitals, each of its words may be a name.
    """
    words = dict.fromkeys(word for text in texts for word in _WORD.findall(text))
    is_cased = any(len(word) > 1 and word[0].isupper() for word in _WORD.findall(texts[0])[1:])
    as_typed = [form for word in words for form in (word, word.removesuffix("s"))]
    forms = as_typed if is_cased else [*as_typed, *(word[:1].upper() + word[1:] for word in words)]
    return [form for form in dict.fromkeys(forms) if _CAPITAL.search(form)]
