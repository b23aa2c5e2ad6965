"""Try a rule for a question before a model plans, and learn rules from proofs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from goalmem_cli.errors import StoreError
from goalmem_cli.ports import Reasoner
from goalmem_cli.reasoners.goal_mem.records import Begun
from goalmem_cli.reasoners.rules.forms import taken_apart
from goalmem_cli.reasoners.rules.learning import begun_with, learned
from goalmem_cli.records import Question
from goalmem_cli.store.rules import KeptRule, RuleFile
from goalmem_cli.trace import Status, Trace, TriedRule


class RuleFirst:
    """Answers a question by a rule of its form; where there is none, or it settles nothing, by asking as always."""

    def __init__(self, rules: RuleFile, make: Callable[[Begun | None], Reasoner]) -> None:
        """Take the rules, and a function that makes the reasoner that begins with a plan, or with None plans anew."""
        self._rules = rules
        self._make = make

    def answer(self, question: Question) -> Trace:
        """Return the question's trace, with the rule that was tried; what a rule cost in vain is counted."""
        found = self._found(question)
        if found is None:
            return self._learned(self._make(None).answer(question), question)
        rule, begun = found
        trace = self._make(begun).answer(question)
        is_settled = trace.status is Status.ANSWERED
        tried = TriedRule(rule.name, rule.text, rule.tried, rule.settled, is_settled, trace.usage)
        spent = trace.usage
        counted = replace(
            rule, tried=rule.tried + 1, settled=rule.settled + is_settled, calls=rule.calls + spent.calls,
            tokens=rule.tokens + spent.prompt_tokens + spent.completion_tokens,
        )  # fmt: skip
        if is_settled:
            return self._kept(replace(trace, rule=tried), counted)
        trace = self._make(None).answer(question)
        better = learned(trace, question) if not rule.settled else None
        if better is not None and better.form == rule.form:
            counted = replace(counted, goal=better.goal, subgoals=better.subgoals, answers=better.answers)
        return self._kept(replace(trace, rule=tried, usage=spent + trace.usage), counted)

    def _found(self, question: Question) -> tuple[KeptRule, Begun] | None:
        """Return the rule of the question's form with its plan; a file that cannot be read holds none."""
        try:
            rules = self._rules.all()
        except StoreError:
            return None
        asked = taken_apart(question.text, question.asked) if rules and not question.wants_all else None
        for rule in rules if asked is not None else ():
            begun = begun_with(rule, question, asked) if asked is not None and rule.is_promising else None
            if begun is not None:
                return rule, begun
        return None

    def _learned(self, trace: Trace, question: Question) -> Trace:
        rule = learned(trace, question)
        return trace if rule is None else self._kept(trace, rule)

    def _kept(self, trace: Trace, rule: KeptRule) -> Trace:
        """Keep the rule; where that fails, the trace says so, and the answer stands."""
        try:
            self._rules.put(rule)
        except StoreError as error:
            return replace(trace, notes=(*trace.notes, f"the rule was not kept: {error.message}"))
        return trace
