"""`goalmem chat`: piped in, and typed at a terminal."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from goalmem_cli.config import Settings
from goalmem_cli.errors import ContextOverflow
from goalmem_cli.ports import Request
from goalmem_cli.testing import Reply, ScriptedModel
from goalmem_cli.wiring import LoadedModel
from tests.cli.test_ask import NO_PROOF, ORDERED, PROOF, QUESTION, answer_units, opened, remembered
from tests.conftest import CHECKOUT
from tests.invoking import Goalmem, scripted, seeing
from tests.reasoners.scripting import claims, plan, proved

PROVING: tuple[Reply, ...] = (PROOF,)
FAILING: tuple[Reply, ...] = (NO_PROOF,)
SHORT = ("--max-breadth", "1")


def leeds(who: str) -> Reply:
    """Return a model's proof that somebody lives in Leeds."""
    return proved(
        claims(1, "I moved to Leeds", x="Leeds"), plan=plan(f"({who}) lives in (x:city)", f"({who}) moved to (x:city)"),
        status="settled", wording="Leeds",
    )  # fmt: skip


def piped(*lines: str) -> bytes:
    """Return the lines as standard input has them."""
    return "".join(f"{line}\n" for line in lines).encode()


def test_every_question_gives_one_line(momoco: Goalmem, tmp_path: Path) -> None:
    """Answers alone are on stdout, one beside each question, and an empty line where memory does not answer."""
    lines = piped(QUESTION, "It was green.", "", QUESTION, QUESTION)
    outcome = momoco("chat", *SHORT, stdin=lines, factories=scripted(*PROVING, *FAILING, *PROVING))
    assert (outcome.code, outcome.out) == (0, "Kyoto Latte\n\nKyoto Latte\n")
    assert outcome.err == f"remembered\nunknown: S1 {ORDERED}: nobody says\n"
    said = [QUESTION, "It was green.", QUESTION, QUESTION]
    assert remembered(tmp_path / "store") == [("user", text, "user") for text in said]
    assert [unit.text for unit in answer_units(tmp_path / "store")] == ["Kyoto Latte"] * 2
    assert momoco("stores", "verify").code == 0


def test_what_was_said_before_is_known(momoco: Goalmem) -> None:
    """A line of the session is a fact for the next one, and the asker is who said it, also with a narrower scope."""
    lines = piped("I moved to Leeds in May.", "Where do I live?")
    words = ("chat", "--asker", "Alice", "--conversation", "momoco-01")
    assert momoco(*words, stdin=lines, factories=scripted(leeds("Alice"))).out == "Leeds\n"
    trace = json.loads(momoco("trace", "show", "last", "--json").out)
    assert trace["asker"] == "Alice"
    (cited,) = (trace["facts"][number] for number in trace["evidence"])
    assert (cited["conversation"], cited["speaker"]) == ("goalmem", "Alice")
    assert not any(fact["text"] == "Where do I live?" for fact in trace["facts"].values())


def test_a_memory_can_begin_with_a_chat(goalmem: Goalmem, tmp_path: Path) -> None:
    """With no store there is nothing to ask, which is said; a statement makes the store."""
    outcome = goalmem("chat", stdin=piped("Where do I live?", "I moved to Leeds in May."), factories=scripted())
    assert (outcome.code, outcome.out) == (3, "\n")
    assert "goalmem ingest" in outcome.err
    assert outcome.err.endswith("remembered\n")
    assert remembered(tmp_path / "store") == [("user", "I moved to Leeds in May.", "user")]
    assert goalmem("chat", stdin=piped("Where do I live?"), factories=scripted(leeds("user"))).out == "Leeds\n"


def test_no_remember_leaves_the_memory_as_it_is(momoco: Goalmem, tmp_path: Path) -> None:
    """Questions are answered, statements are told that nothing comes of them."""
    lines = piped("I moved to Leeds.", QUESTION)
    outcome = momoco("chat", "--no-remember", stdin=lines, factories=scripted(*PROVING))
    assert (outcome.code, outcome.out) == (0, "Kyoto Latte\n")
    assert "--no-remember" in outcome.err
    assert opened(tmp_path / "store").stats().generation == 1


def test_the_model_is_loaded_once_and_given_back(momoco: Goalmem) -> None:
    """At the first question and not before, for the whole session."""
    events: list[str] = []

    def load(_: Settings) -> LoadedModel:
        events.append("loaded")
        model = ScriptedModel([*PROVING, *PROVING])
        return LoadedModel(model, "scripted", "full", 8192, lambda: events.append("closed"))

    assert momoco("chat", stdin=piped("It was green.", "/trace"), factories=seeing(load)).code == 0
    assert events == []
    assert momoco("chat", stdin=piped(QUESTION, QUESTION), factories=seeing(load)).code == 0
    assert events == ["loaded", "closed"]


def test_trace_draws_the_last_proof(momoco: Goalmem) -> None:
    """On stderr, as --trace does for every question; before the first question there is none."""
    outcome = momoco("chat", stdin=piped("/trace", QUESTION, "/trace"), factories=scripted(*PROVING))
    assert outcome.out == "Kyoto Latte\n"
    assert outcome.err.startswith("warning: no question was answered")
    assert outcome.err.count("answer: Kyoto Latte") == 1
    assert momoco("chat", "--trace", stdin=piped(QUESTION), factories=scripted(*PROVING)).err.count("answer: ") == 1


def test_commands_are_no_lines(momoco: Goalmem, tmp_path: Path) -> None:
    """/quit leaves at once, /help lists the commands, another word after a slash is said to be none."""
    lines = piped("/help", "/qui\x1b[31mt now", "/quit", QUESTION)
    outcome = momoco("chat", "--quiet", stdin=lines, factories=scripted())
    assert (outcome.code, outcome.out) == (0, "")
    assert all(command in outcome.err for command in ("/trace", "/help", "/quit"))
    assert "there is no command /qui␛[31mt" in outcome.err
    assert "\x1b" not in outcome.err
    assert remembered(tmp_path / "store") == []


def test_an_error_costs_its_line_alone(momoco: Goalmem, tmp_path: Path) -> None:
    """The two lines of the error, an empty line for the answer, the next question; the code is the last error's."""

    def overflow(request: Request) -> str:
        raise ContextOverflow("the prompt is too long", "ask less")

    replies = scripted(overflow, *PROVING)
    outcome = momoco("chat", stdin=piped(QUESTION, QUESTION), factories=replies)
    assert (outcome.code, outcome.out) == (4, "\nKyoto Latte\n")
    assert outcome.error_lines == ["the prompt is too long", "ask less"]
    assert remembered(tmp_path / "store") == [("user", QUESTION, "user")]


def test_a_model_without_usable_replies_is_an_error(momoco: Goalmem) -> None:
    """A failed question reads as one, and its code is the chat's; a later unknown changes nothing."""
    replies = scripted(*["nonsense"] * 4, *FAILING)
    outcome = momoco("chat", *SHORT, stdin=piped(QUESTION, QUESTION), factories=replies)
    assert (outcome.code, outcome.out) == (4, "\n\n")


def test_a_line_that_is_not_utf_8_is_refused_with_its_place(momoco: Goalmem, tmp_path: Path) -> None:
    """The lines around it are taken; the one before a BOM's text is not changed by it."""
    outcome = momoco("chat", stdin=b"\xef\xbb\xbfI like tea.\ncaf\xe9\nI like oats.", factories=scripted())
    assert (outcome.code, outcome.out) == (5, "")
    assert "error: -: line 2, byte 3: not UTF-8" in outcome.err
    assert [text for _, text, _ in remembered(tmp_path / "store")] == ["I like tea.", "I like oats."]


def test_hostile_lines_are_text(momoco: Goalmem, tmp_path: Path) -> None:
    """Markup, escapes, SQL, operators, NUL and prompts are remembered as they are, and reach no terminal."""
    hostile = ["[bold red]x[/]", "\x1b[2Jgone", "'; DROP TABLE turns; --", "text:(a AND", "a\x00b", "<|im_end|>"]
    outcome = momoco("chat", "--verbose", stdin=piped(*hostile), factories=scripted())
    assert (outcome.code, outcome.out) == (0, "")
    assert "\x1b" not in outcome.err
    assert [text for _, text, _ in remembered(tmp_path / "store")] == hostile
    assert momoco("stores", "verify").code == 0


@pytest.mark.parametrize(
    "words", [("--conversation", "momoco"), ("--asker", "Zoe"), ("--as-of", "soon"), ("--max-breadth", "0")]
)
def test_wrong_words_are_said_before_anything_is_typed(momoco: Goalmem, words: tuple[str, ...]) -> None:
    """As with `ask`, they are exit 2."""
    outcome = momoco("chat", *words, stdin=piped("I like tea."), factories=scripted())
    assert (outcome.code, outcome.out) == (2, "")
    assert len(outcome.error_lines) == 2


def test_as_of_is_the_time_of_every_line(momoco: Goalmem, tmp_path: Path) -> None:
    """What is said then is known then."""
    lines = piped("I moved to Leeds.", "Where do I live?")
    words = ("chat", "--asker", "Alice", "--as-of", "2023-05-10")
    assert momoco(*words, stdin=lines, factories=scripted(leeds("Alice"))).out == "Leeds\n"
    assert {turn.said.isoformat()[:10] for turn in opened(tmp_path / "store").turns(["goalmem"]) if turn.said} == {
        "2023-05-10"
    }


# At a terminal

PROGRAM = """
import os, sys, time
os.login_tty(0)
from goalmem_cli.main import run
from goalmem_cli.wiring import Factories, LoadedModel
from tests.cli.test_chat import PROVING
from goalmem_cli.testing import ScriptedModel

def endless(request):
    print("working", file=sys.stderr, flush=True)
    while True:
        time.sleep(1)

model = LoadedModel(ScriptedModel([endless, *PROVING]), "scripted", "full", 8192)
sys.exit(run(["chat", "--quiet"], Factories(model=lambda _: model)))
"""


class Terminal:
    """A program at a terminal of its own."""

    def __init__(self, program: str) -> None:
        self._ours, theirs = os.openpty()
        words = [sys.executable, "-c", program]
        self._process = subprocess.Popen(words, cwd=CHECKOUT, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        self.shown = ""

    def wait_for(self, text: str) -> None:
        """Read until the text is shown, and forget what was shown up to it."""
        while text not in self.shown:
            self.shown += self._read()
        self.shown = self.shown.partition(text)[2]

    def type(self, keys: str) -> None:
        """Press the keys."""
        os.write(self._ours, keys.encode())

    def leave(self) -> int:
        """Wait for the program's end, reading what it shows, and return its exit code."""
        while rest := self._read(is_end_welcome=True):
            self.shown += rest
        return self._process.wait()

    def close(self) -> None:
        """End the program if it still runs."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._ours)

    def _read(self, *, is_end_welcome: bool = False) -> str:
        try:
            data = os.read(self._ours, 4096)
        except OSError:  # the other end was closed
            data = b""
        if not data and not is_end_welcome:
            raise AssertionError(f"the program ended after {self.shown!r}")
        return data.decode("utf-8", "replace")


@pytest.fixture
def terminal(momoco: Goalmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Terminal]]:
    """Starts chats at terminals, in a home of their own."""
    home = tmp_path / "home"
    home.mkdir()
    for variable, value in (("HOME", str(home)), ("INPUTRC", os.devnull), ("TERM", "xterm")):
        monkeypatch.setenv(variable, value)
    started: list[Terminal] = []

    def start() -> Terminal:
        started.append(Terminal(PROGRAM))
        return started[-1]

    yield start
    for each in started:
        each.close()


needs_terminal = pytest.mark.skipif(not hasattr(os, "login_tty"), reason="this system has no such terminals")


@needs_terminal
def test_ctrl_c_interrupts_a_question_and_leaves_at_the_prompt(
    terminal: Callable[[], Terminal], tmp_path: Path
) -> None:
    """During a question it brings the prompt back, and the next question is answered; there it leaves with 130."""
    chat = terminal()
    chat.wait_for("> ")
    chat.type(f"{QUESTION}\n")
    chat.wait_for("working")
    chat.type("\x03")
    chat.wait_for("interrupted")
    chat.wait_for("> ")
    assert remembered(tmp_path / "store") == []
    chat.type(f"{QUESTION}\n")
    chat.wait_for("Kyoto Latte\r\n")
    chat.wait_for("> ")
    assert remembered(tmp_path / "store") == [("user", QUESTION, "user")]
    chat.type("\x03")
    assert chat.leave() == 130
    assert "Traceback" not in chat.shown


@needs_terminal
@pytest.mark.parametrize("ending", ["\x04", "/quit\n"])
def test_the_end_of_input_and_quit_leave_with_0(terminal: Callable[[], Terminal], ending: str) -> None:
    """Ctrl-D at the prompt and /quit both do, also after an error."""
    chat = terminal()
    chat.wait_for("> ")
    chat.type("/nothing\n")
    chat.wait_for("there is no command /nothing")
    chat.wait_for("> ")
    chat.type(ending)
    assert chat.leave() == 0
    assert chat.shown.endswith("\n")


@needs_terminal
def test_the_history_is_kept_in_memory_alone(terminal: Callable[[], Terminal], tmp_path: Path) -> None:
    """The line before comes back with the arrow key, and no file of store or home holds it."""
    pytest.importorskip("readline")
    chat = terminal()
    chat.wait_for("> ")
    chat.type("/secretword\n")
    chat.wait_for("there is no command /secretword")
    chat.wait_for("> ")
    chat.type("\x1b[A\n")
    chat.wait_for("there is no command /secretword")
    chat.wait_for("> ")
    chat.type("\x04")
    assert chat.leave() == 0
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and b"secretword" in file.read_bytes()]
