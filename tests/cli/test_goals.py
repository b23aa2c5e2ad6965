"""Goals that stay: a question is kept with its proof, and proved again when what is remembered can have changed it."""

import json
import os
import re
import stat
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

import goalmem_cli
from goalmem_cli.cli.invocation import Invocation
from goalmem_cli.cli.serving.offers import Offers
from goalmem_cli.cli.serving.watching import Watched
from goalmem_cli.config import given_settings
from goalmem_cli.errors import ModelError, StoreDamaged, StoreError
from goalmem_cli.library.forgetting import forget
from goalmem_cli.library.hearing import Logged
from goalmem_cli.library.memory import Memory
from goalmem_cli.memory_records import Selection
from goalmem_cli.ports import Request
from goalmem_cli.records import content_hash
from goalmem_cli.render.console import Screen
from goalmem_cli.store.goals import GoalFolder
from goalmem_cli.store.privacy import GOALS
from goalmem_cli.store.traces import TraceFolder
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.wiring import Factories, LoadedModel
from tests.backbones.test_mem0 import says
from tests.invoking import Goalmem, Outcome, scripted
from tests.reasoners.scripting import claims, plan, proved, wants

pytestmark = pytest.mark.usefixtures("here")
LEEDS = ("Ana", "2024-02-03T10:00", "We moved to Leeds last week, into the flat on Park Row.")
BEN = ("Ben", "2024-02-03T10:02", "Nice! My sister has a dog, she would love the park there.")
RENT = ("Ana", "2024-02-03T10:05", "The rent is 900 pounds a month.")
YORK = ("Ana", "2024-06-04T09:00", "We are back in York since Sunday, and the flat in Leeds is given up.")
MATCH = ("Ben", "2024-06-04T09:02", "Did you see the match yesterday?")
DOG = ("Ben", "2024-06-04T09:03", "The dog of my sister is called Rufus.")
WHERE, HOME = "Where does Ana live now?", "(Ana) lives in (x:city)"


def chat(*said: tuple[str, str, str]) -> str:
    """Return a transcript in which they say that."""
    return json.dumps(
        [{"role": "user", "name": name, "timestamp": f"{time}:00+00:00", "content": text} for name, time, text in said]
    )


def read(goalmem: Goalmem, name: str, *said: tuple[str, str, str], more: tuple[str, ...] = ()) -> Outcome:
    """Read a transcript of that name."""
    Path(name).write_text(chat(*said), "utf-8")
    return goalmem("ingest", name, *more)


def lives(cited: str, city: str, stated: str = HOME) -> Factories:
    """Return a model that proves the question by one fact, and writes the plan where there is none."""
    return model(partial(living, cited, city, stated))


def living(cited: str, city: str, stated: str, request: Request) -> str:
    """Return the reply of such a model."""
    written = plan(stated, stated, current=True) if is_planning(request) else ""
    return proved(claims(1, cited, x=city), plan=written, status="settled", wording=city)(request)


def is_planning(request: Request) -> bool:
    """Say whether the reply is to have a plan."""
    return "goal" in getattr(request.shape, "schema", {}).get("properties", {})


def model(*replies: object) -> Factories:
    """Return factories with a model that gives the last of these replies for ever."""
    return Factories(model=lambda _: LoadedModel(ScriptedModel(replies[0]), "scripted", "full", 8192))  # type: ignore[arg-type]


@pytest.fixture
def home(either: Goalmem) -> Goalmem:
    """The command over a memory in which Ana lives in Leeds, and that is a goal."""
    read(either, "talk.json", LEEDS, BEN, RENT)
    outcome = either("goals", "add", WHERE, "--name", "home", factories=lives("moved to Leeds", "Leeds"))
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith(f"home: {WHERE} -> Leeds")
    return either


def test_a_later_turn_changes_a_goal(home: Goalmem) -> None:
    """Reading says that a goal may have changed; the check proves it again, says by which turn, and ends with 1."""
    outcome = read(home, "later.json", YORK, MATCH)
    assert "1 goal may have changed: goalmem goals check" in outcome.err
    outcome = home("goals", "check", factories=lives("back in York", "York"))
    assert outcome.code == 1
    assert outcome.out == f"home: changed: York (Ana, 4 Jun 2024: “{YORK[2]}”); before: Leeds\n"
    outcome = home("goals", "check", factories=scripted())  # no call is left, and none is needed
    assert outcome.code == 0
    assert outcome.out.startswith("home: still so, since ")
    told = home("goals", "show", "home").out
    assert told.index("-> Leeds") < told.index("-> York")
    assert YORK[2] in told


def test_what_tells_nothing_of_a_goal_costs_no_call(home: Goalmem) -> None:
    """New turns about something else leave the goal as it is: no model runs, and the reading says nothing."""
    outcome = read(home, "later.json", MATCH)
    assert "goal" not in outcome.err
    outcome = home("goals", "check", "--json", factories=scripted())
    (row,) = json.loads(outcome.out)["goals"]
    assert (outcome.code, row["outcome"], row["calls"], row["touched"]) == (0, "still so", 0, None)


def test_an_unknown_goal_is_answered_once_it_is_told(goalmem: Goalmem) -> None:
    """A goal that memory does not settle is watched too; the check begins with the kept plan, in one call."""
    read(goalmem, "talk.json", LEEDS, BEN)
    statement = "(dog of Ben's sister) is called (x:name)"
    nothing = proved(open=[wants(1, "the dog's name")], plan=plan(statement, statement), status="stop")
    outcome = goalmem("ask", "What is the dog of Ben's sister called?", "--keep", "dog", factories=model(nothing))
    assert outcome.code == 1
    assert goalmem("goals").out.startswith("dog: What is the dog of Ben's sister called? -> unknown (")
    read(goalmem, "later.json", DOG, MATCH)
    found = proved(claims(1, "called Rufus", x="Rufus"), status="settled", wording="Rufus")
    outcome = goalmem("goals", "check", "--json", factories=scripted(found))
    (row,) = json.loads(outcome.out)["goals"]
    assert (outcome.code, row["outcome"], row["answer"], row["calls"]) == (1, "now answered", "Rufus", 1)
    assert [each["text"] for each in row["because"]] == [DOG[2]]


def test_two_steps_are_proved_again_only_where_they_are_touched(goalmem: Goalmem) -> None:
    """A kept grounding that nothing touches is judged again by the engine, and not asked of the model."""
    works = ("Ana", "2024-02-03T10:07", "I work at Tarn Print.")
    stands = ("Ben", "2024-02-03T10:09", "Tarn Print is in Hull, next to the ferry.")
    moved = ("Ben", "2024-06-04T09:06", "Tarn Print has moved, it is in Selby now.")
    read(goalmem, "talk.json", LEEDS, works, stands)
    subgoals = ("(Ana) works at (y:company)", "(y) is in (x:town)")
    both = proved(
        claims(1, "work at Tarn", y="Tarn Print"), claims(2, "in Hull", y="Tarn Print", x="Hull"),
        plan=plan("the company of (Ana) is in (x:town)", *subgoals), status="settled", wording="Hull",
    )  # fmt: skip
    question = "In which town is the company of Ana?"
    assert goalmem("ask", question, "--keep", "work", factories=scripted(both)).out == "Hull\n"
    read(goalmem, "later.json", moved)
    seen: list[str] = []

    def second(request: object) -> str:
        seen.append(getattr(request, "tail", ""))
        return proved(claims(2, "Selby now", y="Tarn Print", x="Selby"), status="settled", wording="Selby")(request)  # type: ignore[arg-type]

    outcome = goalmem("goals", "check", factories=model(second))
    assert outcome.out.startswith("work: changed: Selby ("), (outcome.out, outcome.err)
    assert len(seen) == 1
    assert "settled: y = Tarn Print" in seen[0]


def test_forgetting_takes_the_answer_out_of_a_goal(home: Goalmem, tmp_path: Path) -> None:
    """The question stays, undermined; nothing that was said is in the goal's file; the next check says so once."""
    outcome = home("forget", "--speaker", "Ana", "--yes")
    assert "1 goal that quotes it" in outcome.out
    files = list(tmp_path.rglob(f"{GOALS}/*.json"))
    assert [stat.S_IMODE(path.stat().st_mode) for path in files] == [0o600]
    content = files[0].read_text("utf-8")
    assert WHERE in content
    assert "Leeds" not in content
    assert home("goals").out == "home: " + WHERE + " -> undermined, since " + home("goals").out.split("since ")[1]
    nothing = proved(plan=plan(HOME, HOME), status="stop")
    outcome = home("goals", "check", factories=model(nothing))
    assert (outcome.code, outcome.out) == (1, "home: undermined: what it rested on was forgotten\n")
    assert home("goals", "check", factories=scripted()).code == 0


def test_what_a_check_called_undermined_is_not_reported_again(home: Goalmem) -> None:
    """It had no answer any more, whatever else is forgotten; nor is a goal undermined that never had an answer."""
    nothing = model(proved(plan=plan(HOME, HOME), status="stop"))
    read(home, "more.json", ("Cleo", "2024-03-03T10:00", "Where we live now there are swans."), MATCH)
    home("goals", "add", "Where does Cleo live now?", "--name", "cleo", factories=nothing)
    home("forget", "--speaker", "Ana", "--yes")
    outcome = home("goals", "check", "home", factories=nothing)
    assert (outcome.code, outcome.out) == (1, "home: undermined: what it rested on was forgotten\n")
    home("forget", "--speaker", "Cleo", "--yes")
    assert home("goals").out.count("-> undermined") == 2
    outcome = home("goals", "check", factories=nothing)
    assert outcome.code == 0, outcome.out
    assert re.findall(r"(\w+): still so, since [^:]*: unknown", outcome.out) == ["home", "cleo"]


@pytest.mark.parametrize(
    ("text", "city", "code", "line"),
    [
        ("We moved to Hull last week, into the flat on Park Row.", "Hull", 1, "home: changed: Hull ("),
        ("We moved to Leeds, into the flat on Park Row.", "Leeds", 0, "home: still so, since 3 Feb 2024: Leeds"),
        ("We moved last week.", "", 1, "home: no longer answered: a cited turn is gone or changed"),
    ],
)
def test_an_edited_turn_is_replaced_and_not_forgotten(
    either: Goalmem, text: str, city: str, code: int, line: str
) -> None:
    """The goal is as its new proof says."""
    written = [json.loads(chat((*LEEDS[:2], each), BEN, RENT)) for each in (LEEDS[2], text)]
    numbered = [[message | {"id": f"m{place}"} for place, message in enumerate(each)] for each in written]
    before, after = (json.dumps({"id": "c", "messages": each}) for each in numbered)
    Path("talk.json").write_text(before, "utf-8")
    either("ingest", "talk.json")
    either("goals", "add", WHERE, "--name", "home", factories=lives("moved to Leeds", "Leeds"))
    Path("talk.json").write_text(after, "utf-8")
    read_again = either("ingest", "talk.json")
    assert ("1 replaced" in read_again.out, "1 goal may have changed" in read_again.err) == (True, True)
    nothing = model(proved(plan=plan(HOME, HOME), status="stop"))
    outcome = either("goals", "check", factories=lives(text[:20], city) if city else nothing)
    assert (outcome.code, outcome.out[: len(line)]) == (code, line)
    outcome = either("goals", "check", factories=scripted())
    assert (outcome.code, "still so" in outcome.out) == (0, True)


def test_forgetting_a_later_turn_touches_what_rests_on_what_it_changed(either: Goalmem, tmp_path: Path) -> None:
    """The answer on the time before stays, and is proved again; the one on today is undermined, and found anew."""
    read(either, "talk.json", LEEDS, BEN, RENT, YORK)
    before = "(Ana) lived in (x:city)"
    leeds, today = lives("moved to Leeds", "Leeds", before), lives("back in York", "York")
    either("goals", "add", "Where did Ana live in March 2024?", "--name", "then", factories=leeds)
    either("goals", "add", WHERE, "--name", "now", factories=today)
    assert re.findall(r"-> ([A-Z]\w+)", either("goals").out) == ["Leeds", "York"]
    assert either("goals", "check", factories=scripted()).code == 0
    with goalmem_cli.open(os.environ["GOALMEM_STORE"]) as memory:
        (turn,) = [turn for turn in memory.turns("talk") if turn.text == YORK[2]]
        selection = Selection(content_keys=frozenset({turn.content_key}))
        assert memory.kept.forgettable(selection).goals == 2
        forget(memory.kept, selection)
        assert [touch is not None for _, touch in memory.goals.touched()] == [True, True]
    assert not [path for path in tmp_path.rglob("*/*.json") if "York" in path.read_text("utf-8")]
    shown = either("goals").out.splitlines()
    assert ["-> Leeds" in shown[0], "-> undermined" in shown[1]] == [True, True], shown
    again = either("goals", "check", "then", "--json", factories=leeds)
    (row,) = json.loads(again.out)["goals"]
    assert (again.code, row["outcome"], row["calls"]) == (0, "still so", 1)
    assert either("goals", "check", factories=lives("moved to Leeds", "Leeds")).out.startswith(
        "then: still so, since 3 Feb 2024: Leeds\nnow: now answered: Leeds"
    )


def test_forgetting_leaves_the_goal_of_somebody_who_said_the_same(either: Goalmem, tmp_path: Path) -> None:
    """Ben's words, also as the turn beside Ana's, are not forgotten with hers; forgetting his undermines the goal."""
    read(either, "talk.json", LEEDS, ("Ben", "2024-02-03T10:01", LEEDS[2]), MATCH)
    leeds = lives("F2", "Leeds", "(Ben) lives in (x:city)")
    assert "-> Leeds" in either("goals", "add", "Where does Ben live now?", factories=leeds).out
    either("forget", "--speaker", "Ana", "--yes")
    assert "-> Leeds" in either("goals").out
    assert '"Ana", "We moved' not in "".join(path.read_text("utf-8") for path in tmp_path.rglob(f"{GOALS}/*.json"))
    assert either("goals", "check", factories=scripted()).code == 0
    assert "1 goal that quotes it" in either("forget", "--speaker", "Ben", "--yes").out
    assert "-> undermined" in either("goals").out


@pytest.mark.parametrize("words", [("goals", "add", WHERE), ("ask", WHERE, "--keep", "home")])
def test_what_is_forgotten_while_a_goal_is_proved_is_kept_nowhere(
    either: Goalmem, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """And the command does not wait for a lock that it holds itself."""
    read(either, "talk.json", LEEDS, BEN, RENT)
    read(either, "later.json", YORK, MATCH)
    outcomes: list[Outcome] = []

    def reply(request: Request) -> str:
        outcomes.append(either("forget", "later", "--yes"))
        return living("back in York", "York", HOME, request)

    outcome = either(*words, factories=model(reply))
    assert ("in use" in outcome.err, outcomes[0].code) == (False, 0)
    files = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert not [path for path in files if b"back in York" in path.read_bytes()]


def test_what_is_forgotten_before_a_touched_goal_is_checked_is_kept_nowhere(goalmem: Goalmem, tmp_path: Path) -> None:
    """The check begins with turns that were found for all goals, some time ago."""
    read(goalmem, "talk.json", LEEDS, BEN, RENT)
    goalmem("goals", "add", WHERE, "--name", "home", factories=lives("moved to Leeds", "Leeds"))
    read(goalmem, "later.json", YORK, MATCH)
    settings = given_settings({"store": str(tmp_path / "store"), "rules": False})
    with Memory(settings, lives("moved to Leeds", "Leeds"), Logged()) as memory:
        ((goal, touch),) = memory.goals.touched()
        goalmem("forget", "later", "--yes")
        database = tmp_path / "store" / "memory.duckdb"
        os.utime(database, (database.stat().st_mtime - 60,) * 2)  # the state of a file counts after two seconds
        memory.goals.check(goal, touch)
    files = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert not [path for path in files if b"back in York" in path.read_bytes()]


def test_the_traces_of_an_imported_goal_name_no_file(home: Goalmem, tmp_path: Path) -> None:
    """What an export says of traces is another memory's; an id that is none deletes nothing."""
    (victim := tmp_path / "victim.json").write_text("kept", "utf-8")
    home("stores", "export", "--out", "all.jsonl")
    content = Path("all.jsonl").read_text("utf-8")
    forged = re.sub(r'"((?:last_)?traces)": \["[^"]*"\]', f'"\\1": ["{victim.with_suffix("")}"]', content)
    assert "victim" in forged
    Path("all.jsonl").write_text(forged, "utf-8")
    home("ingest", "all.jsonl", "--store", "other")
    home("goals", "check", "--all", "--store", "other", factories=lives("moved to Leeds", "Leeds"))
    TraceFolder(tmp_path / "other" / "traces").remove(str(victim.with_suffix("")))
    assert victim.read_text("utf-8") == "kept"


def test_forgetting_may_take_the_goal_too(home: Goalmem) -> None:
    """With --goal its question goes as well; a name that there is not is refused before anything is deleted."""
    assert home("forget", "--speaker", "Ana", "--goal", "hom", "--yes").code == 2
    assert "Leeds" in home("search", "Leeds", "--json").out
    assert home("forget", "--speaker", "Ana", "--goal", "home", "--yes").code == 0
    assert home("goals").code == 1


def test_exports_and_copies_have_the_goals(home: Goalmem) -> None:
    """A goal goes along, with its states; where its name is taken the other one stays; forgotten turns do not come."""
    assert home("stores", "export", "--out", "all.jsonl").code == 0
    outcome = home("ingest", "all.jsonl", "--store", "other")
    assert "taken over from exports: 1 goal" in outcome.err
    assert "-> Leeds" in home("goals", "--store", "other").out
    assert "goal" not in home("ingest", "all.jsonl", "--store", "other").err
    assert home("stores", "copy", "other", "third").code == 0
    assert "-> Leeds" in home("goals", "--store", "third").out
    home("forget", "--speaker", "Ana", "--goal", "home", "--yes", "--store", "third")
    home("ingest", "all.jsonl", "--store", "third")
    assert "-> undermined" in home("goals", "--store", "third").out


@pytest.mark.parametrize(
    ("said", "city", "is_typed", "is_torn"),
    [
        ("We live in York now, by the river.", "York", True, True),
        ("Leeds is right, Cleo erred.", "Leeds", False, False),
    ],
)
def test_two_turns_are_in_conflict_until_a_later_one_settles_it(
    either: Goalmem, said: str, city: str, is_typed: bool, is_torn: bool
) -> None:
    """Both are shown with who said them, and the question that would settle it; it is said again only when it changes.

    The later one is typed by the user or read, whether the model then gives one value or both.
    """
    Path("a.md").write_text("**Ana**: We live in Leeds.\n\n**Ben**: Nice.\n\n**Ana**: Yes.\n", "utf-8")
    Path("b.md").write_text("**Cleo**: Ana lives in York.\n\n**Ben**: Really?\n\n**Cleo**: Yes.\n", "utf-8")
    either("ingest", "a.md")
    either("goals", "add", "Where does Ana live?", "--name", "home", factories=lives("live in Leeds", "Leeds"))
    either("ingest", "b.md")
    york = lives("lives in York", "York")
    outcome = either("goals", "check", factories=york)
    assert outcome.code == 1
    assert outcome.out == (
        "home: in conflict: Leeds (Ana: “We live in Leeds.”), and York (Cleo: “Ana lives in York.”); "
        "what would settle it: Where does Ana live? Leeds, or York?\n"
    )
    assert "-> in conflict: Leeds, or York" in either("goals").out
    assert either("goals", "report", "--out", "page.html").code == 0
    for shown in (either("goals", "show", "home").out, Path("page.html").read_text("utf-8")):
        assert all(told in shown for told in ("Ana: “We live in Leeds.”", "Cleo: “Ana lives in York.”", "settle it: "))
    document = json.loads(either("goals", "show", "home", "--json").out)
    assert "Where does Ana live? Leeds, or York?" in document["settling"]
    (ana,), (cleo,) = document["states"][-1]["against"], document["states"][-1]["because"]
    assert (ana["speaker"], ana["text"], cleo["speaker"]) == ("Ana", "We live in Leeds.", "Cleo")
    assert either("goals", "check", factories=scripted()).code == 0
    assert either("goals", "check", "--all", factories=york).code == 0
    if is_typed:
        told = either("chat", "--asker", "Ana", stdin=f"{said}\n".encode(), factories=scripted())
    else:
        old = ("Ana", "2001-06-04T09:00", "We live in Leeds with our cat.")
        read(either, "old.json", old)
        outcome = either("goals", "check", factories=lives("Leeds with our cat", "Leeds"))
        assert outcome.out.startswith("home: still so, since"), outcome.out  # it is older than what has no time
        now = f"{datetime.now(UTC) + timedelta(minutes=1):%Y-%m-%dT%H:%M}"
        told = read(either, "later.json", ("Ana", now, said))
    assert "1 goal may have changed" in told.err
    both = (claims(1, "live in Leeds", x="Leeds"), claims(1, "Ana lives in York.", x="York"))
    cited = claims(1, said[:20], x=city)
    torn, sure = proved(*both, cited, status="stop"), proved(cited, status="settled", wording=city)
    outcome = either("goals", "check", factories=scripted(*([torn] if is_torn else []), sure))
    assert outcome.code == 1
    assert outcome.out.startswith(f"home: now answered: {city} (Ana, "), (outcome.out, outcome.err)
    assert outcome.out.endswith(f"“{said}”); before: Leeds, or York\n")
    assert either("goals", "check", factories=scripted()).out.startswith("home: still so")


def test_what_is_said_after_a_check_is_later_than_what_has_no_time(goalmem: Goalmem) -> None:
    """The memory had that turn before, so nothing is in conflict."""
    Path("a.md").write_text("**Ana**: We live in Leeds.\n\n**Ben**: Nice.\n\n**Ana**: Yes.\n", "utf-8")
    goalmem("ingest", "a.md")
    goalmem("goals", "add", "Where does Ana live?", "--name", "home", factories=lives("live in Leeds", "Leeds"))
    goalmem("chat", "--asker", "Ana", stdin=b"We live in York now.\n", factories=scripted())
    outcome = goalmem("goals", "check", factories=lives("York now", "York"))
    assert (outcome.code, outcome.out.startswith("home: changed: York (Ana, ")) == (1, True), outcome.out


def test_two_values_of_one_proof_are_in_conflict(goalmem: Goalmem) -> None:
    """When the goal is added and when it is checked; a check that finds the same two says so again, and exits with 0."""
    Path("rent.md").write_text(
        "Ana: My rent is 900 euros.\nBo: Ana's rent is 950 euros.\nAna: Hm.\nBo: Yes.\n", "utf-8"
    )
    goalmem("ingest", "rent.md")
    rent = "(Ana) pays a rent of (x:amount)"
    both = claims(1, "My rent", x="900 euros"), claims(1, "Ana's rent", x="950 euros")
    replies = model(
        lambda request: proved(*both, plan=plan(rent, rent) if is_planning(request) else "", status="stop")(request)
    )
    one = model(lambda request: proved(both[0], plan=plan(rent, rent), status="settled", wording="900 euros")(request))
    conflict = "in conflict: 900 euros (Ana: “My rent is 900 euros.”), and 950 euros (Bo: “Ana's rent is 950 euros.”); "

    added = goalmem("goals", "add", "How much is Ana's rent?", "--name", "rent", factories=replies)
    assert "-> in conflict: 900 euros, or 950 euros" in added.out
    again = goalmem("goals", "check", "--all", factories=replies)
    assert (again.code, again.out.partition(", since")[0]) == (0, "rent: still so")
    assert again.out.endswith(": 900 euros, or 950 euros\n")
    goalmem("goals", "add", "How much is Ana's rent?", "--name", "late", factories=one)
    found = goalmem("goals", "check", "late", "--all", factories=replies)
    assert (found.code, found.out.startswith(f"late: {conflict}")) == (1, True), found.out
    assert {fact.speaker for fact in GoalFolder(Path("store", GOALS)).get("late").state.facts} == {"Ana", "Bo"}


def test_reading_can_check_at_once(home: Goalmem) -> None:
    """With --check-goals the reading ends as the check does, and its JSON has what was found."""
    outcome = read(home, "later.json", YORK, more=("--dry-run", "--check-goals"))
    assert (outcome.code, "goal" in outcome.err) == (0, False)
    Path("later.json").write_text(chat(YORK), "utf-8")
    outcome = home("ingest", "later.json", "--check-goals", "--json", factories=lives("back in York", "York"))
    (row,) = json.loads(outcome.out)["goals"]
    assert (outcome.code, row["outcome"], row["before"]) == (1, "changed", "Leeds")


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (ModelError("the server is gone"), 4)])
@pytest.mark.parametrize("at_once", [False, True])
def test_a_check_that_is_stopped_prints_what_it_changed(
    home: Goalmem, at_once: bool, error: BaseException, code: int
) -> None:
    """As JSON too, since no later check reports a change that is stored."""
    home("goals", "add", WHERE, "--name", "second", factories=lives("moved to Leeds", "Leeds"))
    replies: list[object] = [partial(living, "back in York", "York", HOME)]

    def stopped(request: Request) -> str:
        if not replies:
            raise error
        return replies.pop()(request)  # type: ignore[operator, no-any-return]

    words = ("ingest", "later.json", "--check-goals") if at_once else ("goals", "check")
    Path("later.json").write_text(chat(YORK), "utf-8")
    if not at_once:
        home("ingest", "later.json")
    outcome = home(*words, "--json", factories=model(stopped))
    rows = json.loads(outcome.out)["goals"]
    assert (outcome.code, [(row["name"], row["answer"]) for row in rows]) == (code, [("home", "York")]), outcome.err
    assert home("goals", "check", "home", factories=scripted()).out.startswith("home: still so")


def test_of_two_checks_at_once_the_first_stays(home: Goalmem) -> None:
    """A check that ends after another one writes nothing, and says how the goal stands by then."""
    read(home, "later.json", YORK)
    with goalmem_cli.open(os.environ["GOALMEM_STORE"], factories=lives("back in York", "York")) as memory:
        ((goal, touch),) = memory.goals.touched()
        first = memory.goals.check(goal, touch)
        second = memory.goals.check(goal, touch)
    assert first.goal.state.answer == "York"
    assert second.goal == first.goal
    assert len(second.goal.states) == 2


def test_two_checks_that_overlap_do_not_mix(home: Goalmem) -> None:
    """One that ends while the other's model still answers: the goal has the first one's state, whole, and no third."""
    read(home, "later.json", YORK, MATCH)
    store, done = os.environ["GOALMEM_STORE"], list[str]()

    def meanwhile(request: Request) -> str:
        if not done:
            done.append("begun")
            with goalmem_cli.open(store, factories=lives("back in York", "York")) as other:
                ((goal, touch),) = other.goals.touched()
                done[:] = [str(other.goals.check(goal, touch).outcome)]
        return living("moved to Leeds", "Leeds", HOME, request)

    assert home("goals", "check", factories=model(meanwhile)).code in (0, 1)
    assert done == ["changed"]
    with goalmem_cli.open(store) as memory:
        goal = memory.goals.folder.get("home")
    assert [state.answer for state in goal.states] == ["Leeds", "York"]
    assert [fact.text for fact in goal.state.evidence] == [YORK[2]]


def test_a_conflict_is_not_told_of_a_goal_that_another_process_changed(goalmem: Goalmem, tmp_path: Path) -> None:
    """It stands as that process left it, and nothing changed."""
    Path("a.md").write_text("**Ana**: We live in Leeds.\n\n**Ben**: Nice.\n\n**Ana**: Yes.\n", "utf-8")
    Path("b.md").write_text("**Cleo**: Ana lives in York.\n\n**Ben**: Really?\n\n**Cleo**: Yes.\n", "utf-8")
    goalmem("ingest", "a.md")
    goalmem("goals", "add", "Where does Ana live?", "--name", "home", factories=lives("live in Leeds", "Leeds"))
    goalmem("ingest", "b.md")
    (file,) = tmp_path.rglob(f"{GOALS}/*.json")

    def racing(request: Request) -> str:
        document = json.loads(file.read_bytes())
        document["states"][-1]["checked"] = "2026-12-01T03:00:00+00:00"
        file.write_text(json.dumps(document), "utf-8")
        return living("lives in York", "York", HOME, request)

    outcome = goalmem("goals", "check", factories=model(racing))
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith("home: still so, since ")
    assert "Leeds" in outcome.out
    assert "York" in goalmem("goals", "check", factories=lives("lives in York", "York")).out


def test_a_plan_that_this_version_cannot_read_is_written_again(home: Goalmem, tmp_path: Path) -> None:
    """The goal is kept, and its check asks the model for a plan. Its file is an older version's."""
    (file,) = tmp_path.rglob(f"{GOALS}/*.json")
    older = json.loads(file.read_text("utf-8").replace(HOME, "Ana lives in ((x")) | {"schema_version": 1}
    del older["states"][0]["traces"], older["states"][0]["watches"][0]["later"]
    file.write_text(json.dumps(older), "utf-8")
    read(home, "later.json", YORK)
    planned: list[bool] = []

    def noted(request: Request) -> str:
        planned.append(is_planning(request))
        return living("back in York", "York", HOME, request)

    outcome = home("goals", "check", factories=model(noted))
    assert outcome.out.startswith("home: changed: York"), (outcome.out, outcome.err)
    assert planned == [True]
    shown = json.loads(home("goals", "show", "home", "--json").out)["states"]
    assert [state["plan"]["subgoals"] for state in shown] == [["Ana lives in ((x"], [HOME]]


def test_a_check_shows_its_prompts_and_decisions(home: Goalmem, tmp_path: Path) -> None:
    """With --trace it draws the new proof. `goals show` names the traces, whose prompts go whatever is forgotten."""
    read(home, "later.json", YORK)
    drawn = home("goals", "check", "--trace", factories=lives("back in York", "York")).err
    assert HOME in drawn
    assert YORK[2][:20] in drawn
    first, second = re.findall(r"^    trace ([\d-]+\w+)$", home("goals", "show", "home").out, re.MULTILINE)
    assert json.loads(home("trace", "show", first, "--json").out)["answer"] == "Leeds"
    trace = json.loads(home("trace", "show", second, "--json").out)
    assert (trace["question"], trace["answer"]) == (WHERE, "York")
    assert all(YORK[2] in str(exchange) for exchange in trace["exchanges"])
    assert trace["exchanges"]
    assert YORK[2] in home("trace", "show", second, "--prompts").out
    assert home("forget", "later", "--yes").code == 0
    (left,) = tmp_path.rglob("traces/*.json")
    assert (left.stem, json.loads(left.read_text("utf-8"))["exchanges"]) == (first, [])
    shown = home("goals", "show", "home").out
    assert re.findall("trace (.*)", shown) == [first]
    assert "York" not in shown


def test_a_goal_keeps_whose_question_it_is_and_its_scope(goalmem: Goalmem) -> None:
    """ "I" stays the asker, and a turn of another conversation touches nothing."""
    read(goalmem, "talk.json", LEEDS, BEN, RENT)
    scope = ("--asker", "Ana", "--conversation", "talk")
    goalmem("goals", "add", "Where do I live now?", *scope, "--name", "mine", factories=lives("to Leeds", "Leeds"))
    kept = json.loads(goalmem("goals", "show", "mine", "--json").out)
    assert (kept["asker"], kept["conversations"]) == ("Ana", ["talk"])
    assert "goal" not in read(goalmem, "other.json", YORK).err
    read(goalmem, "talk.json", LEEDS, BEN, RENT, YORK)
    outcome = goalmem("goals", "check", factories=lives("back in York", "York"))
    assert outcome.out.startswith("mine: changed: York"), (outcome.out, outcome.err)


def test_whatever_changes_the_memory_says_so(home: Goalmem) -> None:
    """A statement that is typed, and conversations that are joined or copied, as long as no check has been made."""
    changed = "1 goal may have changed: goalmem goals check"
    assert changed in home("chat", "--asker", "Ana", stdin=f"{YORK[2]}\n".encode(), factories=scripted()).err
    assert home("goals", "check", factories=lives("back in York", "York")).code == 1
    read(home, "later.json", ("Ana", "2024-08-04T09:00", "I live in Hull now, since Sunday."))
    for words in (("join", "talk", "later", "--yes"), ("copy", os.environ["GOALMEM_STORE"], "other")):
        assert changed in home("stores", *words).err
    assert "-> York" in home("goals", "--store", "other").out


def test_a_reply_that_cannot_be_read_changes_no_goal(home: Goalmem) -> None:
    """The goal stands as before and may still have changed; the exit code is that of the model."""
    read(home, "later.json", YORK)
    outcome = home("goals", "check", factories=model(lambda _: "{"))
    assert (outcome.code, outcome.out) == (
        4,
        "home: not checked: the model gave no usable reply; it stands as before\n",
    )
    assert "-> Leeds" in home("goals").out
    assert "changed: York" in home("goals", "check", factories=lives("back in York", "York")).out


@pytest.mark.parametrize("words", [("goals", "add", WHERE, "--name", "bad"), ("ask", WHERE, "--keep", "bad")])
def test_a_question_without_a_usable_reply_is_no_goal(home: Goalmem, words: tuple[str, ...]) -> None:
    """Its state would be "unknown", and no check would prove it."""
    outcome = home(*words, factories=model(lambda _: "{"))
    assert (outcome.code, outcome.out) == (4, "")
    assert "usable" in outcome.error_lines[0]
    assert [line.split(":")[0] for line in home("goals").out.splitlines()] == ["home"]


def test_names_are_looked_up_and_never_paths(home: Goalmem, tmp_path: Path) -> None:
    """A goal may be called anything of some length; it is found by that, and its file is called otherwise."""
    name = "../../rent [bold]"
    factories = lives("moved to Leeds", "Leeds")
    assert home("goals", "add", WHERE, "--name", name, factories=factories).code == 0
    assert home("goals", "add", WHERE, "--name", name, factories=factories).error_lines[0].startswith("there is a goal")
    assert f"{name}: " in home("goals").out
    assert home("goals", "add", WHERE, "--name", "x" * 81, factories=factories).code == 2
    assert home("goals", "add", WHERE, factories=factories).out.startswith("where-does-ana-live-now: ")
    assert home("goals", "add", WHERE, factories=factories).out.startswith("where-does-ana-live-now-2: ")
    assert home("goals", "remove", name).code == 2
    assert home("goals", "show", name).code == 0
    shown = home("goals", "remove", name, "--yes")
    assert shown.code == 0
    assert "cannot be undone" in shown.err
    assert home("goals", "remove", name, "--yes").code == 2
    assert not list(tmp_path.parent.glob("rent*"))
    assert all(len(path.stem) == 32 for path in tmp_path.rglob(f"{GOALS}/*"))


def test_a_check_of_no_store_is_an_error(either: Goalmem) -> None:
    """A mistyped store is told on one line; a store without goals is none."""
    outcome = either("goals", "check", "--quiet")
    assert (outcome.code, outcome.out) == (3, "")
    assert outcome.error_lines[0].startswith("there is no memory in ")
    read(either, "talk.json", LEEDS)
    assert either("goals", "check", "--quiet").code == 0


def test_a_goal_hides_nothing(home: Goalmem) -> None:
    """A question as of some time is no goal, since nothing new could change its answer."""
    outcome = home("ask", WHERE, "--keep", "then", "--as-of", "2024-03")
    assert (outcome.code, outcome.error_lines[0]) == (2, "a goal follows the memory as it grows")


def test_an_unreadable_goal_stops_no_other_one(home: Goalmem) -> None:
    """`goals`, `goals check`, exports and copies have the others, name that one, and end with 3; so does `verify`."""
    (file,) = Path(os.environ["GOALMEM_STORE"].removeprefix("milvus:")).parent.rglob(f"{GOALS}/*.json")
    damaged = file.with_name("0.json")
    damaged.write_bytes(file.read_bytes().replace(b'"home"', b'"rent"', 1)[:200])
    faults = f'the goal "rent": {damaged}: '
    for words in (("goals",), ("goals", "--json"), ("goals", "check"), ("goals", "report", "--out", "page.html")):
        outcome = home(*words)
        assert (outcome.code, faults in outcome.err) == (3, True), outcome.err
        assert "delete that file, and add the goal again" in outcome.err
        assert "home" in (outcome.out or Path("page.html").read_text("utf-8"))
    outcome = home("stores", "export", "--out", "all.jsonl")
    assert (outcome.code, faults in outcome.err) == (3, True)
    assert "taken over from exports: 1 goal" in home("ingest", "all.jsonl", "--store", "other").err
    outcome = home("stores", "copy", os.environ["GOALMEM_STORE"], "third")
    assert (outcome.code, faults in outcome.err) == (3, True)
    assert home("goals", "--store", "third").out.startswith("home: ")
    outcome = home("stores", "verify")
    assert (outcome.code, faults in outcome.out) == (3, True)
    assert "delete that file" in outcome.err
    outcome = read(home, "later.json", MATCH, more=("--check-goals",))
    assert (outcome.code, faults in outcome.err) == (3, True)
    read(home, "later.json", YORK, MATCH)
    assert home("goals", "check", factories=lives("back in York", "York")).code == 1
    damaged = damaged.rename(file.with_name(f"{content_hash('goal', 'rent')}.json"))
    outcome = home("goals", "check", "rent", "home")
    assert (outcome.code, faults.replace("0.json", damaged.name) in outcome.err) == (3, True)
    assert "home: still so" in outcome.out
    outcome = home("goals", "remove", "rent", "--yes")
    assert (outcome.code, "cannot be shown" in outcome.err, damaged.exists()) == (0, True, False)
    assert (home("stores", "verify").code, home("goals").code) == (0, 0)


def test_programs_are_told_of_an_unreadable_goal(home: Goalmem) -> None:
    """The library raises, unless it is given a list for errors; over MCP the answer names the goal."""
    (file,) = Path(os.environ["GOALMEM_STORE"].removeprefix("milvus:")).parent.rglob(f"{GOALS}/*.json")
    file.write_bytes(file.read_bytes()[:200])
    with goalmem_cli.open(os.environ["GOALMEM_STORE"]) as memory:
        for asked in (memory.goals.folder.all, memory.goals.touched, partial(memory.export, "all.jsonl")):
            with pytest.raises(StoreDamaged, match='the goal "home": '):
                asked()
        unread: list[StoreError] = []
        assert (memory.goals.touched(unread=unread), len(unread)) == ([], 1)
    assert not Path("all.jsonl").exists()
    offers = Offers(Invocation(given_settings({"store": os.environ["GOALMEM_STORE"]}), Screen(), scripted()))
    for told in (offers.goals(), offers.remember("The rent is 950 pounds.", "Ana")):
        assert told["unreadable"] == [unread[0].message]


@pytest.mark.parametrize("is_file", [True, False])
def test_goals_that_cannot_be_listed_are_an_error(goalmem: Goalmem, is_file: bool) -> None:
    """A file in the place of the folder, or a folder that the system refuses, is no empty folder."""
    read(goalmem, "talk.json", LEEDS)
    folder = Path("store", GOALS)
    if is_file:
        folder.write_text("x", "utf-8")
    else:
        folder.symlink_to(folder.name)
    commands = (("goals",), ("goals", "check"), ("stores", "verify"), ("stores", "export", "--out", "all.jsonl"))
    for words in (*commands, ("goals", "report", "--out", "page.html")):
        outcome = goalmem(*words)
        assert (outcome.code, f"{GOALS}: " in outcome.err + outcome.out) == (3, True), (words, outcome)
    assert not Path("page.html").exists()
    outcome = read(goalmem, "later.json", YORK)
    assert (outcome.code, f"{GOALS}: " in outcome.err) == (0, True)
    assert read(goalmem, "more.json", MATCH, more=("--check-goals",)).code == 3


@pytest.mark.parametrize("field", ["added", "since", "checked"])
def test_a_goal_with_a_time_without_a_zone_is_damaged(home: Goalmem, field: str) -> None:
    """Also in an export: such times cannot be compared."""
    (file,) = Path(os.environ["GOALMEM_STORE"].removeprefix("milvus:")).parent.rglob(f"{GOALS}/*.json")
    assert home("stores", "export", "--out", "all.jsonl").code == 0
    heading, *lines = Path("all.jsonl").read_text("utf-8").splitlines()
    document = json.loads(heading)
    (goal,) = document["goals"]
    (goal if field == "added" else goal["states"][0])[field] = "2026-01-01T10:00:00"
    file.write_text(json.dumps(goal), "utf-8")
    outcome = home("goals")
    assert (outcome.code, "one of its times has no time zone" in outcome.err) == (3, True)
    Path("all.jsonl").write_text("\n".join((json.dumps(document), *lines)) + "\n", "utf-8")
    outcome = home("ingest", "all.jsonl", "--store", "other")
    assert (outcome.code, "left out of exports: 1 malformed goal" in outcome.err) == (0, True)
    assert home("goals", "--store", "other").code == 1


def test_a_damaged_goal_is_one_line_and_hinders_no_reading(goalmem: Goalmem) -> None:
    """`goals` says which file; reading warns and stores all the same; forgetting deletes it, as it may quote."""
    read(goalmem, "talk.json", LEEDS)
    folder = Path("store", GOALS)
    folder.mkdir()
    (folder / "x.json").write_text('{"schema_version": 1, "name": 3}', "utf-8")
    assert goalmem("goals").code == 3
    outcome = read(goalmem, "later.json", YORK)
    assert outcome.code == 0
    assert "x.json: not a goal" in outcome.err
    (folder / "a.json").write_text('{"schema_version": 99}', "utf-8")
    assert "newer goalmem" in goalmem("goals").err
    (folder / "folder.json").mkdir()
    (folder / "link.json").symlink_to("missing")
    assert goalmem("forget", "--speaker", "Ana", "--yes").code == 0
    assert not [file for file in folder.iterdir() if file.is_file()]


def test_programs_and_assistants_have_the_goals(goalmem: Goalmem) -> None:
    """The library keeps and checks them; over MCP they are listed, and kept with --write."""
    read(goalmem, "talk.json", LEEDS, RENT)
    told = given_settings({"store": "store"})
    with goalmem_cli.open("store", factories=lives("moved to Leeds", "Leeds")) as memory:
        offers = Offers(Invocation(told, Screen(), lives("moved to Leeds", "Leeds")))
        kept = offers.keep_goal(WHERE, "home", Watched(lambda _: None))
        assert kept.document["answer"] == "Leeds"
        assert offers.goals()["goals"][0]["may_have_changed"] is False  # type: ignore[index]
        assert [goal.name for goal in memory.goals.folder.all()] == ["home"]
        told_back = offers.remember("We are back in York, the flat in Leeds is given up.", "Ana")
        assert told_back["goals_that_may_have_changed"] == ["home"]
        ((goal, touch),) = memory.goals.touched()
        assert touch is not None
        assert memory.goals.check(goal, touch).goal.name == "home"
        token = str(offers.forget(speaker=["Ana"])["token"])
        assert offers.forget(speaker=["Ana"], token=token)["goals_that_may_have_changed"] == ["home"]


def test_a_goal_rests_on_what_a_structured_backbone_made_of_turns(goalmem: Goalmem) -> None:
    """`index` says when it replaced that; the check shows the model the new unit; forgetting takes both out."""
    has, hull, leeds = "(Priya) has a home in (x:place)", "Priya home Hull", "Priya home Leeds"
    first, later = ("Priya", "2024-02-03T10:00", hull), ("Priya", "2024-06-04T09:00", leeds)
    um, mem0 = ("Tom", "2024-02-03T10:01", "um"), ("--backbone", "mem0")
    read(goalmem, "talk.json", first, um)
    assert "goal" not in goalmem("index", "mem0", factories=model(says)).err
    factories = lives(hull, "Hull", has)
    outcome = goalmem("goals", "add", "Where is Priya's home?", "--name", "home", *mem0, factories=factories)
    assert "-> Hull" in outcome.out, (outcome.out, outcome.err)
    (cited,) = {unit for watch in GoalFolder(Path("store", GOALS)).get("home").state.watches for unit in watch.cited}
    assert cited in {hit["unit"] for hit in json.loads(goalmem("search", "home", *mem0, "--json").out)["hits"]}
    assert "goal" not in goalmem("index", "mem0", factories=model(says)).err
    read(goalmem, "talk.json", first, um, later, ("Tom", "2024-06-04T09:01", "um"))
    goalmem("goals", "check", *mem0, factories=factories)  # of the new turn nothing is derived yet
    assert "-> Hull" in goalmem("goals").out
    assert "1 goal may have changed: goalmem goals check" in goalmem("index", "mem0", factories=model(says)).err
    outcome = goalmem("goals", "check", *mem0, factories=lives(leeds, "Leeds", has))
    assert outcome.out.startswith(f"home: changed: Leeds (4 Jun 2024: “{leeds}”); before: Hull"), outcome.out
    assert "1 goal may have changed" in goalmem("forget", "--speaker", "Priya", "--yes").err
    assert "-> undermined" in goalmem("goals").out
