"""A program that dies: it performs an operation on copies of a store, dead after the first write, the second ...

    python -m tests.store.killing OPERATION BASE_STORE OUT_FOLDER [stop|once|cut|full NUMBER ...]

For the copy `OUT_FOLDER/N` a line `N` is printed when it is done. With ``stop`` the operation is performed once: its
process is stopped after each write, and what lies there then, which is what a kill at that moment would leave, is
copied. The last copy is of the end, and has the names of all writes. With the others everything is imported once, and
each copy gets a forked process of its own. With ``once`` those are killed after the writes of these numbers. With
``cut`` no file may grow beyond so many bytes, and the process is killed in the middle of the write that would make it
so; with ``full`` that write fails, as on a full disk, and the error is left instead of the names.
"""

import json
import os
import resource
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from datetime import UTC, timedelta
from io import StringIO
from itertools import count, pairwise
from pathlib import Path
from typing import Any

from goalmem_cli.errors import StoreError
from goalmem_cli.library import forgetting, people
from goalmem_cli.library.hearing import Logged, Unattended
from goalmem_cli.library.ingesting import Told, read_all
from goalmem_cli.main import run
from goalmem_cli.memory_records import Selection
from goalmem_cli.ports import Request
from goalmem_cli.records import Conversation, Edge, Turn, Unit, content_hash
from goalmem_cli.store.changes.exporting import turn_document
from goalmem_cli.store.goal_records import Goal, GoalState, GoalStatus, KeptPlan, Watch
from goalmem_cli.store.goals import GoalFolder
from goalmem_cli.store.privacy import GOALS
from goalmem_cli.store.store import Store
from goalmem_cli.store.tombstones import Tombstones
from goalmem_cli.store.traces import TraceFolder
from goalmem_cli.testing import HashEmbedder, ScriptedModel
from goalmem_cli.trace import Fact, Status, Trace
from goalmem_cli.wiring import Factories, LoadedModel
from tests.fakes import SessionNotes
from tests.reasoners.scripting import claims, plan, proved
from tests.store.samples import CAFE, START, chat

OLD, NEW = HashEmbedder(8, "old"), HashEmbedder(12, "new")
AGED = HashEmbedder(256, "static")
"""Goes for the embedder of the store that an older goalmem wrote: that store's vectors are there already."""

TRIP = ("Lisbon was warm.", "Which tram did you take?", "Number 28, to the Graça.", "I prefer the azulejos.")
NOTES = ("Call the plumber about the boiler.", "Buy a birthday card.")
CHANGED = (*TRIP[:2], "Number 12, to the castle.", TRIP[3])
ROOT = Path(__file__).parents[2]
LONG = tuple(f"Entry {number} of the allotment: {word}." for number, word in enumerate(("peas", "kale", "leek")))

Report = Callable[[str], None]
Operation = Callable[[Store, Report], None]


def stretches(texts: tuple[str, ...], name: str, size: int = 2) -> list[Conversation]:
    """Return a conversation in stretches of a few turns, as a reader hands on a long one."""
    whole = chat(texts, name=name)
    return [
        replace(whole, turns=whole.turns[start : start + size], continues=start > 0)
        for start in range(0, len(texts), size)
    ]


def gist(turns: tuple[Turn, ...], text: str) -> Unit:
    """Return a unit that another backbone made of the turns."""
    first = turns[0]
    return Unit(
        content_hash("gist", text), "gist", text, first.conversation, "", first.said, tuple(turn.id for turn in turns),
        tuple(turn.label for turn in turns), "remem", first.session, first.ordinal, attributes={"salience": 0.5},
    )  # fmt: skip


def with_gists(conversation: Conversation) -> Conversation:
    """Return the conversation with what another backbone derived from it: gists, and edges from one to the next."""
    parts = (
        (slice(0, 2), "They talk of a cafe."),
        (slice(2, 3), "Kyoto Latte was ordered."),
        (slice(6, 7), "She comes."),
    )
    gists = [gist(conversation.turns[place], text) for place, text in parts if conversation.turns[place]]
    edges = tuple(Edge(one.id, two.id, "next", 0.5) for one, two in pairwise(gists))
    return replace(conversation, derived=tuple(gists), edges=edges)


def trace_about(turn: Turn, question: str) -> Trace:
    """Return a trace that shows one turn."""
    fact = Fact("F1", turn.id, (turn.label,), turn.conversation, turn.speaker, turn.said, turn.text)
    return Trace(Status.UNKNOWN, "goal-mem", question, START, facts={"F1": fact})


def build(folder: Path, embedder: HashEmbedder = OLD) -> None:
    """Make the store that the operations begin with: three conversations, gists, and a trace about each speaker."""
    store = Store(folder, embedder, announce=lambda _: None)
    cafe = with_gists(chat())
    trip = chat(TRIP, name="trip", own_id="trip", with_ids=True)
    store.add_all([cafe, trip, chat(NOTES, name="notes", speakers=("Ben", "Ben"))])
    traces = TraceFolder(folder / "traces")
    traces.save(trace_about(cafe.turns[1], "Who knows Momoco?"))
    traces.save(trace_about(cafe.turns[4], "What is in a Kyoto Latte?"))
    GoalFolder(folder / GOALS).save(goal_about(cafe.turns[1]))


def goal_about(*turns: Turn) -> Goal:
    """Return a goal with a state for each of the turns, that shows it."""
    added = START.replace(tzinfo=UTC)
    states = [
        GoalState(
            GoalStatus.ANSWERED, added + timedelta(days=number), added, "asked", turn.text,
            trace=trace_about(turn, QUESTION), plan=KeptPlan("(x:cafe) is good", (f"(x:cafe) is {turn.text}",)),
            watches=(Watch(-1, QUESTION, (turn.id,), (turn.id,)), Watch(0, turn.text, (turn.id,), (turn.id,))),
        )
        for number, turn in enumerate(turns)
    ]  # fmt: skip
    return Goal("cafe", QUESTION, added, states=tuple(states))


QUESTION = "Which cafe is the good one?"
BEGUN = [chat()]
GROWN = [
    with_gists(chat([*CAFE, "Bring her along, then."])),
    chat(CHANGED, name="trip", own_id="trip", with_ids=True),
    *stretches(LONG, "allotment"),
]
EARLY_BEN = Selection(speakers=("Ben",), before=START + timedelta(hours=4))
"""Takes a whole conversation, a part of two others with all that was read beside it, a gist, an edge and a trace."""
CARRIED = Tombstones(bytes(32)).with_turns(chat(LONG, name="other").turns[:1], {"other": ("name other",)})
"""The marks of what another memory forgot."""
FORGOTTEN = (*NOTES, CAFE[1], CAFE[3], TRIP[1], TRIP[3], "They talk of a cafe.", "Who knows Momoco?")


def adding(conversations: list[Conversation]) -> Operation:
    """Return the operation that stores the conversations."""

    def add(store: Store, report: Report) -> None:
        store.add_all(conversations, report=lambda added: report(added.conversation))

    return add


def forget(store: Store, report: Report) -> None:
    """Forget what Ben said early."""
    report(str(store.forget(EARLY_BEN).turns))


def forget_for_good(store: Store, report: Report) -> None:
    """Forget what Ben said early, as the command does: with marks, by which it is known when it is read again."""
    report(str(forgetting.forget(store, EARLY_BEN).turns))


def take_forgotten(store: Store, report: Report) -> None:
    """Read another memory's export with its marks: of one of its two equal turns, of which the other is in the export."""
    file = store.path.with_name("carried.jsonl")
    lines = [{"goalmem": 1}, {"conversation": "allotment", "format": "openai", "own_id": None}]
    lines += [{"turn": turn_document(turn)} for turn in chat(LONG, name="allotment").turns]
    file.write_text("\n".join(map(json.dumps, [*lines, {"forgotten": CARRIED.documents()}])), "utf-8")
    (read,) = read_all([file], [], store, Told(takes_forgotten=True), Unattended(Logged()), is_dry=False)
    report(str(read.turns))


def say_who(store: Store, report: Report) -> None:
    """Say what Ben is called, and that Alice is the same person, unless that is done."""
    if not people.roster_of(store).called("Benjamin"):
        people.name(store, "Ben", "Benjamin")
    report("named")
    if len(people.listed(store)) > 1:
        people.merge(store, ["Alice", "Benjamin"])
    report("merged")


def forget_person(store: Store, report: Report) -> None:
    """Forget all that was said by somebody who has got a name, which goes along."""
    if called := people.roster_of(store).called("Ben"):
        if called[0].said is None:
            people.name(store, "Ben", "Benjamin the Second")
        report("named")
        report(str(forgetting.forget(store, Selection(speakers=("Ben",))).turns))


def check_goal(store: Store, report: Report) -> None:
    """Keep a further state of a goal, as a check does."""
    with store.keeping() as written:
        GoalFolder(store.path / GOALS, written).save(goal_about(chat().turns[1], chat().turns[4]))
    report("checked")


def check_by_command(store: Store, report: Report) -> None:
    """Run `goalmem goals check --all`, which finds another answer.

    It may die when the model is asked, when it writes or renames a file of goals or traces, and at the end.
    """
    with store.keeping() as written:
        place = str(store.path)

    def opened(event: str, told: tuple[Any, ...]) -> None:
        is_write = event == "os.rename" or (event == "open" and told[2] & os.O_CREAT)
        if is_write and str(told[0]).startswith((f"{place}/{GOALS}/", f"{place}/traces/")):
            written(event)

    def found(request: Request) -> str:
        written("asked")
        atom = "(Kyoto Latte) has (x:drink) in it"
        claim = claims(1, "oat milk", x="oat milk")
        return proved(claim, plan=plan(atom, atom), status="settled", wording="oat milk")(request)

    factories = Factories(lambda _: OLD, lambda _: LoadedModel(ScriptedModel(found), "scripted", "full", 8192))
    sys.addaudithook(opened)
    with redirect_stdout(StringIO()):
        run(["goals", "check", "--all", "--store", place, "--quiet"], factories)
    report("checked")
    written("reported")


def answer(store: Store, report: Report) -> None:
    """Remember an answer of goalmem's own."""
    turns = store.turns(["chat"])
    report(store.add_answer("Oat milk is in it.", turns[3], [turns[4].id], {"by": "goal-mem"}).id)


def index(store: Store, report: Report) -> None:
    """Have a backbone take notes of all sessions in one go, and link them."""
    SessionNotes(store, at_once=9).index(lambda part: report(part.conversation))


def join(store: Store, report: Report) -> None:
    """Join a conversation with another, of which it is no window, unless that is done."""
    if "trip" in {each.name for each in store.conversations()}:
        store.join("chat", "trip", store.joinable("chat", "trip"))
    report("chat")


def reembed(store: Store, report: Report) -> None:
    """Change the store's embedder."""
    report(str(store.reembed(NEW, lambda _done, _all: None)))


def rebuild(store: Store, report: Report) -> None:
    """Write the indexes anew."""
    store.rebuild()


def catch_up(store: Store, report: Report) -> None:
    """Do what any command does first: bring the tables to this version's form, and the indexes up to date."""
    store.catch_up()


OPERATIONS: dict[str, Operation] = {
    "begin": adding(BEGUN),
    "grow": adding(GROWN),
    "forget": forget,
    "forget-for-good": forget_for_good,
    "take-forgotten": take_forgotten,
    "say-who": say_who,
    "forget-person": forget_person,
    "check-goal": check_goal,
    "check-by-command": check_by_command,
    "answer": answer,
    "index": index,
    "join": join,
    "reembed": reembed,
    "rebuild": rebuild,
    "catch-up": catch_up,
}


def perform(operation: str, folder: Path, last: int | None) -> None:
    """Perform the operation on the folder's store; die after the write numbered `last`, or with 0 stop after each."""
    names: list[str] = []

    def written(what: str) -> None:
        names.append(what)
        if last in (0, len(names)):
            os.kill(os.getpid(), signal.SIGKILL if last else signal.SIGSTOP)

    def report(line: str) -> None:
        os.write(reported, f"{line}\n".encode())

    reported = os.open(folder / "reported", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    embedder = AGED if operation == "catch-up" else OLD
    try:
        OPERATIONS[operation](Store(folder / "store", embedder, announce=lambda _: None, written=written), report)
    except StoreError as error:
        result = ("error", f"{error.message}\n{error.hint}")
    else:
        result = ("names", "\n".join(names))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    (folder / result[0]).write_text(result[1])


def in_a_process(operation: str, base: Path, folder: Path, last: int | None = None, limit: int | None = None) -> int:
    """Perform the operation on a copy of the store in a process of its own, and return that one's id."""
    folder.mkdir(parents=True)
    if base.exists():
        shutil.copytree(base, folder / "store")
    if not (process := os.fork()):
        code = 1
        try:
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            perform(operation, folder, last)
            code = 0
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(code)
    return process


def stopping(operation: str, base: Path, out: Path) -> Iterator[tuple[int, int]]:
    """Stop at every write, and yield the number of each copy, with the exit code so far, until the operation is done."""
    process = in_a_process(operation, base, out / "work", last=0)
    try:
        for number in count(1):
            _, status = os.waitpid(process, os.WUNTRACED)
            shutil.copytree(out / "work", out / str(number))
            if not os.WIFSTOPPED(status):
                process = 0
                yield number, os.waitstatus_to_exitcode(status)
                return
            yield number, 0
            os.kill(process, signal.SIGCONT)
    finally:
        if process:
            os.kill(process, signal.SIGKILL)


def dying(operation: str, base: Path, out: Path, how: str, sizes: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Kill at the write of each of the numbers, or let files grow to each of the sizes; yield each, and its exit code."""
    if how == "cut":
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # else Python ignores it
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in sizes:
        limits = {"last" if how == "once" else "limit": number}
        process = in_a_process(operation, base, out / str(number), **limits)
        yield number, os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def main(operation: str, base: Path, out: Path, how: str = "stop", *sizes: str) -> int:
    """Print the number of each copy as soon as it is done; return 0, or how a process ended that nobody killed."""
    done = stopping(operation, base, out) if how == "stop" else dying(operation, base, out, how, map(int, sizes))
    for number, code in done:
        if code not in (0, -signal.SIGKILL, -signal.SIGXFSZ):
            return code
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), *sys.argv[4:]))
