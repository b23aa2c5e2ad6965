"""The languages of questions and conversations: check a code, and refuse what a model cannot read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from goalmem_cli.errors import LanguageUnread, UsageError
from goalmem_cli.languages.finding import asked_of, language_asked
from goalmem_cli.languages.names import NAMES, languages_read, name_of, names_of

if TYPE_CHECKING:
    from goalmem_cli.loading import LoadedModel
    from goalmem_cli.memory_records import ConversationSummary
    from goalmem_cli.ports import Reasoner
    from goalmem_cli.records import Question
    from goalmem_cli.trace import Trace


def checked_code(code: str) -> str:
    """Return the code of a language in small letters.

    Raises:
        UsageError: it is none.
    """
    known = code.strip().casefold()
    if known not in NAMES:
        raise UsageError(f"{code!r} is no language", "give its code of ISO 639: de for German, zh for Chinese")
    return known


class InLanguages:
    """Wraps a reasoner: it answers from what its model reads, and knows in which languages that is.

    A language that is not known, or in doubt, counts as read. So does any if the model's languages are not known.
    """

    def __init__(
        self,
        reasoner: Reasoner,
        loaded: LoadedModel,
        stored: Iterable[ConversationSummary],
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Take the reasoner, its model and the stored conversations; `note` gets what is left out."""
        self._reasoner = reasoner
        self._loaded = loaded
        self._spoken = {each.name: each.language for each in stored}
        self._note = note

    def answer(self, question: Question) -> Trace:
        """Return the reasoner's trace, made from the conversations in scope that the model reads.

        Raises:
            LanguageUnread: it does not read the question, or no conversation in scope.
        """
        scope = self._spoken if question.conversations is None else question.conversations
        told = {name: self._spoken[name] for name in scope if name in self._spoken}
        read = {name: language for name, language in told.items() if self._reads(language)}
        left = [language for name, language in told.items() if name not in read]
        with asked_of(read.values()):
            asked = language_asked(question.text)
            if not self._reads(asked):
                raise self._unread(asked, f"the question is in {name_of(asked)}")
            if left and not read:
                raise self._unread(left[0], f"what is asked of is in {names_of(left)}")
            if left:
                count = f"{len(left)} conversation{'s' if len(left) > 1 else ''} in {names_of(left)}"
                self._note(f"left out: {count}, which {self._loaded.name} does not read")
                question = replace(question, conversations=tuple(read))
            return self._reasoner.answer(question)

    def _reads(self, language: str) -> bool:
        return not language or self._loaded.languages is None or language in self._loaded.languages

    def _unread(self, language: str, what: str) -> LanguageUnread:
        """Return the error that the model does not read the language, with models that do.

        `what` is a clause that says what is in the language.
        """
        from goalmem_cli.models.bundled import BUNDLED

        able = [f"--model {name}" for name, model in BUNDLED.items() if language in model.languages]
        others = "`goalmem models suggest` names more" if able else "`goalmem models suggest` names some that may"
        hint = f"{' or '.join(able)} reads it; {others}" if able else others
        reads = languages_read(self._loaded.languages or ())
        return LanguageUnread(
            f"{self._loaded.name} reads {reads}, and {what}", f"{hint}; `goalmem search` needs no model"
        )
