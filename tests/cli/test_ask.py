"""`goalmem ask` and `goalmem trace`, on scripted replies over a real store."""

import json
import os
import re
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import pytest

from goalmem_cli.config import Settings, load_settings
from goalmem_cli.errors import ModelMissing
from goalmem_cli.memory_records import Capability, Ranking
from goalmem_cli.ports import Request
from goalmem_cli.prompts import Profile
from goalmem_cli.reasoners.showing import lines_shown
from goalmem_cli.records import Query, Unit
from goalmem_cli.stages import OPENING, watching
from goalmem_cli.store import Store
from goalmem_cli.testing import Reply, ScriptedModel
from goalmem_cli.wiring import Factories, LoadedModel, local, open_store
from tests.conftest import CHECKOUT, SAMPLES
from tests.invoking import Goalmem, scripted, seeing
from tests.reasoners.forward import says
from tests.reasoners.scripting import claims, plan, proved, wants

QUESTION = "Which drink with matcha in it did Alice order at cafe Momoco?"
GOAL = "(Alice) ordered (x:drink) with (matcha:powder) in it at (Momoco:cafe)"
ORDERED = "(Alice) ordered (x:drink) at (Momoco:cafe)"
MADE = "(x:drink) is made with (matcha:powder)"


PROOF = proved(
    claims(1, "talked me into a Kyoto Latte", x="Kyoto Latte"),
    claims(2, "the Kyoto Latte is made with matcha", x="Kyoto Latte"),
    plan=plan(GOAL, ORDERED, MADE), status="settled", wording="Kyoto Latte",
)  # fmt: skip
NO_PROOF = proved(
    plan=plan(GOAL, ORDERED, MADE), open=[wants(1, why="nobody says"), wants(2, why="nobody says")], status="stop"
)


def proving() -> Factories:
    """Return a model that proves the question from the Momoco conversation."""
    return scripted(PROOF)


def failing() -> Factories:
    """Return a model that finds no proof, and nothing more to look for."""
    return scripted(NO_PROOF)


def test_the_answer_alone_is_on_stdout(momoco: Goalmem) -> None:
    """An answered question is one line on stdout, nothing on stderr, exit 0."""
    outcome = momoco("ask", QUESTION, factories=proving())
    assert (outcome.code, outcome.out, outcome.err) == (0, "Kyoto Latte\n", "")


def test_the_trace_is_drawn_on_stderr(momoco: Goalmem) -> None:
    """With --trace stdout is still the answer alone; the proof, with its facts, stands on stderr."""
    outcome = momoco("ask", QUESTION, "--trace", factories=proving())
    assert outcome.out == "Kyoto Latte\n"
    for part in (
        "IF   S1 (Alice) ordered (x:drink) at (Momoco:cafe) [grounded]",
        "x = Kyoto Latte (stated)",
        "Ben, 21 May 2023 18:20, momoco-01 D2:1",
        "answer: Kyoto Latte",
        "1 call,",
    ):
        assert part in outcome.err
    assert "\x1b" not in outcome.err


def test_json_has_the_issue_s_keys(momoco: Goalmem) -> None:
    """`--json` prints one document with the trace's keys, the facts under the transcript's own names."""
    outcome = momoco("ask", QUESTION, "--json", factories=proving())
    document = json.loads(outcome.out)
    assert document["schema_version"] == 9
    assert (document["status"], document["answer"], document["reasoner"]) == ("answered", "Kyoto Latte", "goal-mem")
    assert document["substitution"] == {"x": ["Kyoto Latte"]}
    cited = [document["facts"][number] for number in document["evidence"]]
    assert [fact["turns"] for fact in cited] == [["D1:3"], ["D2:1"]]
    assert {fact["conversation"] for fact in cited} == {"momoco-01"}
    step = document["attempts"][0]["steps"][0]
    assert step.keys() >= {
        "depth", "queries", "new_facts", "grounded", "rejected", "contradicted", "unresolved", "refined",
    }  # fmt: skip
    assert document["usage"].keys() == {"calls", "prompt_tokens", "cached_tokens", "completion_tokens", "seconds"}


def test_unknown_is_exit_1_and_says_which_subgoal_failed(momoco: Goalmem) -> None:
    """Nothing on stdout, one line on stderr with the subgoal and the reason."""
    outcome = momoco("ask", QUESTION, "--max-breadth", "1", factories=failing())
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == f"unknown: S1 {ORDERED}: nobody says\n"
    document = json.loads(momoco("ask", QUESTION, "--json", "--max-breadth", "1", factories=failing()).out)
    assert (document["status"], document["answer"]) == ("unknown", None)


def test_values_in_conflict_are_both_shown_and_exit_1(tmp_path: Path, goalmem: Goalmem) -> None:
    """Who said what and when, and the question that would settle it; the answer is not one of the two."""
    chat = tmp_path / "rent.md"
    chat.write_text("Ana: My rent is 900 euros.\nBo: Ana's rent is 950 euros.\nAna: Hm.\nBo: Yes.\n")
    assert goalmem("ingest", str(chat)).code == 0
    rent = "(Ana) pays a rent of (x:amount)"
    both = claims(1, "My rent", x="900 euros"), claims(1, "Ana's rent", x="950 euros")
    reply = proved(*both, plan=plan(rent, rent), status="stop")

    outcome = goalmem("ask", "How much is Ana's rent?", factories=scripted(reply))

    assert (outcome.code, outcome.out) == (1, "")
    assert re.fullmatch(
        r"in conflict: 900 euros \(F\d Ana.*\), and 950 euros \(F\d Bo.*\); "
        r"what would settle it: How much is Ana's rent\? 900 euros, or 950 euros\?\n",
        outcome.err,
    )
    document = json.loads(goalmem("ask", "How much is Ana's rent?", "--json", factories=scripted(reply)).out)
    assert [side["value"] for side in document["conflict"]] == ["900 euros", "950 euros"]


def test_a_model_without_usable_replies_is_exit_4(momoco: Goalmem) -> None:
    """`failed` is neither an answer nor unknown, and reads as an error."""
    outcome = momoco("ask", QUESTION, factories=scripted(*["nonsense"] * 6))
    assert (outcome.code, outcome.out) == (4, "")
    assert "--model" in outcome.error_lines[1]
    outcome = momoco("ask", QUESTION, "--json", factories=scripted(*["nonsense"] * 6))
    assert json.loads(outcome.out)["status"] == "failed"
    assert json.loads(outcome.out)["failure"]


def test_a_question_can_be_piped_in(momoco: Goalmem) -> None:
    """`-` reads the question from standard input."""
    assert momoco("ask", "-", stdin=f"{QUESTION}\n".encode(), factories=proving()).out == "Kyoto Latte\n"
    assert momoco("ask", "-", stdin=b"\n ").code == 2
    assert momoco("ask", "-", stdin=b"caf\xe9?").code == 5


def test_a_question_of_another_encoding_is_asked(momoco: Goalmem) -> None:
    """Lone surrogates of the command line become question marks; one in --asker names nobody."""
    document = json.loads(momoco("ask", f"{QUESTION} caf\udce9", "--json", factories=proving()).out)
    assert document["question"] == f"{QUESTION} caf?"
    assert momoco("ask", QUESTION, "--asker", "Ren\udce9", factories=proving()).code == 2


@pytest.mark.parametrize(
    "words",
    [("--context", "4294968000"), ("--seed", "9" * 5000), ("--threads", "100000"), ("--budget", "1000000000000")],
)
def test_a_number_beyond_all_bounds_is_a_usage_error(momoco: Goalmem, words: tuple[str, ...]) -> None:
    """What would wrap around or exhaust the machine is refused with the range."""
    outcome = momoco("ask", QUESTION, *words, factories=proving())
    assert (outcome.code, outcome.out) == (2, "")
    assert words[0] in outcome.error_lines[0]


def test_a_large_budget_shows_what_there_is(momoco: Goalmem) -> None:
    """The most that is allowed is not more than the machine can do."""
    assert momoco("ask", QUESTION, "--budget", "1000000", factories=proving()).out == "Kyoto Latte\n"


@pytest.mark.parametrize("name", ["~nosuchuser/x.gguf", "x" * 5000])
def test_a_model_s_path_that_cannot_be_is_exit_4(momoco: Goalmem, name: str) -> None:
    """A home that nobody has and a path too long name no model."""
    outcome = momoco("ask", QUESTION, "--model", name)
    assert outcome.code == 4
    assert outcome.error_lines


def test_settings_reach_the_engine(momoco: Goalmem) -> None:
    """Limits typed as flags bound the search: a depth of 0 is one round, which shows two thirds of the budget."""
    seen: list[Request] = []

    def never(request: Request) -> str:
        seen.append(request)
        return proved(plan=plan(GOAL, ORDERED), open=[wants(1, "matcha")])(request)

    factories = seeing(lambda _: LoadedModel(ScriptedModel(never), "scripted", "full", 8192))
    momoco("ask", QUESTION, "--max-breadth", "1", "--max-depth", "0", "--budget", "3", factories=factories)
    assert [request.step for request in seen] == ["plan_and_prove"]
    assert [line.number for line in lines_shown(seen[0].growing)] == ["F1", "F2"]


@pytest.mark.parametrize(
    ("old", "profile", "planning"),
    [("seen", "full", "together"), ("blind", "full", "paper"), ("blind", "compact", "stepwise")],
)
def test_the_note_on_an_old_name_of_a_planning_has_what_runs(
    momoco: Goalmem, old: str, profile: Profile, planning: str
) -> None:
    """The trace has the new name, which depends on the model's prompts."""
    model = ScriptedModel(lambda request: says([], answer="unknown")(request) if request.step == "read" else "")
    factories = seeing(lambda _: LoadedModel(model, "scripted", profile, 8192))
    outcome = momoco("ask", QUESTION, "--planning", old, "--json", factories=factories)
    assert json.loads(outcome.out)["planning"] == planning
    (note,) = [line for line in outcome.err.splitlines() if line.startswith(f"planning {old} is called")]
    assert planning in note
    assert ("small models" in note) == (old == "blind")


def test_all_looks_on_and_says_where_there_may_be_more(goalmem: Goalmem) -> None:
    """A list is looked for once more, with `--all` until nothing is left; what the model calls open is said."""
    played = ("cello", "harp", "oboe", "flute", "drum")
    for name in played:
        turn = {"role": "user", "content": f"I play the {name}, my instrument in the {name} club."}
        goalmem("ingest", "-", "--quiet", stdin=json.dumps([turn]).encode())
    plays = plan("(user) plays (x:instrument*)", "(user) plays (x:instrument*)")

    def found(*words: str, is_open: bool = False) -> tuple[int, str]:
        def names(request: Request) -> str:
            told = [name for name in played if f"the {name}," in request.growing]
            written = plays if "Plan: to be written" in request.tail else ""
            more = [wants(1, "user instrument")] if is_open else []
            grounded = [claims(1, f"the {name},", x=name) for name in told]
            return proved(*grounded, plan=written, open=more, wording=", ".join(told))(request)

        factories = seeing(lambda _: LoadedModel(ScriptedModel(names), "scripted", "full", 8192))
        outcome = goalmem("ask", "Which instruments do I play?", "--budget", "5", *words, factories=factories)
        assert outcome.code == 0
        return len(outcome.out.split(", ")), outcome.err

    assert found() == (5, "")
    assert found("--all") == (5, "")
    assert found(is_open=True) == (4, "there may be more\n")


def test_the_model_is_chosen_by_flag_then_variable(momoco: Goalmem, monkeypatch: pytest.MonkeyPatch) -> None:
    """--model beats GOALMEM_MODEL; seed, threads and context reach whoever loads it."""
    asked: list[Settings] = []

    def refuse(settings: Settings) -> LoadedModel:
        asked.append(settings)
        raise ModelMissing(f"no model {settings.model}", "get one")

    monkeypatch.setenv("GOALMEM_MODEL", "from-variable")
    assert momoco("ask", QUESTION, factories=seeing(refuse)).code == 4
    assert "--seed" not in momoco("ask", "--help").out  # of use for servers only
    flags = ("--model", "from-flag", "--seed", "7", "--threads", "3", "--context", "2048")
    assert momoco("ask", QUESTION, *flags, factories=seeing(refuse)).code == 4
    assert [each.model for each in asked] == ["from-variable", "from-flag"]
    assert (asked[1].seed, asked[1].threads, asked[1].context) == (7, 3, 2048)


def test_a_context_too_small_for_the_prompts_is_said(momoco: Goalmem) -> None:
    """A model that sees too little is refused with how much it takes."""
    small = seeing(lambda _: LoadedModel(ScriptedModel([]), "scripted", "full", 1024))
    outcome = momoco("ask", QUESTION, factories=small)
    assert outcome.code == 4
    assert "--context" in outcome.error_lines[1]


def test_as_of_hides_what_was_said_later(momoco: Goalmem) -> None:
    """With --as-of no later turn is among the facts, and the question is asked then."""
    outcome = momoco("ask", QUESTION, "--as-of", "2023-05-10", "--json", "--max-breadth", "1", factories=failing())
    document = json.loads(outcome.out)
    assert document["facts"]
    assert all(fact["said"] < "2023-05-11" for fact in document["facts"].values())
    assert document["asked"].startswith("2023-05-10T23:59:59")


def test_turns_without_a_time_hidden_by_as_of_are_counted(goalmem: Goalmem) -> None:
    """A turn of unknown time may have been said later, so it is hidden, and that is said."""
    goalmem("ingest", "-", stdin=b'[{"role": "user", "content": "I bake rye bread."}]')
    outcome = goalmem("ask", "What do I bake?", "--as-of", "2024", "--max-breadth", "1", factories=failing())
    assert "1 turn without a time left out" in outcome.err


def test_the_user_is_the_asker_where_there_is_one(goalmem: Goalmem, samples: Path) -> None:
    """First-person questions are the user's where roles say so, --asker's where it is given, else nobody's."""
    goalmem("ingest", str(samples / "lisbon-trip.json"), "--quiet")
    ask = ("ask", "Where am I going?", "--json", "--max-breadth", "1")
    assert json.loads(goalmem(*ask, factories=failing()).out)["asker"] == "user"
    goalmem("ingest", str(samples / "momoco.json"), "--quiet")
    within = ("--conversation", "momoco-01")
    assert json.loads(goalmem(*ask, *within, factories=failing()).out)["asker"] is None
    named = json.loads(goalmem(*ask, *within, "--asker", "alice", factories=failing()).out)
    assert named["asker"] == "Alice"
    assert goalmem(*ask, *within, "--asker", "user", factories=failing()).code == 2


def test_wrong_words_cost_no_model(momoco: Goalmem) -> None:
    """A wrong name, time or question is exit 2 before any model is loaded."""

    def never(_: Settings) -> LoadedModel:
        raise AssertionError("the model was loaded")

    for words in (
        ("ask", "  "),
        ("ask", QUESTION, "--conversation", "momoco"),
        ("ask", QUESTION, "--asker", "Zoe"),
        ("ask", QUESTION, "--as-of", "soon"),
        ("ask", QUESTION, "--max-breadth", "0"),
    ):
        outcome = momoco(*words, factories=seeing(never))
        assert (outcome.code, outcome.out) == (2, "")
        assert len(outcome.error_lines) == 2


def test_an_empty_store_is_exit_3(goalmem: Goalmem) -> None:
    """There is nothing to ask before something was ingested."""
    outcome = goalmem("ask", QUESTION, factories=failing())
    assert outcome.code == 3
    assert "goalmem ingest" in outcome.error_lines[1]


def test_prompts_of_one_s_own_are_used(momoco: Goalmem, tmp_path: Path) -> None:
    """--prompts names a folder; one that holds none is exit 4."""
    outcome = momoco("ask", QUESTION, "--prompts", str(tmp_path), factories=proving())
    assert outcome.code == 4
    assert str(tmp_path) in outcome.error_lines[0]


def test_a_trace_that_cannot_be_kept_is_a_warning(momoco: Goalmem, tmp_path: Path) -> None:
    """The answer is worth more than its record."""
    (tmp_path / "store" / "traces").write_text("in the way")
    outcome = momoco("ask", QUESTION, factories=proving())
    assert (outcome.code, outcome.out) == (0, "Kyoto Latte\n")
    assert outcome.err.startswith("warning: the trace was not kept")


def test_a_trace_of_the_wrong_types_is_damaged(momoco: Goalmem, tmp_path: Path) -> None:
    """A trace file whose values are of the wrong type is one error line; the list warns and goes on."""
    momoco("ask", QUESTION, factories=proving())
    (file,) = (tmp_path / "store" / "traces").iterdir()
    file.write_text(json.dumps(json.loads(file.read_text()) | {"question": 5}))
    outcome = momoco("trace", "show")
    assert outcome.code == 3
    assert file.name in outcome.error_lines[0]
    assert "warning: " in momoco("trace").err


def test_another_process_may_write_while_the_model_works(momoco: Goalmem, tmp_path: Path) -> None:
    """No lock is held while a model runs: the store takes new turns in the middle of a question."""

    def during(request: Request) -> str:
        outcome = momoco("ingest", "-", "--json", stdin=b'[{"role": "user", "content": "I like tea."}]')
        assert json.loads(outcome.out)["files"][0]["new_turns"] == 1
        return NO_PROOF(request)

    factories = seeing(lambda _: LoadedModel(ScriptedModel(during), "scripted", "full", 8192))
    assert momoco("ask", QUESTION, "--max-breadth", "1", factories=factories).code == 1


@pytest.fixture
def aged(momoco: Goalmem, tmp_path: Path) -> Goalmem:
    """The command, with a store that was changed a minute ago, and for which DuckDB was started."""
    assert momoco("stores", "show").code == 0
    minute_ago = time.time() - 60
    os.utime(tmp_path / "store" / "memory.duckdb", (minute_ago, minute_ago))
    return momoco


@pytest.mark.parametrize(("reply", "code", "openings"), [(PROOF, 0, 2), (NO_PROOF, 1, 1)])
def test_the_store_is_opened_before_the_model_and_after_it(
    aged: Goalmem, reply: Reply, code: int, openings: int
) -> None:
    """What was looked up before the first call is looked up in one go; later turns are looked up for an answer alone."""
    with watching() as watch:
        assert aged("ask", QUESTION, "--max-breadth", "1", factories=scripted(reply)).code == code
    assert sum(each.times for each in watch.stages if each.name == OPENING) == openings


def test_what_is_forgotten_while_the_model_works_is_in_no_trace(aged: Goalmem, tmp_path: Path) -> None:
    """A store that has its old state is not read again, and one that has another is."""

    def during(request: Request) -> str:
        assert aged("forget", "momoco-01", "--yes").code == 0
        return NO_PROOF(request)

    factories = seeing(lambda _: LoadedModel(ScriptedModel(during), "scripted", "full", 8192))
    outcome = aged("ask", QUESTION, "--max-breadth", "1", factories=factories)
    assert "the trace was not kept: something it shows was forgotten meanwhile" in outcome.err
    assert list((tmp_path / "store" / "traces").iterdir()) == []


WRITE = """
import sys
from goalmem_cli.main import main
main(["ingest", sys.argv[1], "--store", sys.argv[2], "--quiet"])
"""


@pytest.mark.slow
def test_another_process_may_write_while_a_model_is_loaded_for_long(momoco: Goalmem, tmp_path: Path) -> None:
    """As when it is put together from its parts: the store is let go before a writer gives up."""
    file = tmp_path / "tea.json"
    file.write_text('[{"role": "user", "content": "I like tea."}]')
    codes: list[int] = []

    def loading(_: Settings) -> LoadedModel:
        words = [sys.executable, "-c", WRITE, str(file), str(tmp_path / "store")]
        codes.append(subprocess.run(words, cwd=CHECKOUT, check=False).returncode)
        return LoadedModel(ScriptedModel(NO_PROOF), "scripted", "full", 8192)

    assert momoco("ask", QUESTION, "--max-breadth", "1", factories=seeing(loading)).code == 1
    assert codes == [0]


def remembered(store: Path) -> list[tuple[str, str, str | None]]:
    """Return the turns of the conversation `goalmem`: who, what, in which role."""
    return [(turn.speaker, turn.text, turn.role) for turn in opened(store).turns(["goalmem"])]


def opened(store: Path) -> Store:
    """Return the store that the command used."""
    return local(open_store(load_settings({"store": store}, {}), Factories(), lambda _: None), Capability.STRUCTURE)


def answer_units(store: Path) -> list[Unit]:
    """Return the remembered answers, which no search shows."""
    memory = opened(store)
    with memory.reading() as reader:
        found = reader.rank(Query("goalmem"), [Ranking.BM25], 100, backbone="answers")[Ranking.BM25]
        return [hit.unit for hit in reader.hits([scored.unit for scored in found]).values()]


def test_remember_writes_the_question_and_the_answer_back(momoco: Goalmem, tmp_path: Path) -> None:
    """The question is a turn of `goalmem`; the answer names the turns it cites, its question and its trace."""
    outcome = momoco("ask", QUESTION, "--remember", "--asker", "alice", factories=proving())
    assert (outcome.code, outcome.out, outcome.err) == (0, "Kyoto Latte\n", "")
    assert remembered(tmp_path / "store") == [("Alice", QUESTION, "user")]
    (unit,) = answer_units(tmp_path / "store")
    (turn,) = opened(tmp_path / "store").turns(["goalmem"])
    assert (unit.text, unit.kind, unit.conversation) == ("Kyoto Latte", "answer", "goalmem")
    assert unit.labels == ("D1:3", "D2:1", turn.own_id)
    (trace,) = json.loads(momoco("trace", "--json").out)["traces"]
    assert unit.attributes == {"question": QUESTION, "status": "answered", "trace": trace["id"]}
    assert momoco("stores", "verify").code == 0


def test_without_remember_nothing_is_written_back(momoco: Goalmem, tmp_path: Path) -> None:
    """An ordinary question leaves the memory as it was."""
    momoco("ask", QUESTION, factories=proving())
    assert opened(tmp_path / "store").stats().generation == 1


def test_what_was_not_answered_is_remembered_too(momoco: Goalmem, tmp_path: Path) -> None:
    """Unknown and failed have no answer, and the user asked all the same; one who has no name is `user`."""
    asking = ("ask", QUESTION, "--remember", "--max-breadth", "1")
    assert momoco(*asking, factories=failing()).code == 1
    assert momoco(*asking, "--json", factories=scripted(*["nonsense"] * 6)).code == 4
    assert remembered(tmp_path / "store") == [("user", QUESTION, "user")] * 2
    assert answer_units(tmp_path / "store") == []


def test_a_question_that_failed_with_an_error_is_not_remembered(momoco: Goalmem, tmp_path: Path) -> None:
    """Whoever asks again after an error has asked once."""

    def missing(_: Settings) -> LoadedModel:
        raise ModelMissing("no model", "get one")

    assert momoco("ask", QUESTION, "--remember", factories=seeing(missing)).code == 4
    assert momoco("ask", QUESTION, "--remember", "--asker", "Zoe", factories=proving()).code == 2
    assert remembered(tmp_path / "store") == []


def test_remembered_as_of_a_time(momoco: Goalmem, tmp_path: Path) -> None:
    """With --as-of the question was asked then, and is hidden from an earlier one."""
    momoco("ask", QUESTION, "--remember", "--as-of", "2023-06-01T12:00:00", factories=proving())
    (turn,) = opened(tmp_path / "store").turns(["goalmem"])
    assert turn.said == datetime(2023, 6, 1, 12)
    assert momoco("search", "matcha", "--conversation", "goalmem", "--until", "2023-05").code == 1
    assert momoco("search", "matcha", "--conversation", "goalmem", "--until", "2023-06-01").code == 0


def test_an_earlier_answer_is_never_a_fact(momoco: Goalmem, tmp_path: Path) -> None:
    """A question that only an earlier answer would match finds other facts or none, and no search shows the answer."""
    momoco("ask", QUESTION, "--remember", factories=proving())
    memory = opened(tmp_path / "store")
    turn = memory.turns(["goalmem"])[0]
    odd = memory.add_answer("Zanzibar Cooler", turn, [], {})
    asked = momoco("ask", "Zanzibar Cooler?", "--json", "--max-breadth", "1", factories=failing())
    facts = json.loads(asked.out)["facts"].values()
    assert facts
    assert all("Zanzibar" not in fact["text"] and fact["unit"] != odd.id for fact in facts)
    assert momoco("search", "Zanzibar", "--backbone", "bm25").code == 1
    assert "Zanzibar" not in momoco("search", "Zanzibar Cooler", "-k", "50").out


def test_remembering_that_fails_costs_no_answer(momoco: Goalmem, tmp_path: Path) -> None:
    """The answer was given; that it was not remembered is an error of the store."""

    def during(request: Request) -> str:
        reply = PROOF(request)
        momoco("forget", "momoco-01", "--yes")
        return reply

    factories = seeing(lambda _: LoadedModel(ScriptedModel(during), "scripted", "full", 8192))
    outcome = momoco("ask", QUESTION, "--remember", factories=factories)
    assert (outcome.code, outcome.out) == (3, "Kyoto Latte\n")
    assert "was forgotten or replaced meanwhile" in outcome.err
    assert answer_units(tmp_path / "store") == []


@pytest.mark.parametrize(
    ("reasoners", "said"),
    [
        ("{nobody: {turns: 1}}", "reasoners: none is called 'nobody'"),
        ("{react: {turns: 3}}", "reasoners: react has no setting 'turns'"),
        ("{reflect: {turns: two}}", "reasoners: reflect: turns cannot be 'two'"),
        ("{memguide: {weight: 2}}", "reasoners: memguide: weight is not between 0 and 1"),
    ],
)
def test_wrong_settings_of_any_reasoner_are_said(
    goalmem: Goalmem, monkeypatch: pytest.MonkeyPatch, reasoners: str, said: str
) -> None:
    """Whichever reasoner answers: a setting that nothing reads would be missed."""
    goalmem("ingest", str(SAMPLES / "momoco.json"))
    monkeypatch.setenv("GOALMEM_REASONERS", reasoners)
    done = goalmem("ask", QUESTION, "--reasoner", "direct", factories=proving())
    assert (done.code, done.error_lines[0]) == (2, said)
