"""The proof tree of one question, from its goal down to the turns that settle it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.text import Text
from rich.tree import Tree

from goalmem_cli.logic.computing.records import Calculation
from goalmem_cli.logic.normal import words
from goalmem_cli.records import Usage
from goalmem_cli.render.actions import add_action
from goalmem_cli.render.nodes import BRIEF, Detail, add_facts, cost, heading, labelled
from goalmem_cli.render.text import counted, plain, safe, settling, when
from goalmem_cli.trace import (
    Attempt,
    Checked,
    Contradicted,
    Denied,
    Ending,
    Fact,
    Grounded,
    Opened,
    Refined,
    Rejected,
    Side,
    Status,
    Step,
    Trace,
    TriedRule,
    Unresolved,
)  # fmt: skip

UNCHECKED = "the engine's checks were off: the bindings are the model's word alone"
"""The note on an answer whose bindings were not checked."""

_GUIDES = "dim"
_STATE_STYLES = {
    "grounded": "green",
    "contradicted": "magenta",
    "denied": "magenta",
    "unresolved": "yellow",
    "rejected": "red",
}
_STATUS_STYLES = {Status.ANSWERED: "bold green", Status.UNKNOWN: "bold yellow", Status.FAILED: "bold red"}
_NEAREST = 3


@dataclass(frozen=True, slots=True)
class _Page:
    """Data that the nodes of one tree share: the facts, the attempt's subgoals, and the level of detail."""

    facts: Mapping[str, Fact]
    detail: Detail
    subgoals: tuple[str, ...] = field(default=())


def proof_tree(trace: Trace, detail: Detail = BRIEF) -> Tree:
    """Return the whole trace as a tree. Facts are F1, F2 ..., subgoals S1, S2 ... (0, 1 ... in the JSON document)."""
    tree = Tree(plain(trace.question, "bold"), guide_style=_GUIDES)
    rule = None if trace.rule is None else rule_line(trace.rule)
    for name, line in (("only", _stretch(trace)), ("goal", trace.goal), ("rule", rule)):
        if line:
            tree.add(labelled(name, line))
    for attempt in trace.attempts:
        add_attempt(tree, attempt, trace.facts, detail)
    if trace.actions:
        tree.add(labelled("reasoner", trace.reasoner))
    for action in trace.actions:
        add_action(tree, action, trace.facts, detail)
    if trace.stopped is not None:
        tree.add(labelled("stopped", trace.stopped.value))
    if trace.check is not None:
        tree.add(_checked(trace.check))
    outcome = tree.add(_outcome(trace))
    if trace.actions:
        _add_evidence(outcome, trace, detail)
    if trace.is_unchecked:
        tree.add(labelled("unchecked", UNCHECKED, "yellow"))
    _add_notes(tree, trace)
    tree.add(Text(usage_line(trace.usage), style="dim"))
    return tree


def _add_notes(tree: Tree, trace: Trace) -> None:
    for note in (*trace.notes, *(["there may be more"] if trace.may_be_more else [])):
        tree.add(labelled("note", note))


def rule_line(rule: TriedRule) -> str:
    """Return the rule that a question began with, and whether it settled the question."""
    before = f"settled {rule.settled} of {counted(rule.tried, 'question')} before" if rule.tried else "tried first now"
    failed = f"; it settled nothing in {counted(rule.usage.calls, 'call')}, so the question was planned anew"
    return f"{rule.name}, {rule.text} ({before}){'' if rule.is_settled else failed}"


def _stretch(trace: Trace) -> str:
    """Return the period that the question was limited to, or ""."""
    ends = (("since", trace.since), ("until", trace.until))
    return ", ".join(f"{word} {when(time)}" for word, time in ends if time is not None)


def add_attempt(tree: Tree, attempt: Attempt, facts: Mapping[str, Fact], detail: Detail) -> None:
    """Add one attempt with its rule and its steps; an unfinished attempt has no ending yet."""
    node = tree.add(Text(attempt_name(attempt), style="bold"))
    subgoals = (*attempt.subgoals, *(refined.subgoal for step in attempt.steps for refined in step.refined))
    page = _Page(facts, detail, subgoals)
    if attempt.subgoals:
        node.add(_rule(attempt))
    for step in attempt.steps:
        _add_step(node, step, page)
    if attempt.failure is not None:
        node.add(labelled("failed", attempt.failure, "red"))
    if attempt.ending is not None:
        node.add(labelled("ended", attempt.ending.value))


def attempt_name(attempt: Attempt) -> str:
    """Return the name of an attempt: its number, or "read at once" if the answer was read without a plan."""
    return f"attempt {attempt.breadth}" if attempt.breadth else "read at once"


def state_of(attempt: Attempt, subgoal: int) -> str:
    """Return the state of a subgoal so far: "grounded", "contradicted", "unresolved" (searched in vain) or "open"."""
    for name in ("grounded", "contradicted"):
        if any(entry.subgoal == subgoal for step in attempt.steps for entry in getattr(step, name)):
            return name
    return "unresolved" if attempt.steps else "open"


def usage_line(usage: Usage) -> str:
    """Return the cost of the question on one line."""
    calls = counted(usage.calls, "call")
    prompt = f"{usage.prompt_tokens:,} prompt tokens ({usage.cached_tokens:,} cached)"
    return f"{calls}, {prompt}, {usage.completion_tokens:,} completion tokens, {usage.seconds:.1f} s"


def reason_line(trace: Trace) -> str:
    """Return why a question was not answered: the failed subgoal and its reason, or what the model read in vain.

    If every subgoal was settled, the last note says what the facts left open. If an answer was found but is not certain
    enough, the line says so. Values in conflict are shown with who said them and when, and the question that would
    settle it.
    """
    if trace.conflict:
        said = ", and ".join(_side(side, trace.facts) for side in trace.conflict)
        return f"{said}; {settling(trace.question, (side.value for side in trace.conflict))}"
    if trace.failure is not None:
        return trace.failure
    if trace.guess is not None:
        return "what was found is less certain than wanted"
    if trace.certainty is not None:
        return trace.notes[-1]
    if trace.actions:
        return _read_in_vain(len(trace.facts))
    if trace.notes and trace.attempts and trace.attempts[-1].ending is Ending.GROUNDED:
        return trace.notes[-1]
    for attempt in reversed(trace.attempts):
        for step in reversed(attempt.steps):
            entry = next((each for each in step.unresolved if state_of(attempt, each.subgoal) == "unresolved"), None)
            if entry is not None:
                subgoals = (*attempt.subgoals, *(new.subgoal for s in attempt.steps for new in s.refined))
                return f"{_named(subgoals, entry.subgoal)}: {entry.why}"
    endings = [attempt.failure or (attempt.ending.value if attempt.ending else "") for attempt in trace.attempts]
    return next((ending for ending in reversed(endings) if ending), "nothing in memory settles it")


def _side(side: Side, facts: Mapping[str, Fact]) -> str:
    """Return one value of a conflict with who said it and when."""
    told = [facts[number] for number in side.facts if number in facts]
    said = "; ".join(f"{fact.number} {fact.speaker}{f', {when(fact.said)}' if fact.said else ''}" for fact in told)
    return f"{side.value} ({said})"


def outcome_word(trace: Trace) -> str:
    """Return how a question ended in a word or two: its status, or "in conflict"."""
    return "in conflict" if trace.conflict else trace.status.value


def _read_in_vain(facts: int) -> str:
    if not facts:
        return "nothing was retrieved"
    return f"the model saw {counted(facts, 'fact')} and read no answer from {'it' if facts == 1 else 'them'}"


def _unanswered(trace: Trace, style: str) -> Text:
    """Return why there is no answer, with a withheld answer and its facts, if any."""
    lines = [labelled(outcome_word(trace), reason_line(trace), style)]
    if trace.guess is not None:
        facts = " ".join(trace.guess.evidence)
        lines.append(labelled("guess", f"{trace.guess.answer} ({trace.guess.certainty:.0%} certain, from {facts})"))
    return Text("\n").join(lines)


def _outcome(trace: Trace) -> Text:
    """Return the end of a proof: answer, certainty, bindings, calculations and evidence, or why there is no answer."""
    style = _STATUS_STYLES[trace.status]
    if trace.status is not Status.ANSWERED:
        return _unanswered(trace, style)
    lines = [labelled("answer", trace.answer or "", style)]
    if trace.certainty is not None:
        lines.append(labelled("certainty", f"{trace.certainty:.0%}"))
    if trace.substitution:
        lines.append(labelled("where", _assignments(trace.substitution)))
    for found in trace.calculations:
        lines.append(labelled("computed", f"{found.expression} = {_joined(found.values)} ({found.support.value})"))
        lines.append(labelled("from", f"{found.how}, asked on {when(trace.asked)}" if _has_now(found) else found.how))
    if trace.evidence:
        lines.append(labelled("evidence", " ".join(trace.evidence)))
    return Text("\n").join(lines)


def _has_now(found: Calculation) -> bool:
    """Say whether the calculation depends on the time of asking, which is then shown."""
    return "now" in words(found.expression) or found.expression.startswith(("age(", "duration("))


def _add_evidence(outcome: Tree, trace: Trace, detail: Detail) -> None:
    """Add the facts of the answer; without an answer, the first facts found, unless all are shown anyway."""
    if trace.status is Status.ANSWERED or trace.guess is not None:
        add_facts(outcome, trace.guess.evidence if trace.guess else trace.evidence, trace.facts, detail)
    elif trace.facts and not detail.every_fact:
        nearest = list(trace.facts)[:_NEAREST]
        branch = outcome.add(Text(f"first {len(nearest)} of {counted(len(trace.facts), 'fact')}", style="dim"))
        add_facts(branch, nearest, trace.facts, detail)


def _rule(attempt: Attempt) -> Text:
    """Return ``IF a AND b THEN g`` with the state of each subgoal, one part per line."""
    lines = []
    for index, subgoal in enumerate(attempt.subgoals):
        state = state_of(attempt, index)
        word = "AND " if index else "IF  "
        tail = (f" [{state}]", _STATE_STYLES.get(state, "dim"))
        lines.append(Text.assemble((word, "dim"), f" {_label(index)} {safe(subgoal)}", tail))
    lines.append(Text.assemble(("THEN ", "dim"), safe(attempt.goal)))
    return Text("\n").join(lines)


def _add_step(node: Tree, step: Step, page: _Page) -> None:
    """Add a step with its queries, subgoals and costs to the tree."""
    counts = (
        counted(len(step.queries), "query", "queries"),
        counted(len(step.new_facts), "new fact"),
        f"{counted(step.skipped, 'hit')} too long to show" if step.skipped else "",
        cost(step.usage),
    )
    branch = node.add(heading(f"step {step.depth}", counts))
    for query in step.queries:
        branch.add(labelled("query", query))
    for grounded in step.grounded:
        _add_grounded(branch, grounded, page)
    for contradicted in step.contradicted:
        _add_contradicted(branch, contradicted, page)
    for rejected in step.rejected:
        _add_rejected(branch, rejected, page)
    for denied in step.denied:
        _add_denied(branch, denied, page)
    for line in (*(_unresolved(unresolved, page) for unresolved in step.unresolved), *_standing(step, page)):
        branch.add(line)
    _add_other_facts(branch, step, page)
    for line in (*map(_opened, step.opened), *(_refined(refined, page) for refined in step.refined)):
        branch.add(line)
    for repair in step.repairs:
        branch.add(labelled("repaired", repair))
    if step.failure is not None:
        branch.add(labelled("failed", step.failure, "red"))


def _add_grounded(branch: Tree, grounded: Grounded, page: _Page) -> None:
    """Add a grounded subgoal with its bindings and facts."""
    node = branch.add(_state("grounded", grounded.subgoal, page))
    for variable, values in grounded.bindings.items():
        support = grounded.support.get(variable)
        tail = f" ({support.value})" if support is not None else ""
        node.add(Text.assemble((f"{safe(variable)} = ", "bold"), (_joined(values), "cyan"), (tail, "dim")))
    add_facts(node, grounded.facts, page.facts, page.detail)
    for note in grounded.notes:
        node.add(labelled("note", note))


def _add_contradicted(branch: Tree, contradicted: Contradicted, page: _Page) -> None:
    add_facts(
        branch.add(_state("contradicted", contradicted.subgoal, page)), contradicted.facts, page.facts, page.detail
    )


def _add_rejected(branch: Tree, rejected: Rejected, page: _Page) -> None:
    """Add a rejected claim with the reason and its facts."""
    node = branch.add(_state("rejected", rejected.subgoal, page))
    if rejected.bindings:
        node.add(labelled("proposed", _assignments(rejected.bindings)))
    node.add(labelled("why", rejected.why))
    add_facts(node, rejected.facts, page.facts, page.detail)


def _add_denied(branch: Tree, denied: Denied, page: _Page) -> None:
    """Add a denied subgoal with the reason and its facts."""
    node = branch.add(_state("denied", denied.subgoal, page))
    node.add(labelled("why", denied.why))
    if denied.is_final:
        node.add(labelled("settled", "it was said again, or a further look for it brought nothing new"))
    add_facts(node, denied.facts, page.facts, page.detail)


def _standing(step: Step, page: _Page) -> list[Text]:
    """Return the round's other results: variables with several values, provisional bindings, dropped antecedents."""
    dropped = [_named(page.subgoals, number) for number in step.dropped]
    lines = {
        "several values": ", ".join(step.several),
        "perhaps": _assignments(step.provisional),
        "dropped": "; ".join(dropped),
    }
    return [labelled(name, text) for name, text in lines.items() if text]


def _opened(opened: Opened) -> Text:
    return labelled(f"{_label(opened.subgoal)} to look for", "; ".join(opened.queries))


def _checked(check: Checked) -> Text:
    """Return the verdict of the last check and why it ran."""
    verdict = "yes" if check.is_same else check.problem or f"no: {check.differs}"
    return Text("\n").join(
        [labelled("answers the question as asked", verdict), labelled("checked since", "; ".join(check.reasons))]
    )


def _unresolved(unresolved: Unresolved, page: _Page) -> Text:
    line = _state("unresolved", unresolved.subgoal, page)
    return Text.assemble(line, (": ", "dim"), safe(unresolved.why))


def _refined(refined: Refined, page: _Page) -> Text:
    """Return the line of a refinement: the old subgoal, the new one and its query."""
    number = page.subgoals.index(refined.subgoal) if refined.subgoal in page.subgoals else None
    name = f"{_label(number)} " if number is not None else ""
    return Text.assemble(
        (f"{_label(refined.of)} refined", "blue"), f" ({safe(refined.relation)}): {name}{safe(refined.subgoal)}",
        ("\nquery: ", "dim"), safe(refined.query),
    )  # fmt: skip


def _add_other_facts(branch: Tree, step: Step, page: _Page) -> None:
    """Add the facts that no grounding cites: all, or the nearest few if a subgoal is unresolved."""
    settled: tuple[Grounded | Rejected | Contradicted, ...] = (*step.grounded, *step.rejected, *step.contradicted)
    cited = {number for entry in settled for number in entry.facts}
    others = [number for number in step.new_facts if number not in cited and number in page.facts]
    shown = others if page.detail.every_fact else others[: _NEAREST if step.unresolved else 0]
    if not shown:
        return
    left = f" of {len(others)}" if len(shown) < len(others) else ""
    add_facts(branch.add(Text(f"nearest {len(shown)}{left} not cited", style="dim")), shown, page.facts, page.detail)


def _state(state: str, subgoal: int, page: _Page) -> Text:
    return Text.assemble((f"{_label(subgoal)} {state} ", _STATE_STYLES[state]), safe(_atom(page.subgoals, subgoal)))


def _label(subgoal: int) -> str:
    return f"S{subgoal + 1}"


def _atom(subgoals: Sequence[str], index: int) -> str:
    return subgoals[index] if 0 <= index < len(subgoals) else ""


def _named(subgoals: Sequence[str], index: int) -> str:
    return f"{_label(index)} {_atom(subgoals, index)}".strip()


def _assignments(bindings: Mapping[str, tuple[str, ...]]) -> str:
    return "; ".join(f"{variable} = {_joined(values)}" for variable, values in bindings.items())


def _joined(values: Sequence[str]) -> str:
    return ", ".join(safe(value) for value in values)
