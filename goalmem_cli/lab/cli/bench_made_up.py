"""`goalmem bench tot` and `goalmem bench sums`: write generated questions with exact answers and gold plans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goalmem_cli.cli import options
from goalmem_cli.cli.invocation import begin

if TYPE_CHECKING:
    from goalmem_cli.lab.bench.sums.replay import Replayed
    from goalmem_cli.lab.bench.tot.files import Asked
    from goalmem_cli.render.console import Screen
    from goalmem_cli.trace import Trace

SCHEMA_VERSION = 1
LEAST_NODES, MOST_NODES = 5, 1000


def tot(
    context: typer.Context,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder that gets a file for each form.")],
    form: Annotated[
        str, typer.Option("--form", metavar="A,B", help="tot, arithmetic, complex-tr, with commas between.")
    ] = "tot,arithmetic,complex-tr",
    questions: Annotated[int, typer.Option("--questions", min=1, help="How many, of each form.")] = 400,
    nodes: Annotated[
        int, typer.Option("--nodes", min=LEAST_NODES, max=MOST_NODES, help="How many entities a graph has.")
    ] = 12,
    algorithms: Annotated[
        str | None,
        typer.Option("--algorithms", metavar="A,B", help="er, ba, star, complete, sfn or sbm; all if not given."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another one makes other graphs.")] = 0,
    replay: Annotated[
        bool, typer.Option("--replay", help="Give the engine every gold plan, and count the right answers.")
    ] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Write made-up questions about time.

    Random graphs (extra `graphs`) have edges that held from one year to another. Test of Time's eight types of question
    are asked of entities without names; Complex-TR's two levels, with sets of answers, of named people, employers,
    towns, teams and colleges. Questions of arithmetic carry their statements. The files are for `goalmem ingest` and
    `goalmem eval`. The same arguments give the same bytes. `--replay` asks no model: it holds the engine's own
    calculation to the answers.
    """
    from goalmem_cli.errors import UsageError
    from goalmem_cli.lab.bench.sums.replay import replay_prompts, replayed
    from goalmem_cli.lab.bench.tot.files import FILES, made_up, write_rows
    from goalmem_cli.lab.bench.tot.graphs import ALGORITHMS
    from goalmem_cli.lab.cli.wanted import listed

    run = begin(context, quiet=quiet)
    forms = listed(form, "--form")
    if strange := [name for name in forms if name not in FILES]:
        raise UsageError(f"there is no form {strange[0]!r}", f"choose among {', '.join(FILES)}")
    made_by = listed(algorithms, "--algorithms") or ALGORITHMS
    prompts = replay_prompts()
    asked: dict[str, Counter[str]] = {name: Counter() for name in forms}
    right: dict[str, Counter[str]] = {name: Counter() for name in forms}
    for name in forms:
        with run.screen.counting(f"{name} questions") as reach:
            rows = write_rows(out, name, made_up(name, questions, made_by, nodes, seed))
            for number, one in enumerate(rows, 1):
                asked[name][one.question.type] += 1
                if replay:
                    wrong = _wrong(name, one, replayed(one.story, one.question, prompts).trace)
                    right[name][one.question.type] += not wrong
                    if wrong:
                        run.screen.note(wrong)
                reach(number, questions)
    if json:
        document = {"schema_version": SCHEMA_VERSION, "folder": str(out), "questions": asked}
        run.screen.document(document | ({"right": right} if replay else {}))
    else:
        _show(run.screen, asked, right if replay else None)
    return 0


def _wrong(form: str, one: Asked, trace: Trace) -> str:
    """Return how the engine's answer differs from the right one; blank where it is right."""
    if _RULES[form](one, trace.answer or ""):
        return ""
    wanted, notes = ", ".join(one.question.answer), "; ".join(trace.notes)
    return f"{one.question.text} is {wanted}, not {trace.answer} {notes}"


def _is_label(one: Asked, answer: str) -> bool:
    from goalmem_cli.lab.evaluation.metrics.tot_match import is_tot_match

    return is_tot_match(answer, ", ".join(one.question.answer))


def _is_value(one: Asked, answer: str) -> bool:
    """Return whether the answer is the value of the arithmetic question, which may be "no answer"."""
    from goalmem_cli.lab.evaluation.datasets.tot import UNANSWERABLE
    from goalmem_cli.lab.evaluation.metrics.tot_match import is_tot_match

    return is_tot_match(answer or UNANSWERABLE, ", ".join(one.question.answer), in_any_order=True)


def _is_set(one: Asked, answer: str) -> bool:
    from goalmem_cli.lab.evaluation.metrics.answer_sets import answer_set

    return answer_set(answer, one.question.answer).accuracy == 1


_RULES: Mapping[str, Callable[[Asked, str], bool]] = {
    "tot": _is_label, "arithmetic": _is_value, "complex-tr": _is_set,
}  # fmt: skip


def _show(
    screen: Screen, asked: Mapping[str, Mapping[str, int]], right: Mapping[str, Mapping[str, int]] | None
) -> None:
    """Show the questions of each form by type; one form without a name has no column for it."""
    from goalmem_cli.render.tables import plain_table

    columns = ("questions",) if right is None else ("questions", "right")
    rows = []
    for form, types in asked.items():
        parts = [types] if right is None else [types, right[form]]
        counted = [dict(part) | {"all": sum(part.values())} for part in parts]
        key = (form,) if form else ()
        rows += [(*key, name, *(f"{part.get(name, 0):,}" for part in counted)) for name in (*sorted(types), "all")]
    keys = ("form", "type") if all(asked) else ("type",)
    screen.show(plain_table((*keys, *columns), rows, numbers=columns))


LEAST_TURNS, MOST_TURNS = 50, 100_000


def sums(
    context: typer.Context,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder that gets a file for each conversation.")],
    turns: Annotated[
        int, typer.Option("--turns", min=LEAST_TURNS, max=MOST_TURNS, help="How long each conversation is.")
    ] = 400,
    conversations: Annotated[int, typer.Option("--conversations", min=1, help="How many to make.")] = 1,
    questions: Annotated[int, typer.Option("--questions", min=1, help="How many at most of each conversation.")] = 50,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another one makes up other stories.")] = 0,
    replay: Annotated[
        bool, typer.Option("--replay", help="Give the engine every gold plan, and count the right answers.")
    ] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Write made-up conversations whose answers are computed.

    Two people tell over months what they bought for how much, where they were and what they learnt, among others who do
    the like, and what they only wish for. How many, how much altogether, which first, which more, how long between,
    and which but one have exact answers, with gold plans. The files are for `goalmem ingest` and `goalmem eval`. The
    same arguments give the same bytes. `--replay` asks no model: it holds the engine's own calculation to the answers.
    """
    from goalmem_cli.lab.bench.sums.files import write_story
    from goalmem_cli.lab.bench.sums.questions import questions_of
    from goalmem_cli.lab.bench.sums.replay import replay_prompts, replayed
    from goalmem_cli.lab.bench.sums.story import made_up_story

    run = begin(context, quiet=quiet)
    asked: Counter[str] = Counter()
    right: Counter[str] = Counter()
    prompts = replay_prompts()
    with run.screen.counting("conversations") as reach:
        for number in range(1, conversations + 1):
            story = made_up_story(f"sums-{turns}-{seed}-{number}", turns, seed)
            chosen = questions_of(story, questions, seed)
            write_story(out, story, chosen)
            asked.update(question.type for question in chosen)
            for question in chosen if replay else ():
                found = replayed(story, question, prompts)
                right[question.type] += found.is_right
                if not found.is_right:
                    run.screen.note(_wrong_sum(story.name, found))
            reach(number, conversations)
    if json:
        document = {"schema_version": SCHEMA_VERSION, "folder": str(out), "turns": turns, "questions": asked}
        run.screen.document(document | ({"right": right} if replay else {}))
    else:
        _show(run.screen, {"": asked}, {"": right} if replay else None)
    return 0


def _wrong_sum(name: str, found: Replayed) -> str:
    wanted, notes = ", ".join(found.question.answer), "; ".join(found.trace.notes)
    return f"{name}: {found.question.text} {found.question.expression} is {wanted}, not {found.trace.answer} {notes}"
