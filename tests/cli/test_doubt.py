"""How certain an answer is, as `ask` and `chat` say it: a number, words, a field; and what is too uncertain to be said."""

from __future__ import annotations

import json

import pytest

from goalmem_cli.ports import Completion, Request
from goalmem_cli.reasoners.certainty import FITTED_TO, UNSURE, doubt_in_words
from goalmem_cli.wiring import Factories, LoadedModel
from tests.cli.conftest import Goalmem
from tests.fakes import ScriptedModel
from tests.reasoners.forward import says

QUESTION = "Which drink with matcha in it did Alice order at cafe Momoco?"
DOUBTED = 1e-6
"""How likely a model finds words that it would never have chosen."""


def reading(likelihood: float, adapter: str = FITTED_TO) -> Factories:
    """Return factories of a small model that reads the same answer always, and finds its words so likely."""

    def reply(request: Request) -> Completion:
        text = says(["talked me into a Kyoto Latte"], answer="Kyoto Latte")(request)
        return Completion(text, completion_tokens=1, likelihood=likelihood)

    loaded = LoadedModel(ScriptedModel(reply), "small", "compact", 8192, adapter=adapter)
    return Factories(model=lambda _: loaded)


def test_an_answer_that_is_not_sure_says_so_beside_it(momoco: Goalmem) -> None:
    """One line on stderr with the number that the document has; the answer alone is on stdout."""
    words = ("ask", QUESTION, "--reasoner", "direct", "--certainty", "0")
    outcome = momoco(*words, factories=reading(DOUBTED))
    document = json.loads(momoco(*words, "--json", factories=reading(DOUBTED)).out)

    assert 0 < document["certainty"] < UNSURE
    assert outcome.out == "Kyoto Latte\n"
    assert outcome.err == f"not sure: {document['certainty']:.0%} certain\n"


def test_chat_says_it_in_words(momoco: Goalmem) -> None:
    """Who talks hears no numbers."""
    words = ("--reasoner", "direct", "--certainty", "0")
    outcome = momoco("chat", *words, stdin=f"{QUESTION}\n".encode(), factories=reading(DOUBTED))

    assert outcome.err == f"{doubt_in_words(0.01)}\n"


def test_what_is_less_certain_than_is_wanted_is_refused(momoco: Goalmem) -> None:
    """The reason names what was found; 0 answers whatever it can."""
    refused = momoco("ask", QUESTION, "--reasoner", "direct", "--certainty", "100", factories=reading(DOUBTED))

    assert refused.code == 1 and refused.out == ""
    assert "'Kyoto Latte' was found" in refused.err and "under 100%" in refused.err


@pytest.mark.parametrize("words", [("--certainty", "100"), ()])
def test_of_other_models_nothing_is_known(momoco: Goalmem, words: tuple[str, ...]) -> None:
    """Neither doubt nor refusal, whatever they think of their own words: the weights were fitted to one adapter."""
    outcome = momoco("ask", QUESTION, "--reasoner", "direct", *words, factories=reading(DOUBTED, adapter="another"))

    assert (outcome.code, outcome.out, outcome.err) == (0, "Kyoto Latte\n", "")
