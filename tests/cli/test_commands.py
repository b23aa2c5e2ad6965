"""The smaller commands, and what holds for every command."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.cli.hints import with_store
from goalmem_cli.config import KEYS, Settings
from goalmem_cli.errors import ModelMissing
from goalmem_cli.guide import NAMES
from goalmem_cli.main import COMMANDS, command_tree
from goalmem_cli.wiring import LoadedModel
from tests.conftest import CHECKOUT
from tests.invoking import Goalmem, scripted, seeing


def every_command() -> list[tuple[str, ...]]:
    """Return the words of every command and group, but for the hidden ones, which are gone."""
    found: list[tuple[str, ...]] = [()]

    def walk(command: object, words: tuple[str, ...]) -> None:
        for name, inner in getattr(command, "commands", {}).items():
            if inner.hidden:
                continue
            found.append((*words, name))
            walk(inner, (*words, name))

    walk(command_tree(), ())
    return found


def process(*words: str, cwd: Path = CHECKOUT, **variables: str) -> subprocess.CompletedProcess[str]:
    """Return `goalmem` run as a process of its own."""
    command = [sys.executable, "-m", "goalmem_cli", *words]
    return subprocess.run(command, cwd=cwd, env=os.environ | variables, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", every_command(), ids=" ".join)
def test_every_help_has_an_example(goalmem: Goalmem, words: tuple[str, ...]) -> None:
    """Help of every command and group says what it does and shows it done; the first sentence about each command fits
    beside its name at 80 columns.
    """
    outcome = goalmem(*words, "-h")
    assert (outcome.code, outcome.err) == (0, "")
    assert "Example:\n" in outcome.out
    assert "goalmem " + " ".join(words) in outcome.out
    commands = outcome.out.partition("Commands:")[2].splitlines()
    assert not [line for line in commands if line.endswith("...")]
    last = outcome.out.rstrip().rpartition("\n")[2].strip()
    name = last.removeprefix("Manual: goalmem guide").strip()
    assert name in NAMES if words else last == "Manual: goalmem guide"
    assert words or goalmem("--help").out == outcome.out


def test_help_names_the_defaults_that_settings_have() -> None:
    """What an option's help calls its default is what a command without it starts from."""
    told: dict[str, set[int]] = {}

    def walk(command: object) -> None:
        for option in getattr(command, "params", ()):
            if found := re.search(r"\[default: (\d+)", getattr(option, "help", None) or ""):
                told.setdefault(option.name, set()).add(int(found[1]))
        for inner in getattr(command, "commands", {}).values():
            walk(inner)

    walk(command_tree())
    told.pop("parallel")  # another one for a model in this process
    named = told.keys() & set(KEYS)
    assert named >= {"budget", "max_breadth", "max_depth", "max_steps", "seed"}
    assert {name: told[name] for name in named} == {name: {getattr(Settings(Path()), name)} for name in named}


def test_the_commands_are_those_of_this_version() -> None:
    """What later versions bring is not promised yet."""
    names = {words[0] for words in every_command() if len(words) == 1}
    assert names == {
        "ingest", "search", "ask", "chat", "index", "goals", "forget", "eval", "report", "stores", "models", "embedder", "prompts", "trace",
        "bench", "doctor", "guide", "sources", "mcp", "people", "warm", "rules",
    }  # fmt: skip


def test_a_command_alone_is_the_same_as_among_all() -> None:
    """A command is built without the others, which takes half the time; it takes the same words either way."""

    def words_of(command: Any) -> list[object]:
        inner = getattr(command, "commands", {})
        return [[(each.name, each.opts) for each in command.params], {name: words_of(inner[name]) for name in inner}]

    for name in COMMANDS:
        assert set(command_tree(name).commands) == {name}
        assert words_of(command_tree(name).commands[name]) == words_of(command_tree().commands[name])


def test_no_words_at_all_is_help(goalmem: Goalmem) -> None:
    """`goalmem` alone says what there is."""
    assert goalmem().out == goalmem("--help").out


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("asq",), "'ask'"),
        (("ask",), "QUESTION"),
        (("ask", "a", "--colour"), "--colour"),
        (("ask", "a", "--max-depth", "deep"), "--max-depth"),
        (("stores", "burn"), "burn"),
        (("bench",), "Missing command"),
    ],
)
def test_wrong_words_are_two_lines_and_exit_2(goalmem: Goalmem, words: tuple[str, ...], named: str) -> None:
    """A usage error has the form of every error, and its hint leads to the help."""
    outcome = goalmem(*words)
    assert (outcome.code, outcome.out) == (2, "")
    error, hint = outcome.error_lines
    assert named in error
    assert "--help" in hint


def test_settings_that_are_wrong_are_exit_2(goalmem: Goalmem, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable of the wrong kind is an error of every command that reads settings."""
    monkeypatch.setenv("GOALMEM_BUDGET", "many")
    assert "GOALMEM_BUDGET" in goalmem("search", "a").error_lines[0]


def test_stores_are_listed_with_the_one_in_use(momoco: Goalmem, tmp_path: Path) -> None:
    """The store in use is listed although it lies elsewhere than the user's own."""
    rows = json.loads(momoco("stores", "--json").out)["stores"]
    assert [(row["store"], row["is_in_use"], row["turns"] > 20) for row in rows] == [
        (str(tmp_path / "store"), True, True)
    ]
    assert "in use" in momoco("stores").out
    assert "empty" in momoco("stores", "--store", str(tmp_path / "other")).out


def test_the_user_s_stores_are_listed(goalmem: Goalmem, monkeypatch: pytest.MonkeyPatch, samples: Path) -> None:
    """Without --store or a variable the store is the user's default one, and is listed."""
    monkeypatch.delenv("GOALMEM_STORE")
    goalmem("ingest", str(samples / "momoco.json"), "--quiet")
    (row,) = json.loads(goalmem("stores", "--json").out)["stores"]
    assert row["store"].endswith("goalmem/stores/default")
    assert row["is_in_use"] is True


def test_a_store_is_shown_verified_and_rebuilt(momoco: Goalmem, tmp_path: Path) -> None:
    """show names conversations and speakers; verify is quiet about a sound store; rebuild keeps it so."""
    assert "momoco-01" in momoco("stores", "show").out
    document = json.loads(momoco("stores", "show", "--json").out)
    assert [speaker["name"] for speaker in document["conversations"][0]["speakers"]] == ["Alice", "Ben"]
    assert "sound" in momoco("stores", "verify").out
    assert momoco("stores", "rebuild").code == 0
    assert momoco("stores", "verify").code == 0
    assert momoco("search", "Kyoto Latte").code == 0


def test_a_damaged_store_is_exit_3(momoco: Goalmem, tmp_path: Path) -> None:
    """A garbled database is an error of two lines, not a traceback, in every command; the list still lists it."""
    (tmp_path / "store" / "memory.duckdb").write_bytes(b"garbage" * 1000)
    for words in (("search", "a"), ("ask", "a"), ("stores", "show"), ("stores", "verify")):
        outcome = momoco(*words, factories=scripted())
        assert outcome.code == 3
        assert outcome.error_lines
    listed = momoco("stores")
    assert listed.code == 0
    assert "warning: " in listed.err


@pytest.mark.model
def test_models_say_what_is_there_and_where(goalmem: Goalmem) -> None:
    """The bundled model is listed with its file and the prompts that suit it."""
    rows = {row["name"]: row for row in json.loads(goalmem("models", "--json").out)["models"]}
    assert rows["smollm2-135m"]["path"].endswith(".gguf")
    assert rows["smollm2-135m"]["profile"] == "compact"
    assert "smollm2-135m" in goalmem("models", "list").out


@pytest.mark.parametrize("name", ["no-such-model", "hf:nobody/nothing/none.gguf", "http://127.0.0.1:1/"])
def test_a_missing_model_is_exit_4_at_once(momoco: Goalmem, name: str) -> None:
    """A model that is not there is an error with a hint, and nothing reaches the network."""
    outcome = momoco("ask", "Who?", "--model", name)
    assert outcome.code == 4
    assert len(outcome.error_lines) == 2


def test_a_download_needs_the_form_of_a_name(goalmem: Goalmem) -> None:
    """What is no hub name is refused before any network."""
    assert goalmem("models", "download", "llama").code == 4


def test_the_embedder_is_shown(goalmem: Goalmem) -> None:
    """The default is the two tables of 256 dimensions; one that is not there is exit 4."""
    shown = json.loads(goalmem("embedder", "--json").out)
    assert (shown["embedder"], shown["dimension"]) == ("multilingual", 256)
    assert goalmem("embedder", "--embedder", "/no/such/folder").code == 4


def test_prompts_are_listed_shown_and_checked(goalmem: Goalmem, tmp_path: Path) -> None:
    """Both profiles are listed; a wrong file is named with its key, exit 4."""
    rows = json.loads(goalmem("prompts", "--json").out)["prompts"]
    assert {(row["profile"], row["step"]) for row in rows} >= {("full", "unify"), ("compact", "read")}
    shown = goalmem("prompts", "show", "decompose").out
    assert "## system" in shown
    assert "## example 1" in shown
    assert goalmem("prompts", "show", "dance").code == 4
    assert goalmem("prompts", "check").code == 0
    for folder in (tmp_path, tmp_path / "compact"):
        folder.mkdir(exist_ok=True)
        (folder / "decompose.yaml").write_text("descriptoin: a typing error")
    outcome = goalmem("prompts", "check", "--prompts", str(tmp_path))
    assert outcome.code == 4
    assert outcome.err.count("descriptoin") == 2


@pytest.mark.model
def test_the_doctor_looks_at_everything(momoco: Goalmem) -> None:
    """All is well on a machine with the test extra; the first thing that is wrong decides the exit code."""
    outcome = momoco("doctor", "--json")
    findings = {finding["name"]: finding for finding in json.loads(outcome.out)["findings"]}
    assert (outcome.code, findings["model"]["exit_code"]) == (0, 0)
    assert "23 turns" in findings["store"]["text"]

    def refuse(_: object) -> LoadedModel:
        raise ModelMissing("no model", "get one")

    ill = momoco("doctor", factories=seeing(refuse))
    assert ill.code == 4
    assert "no model; get one" in ill.out


def test_a_bug_keeps_its_traceback(momoco: Goalmem) -> None:
    """What is not an error of ours is not dressed as one."""

    def broken(_: object) -> LoadedModel:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        momoco("ask", "Who?", factories=seeing(broken))


def test_an_interruption_is_exit_130(momoco: Goalmem) -> None:
    """Ctrl-C ends a command without a word and with the shell's code for it."""

    def interrupted(_: object) -> LoadedModel:
        raise KeyboardInterrupt

    outcome = momoco("ask", "Who?", factories=seeing(interrupted))
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "")


# Ctrl-C while a weak reference's callback runs, where Python drops the exception.
IN_A_CALLBACK = """
import signal, sys, time, weakref
from goalmem_cli.main import main
from goalmem_cli.wiring import Factories

def interrupted(_):
    followed = set()
    reference = weakref.ref(followed, lambda _: signal.raise_signal(signal.SIGINT))
    del followed
    time.sleep(30)
    raise AssertionError("the interruption was lost")

main(sys.argv[1:], Factories(model=interrupted))
"""


@pytest.mark.usefixtures("momoco")
def test_an_interruption_in_a_callback_is_not_lost() -> None:
    """It ends the command as any other."""
    words = [sys.executable, "-c", IN_A_CALLBACK, "ask", "Who?"]
    done = subprocess.run(words, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.parametrize("words", [("prompts", "show", "unify"), ("models",)], ids=["text", "table"])
def test_a_reader_that_leaves_is_no_error(words: tuple[str, ...]) -> None:
    """`goalmem ... | head` ends quietly: nothing on stderr, exit 0."""
    command = [sys.executable, "-m", "goalmem_cli", *words]
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        said = child.stderr.read()
        assert (child.wait(), said) == (0, b"")


def test_the_version_is_printed() -> None:
    """`goalmem --version` names the program."""
    assert process("--version").stdout.startswith("goalmem ")


def test_no_color_and_no_terminal_mean_plain_text(tmp_path: Path) -> None:
    """Piped output has no escape sequences."""
    outcome = process("stores", GOALMEM_STORE=str(tmp_path / "store"))
    assert outcome.returncode == 0
    assert "\x1b" not in outcome.stdout + outcome.stderr


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (("goals", "show", "rent"), "goalmem goals"),
        (("people", "split", "Nobody"), "goalmem people"),
        (("search", "latte", "--speaker", "Nobody"), "goalmem stores show"),
        (("search", "latte", "--embedder", "static"), "goalmem embedder use static"),
    ],
)
def test_hints_have_commands_for_the_store_that_was_typed(
    momoco: Goalmem, words: tuple[str, ...], command: str
) -> None:
    """Layers that know nothing of the command line name commands without it."""
    store = os.environ["GOALMEM_STORE"]
    typed = momoco(*words, "--store", store)
    assert f"`{command} --store {store}`" in typed.err
    assert f"`{command}`" in momoco(*words).err


def test_only_commands_that_take_a_store_get_one(momoco: Goalmem) -> None:
    """Nor does a command that has one, or what is no command, or is in a name from a transcript."""
    hint = '`goalmem models` names some, `goalmem ask --store a Q` asks, `goalmem "x` and goalmem search do not'
    assert with_store(hint, "b", lambda words: "models" not in words) == hint
    assert with_store("`goalmem goals`", "b c", lambda words: words == ["goals"]) == "`goalmem goals --store 'b c'`"
    assert with_store("`goalmem goals --store=a`", "b", lambda _: True) == "`goalmem goals --store=a`"
    named = ", ".join(map(repr, ("`goalmem forget`", "it's `goalmem forget`", """it's "`goalmem forget`\\""")))
    wanted = f"there is {named}; Ana's `goalmem goals --store b` is not it's"
    assert with_store(f"there is {named}; Ana's `goalmem goals` is not it's", "b", lambda _: True) == wanted
    assert "--store" not in momoco("ask", "Who?", "--model", "nope", "--store", os.environ["GOALMEM_STORE"]).err
