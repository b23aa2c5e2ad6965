"""Which prover suits a model is asked once, of the model itself, and kept."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import goalmem_cli
from goalmem_cli.config import Settings
from goalmem_cli.fitted import Fitted
from goalmem_cli.loading import LoadedModel, suited
from goalmem_cli.models.state_cache import model_cache
from goalmem_cli.ports import Completion
from goalmem_cli.prompts import Profile
from goalmem_cli.reasoners.goal_mem.trial import OUTCOMES
from goalmem_cli.testing import Reply, ScriptedModel
from goalmem_cli.wiring import Factories
from tests.conftest import CHECKOUT, SAMPLES
from tests.reasoners.scripting import TOGETHER, claims, plan, proved

SERVER = "http://127.0.0.1:9/v1#small"
REPAIRS = proved(
    claims(1, "My brother Teo", y="Teo"), claims(2, "repairs violins", y="Teo", x="violins"),
    plan=plan("The brother of (Mira) repairs (x:thing)", "(y:person) is the brother of (Mira)", "(y:person) repairs (x:thing)"),
    status="settled", wording="violins",
)  # fmt: skip
SAILED = plan("(Iva) sailed from (x:place)", "(Iva) sailed from (x:place)")
VIGO = proved(claims(1, "so I sailed", x="Vigo"), plan=SAILED, status="settled", wording="Vigo")
PORTO = proved(claims(1, "so I sailed", x="Porto"), plan=SAILED, status="settled", wording="Porto")
KEY = f"{SERVER} a {TOGETHER.hashes['plan_and_prove'][:12]}"
CUT = Completion('{"goal": "(Iva) sailed', is_complete=False)
THOUGHTS = Completion("First I have to think about where", is_complete=False)
PROSE = "She sailed from Vigo, I think."


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def chosen(
    replies: Iterable[Reply], planning: str | None = None, *, model: str = SERVER, digest: str = "a", fitted: str = ""
) -> tuple[str, int, list[str]]:
    """Return the prompts that a model gets, how many calls that took, and what was said of it."""
    scripted, said = ScriptedModel(list(replies)), list[str]()
    loaded = LoadedModel(scripted, model, "full", 8192, digest=digest, adapter=fitted, fitted=Fitted(adapter=fitted))
    found = suited(loaded, replace(Settings(Path("store"), model=model), planning=planning), said.append)
    assert scripted.calls == 0  # nobody is asked before it is to answer
    return found.answering, scripted.calls, said


@pytest.mark.parametrize(
    ("replies", "profile"),
    [
        ([REPAIRS, VIGO], "full"),
        ([REPAIRS, PORTO], "compact"),
        ([PROSE, PROSE], "compact"),
        ([REPAIRS, PROSE, PROSE], "compact"),
        ([CUT, CUT], "compact"),
    ],
)
def test_new_model_of_a_server_is_asked_two_questions(replies: Sequence[Reply], profile: str) -> None:
    """One that proves both plans and proves in one reply; one that writes prose, or a wrong value, reads in steps."""
    assert chosen(replies)[:2] == (profile, len(replies))


@pytest.mark.parametrize("reply", ["", THOUGHTS])
def test_reply_that_says_nothing_of_it_decides_nothing(reply: Reply) -> None:
    """A model that thinks first, or a server that sends no text: the full prompts for now, and nothing is kept."""
    profile, calls, said = chosen([reply, reply])

    assert (profile, calls) == ("full", 2)
    assert said[-1] == "it gave no whole reply, so planning is together for now (--planning says otherwise)"
    assert chosen([REPAIRS, VIGO])[:2] == ("full", 2)


def test_outcome_is_kept_with_name_and_digest() -> None:
    """The same model is not asked again; another of the same name is."""
    first = chosen([REPAIRS, VIGO])
    again = chosen([])
    other = chosen([PROSE, PROSE], digest="b")

    assert (first[0], again, other[0]) == ("full", ("full", 0, []), "compact")
    assert first[2] == [
        f"{SERVER} is new here: it is asked two made-up questions to see how it plans best",
        "it proved both, so planning is together from now on (--planning says otherwise)",
    ]
    assert chosen([])[0] == "full"


@pytest.mark.parametrize(
    "content", ["", "[]", '{"schema_version": 9}', json.dumps({"schema_version": 1, "models": {KEY: "fast"}})]
)
def test_file_that_cannot_be_read_is_written_anew(content: str) -> None:
    """Whatever stands in it, the model is asked, and the outcome kept."""
    path = model_cache() / OUTCOMES
    path.parent.mkdir(parents=True)
    path.write_text(content, "utf-8")

    assert chosen([REPAIRS, VIGO])[0] == "full"
    assert json.loads(path.read_text("utf-8")) == {"schema_version": 1, "models": {KEY: "together"}}


def test_where_nothing_can_be_kept_the_model_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that cannot be written is no error."""
    (tmp_path / "file").write_text("", "utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))

    assert [chosen([REPAIRS, VIGO])[1] for _ in range(2)] == [2, 2]


@pytest.mark.parametrize(
    ("planning", "model", "fitted", "profile"),
    [
        ("together", SERVER, "", "full"),
        ("paper", SERVER, "", "full"),
        ("stepwise", SERVER, "", "compact"),
        (None, "some.gguf", "", "full"),
        ("auto", "bundled", "39a54e", "full"),
    ],
)
def test_nobody_is_asked_where_it_is_said_or_known(planning: str | None, model: str, fitted: str, profile: str) -> None:
    """A planning that is named counts; a file says how large it is, and goalmem knows the models it is fitted to."""
    assert chosen([], planning, model=model, fitted=fitted) == (profile, 0, [])


def test_auto_asks_a_file_too() -> None:
    """Where `auto` is named, the model is asked wherever it runs."""
    assert chosen([PROSE, PROSE], "auto", model="some.gguf")[:2] == ("compact", 2)


@pytest.mark.parametrize("profile", ["full", "compact"])
def test_every_reasoner_gets_the_prompts_that_suit(tmp_path: Path, profile: Profile) -> None:
    """A small model behind a server copies what a long prompt shows it, also where it only reads."""
    scripted = ScriptedModel(["unknown"] * 2)
    loaded = LoadedModel(scripted, SERVER, "full", 8192, suits=lambda: profile)
    factories = Factories(model=lambda _: loaded)
    with goalmem_cli.open(tmp_path / "store", reasoner="direct", factories=factories) as memory:
        memory.ingest(SAMPLES / "momoco.json")
        memory.ask("Which drink did Alice order at cafe Momoco?")

    assert {bool(request.examples) for request in scripted.seen} == {profile == "full"}


@pytest.mark.parametrize(("folders", "calls"), [((), 0), (("compact",), 2)])
def test_prompts_of_ones_own_are_used_as_they_are(tmp_path: Path, folders: Sequence[str], calls: int) -> None:
    """Whoever has written full prompts alone means these, whatever would suit the model."""
    for name in ("own", *(f"own/{name}" for name in folders)):
        (tmp_path / name).mkdir()
    scripted = ScriptedModel([PROSE, PROSE])
    settings = replace(Settings(Path("store"), model=SERVER), prompts=tmp_path / "own")
    if calls:
        (tmp_path / "own" / "plan_and_prove.yaml").write_bytes((CHECKOUT / "prompts/plan_and_prove.yaml").read_bytes())
    found = suited(LoadedModel(scripted, SERVER, "full", 8192, digest="a"), settings, lambda _: None)

    assert found.answering == ("compact" if calls else "full")
    assert scripted.calls == calls
