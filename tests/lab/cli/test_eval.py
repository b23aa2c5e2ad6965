"""`goalmem eval`: measures, goes on where it was interrupted, judges, and merges what several machines measured."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.config import Settings
from goalmem_cli.errors import ContextOverflow, ModelMissing
from goalmem_cli.lab.evaluation.runs.folder import read_run
from goalmem_cli.ports import Request
from goalmem_cli.reasoners.showing import lines_shown
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.wiring import Factories, LoadedModel
from tests.conftest import SAMPLES
from tests.invoking import Goalmem, seeing

MOMOCO = str(SAMPLES / "momoco.json")
HAYSTACK = [
    {"question_id": f"q{number}{ending}", "question_type": "multi-session", "question": "Which cup did I buy?",
     "answer": "the blue one", "question_date": "2023/05/30 (Tue) 23:40", "answer_session_ids": ["s1"],
     "haystack_session_ids": ["s1"], "haystack_dates": ["2023/05/20 (Sat) 02:21"],
     "haystack_sessions": [[{"role": "user", "content": "I bought the blue cup.", "has_answer": True}]]}
    for number, ending in ((1, ""), (2, "_abs"))
]  # fmt: skip


def replies(request: Request) -> str:
    """Answer each reading with its first fact, judge everything right, and plan nothing that can be used."""
    if request.step == "read":
        return json.dumps({"facts": ["F1"], "answer": "Kyoto Latte"})
    if request.step.startswith("judge"):
        return json.dumps({"why": "it says so", "verdict": "right"})
    return "rubbish"


def answering(
    stops_at: int | None = None, replies: Callable[[Request], str] = replies
) -> tuple[Factories, ScriptedModel]:
    """Return factories with a model of these replies, which the user interrupts at a call, and the model."""
    model = ScriptedModel(replies)

    def reply(request: Request) -> str:
        if stops_at is not None and len(model.seen) > stops_at:
            raise KeyboardInterrupt
        return replies(request)

    model._function = reply
    return seeing(lambda _: LoadedModel(model, "scripted", "full", 8192, digest="d1")), model


def without_model(_settings: Settings) -> LoadedModel:
    """Stand for a machine that has no model."""
    raise ModelMissing("no model", "get one")


def document(goalmem: Goalmem, *words: str, factories: Factories | None = None) -> Any:
    """Return what the command prints with --json."""
    outcome = goalmem("eval", *words, "--json", factories=factories)
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def without_seconds(figures: Any) -> Any:
    """Return the document without what another run measures otherwise: seconds, and the peak of memory."""
    if isinstance(figures, list):
        return [without_seconds(part) for part in figures]
    if not isinstance(figures, dict):
        return figures
    return {key: without_seconds(part) for key, part in figures.items() if key not in {"seconds", "peak"}}


def test_a_file_alone_measures_direct_and_goal_mem(goalmem: Goalmem) -> None:
    """The estimate comes first, then both reasoners; the same command again asks nothing and says so."""
    factories, model = answering()
    outcome = goalmem("eval", MOMOCO, factories=factories)
    assert outcome.code == 0
    assert "16 questions to ask: 16 to " in outcome.err
    for shown in ("direct", "goal-mem", "Compared with direct", "reranked", "["):
        assert shown in outcome.out
    asked = model.calls
    again = goalmem("eval", MOMOCO, factories=factories)
    assert (again.code, model.calls) == (0, asked)
    assert "nothing is left to measure" in again.err
    assert again.out == outcome.out


def test_the_document_has_the_documented_shape(goalmem: Goalmem) -> None:
    """One summary document, an entry a row, with intervals, categories, recall, refusals and cost."""
    made = document(goalmem, MOMOCO, "--reasoner", "direct", factories=answering()[0])
    assert made["schema_version"] == 1
    entry = made["runs"][0]
    assert (entry["dataset"], entry["reasoner"], entry["backbone"], entry["model"], entry["n"]) == (
        "momoco", "direct", "reranked", "scripted", 8,
    )  # fmt: skip
    assert entry["metrics"]["f1"].keys() >= {"mean", "low", "high"}
    assert entry["retrieval"]["recall"].keys() >= {"10", "60"}
    assert entry["refusal"]["recall"] == 0
    assert entry["usage"]["calls"]["mean"] == 1
    assert entry["by_category"]


def test_a_run_names_its_model_and_refuses_another(goalmem: Goalmem) -> None:
    """Where `bundled` has become another model since, the same command neither goes on nor begins anew."""
    factories = answering()[0]
    words = ("eval", MOMOCO, "--reasoner", "direct", "--model", "bundled")
    assert ", model scripted" in goalmem(*words, factories=factories).err
    other = seeing(lambda _: LoadedModel(ScriptedModel(replies), "larger", "full", 4096, digest="d2", adapter="a2"))
    refused = goalmem(*words, factories=other)
    assert (refused.code, refused.out) == (2, "")
    assert "holds another run" in refused.err and "larger" in refused.err
    assert goalmem(*words[:-1], "larger.gguf", factories=other).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("stops_at", [2, 11])
def test_an_interrupted_run_goes_on(goalmem: Goalmem, tmp_path: Path, stops_at: int) -> None:
    """Ctrl-C is exit 130; the next run asks what is left, and the figures are those of an undisturbed run."""
    words = (MOMOCO, "--reasoner", "direct,oracle", "--out", str(tmp_path / "run"))
    assert goalmem("eval", *words, factories=answering(stops_at)[0]).code == 130
    kept = (tmp_path / "run" / "answered.jsonl").read_text().count("\n")
    assert kept == stops_at - 1  # the first call is the estimate's
    second, model = answering()
    made = document(goalmem, *words, factories=second)
    assert model.calls == 16 - kept  # nothing for trial: the run so far tells what a call takes
    whole = document(goalmem, MOMOCO, "--reasoner", "direct,oracle", factories=answering()[0])
    assert without_seconds(made) == without_seconds(whole)


@pytest.mark.slow
def test_a_killed_process_loses_no_line(tmp_path: Path) -> None:
    """Killed while it measures, a run keeps every result that was written, and goes on to the same figures."""
    words = [sys.executable, "-m", "goalmem_cli", "eval", MOMOCO, "--retrieval-only", "--backbone", "bm25,dense,hybrid",
             "--quiet", "--json", "--out"]  # fmt: skip
    results = tmp_path / "run" / "retrieved.jsonl"
    with subprocess.Popen([*words, str(tmp_path / "run")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as one:
        while one.poll() is None and not (results.exists() and results.read_bytes().count(b"\n") >= 3):
            time.sleep(0.01)
        os.kill(one.pid, signal.SIGKILL)
    kept = results.read_bytes().splitlines(keepends=True)
    kept = [line for line in kept if line.endswith(b"\n")]
    again = subprocess.run([*words, str(tmp_path / "run")], capture_output=True, check=True)
    assert results.read_bytes().startswith(b"".join(kept))
    whole = subprocess.run([*words, str(tmp_path / "whole")], capture_output=True, check=True)
    assert json.loads(again.stdout) == json.loads(whole.stdout)


def test_shards_merge_to_the_figures_of_one_run(goalmem: Goalmem, tmp_path: Path) -> None:
    """Two machines' halves give the whole's figures; a missing half is refused."""
    words = (MOMOCO, "--reasoner", "direct")
    for number in (1, 2):
        out = str(tmp_path / f"shard-{number}")
        document(goalmem, *words, "--shard", f"{number}/2", "--out", out, factories=answering()[0])
    merged = document(goalmem, "merge", str(tmp_path / "all"), str(tmp_path / "shard-2"), str(tmp_path / "shard-1"))
    whole = document(goalmem, *words, factories=answering()[0])
    assert without_seconds(merged) == without_seconds(whole)
    alone = goalmem("eval", "merge", str(tmp_path / "half"), str(tmp_path / "shard-1"))
    assert alone.code == 2
    assert "1/2 are not the shards" in alone.error_lines[0]


def test_a_shard_ranks_over_the_store_of_the_whole_run(goalmem: Goalmem, tmp_path: Path) -> None:
    """How rare a word is depends on all conversations: a shard whose questions need only one of them has them all."""
    talks = {
        "own": ["The alpha is here.", "The beta is here.", "Another beta, and a third beta.", "Rain."],
        "other": [f"An alpha of the kind {number}." for number in range(30)],
    }
    file = tmp_path / "two.json"
    file.write_text(json.dumps([
        {"sample_id": name,
         "conversation": {"speaker_a": "Ann", "speaker_b": "Ben", "session_1_date_time": "1:00 pm on 1 May, 2023",
                          "session_1": [{"speaker": "Ann", "dia_id": f"D1:{number}", "text": text}
                                        for number, text in enumerate(texts, 1)]},
         "qa": [{"question": "alpha or beta?", "answer": "beta", "evidence": ["D1:1"], "category": 4}]}
        for name, texts in talks.items()
    ]))  # fmt: skip
    words = (str(file), "--retrieval-only", "--backbone", "bm25")
    document(goalmem, *words, "--shard", "1/2", "--out", str(tmp_path / "one"))
    document(goalmem, *words, "--out", str(tmp_path / "whole"))
    part, whole = ((tmp_path / name / "retrieved.jsonl").read_text().splitlines() for name in ("one", "whole"))
    assert part == whole[:1]


def test_a_shard_without_questions_is_a_shard(goalmem: Goalmem, tmp_path: Path) -> None:
    """More shards than questions leave some with nothing to do; they merge all the same."""
    words = (MOMOCO, "--retrieval-only", "--backbone", "bm25", "--limit", "1")
    shards = [str(tmp_path / f"shard-{number}") for number in (1, 2)]
    for number, shard in enumerate(shards, 1):
        document(goalmem, *words, "--shard", f"{number}/2", "--out", shard)
    merged = document(goalmem, "merge", str(tmp_path / "all"), *shards)
    assert without_seconds(merged) == without_seconds(document(goalmem, *words))


def test_a_run_may_lie_in_the_folder_of_its_dataset(goalmem: Goalmem, tmp_path: Path) -> None:
    """The run's own files, found there the next time, make it no other run."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "momoco.json").write_bytes(Path(MOMOCO).read_bytes())
    words = ("eval", str(tmp_path / "data"), "--retrieval-only", "--out", str(tmp_path / "data" / "run"))
    assert goalmem(*words).code == 0
    again = goalmem(*words)
    assert again.code == 0
    assert "nothing is left to measure" in again.err


def test_a_run_begun_anew_does_not_go_on(goalmem: Goalmem, tmp_path: Path) -> None:
    """--no-resume takes a folder of its own, and refuses one that has a run."""
    words = (MOMOCO, "--retrieval-only", "--backbone", "bm25", "--no-resume")
    first, second = (goalmem("eval", *words).err.splitlines()[-1] for _ in range(2))
    assert first.startswith("run ")
    assert first != second
    out = str(tmp_path / "run")
    assert goalmem("eval", *words, "--out", out).code == 0
    refused = goalmem("eval", *words, "--out", out)
    assert refused.code == 2
    assert "holds a run already" in refused.err


def test_the_estimate_survives_a_question_that_is_too_long(goalmem: Goalmem) -> None:
    """The first question overflowing the context fails that question alone."""

    def reply(request: Request) -> str:
        if "matcha" in request.growing + request.tail:
            raise ContextOverflow("too long", "shorten it")
        return replies(request)

    factories = seeing(lambda _: LoadedModel(ScriptedModel(reply), "scripted", "full", 8192))
    made = document(goalmem, MOMOCO, "--reasoner", "direct", "--sample", "first", factories=factories)
    assert made["runs"][0]["failed"] >= 1


def test_a_model_is_not_asked_in_a_language_that_it_does_not_read(goalmem: Goalmem, tmp_path: Path) -> None:
    """Each question over a German chat fails, the English ones too, and the run ends all the same."""
    goalmem("bench", "languages", str(tmp_path / "talks"), "--language", "de", "--author", "first", "-q")
    model = ScriptedModel(replies)
    factories = seeing(lambda _: LoadedModel(model, "small", "full", 8192, languages=frozenset(("en",))))
    made = document(goalmem, str(tmp_path / "talks"), "--reasoner", "direct", "--limit", "8", factories=factories)
    assert (made["runs"][0]["n"], made["runs"][0]["failed"]) == (8, 8)
    assert len(model.seen) == 1  # the trial question


def test_retrieval_alone_needs_no_model(goalmem: Goalmem) -> None:
    """Backbones and kinds of query are compared by the evidence they find."""
    no_model = Factories(model=without_model)
    made = document(goalmem, MOMOCO, "--retrieval-only", "--backbone", "bm25,hybrid", "-k", "10", factories=no_model)
    assert [(entry["reasoner"], entry["backbone"]) for entry in made["runs"]] == [
        ("retrieval", "bm25"), ("retrieval", "hybrid"),
    ]  # fmt: skip
    assert all(0.5 < entry["retrieval"]["recall"]["10"]["mean"] <= 1 for entry in made["runs"])
    made = document(goalmem, MOMOCO, "--queries", "question,plan,plan+refinements", factories=no_model)
    assert [entry["queries"] for entry in made["runs"]] == ["question", "plan", "plan+refinements"]


def test_a_models_plans_are_retrieved_with(goalmem: Goalmem, tmp_path: Path) -> None:
    """The model's subgoals are the queries; where its plan cannot be used the question is."""

    def plan(request: Request) -> str:
        if "matcha" not in request.growing:
            return "rubbish"
        return json.dumps(
            {"goal": "(Alice) ordered (x:drink)", "current": False, "variables": [], "answer": ["x"],
             "subgoals": ["(Alice) ordered (x:drink)", "(x:drink) holds matcha"]}
        )  # fmt: skip

    model = seeing(lambda _: LoadedModel(ScriptedModel(plan), "planner", "full", 8192))
    document(goalmem, MOMOCO, "--queries", "model", "--out", str(tmp_path / "run"), factories=model)
    rows = [json.loads(line) for line in (tmp_path / "run" / "retrieved.jsonl").read_text().splitlines()]
    assert rows[0]["queries"] == ["Alice ordered drink", "drink holds matcha"]
    assert rows[-1]["queries"] != rows[0]["queries"]
    assert len(rows[-1]["queries"]) == 1


def test_answers_are_judged_once_and_scored_again(goalmem: Goalmem, tmp_path: Path) -> None:
    """A judge reads a finished run; asked again, it reads nothing twice; the answering model as judge is marked."""
    words = (MOMOCO, "--reasoner", "direct", "--limit", "3", "--sample", "first", "--out", str(tmp_path / "run"))
    factories, model = answering()
    document(goalmem, *words, factories=factories)
    before = model.calls
    made = document(goalmem, "score", str(tmp_path / "run"), "--judge", "bundled", factories=factories)
    assert made["runs"][0]["metrics"]["judge"]["mean"] == 1
    asked = model.calls
    assert asked > before
    again = goalmem("eval", "score", str(tmp_path / "run"), "--judge", "bundled", factories=factories)
    assert model.calls == asked
    assert "itself" in again.out or "self" in again.out
    assert "0 asked" in again.err


def test_a_judge_of_another_name_with_the_same_weights_is_marked(goalmem: Goalmem, tmp_path: Path) -> None:
    """The answering model is known again by its weights, and another model of a judge's name is no such judge."""
    out = str(tmp_path / "run")
    document(goalmem, MOMOCO, "--reasoner", "direct", "--limit", "2", "--out", out, factories=answering()[0])
    model = ScriptedModel(replies)
    renamed = seeing(lambda _: LoadedModel(model, "elsewhere.gguf", "full", 8192, digest="d1"))
    made = document(goalmem, "score", out, "--judge", "elsewhere.gguf", factories=renamed)
    assert made["runs"][0]["judges"][0]["is_self_judged"] is True
    changed = seeing(lambda _: LoadedModel(model, "elsewhere.gguf", "full", 8192, digest="d2"))
    refused = goalmem("eval", "score", out, "--judge", "elsewhere.gguf", factories=changed)
    assert refused.code == 2
    assert "another model of the name elsewhere.gguf" in refused.error_lines[0]


def test_hypotheses_are_there_whatever_was_interrupted(goalmem: Goalmem, tmp_path: Path) -> None:
    """A run that was killed behind its last answer gets them when it goes on, and a merged one has them."""
    file = tmp_path / "longmemeval.json"
    file.write_text(json.dumps(HAYSTACK))
    words = (str(file), "--reasoner", "direct")
    out = tmp_path / "run"
    document(goalmem, *words, "--out", str(out), factories=answering()[0])
    (written,) = (out / "hypotheses").iterdir()
    whole = written.read_bytes()
    written.unlink()
    document(goalmem, *words, "--out", str(out), factories=answering()[0])
    assert written.read_bytes() == whole
    shards = [str(tmp_path / f"shard-{number}") for number in (1, 2)]
    for number, shard in enumerate(shards, 1):
        document(goalmem, *words, "--shard", f"{number}/2", "--out", shard, factories=answering()[0])
    document(goalmem, "merge", str(tmp_path / "all"), *shards)
    assert (tmp_path / "all" / "hypotheses" / written.name).read_bytes() == whole


def test_longmemeval_leaves_hypotheses_for_its_own_scorer(goalmem: Goalmem, tmp_path: Path) -> None:
    """A file a row, with question_id and hypothesis on each line."""
    file = tmp_path / "longmemeval.json"
    file.write_text(json.dumps(HAYSTACK))
    document(goalmem, str(file), "--reasoner", "direct", "--out", str(tmp_path / "run"), factories=answering()[0])
    (written,) = (tmp_path / "run" / "hypotheses").iterdir()
    lines = [json.loads(line) for line in written.read_text().splitlines()]
    assert lines == [{"question_id": case["question_id"], "hypothesis": "Kyoto Latte"} for case in HAYSTACK]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((MOMOCO, "--reasoner", "oracle,guess"), 2, "there is no 'guess'"),
        ((MOMOCO, "--backbone", "flat"), 2, "there is no 'flat'"),
        ((MOMOCO, "--categories", "9"), 2, "there is no '9'"),
        ((MOMOCO, "--conversations", "momoco-09"), 2, "there is no 'momoco-09'"),
        ((MOMOCO, "--queries", "answer"), 2, "there is no 'answer'"),
        ((MOMOCO, "--shard", "3/2"), 2, "--shard '3/2' names no part"),
        ((MOMOCO, "--shard", f"1/{'9' * 5000}"), 2, "names no part"),
        ((MOMOCO, "--reasoner", ","), 2, "--reasoner ',' names nothing"),
        ((MOMOCO, "--backbone", ""), 2, "--backbone '' names nothing"),
        ((MOMOCO, "--queries", " "), 2, "--queries ' ' names nothing"),
        ((MOMOCO, "--json", "--csv"), 2, "--json and --csv"),
        ((MOMOCO, "--retrieval-only", "--judge", "bundled"), 2, "--judge has no answers"),
        ((MOMOCO, "--queries", "plan", "--judge", "bundled"), 2, "--judge has no answers"),
        ((MOMOCO, "--passes", "3"), 2, "are for a judge"),
        (("score", "nowhere", "--judge-prompt", "strict"), 2, "are for a judge"),
        (("nowhere.json",), 5, "nowhere.json"),
        ((str(SAMPLES / "allotment.md"),), 5, "allotment.md"),
        (("score", "nowhere"), 2, "nowhere holds no run"),
        (("merge", "out", "nowhere"), 2, "nowhere holds no run"),
        ((), 2, "FILE"),
    ],
)
def test_what_cannot_be_measured_is_one_error(goalmem: Goalmem, words: tuple[str, ...], code: int, said: str) -> None:
    """A wrong word or file ends at once, in two lines."""
    outcome = goalmem("eval", *words, factories=answering()[0])
    assert outcome.code == code
    assert said in outcome.error_lines[0]


def test_another_run_in_the_folder_is_refused(goalmem: Goalmem, tmp_path: Path) -> None:
    """What differs is named, and nothing of the run that is there changes; a further reasoner is added to it."""
    words = (MOMOCO, "--limit", "2", "--out", str(tmp_path / "run"))
    document(goalmem, *words, "--reasoner", "direct", factories=answering()[0])
    other = goalmem("eval", *words, "--reasoner", "direct", "-k", "5", factories=answering()[0])
    assert other.code == 2
    assert "budget is 60 in one and 5 in the other" in other.err
    made = document(goalmem, *words, "--reasoner", "oracle", factories=answering()[0])
    assert [(entry["reasoner"], entry["n"]) for entry in made["runs"]][:2] == [("direct", 2), ("oracle", 2)]


def test_the_oracle_has_the_evidence_of_a_question_with_a_day_in_numbers(goalmem: Goalmem, tmp_path: Path) -> None:
    """The model reads the day in words, as every reasoner's does, and the evidence is still that of the question."""
    asked = "Which cup did I buy on 20.05.2023?"
    (tmp_path / "haystack.json").write_text(json.dumps([{**HAYSTACK[0], "question": asked}]), "utf-8")
    factories, model = answering()
    words = (str(tmp_path / "haystack.json"), "--out", str(tmp_path / "run"))
    document(goalmem, *words, "--reasoner", "oracle,direct", factories=factories)
    run = read_run(tmp_path / "run")

    assert len(model.seen) == 3  # the first question is asked for trial, too
    for request in model.seen:
        shown = request.growing + request.tail
        assert "I bought the blue cup." in shown and "on 20 May 2023?" in shown and "20.05.2023" not in shown
    assert [each.trace.question for each in run.answered] == [asked, asked]


def test_categories_may_be_named(goalmem: Goalmem) -> None:
    """A number and a name of the same category choose the same questions."""
    by_number = document(goalmem, MOMOCO, "--retrieval-only", "--categories", "4")
    by_name = document(goalmem, MOMOCO, "--retrieval-only", "--categories", "single-hop")
    assert by_number["runs"][0]["n"] == by_name["runs"][0]["n"] > 0


def test_questions_of_some_conversations_may_be_asked_of_all(goalmem: Goalmem) -> None:
    """Only theirs are asked; what they are asked of is not less for it."""
    folder = (str(SAMPLES), "--retrieval-only", "--scope", "domain")
    one = document(goalmem, *folder, "--conversations", "work-02")
    both = document(goalmem, *folder, "--conversations", "work-02,assistant-01")
    assert 0 < one["runs"][0]["n"] < both["runs"][0]["n"] < document(goalmem, *folder)["runs"][0]["n"]


def test_listed_questions_alone_may_be_asked(goalmem: Goalmem, tmp_path: Path) -> None:
    """A list of ids chooses them; one that the dataset does not have is an error with its line."""
    listed, words = tmp_path / "some.txt", (MOMOCO, "--retrieval-only", "--backbone", "bm25", "--only")
    listed.write_text("momoco-01:3\n\nmomoco-01:1\n", "utf-8")
    assert document(goalmem, *words, str(listed))["runs"][0]["n"] == 2
    listed.write_text("momoco-01:3\nmomoco-01:99\n", "utf-8")
    outcome = goalmem("eval", *words, str(listed))
    assert outcome.code == 5
    assert "some.txt: line 2: momoco has no question momoco-01:99" in outcome.error_lines[0]


def test_categories_go_by_the_names_that_the_tables_have(goalmem: Goalmem, tmp_path: Path) -> None:
    """With the names of the papers after Mem0, single-hop is the category 2, and another run than the official one."""
    words = (MOMOCO, "--retrieval-only", "--backbone", "bm25", "--categories")
    out = ("--out", str(tmp_path / "run"))
    entry = document(goalmem, *words, "single-hop", "--category-names", "mem0", *out)["runs"][0]
    assert [(code, part["name"]) for code, part in entry["by_category"].items()] == [("2", "single-hop")]
    official = goalmem("eval", *words, "single-hop", *out)
    assert official.code == 2
    assert "categories is 2 in one and 4 in the other" in official.err


def test_every_budget_decides_results(goalmem: Goalmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that only the environment can set makes another run too."""
    words = ("eval", MOMOCO, "--limit", "2", "--out", str(tmp_path / "run"))
    assert goalmem(*words, factories=answering()[0]).code == 0
    monkeypatch.setenv("GOALMEM_MAX_SUBGOALS", "2")
    other = goalmem(*words, factories=answering()[0])
    assert other.code == 2
    assert "max_subgoals is 4 in one and 2 in the other" in other.err


def test_help_shows_the_flags_of_the_main_use(goalmem: Goalmem) -> None:
    """`eval --help` is about measuring a file, and ends in examples of the other uses too."""
    outcome = goalmem("eval", "--help")
    assert outcome.code == 0
    for shown in ("FILE...", "--retrieval-only", "--shard", "eval score", "eval merge"):
        assert shown in outcome.out


def test_arithmetic_questions_are_answered_from_their_own_statements(goalmem: Goalmem, tmp_path: Path) -> None:
    """Without a backbone, both reasoners are shown what the question states, and are right by the benchmark's rule."""
    question = "Ana was born on 3 May 1983. Ben was born on 7 May 1983. How many days is Ana older than Ben?"
    row = {"question": question, "question_type": "duration", "label": "{'answer': '4'}"}
    file = tmp_path / "tot_arithmetic.jsonl"
    file.write_text(f"{json.dumps(row)}\n{{\n", encoding="utf-8")

    def reply(request: Request) -> str:
        shown = lines_shown(request.growing)
        if request.step == "read":
            return json.dumps({"facts": [shown[0].number], "answer": "4"})
        if request.step != "plan_and_prove":
            return json.dumps({"answers": "yes", "differs": ""})
        proof = [
            {"subgoal": f"S{place}", "facts": [line.number], "verdict": "entailed", "why": "", "instead": False,
             "bindings": [{"variable": name, "value": day}]}
            for place, (line, name, day) in enumerate(zip(shown, "xy", ("3 May 1983", "7 May 1983"), strict=True), 1)
        ]  # fmt: skip
        plan = {"goal": "(Ana) is older than (Ben)", "current": False, "conclusion": False, "variables": []}
        subgoals = ["(Ana) was born on (x:date)", "(Ben) was born on (y:date)"]
        found = {"answer": ["between(x, y)"], "subgoals": subgoals, "groundings": proof, "status": "settled"}
        return json.dumps({**plan, **found, "several": [], "same": [], "open": [], "next": [], "wording": "unknown"})

    factories = seeing(lambda _: LoadedModel(ScriptedModel(reply), "scripted", "full", 8192, digest="d1"))
    words = (str(file), "--reasoner", "full-context,goal-mem", "--backbone", "none")
    outcome = goalmem("eval", *words, "--json", factories=factories)

    assert outcome.code == 0, outcome.err
    assert f"left out: {file}: line 2, column 2: not JSON" in outcome.err
    entries = json.loads(outcome.out)["runs"]
    assert [(entry["reasoner"], entry["backbone"]) for entry in entries[:2]] == [
        ("full-context", "none"),
        ("goal-mem", "none"),
    ]
    assert [entry["metrics"]["exact"]["mean"] for entry in entries[:2]] == [1, 1]
