"""Plug-ins: readers, backbones and reasoners of other packages, as real packages on Python's path."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import goalmem_cli
from goalmem_cli.errors import PluginBroken, StoreError
from goalmem_cli.guide import page
from goalmem_cli.plugins import PluginKind, find, installed
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.wiring import Factories, LoadedModel
from tests.cli.test_doctor import found
from tests.conftest import CHECKOUT, SAMPLES
from tests.invoking import Goalmem, Outcome, scripted, seeing
from tests.reasoners.forward import says

Install = Callable[..., Path]
PAGE = page("plugins").text
TALK = "Ana | I took tram 28 to Graça.\nBen | And I the tram 12.\nnothing\n"
QUESTION = "Which tram did Ana take?"


def fenced(language: str) -> str:
    """Return what the page has in blocks of the language, one after another."""
    return "\n".join(re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Put a package of one module on Python's path, with the metadata that pip writes; it is gone afterwards."""
    before = set(sys.modules)

    def put(name: str, code: str, version: str = "1.0", **groups: Mapping[str, str]) -> Path:
        folder = tmp_path / f"site-{name}-{version}"
        record = folder / f"{name.replace('-', '_')}-{version}.dist-info"
        record.mkdir(parents=True)
        (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")
        lines = [
            line
            for group, entries in groups.items()
            for line in (f"[goalmem.{group}]", *(f"{entry} = {place}" for entry, place in entries.items()))
        ]
        (record / "entry_points.txt").write_text("\n".join(lines), "utf-8")
        (folder / f"{name.replace('-', '_')}.py").write_text(code, "utf-8")
        monkeypatch.syspath_prepend(str(folder))
        return folder

    yield put
    for name in set(sys.modules) - before:
        if name.startswith("goalmem_") and not name.startswith("goalmem_cli"):
            del sys.modules[name]


@pytest.fixture
def pipes(install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install the package of the manual, go where its transcript is, and return the folder of the package."""
    project = tomllib.loads(fenced("toml"))["project"]
    groups = {name.removeprefix("goalmem."): entries for name, entries in project["entry-points"].items()}
    folder = install(project["name"], fenced("python"), project["version"], **groups)
    (tmp_path / "tram.pipes").write_text(TALK, "utf-8")
    monkeypatch.chdir(tmp_path)
    return folder


def reading(answer: str = "tram 28") -> Factories:
    """Return a model that reads this answer from the turn about Graça."""
    facts = [] if answer == "unknown" else ["to Graça"]
    model = ScriptedModel(lambda request: says(facts, answer=answer)(request))
    return seeing(lambda _: LoadedModel(model, "scripted", "full", 8192))


def test_the_manual_s_package_works(goalmem: Goalmem, pipes: Path) -> None:
    """As it stands on the page: its reader, its backbone and its reasoner, by the commands that the page names."""
    ingest, search, ask = (shlex.split(line)[1:] for line in fenced("text").splitlines())
    read = goalmem(*ingest)
    assert (read.code, "2 turns" in read.out) == (5, True), read.err
    assert "tram.pipes: line 3: no | after the speaker" in read.err
    searched = goalmem(*search, "--json")
    assert [hit["speaker"] for hit in json.loads(searched.out)["hits"]] == ["Ana", "Ben"], searched.err
    answered = goalmem(*ask, factories=reading())
    assert (answered.code, answered.out) == (0, "tram 28\n"), answered.err
    trace = json.loads(goalmem("trace", "show", "last", "--json").out)
    assert (trace["reasoner"], len(trace["actions"][0]["queries"])) == ("wide", 4)


def test_doctor_lists_them(goalmem: Goalmem, pipes: Path) -> None:
    """Each with its kind and name, its package and version, and where it is."""
    findings = found(goalmem("doctor", "--json"))
    listed = {name: findings[name] for name in ("reader pipes", "backbone newest", "reasoner wide")}
    assert {each["status"] for each in listed.values()} == {"ok"}
    assert listed["reader pipes"]["text"] == "goalmem-pipes 1.0 (goalmem_pipes:PipesReader)"
    assert "reader pipes" in goalmem("doctor").out


def test_settings_name_them_too(goalmem: Goalmem, pipes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables, the store's file, and a program: a plug-in's own settings are checked as ours are."""
    with goalmem_cli.open(tmp_path / "store", backbone="newest", backbones={"newest": {"pool": 1}}) as memory:
        (file,) = memory.ingest("tram.pipes", format="pipes")
        assert (file.format, file.new_turns, len(file.skipped)) == ("pipes", 2, 1)
        assert len(memory.search("tram")) == 1
    with goalmem_cli.open(tmp_path / "store", backbone="newest", reasoner="wide", factories=reading()) as memory:
        assert memory.ask(QUESTION).answer == "tram 28"
    (tmp_path / "store" / "goalmem.yaml").write_text("backbone: newest\nbackbones: {newest: {pool: 1}}\n", "utf-8")
    monkeypatch.setenv("GOALMEM_REASONER", "wide")
    assert len(json.loads(goalmem("search", "tram", "--json").out)["hits"]) == 1
    assert goalmem("ask", QUESTION, factories=reading()).out == "tram 28\n"
    monkeypatch.setenv("GOALMEM_BACKBONES", "{newest: {depth: 3}}")
    refused = goalmem("search", "tram")
    assert (refused.code, refused.error_lines) == (2, ["backbones: newest has no setting 'depth'", "it has pool"])


def test_they_are_not_loaded_before_they_are_named(goalmem: Goalmem, pipes: Path) -> None:
    """Neither for help, nor to find out what a file is, nor to search or answer with what is ours."""
    assert goalmem("ask", "--help").code == goalmem("ingest", "--help").code == goalmem("ingest", "--formats").code == 0
    assert goalmem("ingest", "tram.pipes").code == 5  # our own do not recognise it, and no other is asked
    assert goalmem("ingest", str(SAMPLES / "momoco.json"), "--quiet").code == 0
    assert goalmem("search", "matcha", "--backbone", "bm25").code == 0
    assert (
        goalmem("ask", "What is matcha?", "--reasoner", "direct", factories=scripted(says(answer="unknown"))).code == 1
    )
    for flag, words in (("--backbone", ("search", "tram")), ("--reasoner", ("ask", "Why?"))):
        assert goalmem(*words, flag, "nowhere").code == 2
    assert goalmem("ingest", "tram.pipes", "--format", "nowhere").error_lines[0].endswith("is called 'nowhere'")
    assert "goalmem_pipes" not in sys.modules
    assert goalmem("ingest", "tram.pipes", "--format", "pipes", "--quiet").code == 5  # for its bad line
    assert "goalmem_pipes" in sys.modules


def test_a_process_finds_them(pipes: Path, tmp_path: Path) -> None:
    """In a process of its own, with the package on Python's path; a folder is searched for the reader's files."""
    code = "import sys; from goalmem_cli.main import main; main(sys.argv[1:])"
    (tmp_path / "talks").mkdir()
    (tmp_path / "tram.pipes").rename(tmp_path / "talks" / "tram.pipes")
    words = (
        "ingest",
        "--format",
        "pipes",
        str(tmp_path / "talks"),
        "--dry-run",
        "--store",
        str(tmp_path / "none"),
        "--json",
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, env={"PYTHONPATH": f"{CHECKOUT}:{pipes}"}
    )
    assert done.returncode == 5, done.stderr  # for its bad line
    (file,) = json.loads(done.stdout)["files"]
    assert (Path(file["path"]).name, file["format"], file["new_turns"]) == ("tram.pipes", "pipes", 2)


@pytest.mark.model
def test_ours_win(momoco: Goalmem, install: Install) -> None:
    """A plug-in under a name of ours is not even loaded but by doctor, which says so; of two the first one is taken."""
    install(
        "goalmem-shadow",
        fenced("python").replace('"pipes"', '"openai"'),
        readers={"openai": "goalmem_shadow:PipesReader"},
        backbones={"bm25": "goalmem_shadow:NEWEST", "twice": "goalmem_shadow:NEWEST"},
        reasoners={"direct": "goalmem_shadow:WIDE"},
    )
    assert momoco("search", "matcha", "--backbone", "bm25").code == 0
    assert momoco("ask", "Why?", "--reasoner", "direct", factories=scripted(says(answer="unknown"))).code == 1
    assert momoco("ingest", str(SAMPLES / "momoco.json"), "--format", "openai").code == 5
    assert "goalmem_shadow" not in sys.modules
    install("goalmem-first", fenced("python"), backbones={"twice": "goalmem_first:NEWEST"})
    plugin = find(PluginKind.BACKBONE, "twice")
    assert plugin is not None
    assert plugin.package == "goalmem-first"
    outcome = momoco("doctor", "--json")
    assert outcome.code == 0
    findings = found(outcome)
    for name in ("reader openai", "backbone bm25", "reasoner direct"):
        assert findings[name]["status"] == "note"
        assert "goalmem has its own" in findings[name]["text"]


BROKEN = {
    "cannot be imported": ("import nowhere_at_all\n", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
    "leaves at once": ("raise SystemExit(7)\n", "SystemExit: 7"),
    "has no such thing": ("", "AttributeError: module 'goalmem_broken' has no attribute 'THING'"),
    "is something else": ("THING = 'a text'\n", ""),
}
NAMED = {
    "readers": ("ingest", str(SAMPLES / "momoco.json"), "--format", "odd"),
    "backbones": ("search", "matcha", "--backbone", "odd"),
    "reasoners": ("ask", "Why?", "--reasoner", "odd"),
}
SOMETHING_ELSE = {
    "readers": "str has no method recognises",
    "backbones": "it is str, not a BackboneEntry of goalmem_cli.backbones.catalogue",
    "reasoners": "it is str, not a ReasonerEntry of goalmem_cli.reasoners.catalogue",
}


@pytest.mark.model
@pytest.mark.parametrize("group", NAMED)
@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_one_is_one_line(momoco: Goalmem, install: Install, group: str, how: str) -> None:
    """Where it is named, before a model is loaded, and in doctor; everything else works."""
    code, why = BROKEN[how]
    install("goalmem-broken", code, "0.3", **{group: {"odd": "goalmem_broken:THING"}})
    what = f"the {group[:-1]} odd of the package goalmem-broken 0.3 cannot be used: {why or SOMETHING_ELSE[group]}"
    outcome = momoco(*NAMED[group], factories=scripted())
    assert (outcome.code, outcome.out, outcome.error_lines[0]) == (2, "", what)
    assert "goalmem-broken" in outcome.error_lines[1]
    listed = momoco("doctor", "--json")
    assert listed.code == 2
    assert found(listed)[f"{group[:-1]} odd"] == {
        "name": f"{group[:-1]} odd",
        "text": what,
        "exit_code": 2,
        "status": "WRONG",
        "hint": outcome.error_lines[1],
    }
    assert momoco("search", "matcha").code == 0


def test_a_damaged_record_hides_no_other(goalmem: Goalmem, install: Install, pipes: Path) -> None:
    """A package whose entry points cannot be read, or are none, has nothing to offer; those of others are found."""
    record = install("goalmem-damaged", "") / "goalmem_damaged-1.0.dist-info" / "entry_points.txt"
    for content in (b"\xff\xfe\x00", b"[goalmem.readers]\nno sign of equality\n"):
        record.write_bytes(content)
        sys.path.append(str(record.parent / content.hex()[:4]))  # another path, so that it is looked at anew
        assert {plugin.name for plugin in installed()} == {"pipes", "newest", "wide"}
        sys.path.pop()


READERS = {
    "1 / 0": "failed: ZeroDivisionError: division by zero",
    "yield 'talk'": "failed: it gave str, not a Conversation",
    "yield Conversation('c', 'other', ())": "failed: it gave a conversation called 'c' of the format 'other', not of odd",
    "yield Conversation('c', 'odd', (), notes=('oh',))": "failed: the note 'oh' of c is not written as `what: count`",
    "yield Conversation('c', 'odd', (), continues=True)": "failed: c continues what did not come before",
    "yield Conversation('c', 'odd', ('hi',))": "failed: c: it has str among its turns",
    "yield Conversation('c', 'odd', (Turn('c', 0, 0, 'Ana', 7),))": "failed: c: text of a turn is 7",
    "yield Conversation('c', 'odd', (Turn('c', 0, 0, 'Ana', '\\ud800'),))": "failed: c: text of a turn holds lone surrogates",
    "yield Conversation('c', 'odd', (Turn('c', 0, -1, 'Ana', 'hi'),))": "failed: c: ordinal of a turn is -1",
    "yield Conversation('c', 'odd', (Turn('d', 0, 0, 'Ana', 'hi'),))": "failed: c: it has a turn of 'd'",
    "yield Conversation('c', 'odd', (Turn('c', 0, 0, 'Ana', 'hi', attributes={'a': b''}),))": "are no JSON",
    "yield Conversation('c', 'odd', (Turn('c', 0, 0, 'Ana', ' '),))": "failed: c: a turn is blank",
    "yield from ()": "no messages found, read as odd",
    "raise InputError(source.file, 'line 3', 'a riddle', 'solve it')": "line 3: a riddle",
}
READER = """
from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation, Turn

class THING:
    name, suffixes, sign = "odd", (".odd",), "oddity"
    def recognises(self, glimpse): return True
    def read(self, source):
        if "good" in source.file:
            yield Conversation("good", "odd", (Turn("good", 0, 0, "Ana", "A good word."),))
            return
        {line}
"""


@pytest.mark.parametrize("line", READERS)
def test_what_a_reader_gives_is_checked(goalmem: Goalmem, install: Install, tmp_path: Path, line: str) -> None:
    """A file on which it fails is one line, exit code 5, and the other file is read all the same."""
    install("goalmem-odd", READER.format(line=line), readers={"odd": "goalmem_odd:THING"})
    for name in ("bad.odd", "good.odd"):
        (tmp_path / name).write_text("hi", "utf-8")
    outcome = goalmem("ingest", str(tmp_path / "bad.odd"), str(tmp_path / "good.odd"), "--format", "odd")
    assert outcome.code == 5
    (error,) = [text for text in outcome.err.splitlines() if text.startswith("error: ")]
    assert f"{tmp_path / 'bad.odd'}: " in error
    assert error.endswith(READERS[line]) or READERS[line] in error
    if READERS[line].startswith("failed"):
        assert "the reader odd of the package goalmem-odd 1.0 failed: " in error
    assert "1 turn" in outcome.out


BACKBONES = {
    "return 1 / 0": "failed: ZeroDivisionError: division by zero",
    "return ['hit']": "failed: it found str, not Hit",
    "return None": "failed: TypeError: 'NoneType' object is not iterable",
    "return [Hit(Unit('u', 'turn', 'x', 'c', 's', None, (), ()), 1.0)] * 2": "failed: it found a unit twice",
}
BACKBONE = """
from goalmem_cli.backbones.catalogue import BackboneEntry, indexed
from goalmem_cli.records import Hit, Unit

class Odd:
    def __init__(self, memory): self._memory = memory
    def update(self, turns): self._memory.add_turns(turns)
    def retrieve(self, query, k):
        {line}
    def outlook(self): raise KeyError("ledger")
    def index(self, report): raise KeyError("ledger")

THING = BackboneEntry(lambda memory, kit, settings: Odd(memory))
INDEXED = indexed(lambda memory, kit, settings: Odd(memory))
LACKING = BackboneEntry(lambda memory, kit, settings: object())
"""


@pytest.mark.parametrize("line", BACKBONES)
def test_what_a_backbone_finds_is_checked(momoco: Goalmem, install: Install, line: str) -> None:
    """It is one line with exit code 3, whoever searches: the command, a question, a program."""
    install("goalmem-odd", BACKBONE.format(line=line), backbones={"odd": "goalmem_odd:THING"})
    what = f"the backbone odd of the package goalmem-odd 1.0 {BACKBONES[line]}"
    for words in (("search", "matcha"), ("ask", "Why?", "--reasoner", "direct")):
        outcome = momoco(*words, "--backbone", "odd", factories=scripted())
        assert (outcome.code, outcome.out, outcome.error_lines[0]) == (3, "", what)


def test_a_structured_one_is_indexed_by_name(momoco: Goalmem, install: Install, tmp_path: Path) -> None:
    """It is refused before it is built; its failures are as those of others; what has no method is no backbone."""
    names = {"odd": "goalmem_odd:INDEXED", "lacking": "goalmem_odd:LACKING", "flat": "goalmem_odd:THING"}
    install("goalmem-odd", BACKBONE.format(line="return []"), backbones=names)
    missing = momoco("search", "matcha", "--backbone", "odd")
    assert (missing.code, missing.error_lines[1].split(" --store")[0]) == (3, "goalmem index odd")
    failed = momoco("index", "odd", factories=scripted())
    what = "the backbone odd of the package goalmem-odd 1.0 failed: KeyError: 'ledger'"
    assert (failed.code, failed.error_lines[0]) == (3, what)
    assert momoco("index", "flat").error_lines[0] == "the backbone flat needs no indexing"
    lacking = momoco("search", "matcha", "--backbone", "lacking")
    assert (lacking.code, lacking.error_lines[0].partition(": ")[2]) == (2, "object has no method update")
    with goalmem_cli.open(tmp_path / "store") as memory, pytest.raises(StoreError, match="KeyError: 'ledger'"):
        memory.index("odd")


REASONERS: dict[str, tuple[str, int]] = {
    "return 1 / 0": ("failed: ZeroDivisionError: division by zero", 4),
    "return 'tea'": ("failed: it gave str, not a Trace", 4),
    "return trace(Status.ANSWERED)": ("failed: its trace is answered, and its answer None", 4),
    "return trace(Status.UNKNOWN, 'tea')": ("failed: its trace is unknown, and its answer 'tea'", 4),
    "return trace(Status.ANSWERED, 'tea', evidence=('F1',))": ("its answer rests on F1, which is none of its facts", 4),
    "return trace(Status.ANSWERED, 7)": ("failed: ValueError: not a trace: 7 is not of the kind str", 4),
    "raise UsageError('ask another', 'please')": ("ask another", 2),
}
REASONER = """
from goalmem_cli.errors import UsageError
from goalmem_cli.reasoners.catalogue import ReasonerEntry
from goalmem_cli.trace import Status, Trace

class Odd:
    def answer(self, question):
        def trace(status, answer=None, **more):
            return Trace(status, "direct", question.text, question.asked, answer, **more)
        {line}

THING = ReasonerEntry(lambda tools, sources: Odd(), lambda choices: ("read",), lambda choices: (0, 0))
"""


@pytest.mark.parametrize("line", REASONERS)
def test_what_a_reasoner_answers_is_checked(momoco: Goalmem, install: Install, line: str) -> None:
    """It is one line with exit code 4; an error of goalmem that it raises stays what it is. Nothing is kept of it."""
    install("goalmem-odd", REASONER.format(line=line), reasoners={"odd": "goalmem_odd:THING"})
    outcome = momoco("ask", "Why?", "--reasoner", "odd", factories=scripted())
    why, code = REASONERS[line]
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.error_lines[0].endswith(why)
    if code == 4:
        assert outcome.error_lines[0].startswith("the reasoner odd of the package goalmem-odd 1.0 failed: ")
    assert momoco("trace", "show", "last").code == 2


def test_an_answer_bears_the_name_that_was_asked(momoco: Goalmem, install: Install) -> None:
    """A trace that calls itself another's is kept under its own, so that no calibration of ours speaks for it."""
    code = REASONER.format(line="return trace(Status.ANSWERED, 'tea')")
    install("goalmem-odd", code, reasoners={"odd": "goalmem_odd:THING"})
    outcome = momoco("ask", "Why?", "--reasoner", "odd", "--json", factories=scripted())
    document: dict[str, Any] = json.loads(outcome.out)
    assert (document["reasoner"], document["answer"], document["certainty"]) == ("odd", "tea", None)


GLANCE = """
description: One word.
system: Say a word.
variables: [question, problem]
examples: []
input: {growing: "{{ question }}", tail: "{{ problem }}"}
output: {schema: {type: object, properties: {answer: {type: string}}, required: [answer]}}
max_tokens: 10
"""
GLANCING = """
from pathlib import Path
from goalmem_cli.reasoners.catalogue import ReasonerEntry
from goalmem_cli.reasoners.inquiry import Inquiry
from goalmem_cli.trace import Status, Trace

class Glance:
    def __init__(self, tools): self._tools = tools
    def answer(self, question):
        said = Inquiry("glance", question, self._tools).ask("glance", lambda fields: fields["answer"][0])
        kind = type(self._tools.backbone.own).__name__
        return Trace(Status.ANSWERED, "glance", question.text, question.asked, said, notes=(kind,))

FOLDER = Path(__file__).parent / "prompts"
THING = ReasonerEntry(lambda tools, _: Glance(tools), lambda _: ("glance",), lambda _: (1, 1), prompts=FOLDER)
"""


def test_a_package_brings_prompts_and_knows_its_backbone(momoco: Goalmem, install: Install) -> None:
    """A step's prompt lies in the package's folder; without it there is the usual error. Its backbone is unwrapped."""
    folder = install("goalmem-glance", GLANCING, reasoners={"glance": "goalmem_glance:THING"})
    install("goalmem-odd", BACKBONE.format(line="return []"), backbones={"odd": "goalmem_odd:THING"})
    words = ("ask", "Why?", "--reasoner", "glance", "--backbone", "odd")
    missing = momoco(*words, factories=scripted())
    assert (missing.code, "no prompt for the step glance" in missing.error_lines[0]) == (4, True)
    (folder / "prompts").mkdir()
    (folder / "prompts" / "glance.yaml").write_text(GLANCE, "utf-8")
    outcome = momoco(*words, "--json", factories=scripted(json.dumps({"answer": "tea"})))
    document = json.loads(outcome.out)
    assert (document["answer"], document["notes"]) == ("tea", ["Odd"])


def evaluated(goalmem: Goalmem, *words: str) -> Outcome:
    """Run `goalmem eval` on a sample."""
    return goalmem("eval", str(SAMPLES / "momoco.json"), "--limit", "2", *words, factories=reading("unknown"))


def test_they_are_measured_as_ours_are(goalmem: Goalmem, pipes: Path, tmp_path: Path) -> None:
    """`eval` takes their names, among ours, and refuses a name that nobody registers."""
    names = ("--reasoner", "direct,wide", "--backbone", "bm25,newest", "--out", str(tmp_path / "run"))
    outcome = evaluated(goalmem, *names)
    assert outcome.code == 0, outcome.err
    assert "wide" in outcome.out
    refused = evaluated(goalmem, "--reasoner", "wider", "--out", str(tmp_path / "other"))
    assert (refused.code, "there is no 'wider'" in refused.error_lines[0]) == (2, True)


def test_a_program_hears_of_a_broken_one(install: Install, tmp_path: Path) -> None:
    """By an error of goalmem, as of any wrong name."""
    install("goalmem-broken", "import nowhere_at_all\n", readers={"odd": "goalmem_broken:THING"})
    with goalmem_cli.open(tmp_path / "store") as memory, pytest.raises(PluginBroken, match="nowhere_at_all"):
        memory.ingest(SAMPLES / "momoco.json", format="odd")
