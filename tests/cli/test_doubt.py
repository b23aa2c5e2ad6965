"""How certain an answer is, as `ask` and `chat` say it: a number, words, a field; and what is too uncertain to be said."""

import json
from dataclasses import replace

import pytest

from goalmem_cli.cli.serving.offers import answered
from goalmem_cli.fitted import Fitted
from goalmem_cli.models.bundled import SMOLLM2
from goalmem_cli.ports import Completion, Request
from goalmem_cli.reasoners.certainty import UNSURE, doubt_in_words
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.trace import from_document
from goalmem_cli.wiring import Factories, LoadedModel
from tests.invoking import Goalmem
from tests.reasoners.forward import says
from tests.transcripts.test_cases import CASES

QUESTION = "Which drink with matcha in it did Alice order at cafe Momoco?"
FITTED = SMOLLM2.fitted
DOUBTED = 1e-6
"""How likely a model finds words that it would never have chosen."""


def reading(likelihood: float, adapter: str = FITTED.adapter, fitted: Fitted = FITTED) -> Factories:
    """Return factories of a small model that reads the same answer always, and finds its words so likely."""

    def reply(request: Request) -> Completion:
        text = says(["talked me into a Kyoto Latte"], answer="Kyoto Latte")(request)
        return Completion(text, completion_tokens=1, likelihood=likelihood)

    loaded = LoadedModel(ScriptedModel(reply), "small", "compact", 8192, adapter=adapter, fitted=fitted)
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
    assert "less certain than wanted" in refused.err
    assert "guess: Kyoto Latte (" in refused.err and "--certainty 0 takes it" in refused.err


@pytest.mark.parametrize(("likelihood", "beside"), [(DOUBTED, " (this is probably wrong)"), (1 - DOUBTED, "")])
def test_chat_says_in_words_what_it_withholds(momoco: Goalmem, likelihood: float, beside: str) -> None:
    """Who talks hears no numbers, of a guess either; of one that is rather sure nothing is said beside it."""
    words = ("--reasoner", "direct", "--certainty", "100")
    outcome = momoco("chat", *words, stdin=f"{QUESTION}\n".encode(), factories=reading(likelihood))
    reason, guess = outcome.err.splitlines()

    assert outcome.out == "\n" and reason == "unknown: what was found is less certain than wanted"
    assert guess == f"guess: Kyoto Latte{beside}; --certainty 0 takes it as the answer"


def test_a_client_has_the_facts_of_a_guess(momoco: Goalmem) -> None:
    """What `mcp` gives names the guess, and has the facts that it rests on beside the proof."""
    words = ("ask", QUESTION, "--reasoner", "direct", "--certainty", "100", "--json")
    trace = from_document(json.loads(momoco(*words, factories=reading(DOUBTED)).out))
    given = answered(trace, None, "goalmem trace show")
    proof = given.document["proof"]

    assert trace.guess is not None and trace.guess.evidence
    assert given.document["answer"] is None and given.document["guess"] == "Kyoto Latte"
    assert isinstance(proof, dict) and set(trace.guess.evidence) <= set(proof["facts"])
    assert given.text.startswith("unknown: ") and "guess: Kyoto Latte" in given.text


def test_a_model_has_a_floor_of_its_own(momoco: Goalmem, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the model's record says is withheld without any option; the guess and its evidence are in the document."""
    monkeypatch.delenv("GOALMEM_CERTAINTY")
    floored = replace(FITTED, floors={"direct": 0.2})
    words = ("ask", QUESTION, "--reasoner", "direct")
    refused = momoco(*words, "--json", factories=reading(DOUBTED, fitted=floored))
    document = json.loads(refused.out)
    taken = momoco(*words, "--certainty", "0", factories=reading(DOUBTED, fitted=floored))

    assert refused.code == 1 and document["answer"] is None and document["evidence"] == []
    assert document["guess"]["answer"] == "Kyoto Latte" and document["guess"]["evidence"]
    assert (taken.code, taken.out) == (0, "Kyoto Latte\n")


def test_the_proof_shows_what_was_withheld(momoco: Goalmem, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tree has the guess with the turns that it rests on, and so has the kept trace; --quiet leaves the note out."""
    monkeypatch.delenv("GOALMEM_CERTAINTY")
    floored = reading(DOUBTED, fitted=replace(FITTED, floors={"direct": 0.2}))
    tree = momoco("ask", QUESTION, "--reasoner", "direct", "--trace", factories=floored).err
    shown = momoco("trace", "show", "last")

    assert "guess: Kyoto Latte" in tree and "talked me into" in tree.partition("guess:")[2]
    assert "guess: Kyoto Latte" in shown.out + shown.err
    assert "guess" not in momoco("ask", QUESTION, "--reasoner", "direct", "--quiet", factories=floored).err


@pytest.mark.parametrize("words", [("--certainty", "100"), ()])
def test_of_other_models_nothing_is_known(momoco: Goalmem, words: tuple[str, ...]) -> None:
    """Neither doubt nor refusal, whatever they think of their own words: the weights were fitted to one adapter."""
    outcome = momoco("ask", QUESTION, "--reasoner", "direct", *words, factories=reading(DOUBTED, adapter="another"))

    assert (outcome.code, outcome.out, outcome.err) == (0, "Kyoto Latte\n", "")


@pytest.mark.model
@pytest.mark.shared
@pytest.mark.slow
def test_what_nobody_speaks_of_is_unknown(goalmem: Goalmem, monkeypatch: pytest.MonkeyPatch) -> None:
    """The smallest model once answered with the 90 dollars of something else."""
    monkeypatch.delenv("GOALMEM_CERTAINTY")
    if not CASES.is_dir():
        pytest.skip("the data folder is not beside this checkout")
    assert goalmem("ingest", str(CASES / "10-imessage-overlap")).code == 0
    outcome = goalmem("ask", "What did the electrician charge?", "--threads", "1")

    assert (outcome.code, outcome.out) == (1, "") and outcome.err.startswith("unknown: ")
