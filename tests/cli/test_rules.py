"""`goalmem rules`, and questions that begin with one; and the page of goals over time."""

import json
import re
import stat
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest

from goalmem_cli.config import Settings, given_settings
from goalmem_cli.fitted import Fitted
from goalmem_cli.ports import Request
from goalmem_cli.records import Question
from goalmem_cli.store.privacy import PEOPLE, RULES
from goalmem_cli.wiring import Factories, LoadedModel, build_reasoner, open_store
from tests.cli.test_goals import BEN, LEEDS, RENT, YORK, is_planning, living, model, read
from tests.invoking import Goalmem, Outcome, seeing

pytestmark = pytest.mark.usefixtures("here")
HULL = ("Ben", "2024-02-03T10:04", "I live in Hull.")


def lives(who: str, cited: str, city: str, planned: list[bool]) -> Factories:
    """Return a model that proves where somebody lives, and notes whether it had to plan."""

    def reply(request: Request) -> str:
        planned.append(is_planning(request))
        return living(cited, city, f"({who}) lives in (x:city)", request)

    return model(reply)


def _given(loaded: LoadedModel, _: Settings) -> LoadedModel:
    return loaded


@pytest.fixture
def home(goalmem: Goalmem) -> Goalmem:
    """The command over a store in which a question has left a rule."""
    read(goalmem, "talk.json", LEEDS, BEN, HULL, RENT)
    outcome = goalmem("ask", "Where does Ana live now?", factories=lives("Ana", "moved to Leeds", "Leeds", []))
    assert outcome.out == "Leeds\n", outcome.err
    return goalmem


def ask_ben(home: Goalmem, planned: list[bool], *more: str) -> Outcome:
    """Ask where Ben lives, in another wording."""
    return home(
        "ask",
        "Can you tell me where Ben currently lives?",
        *more,
        factories=lives("Ben", "live in Hull", "Hull", planned),
    )


def test_a_question_of_the_same_form_begins_with_the_rule(home: Goalmem, tmp_path: Path) -> None:
    """Another wording about somebody else is proved by the plan of the rule, and both say so."""
    planned: list[bool] = []
    outcome = ask_ben(home, planned, "--trace", "--json")
    trace = json.loads(outcome.out)
    assert (planned, trace["answer"], trace["rule"]["is_settled"]) == ([False], "Hull", True)
    assert trace["attempts"][0]["subgoals"] == ["(Ben) lives in (x:city)"]
    assert "Where does {name} live now? (tried first now)" in outcome.err
    told = home("rules").out
    assert "Where does {name} live now?  settled 1 of 1, in 1 call" in told
    assert "IF ({1}) lives in (x:city) THEN ({1}) lives in (x:city)" in told
    (row,) = json.loads(home("rules", "list", "--json").out)["rules"]
    assert (row["tried"], row["settled"], row["calls"], row["subgoals"]) == (1, 1, 1, ["({1}) lives in (x:city)"])
    assert stat.S_IMODE((tmp_path / "store" / RULES).stat().st_mode) == 0o600


def test_rules_can_be_left_out(home: Goalmem, monkeypatch: pytest.MonkeyPatch) -> None:
    """A flag, and a setting, have the model plan."""
    planned: list[bool] = []
    assert json.loads(ask_ben(home, planned, "--no-rules", "--json").out)["rule"] is None
    monkeypatch.setenv("GOALMEM_RULES", "no")
    ask_ben(home, planned)
    assert planned == [True, True]
    ask_ben(home, planned, "--rules")
    assert planned == [True, True, False]


def test_forgotten_rules_are_gone(home: Goalmem) -> None:
    """By name, and all; a name that is none, and none at all, are usage errors."""
    (row,) = json.loads(home("rules", "--json").out)["rules"]
    assert home("rules", "forget", "strange").code == 2
    assert home("rules", "forget").code == 2
    assert home("rules", "forget", row["name"]).code == 2, "nobody is there to ask"
    gone = home("rules", "forget", row["name"], "--yes")
    assert gone.code == 0
    assert f"{row['name']}: " in gone.err
    assert "cannot be undone" in gone.err
    outcome = home("rules")
    assert (outcome.code, outcome.out) == (1, "")
    planned: list[bool] = []
    ask_ben(home, planned)
    assert planned == [True]
    assert home("rules", "forget", "--all", "--yes").code == 0
    assert home("rules").code == 1


def test_forgetting_turns_touches_no_rule_as_it_holds_none_of_them(home: Goalmem, tmp_path: Path) -> None:
    """Nothing of the conversation is in the file before or after; removing the store removes it."""
    file = tmp_path / "store" / RULES
    before = file.read_bytes()
    words = {word for each in (LEEDS, BEN, HULL, RENT) for word in re.findall(r"[A-Z]\w{2,}", " ".join(each))}
    assert {"Ana", "Leeds", "Hull"} <= words
    assert not words & set(re.findall(r"\w+", before.decode()))
    assert home("forget", "--speaker", "Ana", "--yes").code == 0
    assert file.read_bytes() == before
    assert home("stores", "remove", "--yes").code == 0
    assert not file.exists()


def test_a_copy_has_the_rules(home: Goalmem) -> None:
    """A rule whose form the target has stays as it is there."""
    (row,) = json.loads(home("rules", "--json").out)["rules"]
    for _ in range(2):
        assert home("stores", "copy", "store", "other").code == 0
        assert json.loads(home("rules", "--json", "--store", "other").out)["rules"] == [row]
        ask_ben(home, [])  # the rule of the source has been tried meanwhile


@pytest.mark.parametrize("place", ["store", "other"])
@pytest.mark.parametrize("content", ['{"schema_version": 99, "rules": []}', "no rules"])
def test_a_copy_goes_on_without_rules_that_it_cannot_read(
    home: Goalmem, tmp_path: Path, place: str, content: str
) -> None:
    """Newer or damaged, there or here: the notes on people behind them are copied, and it is said."""
    assert home("people", "name", "Ana", "Ana K.").code == 0
    (tmp_path / place).mkdir(exist_ok=True)
    (tmp_path / place / RULES).write_text(content, "utf-8")
    outcome = home("stores", "copy", "store", "other")
    assert outcome.code == 0, outcome.err
    assert "the rules for questions were not copied: " in outcome.err
    assert str(Path(place) / RULES) in outcome.err
    assert (tmp_path / place / RULES).read_text("utf-8") == content
    assert (tmp_path / "other" / PEOPLE).exists()


def test_the_page_of_goals_shows_each_state_with_its_turns(home: Goalmem) -> None:
    """One file that loads nothing and runs nothing; what was said is text, never markup."""
    assert home("goals", "report", "--out", "none.html").code == 1
    said = ("Ana", YORK[1], f"<script>alert(1)</script> & {YORK[2]}")
    assert home(
        "goals", "add", "Where does Ana live now?", "--name", "home <b>", factories=lives("Ana", "to Leeds", "Leeds", [])
    ).code == 0  # fmt: skip
    read(home, "later.json", said)
    assert home("goals", "check", factories=lives("Ana", "back in York", "York", [])).code == 1
    assert home("goals", "report", "--out", "goals.html").code == 0
    page = Path("goals.html").read_text(encoding="utf-8")
    assert page.count("<rect ") == 2
    assert page.index("-&gt; Leeds") < page.index("-&gt; York")
    assert "home &lt;b&gt;" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; We are back" in page
    assert not re.search(r"<script|<b>|https?:|style=|<link|<img", page)
    assert "default-src &#x27;none&#x27;" in page


def test_measurements_and_fitted_models_plan_unless_told(home: Goalmem, tmp_path: Path) -> None:
    """What `eval` builds tries no rule by default, nor does a model whose certainties are fitted to its own plans."""
    planned: list[bool] = []
    asked = Question("Where does Ben live now?", datetime(2024, 7, 1, 12))
    for told in (None, True):
        settings = given_settings({"store": tmp_path / "store", "rules": told})
        factories = lives("Ben", "live in Hull", "Hull", planned)
        store = open_store(settings, factories, lambda _: None)
        assert build_reasoner(settings, store, factories.model(settings)).answer(asked).answer == "Hull"
    assert planned == [True, False]

    fitted = Fitted(weights={"goal-mem": (0.0,) * 6})
    for words in ((), ("--rules",)):
        factories = lives("Ben", "live in Hull", "Hull", planned)
        loaded = replace(factories.model(settings), fitted=fitted)
        outcome = home("ask", asked.text, *words, factories=seeing(partial(_given, loaded)))
        assert outcome.out == "Hull\n"
    assert planned[2:] == [True, False]
