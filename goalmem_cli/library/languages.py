"""The languages of questions and conversations: check a code, and refuse what a model cannot read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from goalmem_cli.errors import ModelError, UsageError
from goalmem_cli.languages.names import NAMES, name_of

if TYPE_CHECKING:
    from goalmem_cli.loading import LoadedModel
    from goalmem_cli.memory_records import ConversationSummary
    from goalmem_cli.records import Question


def checked_code(code: str) -> str:
    """Return the code of a language in small letters.

    Raises:
        UsageError: it is none.
    """
    known = code.strip().casefold()
    if known not in NAMES:
        raise UsageError(f"{code!r} is no language", "give its code of ISO 639: de for German, zh for Chinese")
    return known


def refuse_unread(loaded: LoadedModel, question: Question, stored: Iterable[ConversationSummary]) -> None:
    """Refuse a question that the model does not read, or that is asked of conversations none of which it reads.

    A language that is not known, or in doubt, is no reason; nor is one of a model whose languages are not known.

    Raises:
        ModelError: the model does not read it.
    """
    if loaded.languages is None:
        return
    from goalmem_cli.languages.finding import language_asked

    asked = language_asked(question.text)
    if asked and asked not in loaded.languages:
        raise _unread(loaded, asked, f"the question is in {name_of(asked)}")
    told = [each.language for each in stored if question.conversations is None or each.name in question.conversations]
    if told and loaded.languages.isdisjoint(told) and all(told):
        names = ", ".join(sorted({name_of(language) for language in told}))
        raise _unread(loaded, told[0], f"what is asked of is in {names}")


def _unread(loaded: LoadedModel, language: str, what: str) -> ModelError:
    """Return the error for a model that does not read the language, with models that do.

    `what` is a clause that says what is in the language.
    """
    from goalmem_cli.models.bundled import BUNDLED

    reads = sorted(map(name_of, loaded.languages or ()))
    known = f"{reads[0]} only" if len(reads) == 1 else f"{len(reads)} languages"
    able = [f"--model {name}" for name, model in BUNDLED.items() if language in model.languages]
    others = "`goalmem models suggest` names more" if able else "`goalmem models suggest` names some that may"
    hint = f"{' or '.join(able)} reads it; {others}" if able else others
    return ModelError(f"{loaded.name} reads {known}, and {what}", f"{hint}; `goalmem search` needs no model")
