"""`goalmem chat`: answers line by line, and remembers what is said for later questions."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.ask import EXIT_CODES, draw_proof, drawn, hidden_after, open_for, show
from goalmem_cli.cli.goals import may_have_changed
from goalmem_cli.cli.groups import examples
from goalmem_cli.cli.invocation import Invocation, begin
from goalmem_cli.errors import GoalmemError, InputError
from goalmem_cli.library.answering import Terms, one_line
from goalmem_cli.records import STANDARD_INPUT

if TYPE_CHECKING:
    from goalmem_cli.library.answering import Asking
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.render.prompt import PipedLines, TypedLines
    from goalmem_cli.trace import Trace

COMMANDS = {
    "/trace": "draw the proof of the last question",
    "/help": "show this",
    "/quit": "leave; the end of input does too",
}
GREETING = "ask a question, or say what to remember; /help lists the commands, /quit leaves"
EPILOG = examples(
    "goalmem chat --asker Alice",
    "printf 'I moved to Leeds in May.\\nWhere do I live?\\n' | goalmem chat",
    guide="proofs",
)


def chat(
    context: typer.Context,
    trace: options.Trace = False,
    remember: Annotated[
        bool,
        typer.Option("--remember/--no-remember", help="Remember what is said, and the answers, for later questions."),
    ] = True,
    reasoner: options.Reasoner = None,
    model: options.Model = None,
    adapter: options.Adapter = None,
    backbone: options.Backbone = None,
    planning: options.Planning = None,
    max_breadth: options.MaxBreadth = None,
    max_depth: options.MaxDepth = None,
    max_steps: options.MaxSteps = None,
    certainty: options.Certainty = None,
    budget: options.Budget = None,
    fact_tokens: options.FactTokens = None,
    strict: options.Strict = None,
    conversation: options.Conversations = None,
    asker: options.Asker = None,
    as_of: options.AsOf = None,
    seed: options.Seed = None,
    context_length: options.Context = None,
    threads: options.Threads = None,
    prompts: options.Prompts = None,
    store: options.Store = None,
    embedder: options.Embedder = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Answer questions line by line, and remember statements.

    Lines that ask something are answered; all others are stored in the conversation goalmem. /trace draws the last
    proof, /help lists the commands, /quit leaves. Ctrl-C interrupts a question; at the prompt it leaves with 130.

    In a pipe, every question prints one line, which is empty if there is no answer. The exit code is that of the last
    error, or 0.
    """
    from goalmem_cli.reasoners.remembering import CONVERSATION

    besides = (CONVERSATION,) if remember else ()
    terms = Terms(conversation, asker, hidden_after(as_of), besides, is_remembered=remember)
    run = begin(
        context, quiet=quiet, verbose=verbose, store=store, embedder=embedder, model=model, adapter=adapter,
        backbone=backbone, reasoner=reasoner, planning=planning, max_breadth=max_breadth, max_depth=max_depth,
        max_steps=max_steps, fact_tokens=fact_tokens,
        certainty=certainty, budget=budget, strict=strict, seed=seed, threads=threads, context=context_length,
        prompts=prompts,
    )  # fmt: skip
    lines = _lines(run)
    with open_for(run) as memory:
        asking = memory.asking(terms)
        asking.statement("")  # reports a wrong name before anything is typed
        return _Chat(run, memory.kept, asking, lines, is_traced=trace, is_remembered=remember).loop()


def _lines(run: Invocation) -> TypedLines | PipedLines:
    """Return the reader of standard input, for typed or piped lines; raises InputError if standard input is closed."""
    from goalmem_cli.render.prompt import PipedLines, TypedLines

    if sys.stdin is None or sys.stdin.closed:
        raise InputError(STANDARD_INPUT, "", "standard input is closed", "type or pipe something in")
    return TypedLines(run.screen) if sys.stdin.isatty() else PipedLines(sys.stdin.buffer)


class _Chat:
    """One session; an error ends only its line, not the session."""

    def __init__(
        self, run: Invocation, memory: KeptMemory, asking: Asking, lines: TypedLines | PipedLines, *,
        is_traced: bool, is_remembered: bool,
    ) -> None:  # fmt: skip
        """Take the run, its memory, what answers, and the reader of lines."""
        self._run = run
        self._memory = memory
        self._asking = asking
        self._is_traced = is_traced
        self._is_remembered = is_remembered
        self._lines = lines
        self._last: Trace | None = None
        self._code = 0

    def loop(self) -> int:
        """Process lines until the end of input, and return the exit code."""
        if self._lines.is_typed:
            self._run.screen.note(GREETING)
        while True:
            try:
                line = self._lines.next()
                if line is None or line.split()[:1] == ["/quit"]:
                    return 0 if self._lines.is_typed else self._code
                self._take(one_line(line))
            except GoalmemError as error:
                self._run.screen.error(error.message, error.hint)
                self._code = error.exit_code

    def _take(self, line: str) -> None:
        """Run a line as a command, a question or a statement."""
        from goalmem_cli.logic.questions import is_question

        try:
            if line.startswith("/"):
                self._command(line.split()[0])
            elif is_question(line):
                self._question(line)
            elif line:
                self._statement(line)
        except KeyboardInterrupt:
            if not self._lines.is_typed:
                raise
            self._run.screen.warn("interrupted")

    def _command(self, word: str) -> None:
        """Run a command such as /trace."""
        from goalmem_cli.render.tables import pairs

        screen = self._run.screen
        if word == "/help":
            screen.draw(pairs(COMMANDS))
        elif word != "/trace":
            screen.warn(f"there is no command {word}: /help lists those there are")
        elif self._last is None:
            screen.warn("no question was answered in this chat yet")
        else:
            draw_proof(self._run, self._last)

    def _question(self, line: str) -> None:
        """Answer a question, show and keep its proof, and store it if the chat remembers."""
        try:
            asked = self._asking.question(line)
            trace = drawn(self._run, self._asking, asked, is_traced=self._is_traced)
        except GoalmemError:
            self._leave_blank()
            raise
        self._last = trace
        kept = self._asking.keep(trace)
        show(self._run, trace, is_traced=self._is_traced, is_worded=True)
        if EXIT_CODES[trace.status]:
            self._leave_blank()
        if trace.status == "failed":
            self._code = EXIT_CODES[trace.status]
        if self._is_remembered:
            self._asking.remember(asked, trace, kept)

    def _statement(self, line: str) -> None:
        """Store a statement, and report which goals it may change."""
        if not self._is_remembered:
            self._run.screen.warn("this is no question, and --no-remember stores no statements")
            return
        self._asking.remember(self._asking.statement(line))
        self._run.screen.note("remembered")
        may_have_changed(self._run, self._memory)

    def _leave_blank(self) -> None:
        """If lines are piped in, print an empty line, so that each question has one line of output."""
        if not self._lines.is_typed:
            self._run.screen.answer("")
