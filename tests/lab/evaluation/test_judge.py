"""The judge: which prompt marks what, what the model sees, and what is left without a mark."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import pytest

from goalmem_cli.errors import ContextOverflow, InputError, ModelMissing, UsageError
from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.runs.folder import key_of
from goalmem_cli.lab.evaluation.runs.judge import (
    ABSTENTION,
    MODEL_DIGEST,
    STYLES,
    TEMPLATES,
    Judge,
    Judging,
    Paper,
    Style,
    is_self_judged,
    judge_run,
    steps_of,
)
from goalmem_cli.lab.evaluation.runs.run import Answered, Manifest, Placed, Run, Verdict
from goalmem_cli.ports import Completion, LanguageModel, Request
from goalmem_cli.prompts import Profile, PromptBook
from goalmem_cli.records import Usage
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.trace import Status, Trace

STEPS = sorted({*STYLES.values(), *TEMPLATES.values(), ABSTENTION})
MOMENT = datetime(2024, 3, 3, 12)
BOOKS: dict[Profile, PromptBook] = {
    "full": PromptBook.load(None, "full", STEPS),
    "compact": PromptBook.load(None, "compact", STEPS),
}
RIGHT: dict[Profile, str] = {"full": '{"why": "the same day", "verdict": "right"}', "compact": "verdict: right"}
WRONG: dict[Profile, str] = {"full": '{"why": "another day", "verdict": "wrong"}', "compact": "verdict: wrong"}
CASE = Case("q1", "c1", "When did Anna move?", "7 May 2023", (), "2")
EVERY_TYPE = [*TEMPLATES.items(), ("temporal-reasoning", ABSTENTION)]


def answer(text: str | None, case: str = "q1", status: Status = Status.ANSWERED, reasoner: str = "direct") -> Answered:
    """An answer of the case, over one backbone."""
    return Answered(case, reasoner, "hybrid", Trace(status, reasoner, "When did Anna move?", MOMENT, answer=text))


def judge_of(
    model: LanguageModel, style: Style = "standard", format_: str = "locomo", profile: Profile = "full"
) -> Judge:
    """A judge called `big`."""
    return Judge(model, BOOKS[profile], "big", style, format_, "cd34")


def marked(judge: Judge, case: Case, answered: Answered, numbers: Sequence[int]) -> list[Verdict]:
    """What the judge says of one answer."""
    (verdicts,) = judge.verdicts([Paper(case, answered, tuple(numbers))])
    return verdicts


def run_of(cases: Sequence[Case], answers: Sequence[Answered], format_: str = "locomo", model: str = "small") -> Run:
    """A run of the cases, answered so."""
    manifest = Manifest(
        "d", format_, "0", ("d.json",), ("direct",), ("hybrid",), model, {}, {}, {MODEL_DIGEST: "ab12"}, {}, "0"
    )
    return Run(manifest, tuple(Placed(place, case) for place, case in enumerate(cases)), (), tuple(answers))


def always_right(request: Request) -> str:
    """Reply that the answer is right."""
    return RIGHT["full"]


def forget(verdict: Verdict) -> None:
    """Keep nothing."""


class Overflowing:
    """A model whose context holds none of the prompts."""

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Refuse."""
        raise ContextOverflow("the prompt has 9000 tokens, the context holds 2048")


class CutOff:
    """A model that never comes to an end, but on the requests that are given first."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return the right form for the first request, and a cut-off reply to all others."""
        self.sizes.append(len(requests))
        if len(self.sizes) > 1:
            return [Completion('{"why": "and on and', is_complete=False) for _ in requests]
        return [Completion(RIGHT["full"])] + [Completion("{", is_complete=False) for _ in requests[1:]]


@pytest.mark.parametrize("profile", ["full", "compact"])
@pytest.mark.parametrize(("style", "step"), STYLES.items())
def test_the_style_chooses_the_prompt(profile: Profile, style: Style, step: str) -> None:
    """Datasets other than LongMemEval have one prompt for each style, and the verdict says which was used."""
    model = ScriptedModel([RIGHT[profile]])
    (verdict,) = marked(judge_of(model, style, profile=profile), CASE, answer("on 7 May"), [1])

    assert [request.step for request in model.seen] == [step]
    assert model.seen[0].system == BOOKS[profile][step].system
    rules = BOOKS[profile][step].hash
    usage = Usage(calls=1, prompt_tokens=1, completion_tokens=1)
    assert verdict == Verdict("q1", "direct", "hybrid", "big", style, 1, True, verdict.reply, "cd34", rules, usage)
    assert verdict.reply == ("right: the same day" if profile == "full" else "right")


@pytest.mark.parametrize("profile", ["full", "compact"])
@pytest.mark.parametrize("style", ["standard", "strict"])
@pytest.mark.parametrize(("category", "step"), EVERY_TYPE)
def test_longmemeval_has_a_prompt_for_each_type(profile: Profile, style: Style, category: str, step: str) -> None:
    """The type chooses the prompt, abstention goes before the type, and strictness is a line added to the same one."""
    case = replace(CASE, category=category, is_unanswerable=step == ABSTENTION)
    model = ScriptedModel([WRONG[profile]])
    (verdict,) = marked(judge_of(model, style, "longmemeval", profile), case, answer("on 7 May"), [1])

    assert [request.step for request in model.seen] == [step]
    assert model.seen[0].growing.startswith("Strict: ") is (style == "strict")
    assert (verdict.is_right, verdict.prompt) == (False, style)


def test_an_unknown_type_is_refused_before_anything_is_asked() -> None:
    """LongMemEval has no rules for a type of another name; the error comes first, not after hours of judging."""
    cases = [replace(CASE, category="multi-session"), replace(CASE, id="q2", category="riddle")]
    run = run_of(cases, [answer("x"), answer("x", "q2")], "longmemeval")
    model = ScriptedModel([])
    with pytest.raises(InputError, match=r"q2.*riddle"):
        judge_run(run, judge_of(model, format_="longmemeval"), 1, (), forget)

    assert model.calls == 0


@pytest.mark.parametrize("profile", ["full", "compact"])
@pytest.mark.parametrize("format_", ["locomo", "longmemeval"])
def test_passes_differ_in_the_order_of_the_answers(profile: Profile, format_: str) -> None:
    """Odd passes show the gold answer first, even ones the given answer; all of them go in one call."""
    case = replace(CASE, category="multi-session")
    model = ScriptedModel([RIGHT[profile], WRONG[profile], RIGHT[profile]])
    verdicts = marked(judge_of(model, format_=format_, profile=profile), case, answer("in spring"), [1, 2, 3])

    gold_first = [r.growing.index("7 May 2023") < r.growing.index("in spring") for r in model.seen]
    assert gold_first == [True, False, True]
    assert model.seen[0] == model.seen[2]
    assert sorted(model.seen[0].growing.splitlines()) == sorted(model.seen[1].growing.splitlines())
    assert [(verdict.number, verdict.is_right) for verdict in verdicts] == [(1, True), (2, False), (3, True)]
    assert model.calls == 1


@pytest.mark.parametrize("profile", ["full", "compact"])
def test_an_unusable_reply_is_asked_for_once_more_with_the_problem(profile: Profile) -> None:
    """The second request says what was wrong with the first reply, and its reply counts."""
    model = ScriptedModel(["correct, I think", WRONG[profile]])
    (verdict,) = marked(judge_of(model, profile=profile), CASE, answer("on 8 May"), [1])

    assert verdict.is_right is False
    assert model.seen[0].growing == model.seen[1].growing
    assert model.seen[0].tail == ""
    assert len(model.seen[1].tail.splitlines()) == 1


@pytest.mark.parametrize(
    ("profile", "reply"),
    [
        ("full", "yes"),
        ("full", '{"why": "x", "verdict": "maybe"}'),
        ("full", '{"verdict": "right"}'),
        ("full", "[]"),
        ("compact", "right"),
        ("compact", "verdict: perhaps"),
        ("compact", "verdict: right\nverdict: wrong"),
        ("compact", ""),
    ],
)
def test_a_verdict_that_cannot_be_read_is_unscored(profile: Profile, reply: str) -> None:
    """After two unusable replies the verdict is neither right nor wrong, and says what the matter was."""
    model = ScriptedModel([reply, reply])
    (verdict,) = marked(judge_of(model, profile=profile), CASE, answer("on 8 May"), [1])

    assert verdict.is_right is None
    assert verdict.reply
    assert model.calls == 2


def test_only_the_passes_that_cannot_be_read_are_asked_again() -> None:
    """A readable pass keeps its verdict while another of the same call is repeated, or lost."""
    model = CutOff()
    first, second = marked(judge_of(model), CASE, answer("on 7 May"), [1, 2])

    assert model.sizes == [2, 1]
    assert first.is_right is True
    assert (second.is_right, "cut off" in second.reply) == (None, True)


def test_an_answer_too_long_to_judge_is_unscored() -> None:
    """A prompt that does not fit into the judge's context leaves the answer without a mark, and the run goes on."""
    (verdict,) = marked(judge_of(Overflowing()), CASE, answer("long"), [1])

    assert (verdict.is_right, "9000 tokens" in verdict.reply) == (None, True)


def test_a_judge_that_cannot_be_used_ends_the_judging() -> None:
    """A missing model is an error, not a row of unscored answers."""

    def missing(request: Request) -> str:
        raise ModelMissing("no such model", "goalmem models list")

    with pytest.raises(ModelMissing):
        marked(judge_of(ScriptedModel(missing)), CASE, answer("x"), [1])


@pytest.mark.parametrize("status", [Status.UNKNOWN, Status.FAILED])
@pytest.mark.parametrize("is_unanswerable", [False, True])
def test_a_refused_answer_is_settled_without_asking(status: Status, is_unanswerable: bool) -> None:
    """It is right only where there is no answer and it did not fail; no model is called."""
    case = replace(CASE, category="multi-session", is_unanswerable=is_unanswerable)
    is_right = is_unanswerable and status is not Status.FAILED
    model = ScriptedModel([])
    verdicts = marked(judge_of(model, format_="longmemeval"), case, answer(None, status=status), [1, 2])

    assert [(verdict.number, verdict.is_right, verdict.reply) for verdict in verdicts] == [
        (1, is_right, "refused"),
        (2, is_right, "refused"),
    ]
    assert model.calls == 0


def test_a_refusal_in_words_is_a_refusal() -> None:
    """An answer that says that there is none is settled like an unknown one."""
    model = ScriptedModel([])
    (verdict,) = marked(judge_of(model), CASE, answer("Not mentioned."), [1])

    assert (verdict.is_right, verdict.reply, model.calls) == (False, "refused", 0)


@pytest.mark.parametrize(
    "case",
    [replace(CASE, is_unanswerable=True, category="5"), replace(CASE, answer=None), replace(CASE, answer="")],
)
def test_what_has_no_gold_answer_is_not_judged(case: Case) -> None:
    """Unanswerable questions of other datasets are decided by refusal, questions without a gold answer by nothing."""
    model = ScriptedModel([])
    assert marked(judge_of(model), case, answer("7 May 2023"), [1]) == []
    counts = judge_run(run_of([case], [answer("7 May 2023")]), judge_of(model), 2, (), forget)

    assert counts == Judging(unjudged=1)
    assert model.calls == 0


def test_a_set_of_answers_is_shown_whole() -> None:
    """Where the dataset gives the members and no phrase, the judge sees all of them."""
    model = ScriptedModel([RIGHT["full"]])
    marked(judge_of(model), replace(CASE, answer=None, answers=("tea", "cocoa")), answer("tea"), [1])

    assert 'Gold answer: "tea; cocoa"' in model.seen[0].growing


def test_judging_goes_on_where_it_stopped() -> None:
    """Interrupted and gone on with, a run has every verdict once, each asked for once, in the order of the answers."""
    cases = [replace(CASE, id=f"q{number}") for number in range(4)]
    answers = [answer(f"answer {number}", f"q{number}") for number in range(3)] + [answer(None, "q3", Status.UNKNOWN)]
    run = run_of(cases, answers)
    kept: list[Verdict] = []

    def interrupted(verdict: Verdict) -> None:
        if len(kept) == 3:
            raise KeyboardInterrupt
        kept.append(verdict)

    first = ScriptedModel(always_right)
    with pytest.raises(KeyboardInterrupt):
        judge_run(run, judge_of(first), 2, set(), interrupted)
    assert len(kept) == 3

    second = ScriptedModel(always_right)
    told: list[tuple[str, int, int]] = []
    have = {key_of(verdict) for verdict in kept}
    counts = judge_run(run, judge_of(second), 2, have, kept.append, lambda *state: told.append(state))

    assert [(verdict.case, verdict.number) for verdict in kept] == [(c.id, n) for c in cases for n in (1, 2)]
    assert len(second.seen) == 3
    assert counts == Judging(asked=3, refused=2, known=3, usage=Usage(3, 3, 0, 3))
    assert told == [("judge big, standard", count, 4) for count in (1, 2, 3, 4)]
    third = ScriptedModel([])
    done = {key_of(verdict) for verdict in kept}
    assert judge_run(run, judge_of(third), 2, done, kept.append) == Judging(known=8)


def sorted_out(request: Request) -> str:
    """Reply by what the request says: nothing usable at first for some, nothing at all for one, a mark for others."""
    if "answer 1" in request.growing or ("answer 3" in request.growing and not request.tail):
        return "neither"
    if "answer 5" in request.growing:
        raise ContextOverflow("the prompt has 9000 tokens")
    return RIGHT["full"] if "answer 2" in request.growing else WRONG["full"]


@pytest.mark.parametrize("at_once", [2, 3, 4, 50])
@pytest.mark.parametrize("passes", [1, 2])
def test_several_answers_in_a_call_are_judged_as_each_by_itself(at_once: int, passes: int) -> None:
    """The same verdicts in the same order, whatever cannot be read, is too long, is refused or is no judge's business."""
    cases = [replace(CASE, id=f"q{number}", answer=None if number == 4 else "7 May") for number in range(9)]
    answers = [
        answer(None, case.id, Status.UNKNOWN) if number in (2, 7) else answer(f"answer {number}", case.id)
        for number, case in enumerate(cases)
    ]
    run, told = run_of(cases, answers), list[int]()
    alone: list[Verdict] = []
    kept: list[Verdict] = []
    counts = judge_run(run, judge_of(ScriptedModel(sorted_out)), passes, (), alone.append)
    model = ScriptedModel(sorted_out)
    in_calls = judge_run(
        run, judge_of(model), passes, (), kept.append, lambda _name, number, _of: told.append(number), at_once
    )

    assert (kept, in_calls) == (alone, counts)
    calls = 7 * passes  # answer 1 twice in each pass, answer 3 twice, answer 5 never; 0, 6 and 8 once
    used = Usage(calls, calls, 0, calls)
    assert counts == Judging(asked=6 * passes, unreadable=2 * passes, refused=2 * passes, unjudged=1, usage=used)
    assert told == list(range(2, 10))


def test_several_answers_go_to_the_judge_in_one_call() -> None:
    """So many as are to be asked about, all passes of each, and what is unusable in one call more."""
    cases = [replace(CASE, id=f"q{number}") for number in range(5)]
    answers = [
        answer(None, "q0", Status.UNKNOWN),
        *(answer(f"answer {number}", f"q{number}") for number in range(1, 5)),
    ]
    sizes: list[tuple[int, int]] = []
    kept: list[Verdict] = []
    model = ScriptedModel(sorted_out)

    class Counting:
        """Passes calls on."""

        def complete(self, requests: Sequence[Request]) -> list[Completion]:
            """Keep how many requests there are, and how many verdicts there were by then."""
            sizes.append((len(requests), len(kept)))
            return model.complete(requests)

    judge_run(run_of(cases, answers), judge_of(Counting()), 2, (), kept.append, at_once=3)
    assert sizes == [(6, 0), (4, 0), (2, 8)]  # answers 1 and 3 are asked about again
    assert [verdict.case for verdict in kept] == [case.id for case in cases for _ in range(2)]


def test_another_judge_style_or_pass_is_judged_anew() -> None:
    """Verdicts of one judge, style and number do not stand for those of another."""
    run = run_of([CASE], [answer("on 7 May"), answer("on 7 May", reasoner="react")])
    kept: list[Verdict] = []

    def judged(name: str, style: Style, passes: int) -> int:
        model = ScriptedModel(always_right)
        have = {key_of(verdict) for verdict in kept}
        judge_run(run, Judge(model, BOOKS["full"], name, style, "locomo"), passes, have, kept.append)
        return len(model.seen)

    assert [judged("big", "standard", 1), judged("big", "standard", 3), judged("big", "strict", 1)] == [2, 4, 2]
    assert [judged("other", "standard", 1), judged("big", "standard", 3)] == [2, 0]
    assert len({key_of(verdict) for verdict in kept}) == len(kept) == 10


@pytest.mark.parametrize("what", ["weights", "rules"])
def test_another_judge_of_the_name_is_refused(what: str) -> None:
    """Verdicts of another model or another prompt are not gone on from, and so never mixed; a refusal is nobody's."""
    (verdict,) = marked(judge_of(ScriptedModel([RIGHT["full"]])), CASE, answer("on 7 May"), [1])
    run = run_of([CASE], [answer("on 7 May")])
    changed = replace(verdict, weights="ef56") if what == "weights" else replace(verdict, rules="ef56")
    other = replace(run, verdicts=(changed,))
    with pytest.raises(UsageError, match=r"another .* of the name big"):
        judge_run(other, judge_of(ScriptedModel([])), 1, {key_of(verdict)}, forget)
    settled = replace(verdict, weights="", rules="")
    for known in (verdict, settled, replace(verdict, prompt="strict", rules="ef56")):
        again = judge_run(replace(run, verdicts=(known,)), judge_of(ScriptedModel([])), 1, {key_of(verdict)}, forget)
        assert again == Judging(known=1)


def test_unreadable_verdicts_are_kept_and_counted() -> None:
    """A verdict that could not be read is appended like any other, so that it is not asked for again."""
    run = run_of([CASE], [answer("on 7 May")])
    kept: list[Verdict] = []
    counts = judge_run(run, judge_of(ScriptedModel(["?", "?"])), 1, (), kept.append)

    assert counts == Judging(asked=1, unreadable=1, usage=Usage(2, 2, 0, 2))
    assert judge_run(run, judge_of(ScriptedModel([])), 1, {key_of(kept[0])}, kept.append) == Judging(known=1)


@pytest.mark.parametrize(
    ("name", "hash_", "is_own"),
    [("small", "", True), ("big", "", False), ("big", "ab12", True), ("ab12", "", True), ("big", "cd34", False)],
)
def test_judging_ones_own_answers_is_noticed(name: str, hash_: str, is_own: bool) -> None:
    """By the model's name, or by the hash of its file where it goes by another name."""
    assert is_self_judged(run_of([], []), name, hash_) is is_own


def test_a_nameless_model_is_nobodys_own() -> None:
    """A run without a model, or a judge without a hash, does not match on what both lack."""
    run = run_of([], [], model="")
    bare = replace(run, manifest=replace(run.manifest, settings={}))

    assert not is_self_judged(bare, "")
    assert not is_self_judged(bare, "big", "")


def test_the_prompts_of_a_judge_are_known_by_hash() -> None:
    """Only those it uses, so that a run can record what judged it."""
    assert set(judge_of(ScriptedModel([])).hashes) == {"judge"}
    assert set(judge_of(ScriptedModel([]), format_="longmemeval").hashes) == set(steps_of("longmemeval", "standard"))
    assert len(steps_of("longmemeval", "strict")) == 5


@pytest.mark.parametrize("profile", ["full", "compact"])
@pytest.mark.parametrize("style", ["standard", "strict"])
@pytest.mark.parametrize(("format_", "category"), [("locomo", "2"), *(("longmemeval", kind) for kind in TEMPLATES)])
def test_a_judge_sees_neither_names_nor_another_answer(
    profile: Profile, style: Style, format_: str, category: str
) -> None:
    """Nothing that it is asked, second tries included, has a reasoner's or backbone's name, or two of the answers."""
    case = replace(CASE, category=category)
    names = {"zenith-reasoner": "in spring", "quorum-reasoner": "in autumn", "third-reasoner": "on 7 May"}
    answers = [
        replace(answer(text, reasoner=name), backbone="vellum-backbone") for name, text in names.items()
    ]  # fmt: skip
    model = ScriptedModel(lambda request: "?" if not request.tail else RIGHT[profile])
    judge = judge_of(model, style, format_, profile)
    kept: list[Verdict] = []
    judge_run(run_of([case], answers, format_, model="tell-tale"), judge, 2, (), kept.append, at_once=3)

    assert len(model.seen) == 3 * 2 * 2
    for request in model.seen:
        shown = repr(request)
        assert not [name for name in (*names, "vellum-backbone", "tell-tale") if name in shown]
        assert sum(f'"{text}"' in request.growing + request.tail for text in names.values()) == 1
    assert [(verdict.reasoner, verdict.is_right) for verdict in kept] == [
        (name, True) for name in names for _ in range(2)
    ]  # fmt: skip


def test_the_tokens_of_judging_are_kept_with_each_verdict() -> None:
    """Of both tries of a pass together; nothing for a refusal, or where no try came back."""
    replies = iter([Completion("?", 100, 40, 3), Completion(RIGHT["full"], 120, 100, 9)])
    model = ScriptedModel(lambda _: next(replies))
    (verdict,) = marked(judge_of(model), CASE, answer("on 7 May"), [1])
    (refused,) = marked(judge_of(ScriptedModel([])), CASE, answer(None, status=Status.UNKNOWN), [1])
    (too_long,) = marked(judge_of(Overflowing()), CASE, answer("long"), [1])

    assert verdict.usage == Usage(calls=2, prompt_tokens=220, cached_tokens=140, completion_tokens=12)
    assert refused.usage == too_long.usage == Usage()
