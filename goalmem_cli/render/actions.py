"""Render the actions of a reasoner without subgoals as tree nodes: retrievals, and replies field by field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby

from rich.text import Text
from rich.tree import Tree

from goalmem_cli.render.nodes import Detail, add_facts, cost, heading, labelled
from goalmem_cli.render.text import counted, shortened
from goalmem_cli.trace import Action, Fact

_SHORT = 12
"""Up to this many characters, several values of one field (such as scores) share a line."""


def add_action(tree: Tree, action: Action, facts: Mapping[str, Fact], detail: Detail) -> None:
    """Add one action; its new facts only if every fact is shown, because the evidence follows the answer anyway."""
    node = tree.add(action_line(action))
    for query in action.queries:
        node.add(labelled("query", query))
    for line in _fields(action, detail):
        node.add(line)
    if detail.every_fact:
        add_facts(node, action.new_facts, facts, detail)
    if action.failure is not None:
        node.add(labelled("failed", action.failure, "red"))


def action_line(action: Action) -> Text:
    """Return the action and its result on one line."""
    is_retrieval = bool(action.queries) or not (action.said or action.usage.calls)
    return heading(
        action.name,
        (
            counted(len(action.queries), "query", "queries") if action.queries else "",
            counted(len(action.new_facts), "new fact") if is_retrieval or action.new_facts else "",
            f"{counted(action.skipped, 'hit')} left out" if action.skipped else "",
            cost(action.usage),
        ),
    )


def _fields(action: Action, detail: Detail) -> Iterator[Text]:
    """Yield the fields of a reply, a line each; short values of a field share a line, repeated values appear once."""
    for name, group in groupby(action.said, key=lambda field: field[0]):
        counts = Counter(value for _, value in group)
        values = [f"{value} ({count} times)" if count > 1 else value for value, count in counts.items()]
        if all(len(value) <= _SHORT for value in values):
            values = [", ".join(values)]
        for value in values:
            yield labelled(name, shortened(value, detail.text_length))
