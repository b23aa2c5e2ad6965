"""Reasoners of other packages: loads them when they are named, and checks their traces like any outside data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from goalmem_cli.plugins import Plugin, PluginKind, find
from goalmem_cli.ports import Reasoner
from goalmem_cli.reasoners.catalogue import REASONERS, Choices, ReasonerEntry, Sources
from goalmem_cli.reasoners.inquiry import Tools
from goalmem_cli.records import Question
from goalmem_cli.trace import Status, Trace, as_document, from_document


def entry_of(name: str, own: Mapping[str, ReasonerEntry] = REASONERS) -> ReasonerEntry | None:
    """Return the entry of that name from goalmem's `own`, or else from another package, or None.

    Raises:
        PluginBroken: the other package's entry cannot be imported, or is no entry.
    """
    if name in own:
        return own[name]
    plugin = find(PluginKind.REASONER, name)
    return None if plugin is None else loaded_entry(plugin)


def loaded_entry(plugin: Plugin) -> ReasonerEntry:
    """Return the plug-in's entry, wrapped so that its reasoner raises only goalmem's errors.

    Raises:
        PluginBroken: it cannot be imported, or is no entry.
    """
    entry = plugin.load()
    if not isinstance(entry, ReasonerEntry):
        raise plugin.broken(f"it is {type(entry).__name__}, not a ReasonerEntry of goalmem_cli.reasoners.catalogue")
    if not all(map(callable, (entry.build, entry.steps, entry.calls))):
        raise plugin.broken("build, steps and calls of its entry are to be called, and cannot be")

    def build(tools: Tools, sources: Sources) -> Reasoner:
        with plugin.guarded():
            made = entry.build(tools, sources)
        if not callable(getattr(made, "answer", None)):
            raise plugin.broken(f"{type(made).__name__} has no method answer")
        return Guarded(plugin, made)

    def steps(choices: Choices) -> tuple[str, ...]:
        with plugin.guarded():
            return tuple(map(str, entry.steps(choices)))

    def calls(choices: Choices) -> tuple[int, int]:
        with plugin.guarded():
            least, most = entry.calls(choices)
            return int(least), int(most)

    return replace(entry, build=build, steps=steps, calls=calls)


class Guarded:
    """Wraps a reasoner of another package: its failures become goalmem's errors and name the package."""

    def __init__(self, plugin: Plugin, own: Reasoner) -> None:
        self._plugin = plugin
        self._own = own

    def answer(self, question: Question) -> Trace:
        """Return the trace under the plug-in's name, so that no other reasoner's calibration applies to it.

        Raises:
            ModelError: the reasoner failed, or returned no trace that can be kept and read again.
        """
        with self._plugin.guarded():
            trace = self._own.answer(question)
        if not isinstance(trace, Trace):
            raise self._plugin.failed(f"it gave {type(trace).__name__}, not a Trace")
        with self._plugin.guarded():
            read = from_document(json.loads(json.dumps(as_document(trace))))
        if problem := _problem_of(read):
            raise self._plugin.failed(problem)
        return replace(trace, reasoner=self._plugin.name)


def _problem_of(trace: Trace) -> str:
    """Return what is inconsistent in a trace, or an empty text."""
    if (trace.status is Status.ANSWERED) is (trace.answer is None):
        return f"its trace is {trace.status.value}, and its answer {trace.answer!r}"
    if unknown := [number for number in trace.evidence if number not in trace.facts]:
        return f"its answer rests on {unknown[0]}, which is none of its facts"
    return ""
