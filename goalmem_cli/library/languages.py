"""The languages of questions and conversations: check a code, and refuse what a model cannot read."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from goalmem_cli.errors import LanguageUnread, UsageError
from goalmem_cli.languages.finding import asked_of, language_asked, language_of
from goalmem_cli.languages.names import NAMES, languages_read, names_of
from goalmem_cli.memory_records import DIALOGUE

if TYPE_CHECKING:
    from goalmem_cli.loading import LoadedModel
    from goalmem_cli.memory_records import ConversationSummary
    from goalmem_cli.ports import Reasoner
    from goalmem_cli.records import Question
    from goalmem_cli.trace import Trace


def checked_code(code: str) -> str:
    """Return the code of a language in small letters; raises UsageError if it is none."""
    known = code.strip().casefold()
    if known not in NAMES:
        raise UsageError(f"{code!r} is no language", "give its code of ISO 639: de for German, zh for Chinese")
    return known


class InLanguages:
    """Wraps a reasoner: it refuses what its model does not read, and knows in which languages is what it is asked of.

    A language that is not known, or in doubt, counts as read. So does any if the model's languages are not known.
    """

    def __init__(self, reasoner: Reasoner, loaded: LoadedModel, stored: Iterable[ConversationSummary]) -> None:
        """Take the reasoner, its model and the stored conversations."""
        self._reasoner = reasoner
        self._loaded = loaded
        self._spoken = {each.name: each.language for each in stored}

    def answer(self, question: Question) -> Trace:
        """Return the reasoner's trace.

        Raises:
            LanguageUnread: the model reads neither the question, nor any conversation in scope (goalmem's own counts
                only if it is alone), nor any fact that the answer cites.
        """
        scope = self._spoken if question.conversations is None else question.conversations
        told = {name: self._spoken[name] for name in scope if name in self._spoken}
        with asked_of({name: language for name, language in told.items() if self._reads(language)}):
            asked = language_asked(question.text)
            if not self._reads(asked):
                raise self._unread([asked], "the question is")
            others = [told[name] for name in told if name != DIALOGUE] or list(told.values())
            if others and not any(map(self._reads, others)):
                raise self._unread(others, "what is asked of is")
            trace = self._reasoner.answer(question)
        self._refuse_unread(trace)
        return trace

    def _refuse_unread(self, trace: Trace) -> None:
        """Refuse an answer of a model of one language if each fact that it cites is in another one.

        Of a model of several languages it is not known what else it reads: a publisher may not name them all.
        """
        from goalmem_cli.trace import Status

        if trace.status is not Status.ANSWERED or len(self._loaded.languages or ()) != 1:
            return
        cited = [trace.facts[number] for number in trace.evidence if number in trace.facts]
        unread = [
            language
            for fact in cited
            if not self._reads(language := self._spoken.get(fact.conversation, "")) and not self._has_read(fact.text)
        ]
        if unread and len(unread) == len(cited):
            raise self._unread(unread, "what the answer cites is")

    def _has_read(self, text: str) -> bool:
        """Say whether the text is found to be in a language that the model reads."""
        return any(found and self._reads(found) for found in (language_of(text), language_asked(text)))

    def _reads(self, language: str) -> bool:
        return not language or self._loaded.languages is None or language in self._loaded.languages

    def _unread(self, languages: Collection[str], what: str) -> LanguageUnread:
        """Return the error that the model does not read the languages of `what`, with models that do."""
        from goalmem_cli.models.bundled import BUNDLED

        able = [f"--model {name}" for name, model in BUNDLED.items() if model.languages.issuperset(languages)]
        others = "`goalmem models suggest` names more" if able else "`goalmem models suggest` names some that may"
        hint = f"{' or '.join(able)} reads it; {others}" if able else others
        reads = languages_read(self._loaded.languages or ())
        return LanguageUnread(
            f"{self._loaded.name} reads {reads}, and {what} in {names_of(languages)}",
            f"{hint}; `goalmem search` needs no model",
        )
