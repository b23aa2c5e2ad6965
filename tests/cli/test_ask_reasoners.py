"""`--reasoner` of `goalmem ask` and `goalmem chat`: every way to answer, on scripted replies over a real store."""

import json
import re
from typing import get_args

import pytest

from goalmem_cli.backbones.catalogue import STRUCTURED
from goalmem_cli.cli.options import ReasonerName
from goalmem_cli.ports import JsonShape, Request
from goalmem_cli.prompts import Profile
from goalmem_cli.reasoners.catalogue import REASONERS
from goalmem_cli.reasoners.goal_mem import NAME
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.wiring import Factories, LoadedModel
from tests.backbones.stitch_samples import understands
from tests.invoking import Goalmem, seeing
from tests.reasoners.forward import RUBBISH, says
from tests.reasoners.scripting import claims, number_of, plan, proved

QUESTION = "Which drink with matcha in it did Alice order at cafe Momoco?"
KYOTO = "talked me into a Kyoto Latte"
FORWARD = [name for name in get_args(ReasonerName) if name != NAME and REASONERS[name].backbone is None]
STEPS = {
    "direct": ["retrieve", "read"],
    "full-context": ["retrieve", "read"],
    "reformulate": ["rewrite", "retrieve", "read"],
    "reflect": ["retrieve", "reflect", "read"],
    "react": ["react", "retrieve", "react"],
    "memguide": ["intent", "retrieve", "slots", "score", "select", "read"],
    "tiser": ["retrieve", "tiser"],
    "full-context-tiser": ["retrieve", "tiser"],
}

both_profiles = pytest.mark.parametrize("profile", ["full", "compact"])
by_name = pytest.mark.parametrize("name", FORWARD)


def _react(request: Request, answer: str) -> str:
    is_first = not re.search(r"^F\d+\. ", request.growing + request.tail, re.MULTILINE)
    if is_first:
        return says(thought="look", action="Retrieve", input=QUESTION)(request)
    facts = [] if answer == "unknown" else [KYOTO]
    return says(facts, thought="that is it", action="Finish", input=answer)(request)


def _score(request: Request) -> str:
    number = number_of(request, KYOTO)
    is_json = isinstance(request.shape, JsonShape)
    return json.dumps({"scores": [{"fact": number, "score": 9}]}) if is_json else f"scores: {number} 9"


def reply(request: Request, answer: str) -> str:
    """Return a fitting reply to any step of any of the reasoners, which ends in the answer."""
    facts = [] if answer == "unknown" else [KYOTO]
    if request.step == "react":
        return _react(request, answer)
    if request.step == "score":
        return _score(request)
    if request.step == "tiser" and isinstance(request.shape, JsonShape):
        return says(facts, reasoning="r", timeline=["May 2023 - latte"], reflection="right", answer=answer)(request)
    written = {
        "rewrite": says(query=["Alice Kyoto Latte"]),
        "reflect": says(why="it is there", sufficient=True, query=""),
        "intent": says(intent="a drink", queries=["Alice Kyoto Latte"]),
        "slots": says(sufficient=True),
        "tiser": says(facts, timeline="May 2023 - latte", answer=answer),
        "read": says(facts, answer=answer),
    }
    return written[request.step](request)


def answering(answer: str = "Kyoto Latte", profile: Profile = "full") -> Factories:
    """Return a model that any forward reasoner gets to this answer."""
    model = ScriptedModel(lambda request: reply(request, answer))
    return seeing(lambda _: LoadedModel(model, "scripted", profile, 8192))


def test_the_names_are_those_that_can_be_built() -> None:
    """What --reasoner offers is all there is but what needs a benchmark's evidence."""
    buildable = {name for name, entry in REASONERS.items() if not entry.needs_gold}
    assert set(get_args(ReasonerName)) == buildable
    assert set(FORWARD) == STEPS.keys()


@pytest.mark.slow
@both_profiles
@by_name
def test_each_answers_and_draws_its_own_steps(momoco: Goalmem, name: str, profile: Profile) -> None:
    """stdout is the answer alone; --trace draws on stderr what that reasoner did, its evidence and its cost."""
    outcome = momoco("ask", QUESTION, "--reasoner", name, "--trace", factories=answering(profile=profile))
    assert (outcome.code, outcome.out) == (0, "Kyoto Latte\n"), outcome.err
    lines = [line.strip("│├└─ ") for line in outcome.err.splitlines()]
    headings = [line.split()[0] for line in lines if re.fullmatch(r"[a-z]+(  .+)?", line)]
    assert headings == STEPS[name]
    for part in (f"reasoner: {name}", "stopped: ", "answer: Kyoto Latte", "Alice, 8 May", "completion tokens"):
        assert part in outcome.err
    shown = momoco("trace", "show", "last")
    assert shown.code == 0
    assert shown.out == outcome.err


def on_structured(request: Request) -> str:
    """Return a fitting reply to what indexing `remem` or `stitch` asks, and to any reasoner that stands on them."""
    if request.step == "remem_extract":
        gist = {"turns": ["T1"], "text": "Something was said about a drink.", "when": ""}
        return json.dumps({"gists": [gist], "facts": []})
    if request.step in STRUCTURED["stitch"].steps:
        return understands(request)
    if request.step == "plan_and_prove":
        written = plan("(Alice) ordered (x:drink)", "(Alice) ordered (x:drink)")
        return proved(claims(1, KYOTO, x="Kyoto Latte"), plan=written, status="settled", wording="Kyoto Latte")(request)
    return reply(request, "Kyoto Latte")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backbone", "derived"), [("remem", "Something was said about a drink."), ("stitch", "(greetings)")]
)
def test_each_stands_on_a_structured_backbone(momoco: Goalmem, backbone: str, derived: str) -> None:
    """`goal-mem` and all that need no backbone of their own are shown what was derived, and can cite what was said.

    But `full-context` and its like show the turns as they are.
    """
    factories = seeing(lambda _: LoadedModel(ScriptedModel(on_structured), "scripted", "full", 8192, at_once=4))
    assert momoco("index", backbone, "-q", factories=factories).code == 0
    for name in (NAME, *FORWARD):
        words = ("ask", QUESTION, "--backbone", backbone, "--reasoner", name, "--json")
        document = json.loads(momoco(*words, factories=factories).out)
        assert (document["answer"], document["reasoner"]) == ("Kyoto Latte", name)
        assert [document["facts"][number]["turns"] for number in document["evidence"]] == [["D1:3"]]
        shows_derived = any(derived in fact["text"] for fact in document["facts"].values())
        assert shows_derived == (not name.startswith("full-context"))


@pytest.mark.slow
@by_name
def test_json_has_the_actions(momoco: Goalmem, name: str) -> None:
    """`--json` has the same keys as ever, with actions and why it stopped in place of attempts; the trace is kept."""
    outcome = momoco("ask", QUESTION, "--reasoner", name, "--json", factories=answering())
    document = json.loads(outcome.out)
    assert (document["status"], document["reasoner"], document["attempts"]) == ("answered", name, [])
    assert [action["name"] for action in document["actions"]] == STEPS[name]
    assert document["stopped"]
    assert [document["facts"][number]["turns"] for number in document["evidence"]] == [["D1:3"]]
    assert (outcome.err, len(json.loads(momoco("trace", "--json").out)["traces"])) == ("", 1)


@pytest.mark.slow
@by_name
def test_unknown_is_exit_1_and_says_what_was_read(momoco: Goalmem, name: str) -> None:
    """Nothing on stdout, one line on stderr."""
    outcome = momoco("ask", QUESTION, "--reasoner", name, factories=answering("unknown"))
    assert (outcome.code, outcome.out) == (1, "")
    assert re.fullmatch(r"unknown: the model saw \d+ facts and read no answer from them\n", outcome.err)


@pytest.mark.slow
@by_name
def test_a_model_without_usable_replies_is_exit_4(momoco: Goalmem, name: str) -> None:
    """`failed` reads as an error that says which step."""
    model = ScriptedModel(lambda _: RUBBISH)
    outcome = momoco(
        "ask", QUESTION, "--reasoner", name, factories=seeing(lambda _: LoadedModel(model, "scripted", "full", 8192))
    )
    assert (outcome.code, outcome.out) == (4, "")
    assert STEPS[name][-1] in outcome.error_lines[0]
    assert "--trace" in outcome.error_lines[1]


@pytest.mark.parametrize("command", ["ask", "chat"])
def test_a_wrong_name_is_a_usage_error_that_names_the_choices(momoco: Goalmem, command: str) -> None:
    """Exit 2; the oracle, which needs gold evidence, is no choice."""
    words = ("ask", QUESTION) if command == "ask" else ("chat",)
    for name in ("oracle", "magic", "", "Direct"):
        outcome = momoco(*words, "--reasoner", name, stdin=b"", factories=answering())
        assert (outcome.code, outcome.out) == (2, "")
        assert "--reasoner" in outcome.error_lines[0]
        told = outcome.error_lines[0].partition("not one of")[2]
        assert set(re.findall(r"[\w-]+", told)) >= set(get_args(ReasonerName))
        assert "oracle" not in told


def test_a_wrong_name_in_the_settings_names_the_choices_too(momoco: Goalmem, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable or file may say what it likes: the question is refused with the names, and a flag still wins."""
    monkeypatch.setenv("GOALMEM_REASONER", "oracle")
    outcome = momoco("ask", QUESTION, factories=answering())
    assert (outcome.code, outcome.out) == (2, "")
    assert all(name in outcome.error_lines[1] for name in get_args(ReasonerName))
    monkeypatch.setenv("GOALMEM_REASONER", "direct")
    assert momoco("ask", QUESTION, factories=answering()).out == "Kyoto Latte\n"
    assert momoco("ask", QUESTION, "--reasoner", "tiser", "--trace", factories=answering()).err.count("tiser") > 1


def test_help_lists_the_names(momoco: Goalmem) -> None:
    """`goalmem ask --help` says which reasoners there are."""
    text = " ".join(momoco("ask", "--help").out.split())
    assert "--reasoner NAME" in text
    assert all(name in text for name in get_args(ReasonerName))


@pytest.mark.parametrize("name", ["direct", "memguide"])
def test_chat_answers_with_it(momoco: Goalmem, name: str) -> None:
    """A chat takes the same option for all its questions, and `/trace` draws the last one's steps."""
    outcome = momoco("chat", "--reasoner", name, stdin=f"{QUESTION}\n/trace\n".encode(), factories=answering())
    assert (outcome.code, outcome.out) == (0, "Kyoto Latte\n"), outcome.err
    assert f"reasoner: {name}" in outcome.err


def test_an_answer_of_a_forward_reasoner_is_remembered_with_its_turns(momoco: Goalmem) -> None:
    """--remember keeps question and answer whichever reasoner answered, and the answer is no fact for another."""
    outcome = momoco("ask", QUESTION, "--reasoner", "direct", "--remember", factories=answering("Zanzibar Cooler"))
    assert outcome.out == "Zanzibar Cooler\n"
    asked = momoco("ask", QUESTION, "--reasoner", "full-context", "--json", factories=answering())
    texts = [fact["text"] for fact in json.loads(asked.out)["facts"].values()]
    assert QUESTION in texts
    assert not [text for text in texts if "Zanzibar" in text]


def test_the_full_context_is_cut_to_the_model_s_and_says_so(momoco: Goalmem) -> None:
    """Only what fits beside the prompt is shown, the newest, and the trace counts the rest."""
    small = seeing(lambda _: LoadedModel(answering_model(), "scripted", "full", 2100))
    document = json.loads(momoco("ask", QUESTION, "--reasoner", "full-context", "--json", factories=small).out)
    assert document["status"] == "unknown"
    (note,) = document["notes"]
    assert re.match(r"the context has no room for the oldest \d+ of \d+ turns: shown is what was said from ", note)


def answering_model() -> ScriptedModel:
    """Return a model that never knows."""
    return ScriptedModel(lambda request: reply(request, "unknown"))
