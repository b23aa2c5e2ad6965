"""`--since`, `--until` and `--last` of `goalmem ask`: what lies outside the stretch of time is never looked at."""

import json
from datetime import datetime
from pathlib import Path

import pytest

import goalmem_cli
from goalmem_cli.cli.options import ReasonerName
from goalmem_cli.errors import UsageError
from goalmem_cli.ports import Request
from goalmem_cli.reasoners.catalogue import REASONERS
from goalmem_cli.testing import ScriptedModel, faked
from goalmem_cli.wiring import Factories, LoadedModel
from tests.invoking import Goalmem, seeing
from tests.reasoners.forward import RUBBISH

TALK = """[21/05/2023, 18:00:00] Ann: I ran round the lake before breakfast
[21/05/2023, 18:01:00] Ben: You ran again, Ann? Impressive
[21/05/2023, 18:02:00] Ann: Yes, today I ran to the mill instead
[21/05/2023, 18:03:00] Ben: The mill is far, you ran a good way
[21/05/2023, 18:04:00] Ann: Later I ran home through the forest
"""
EARLY, INSIDE, LATE = ("round the lake", "again, Ann"), ("to the mill instead",), ("a good way", "the forest")
STRETCH = ("--since", "2023-05-21T18:02", "--until", "2023-05-21T18:02")
NAMES = [name for name, entry in REASONERS.items() if entry.backbone is None and not entry.needs_gold]


@pytest.fixture
def runs(goalmem: Goalmem, tmp_path: Path) -> Goalmem:
    """The command over a store with one session of five turns, a minute apart."""
    (tmp_path / "Runs.txt").write_text(TALK, "utf-8")
    assert goalmem("ingest", str(tmp_path / "Runs.txt"), "--quiet").code == 0
    return goalmem


def looking(seen: list[Request]) -> Factories:
    """Return a model of no use, whose prompts are kept in `seen`."""

    def reply(request: Request) -> str:
        seen.append(request)
        return RUBBISH

    return seeing(lambda _: LoadedModel(ScriptedModel(reply), "scripted", "full", 8192))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("backbone", ["reranked", "none"])
def test_no_reasoner_sees_what_is_outside(runs: Goalmem, name: ReasonerName, backbone: str) -> None:
    """Not in a prompt, and not as a fact or beside one in the trace; without the stretch it is there."""
    for flags, is_whole in ((STRETCH, False), ((), True)):
        seen: list[Request] = []
        words = ("ask", "Where did Ann run?", "--reasoner", name, "--backbone", backbone, "--json", *flags)
        outcome = runs(*words, factories=looking(seen))
        prompts = "\n".join(request.growing + request.tail for request in seen)
        told = json.loads(outcome.out)
        facts = json.dumps(told["facts"])
        assert (told["since"] is None) is is_whole
        is_shown = INSIDE[0] in facts
        assert is_shown or name in ("reformulate", "react", "memguide")  # these ask the model before they look
        for text in (*EARLY, *LATE):
            assert (text in facts) is (is_whole and is_shown)
            assert is_whole or text not in prompts


def test_each_end_alone_and_the_trace_says_it(runs: Goalmem) -> None:
    """An open end hides nothing; the proof says which stretch was asked about, also later."""
    ask = ("ask", "Where did Ann run?", "--reasoner", "direct", "--trace")
    outcome = runs(*ask, "--since", "2023-05-21T18:02", factories=looking([]))
    assert "only: since 21 May 2023 18:02" in outcome.err
    outcome = runs(*ask, "--until", "2023-05-21T18:02", factories=looking([]))
    assert "only: until 21 May 2023 18:02" in outcome.err
    shown = json.loads(runs("trace", "show", "last", "--json").out)
    assert (shown["since"], shown["until"]) == (None, "2023-05-21T18:02:59.999999")
    texts = " ".join(fact["text"] for fact in shown["facts"].values())
    assert all(text in texts for text in (*EARLY, *INSIDE))
    assert not any(text in texts for text in LATE)


def test_the_last_days_count_back_from_as_of(runs: Goalmem) -> None:
    """`--last` has an end where --as-of says so, else today, when nothing of 2023 is left."""
    ask = ("ask", "Where did Ann run?", "--reasoner", "direct", "--json", "--last", "1d")
    of_that_day = json.loads(runs(*ask, "--as-of", "2023-05-21", factories=looking([])).out)
    assert len(of_that_day["facts"]) == 5
    assert json.loads(runs(*ask, "--as-of", "2023-05-22", factories=looking([])).out)["facts"] == {}
    assert json.loads(runs(*ask, factories=looking([])).out)["facts"] == {}
    assert len(json.loads(runs("search", "ran", "--last", "1d", "--as-of", "2023-05-21", "--json").out)["hits"]) == 5
    assert runs("search", "ran", "--last", "1m").code == 1


def test_turns_without_a_time_are_counted(goalmem: Goalmem) -> None:
    """What may have been said at any time is in no stretch, and that is said."""
    goalmem("ingest", "-", stdin=b'[{"role": "user", "content": "I bake rye bread."}]')
    outcome = goalmem("ask", "What do I bake?", "--since", "2024", "--reasoner", "direct", factories=looking([]))
    assert "1 turn without a time left out" in outcome.err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--last", "30d", "--since", "2023"), "--since and --last both"),
        (("--last", "soon"), "--last: 'soon' is not a length of time"),
        (("--last", "0d"), "--last: '0d' is not a length of time"),
        (("--last", "9999y"), "before the year 1"),
        (("--since", "2023-06", "--until", "2023-05"), "since 2023-06-01 00:00 is after until 2023-05-31 23:59"),
        (("--since", "2023-06", "--as-of", "2023-05"), "since 2023-06-01 00:00 is after until 2023-05-31 23:59"),
    ],
)
def test_what_is_no_stretch_is_said(runs: Goalmem, flags: tuple[str, ...], message: str) -> None:
    """Each mistake is one line that names it, with what to do, and exit code 2; for both commands."""
    for words in (("ask", "Where did Ann run?"), ("search", "ran")):
        outcome = runs(*words, *flags, factories=looking([]))
        assert outcome.code == 2
        assert message in outcome.error_lines[0]


def test_hits_and_questions_of_a_program_keep_to_the_stretch(runs: Goalmem, tmp_path: Path) -> None:
    """The library's `ask` takes the same; a hit of `search` has no neighbour outside the stretch beside it."""
    assert runs("stores", "show").code == 0
    moments = [datetime(2023, 5, 21, 18, minute) for minute in range(5)]
    with goalmem_cli.open(
        tmp_path / "store", factories=faked(ScriptedModel([RUBBISH] * 9)), reasoner="direct"
    ) as memory:
        trace = memory.ask("Where did Ann run?", since=moments[1], until=moments[2])
        assert (trace.since, trace.until) == (moments[1], moments[2])
        assert {fact.said for fact in trace.facts.values()} == {moments[1], moments[2]}
        (hit,) = memory.search("mill", since=moments[2], until=moments[2])
        assert hit.beside == ()
        (hit,) = memory.search("mill", k=1)
        assert hit.beside
        with pytest.raises(UsageError, match="is after until"):
            memory.ask("Where did Ann run?", since=moments[2], until=moments[1])
