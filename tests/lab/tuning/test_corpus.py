"""Which conversations are trained on, and which are kept out of it."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.errors import InputError
from goalmem_cli.lab.tuning import prepared
from goalmem_cli.lab.tuning.batches import Tokens
from goalmem_cli.lab.tuning.commands import main
from goalmem_cli.lab.tuning.corpus import ASIDE, ASSISTANTS, DOMAINS, HELD_OUT, Talk, by_domain, read_corpus, split
from goalmem_cli.logic.support import Support, support_of
from goalmem_cli.trace import Fact
from tests.conftest import CHECKOUT
from tests.lab.tuning.samples import write_corpus

WORKED_OUT = re.compile(r"(?:yes|no)$|(?:about )?\d[\d.,]*(?: \w+)?$|.*\b(?:day|week|month|year|hour|minute)s?\b")


def test_conversations_come_with_their_questions(talks: list[Talk]) -> None:
    """Each conversation has its own questions, all with gold plans, and its speakers in the order that they speak."""
    assert [(talk.name, len(talk.cases)) for talk in talks] == [("assistant-01", 10), ("momoco-01", 8), ("work-02", 10)]
    assert all(case.plan is not None and case.conversation == talk.name for talk in talks for case in talk.cases)
    assert talks[0].speakers == ("Tomas", "Assistant")


def test_answers_of_the_conversations_to_read_from_follow_from_their_evidence() -> None:
    """Every tenth: the cited turns state the answer, or each part of a list, or mean it where it is a time.

    Verdicts, and numbers that are counted or worked out, are left to whoever wrote them.
    """
    talks = read_corpus(CHECKOUT / "goalmem_cli" / "lab" / "tuning" / "talks.json")
    told = 0
    for talk in talks[::10]:
        turns = {turn.label: turn for turn in talk.conversation.turns}
        for case in talk.cases:
            facts = [
                Fact("F1", label, (label,), talk.name, turns[label].speaker, turns[label].said, turns[label].text)
                for label in case.evidence
            ]
            assert facts and (case.answer is None) == case.is_unanswerable, case.id
            if case.answer is not None and not WORKED_OUT.match(case.answer):
                parts = [case.answer] if support_of(case.answer, facts) != Support.INFERRED else case.answer.split(", ")
                assert all(support_of(part, facts) != Support.INFERRED for part in parts), case.id
                told += 1

    assert len(talks) == 795 and told > 700
    assert len({talk.domain for talk in talks}) == 8


def test_the_chats_in_which_plans_change_are_whole() -> None:
    """Each chat has its own memory, and each question in the first person its asker; evidence names turns."""
    path = CHECKOUT / "goalmem_cli" / "lab" / "tuning" / "changes.json"
    talks = read_corpus(path)
    cases = [case for talk in talks for case in talk.cases]
    assert (len(talks), len(cases)) == (210, 2186)
    assert all(talk.domain == talk.name for talk in talks)
    for talk in talks:
        assert all(case.asker is None or case.asker in talk.speakers for case in talk.cases), talk.name
    for case in cases:
        assert case.asker or not re.search(r"\b(?:I|my|me)\b", case.question), case.id
        assert (case.answer is None) == case.is_unanswerable, case.id
    raw = [question for talk in json.loads(path.read_text("utf-8")) for question in talk["qa"]]
    assert sum(len(question["evidence"]) for question in raw) == sum(len(case.evidence) for case in cases)


def test_the_talks_with_an_assistant_are_whole() -> None:
    """Of fifteen people: the evidence is there and on the right side, answers are long, all kinds are asked for."""
    talks = read_corpus(ASSISTANTS)
    trained, held = split(talks)
    assert (len(talks), len(trained), len(held)) == (66, 44, 22)
    assert {talk.domain for talk in held} == set(ASIDE)
    members = {domain: len(each) for domain, each in by_domain(talks).items()}
    assert set(members.values()) == {2, 5}
    long = 0
    for talk in talks:
        turns = {turn.label: turn for turn in talk.conversation.turns}
        assert talk.speakers == ("user", "assistant")
        messages, questions = (40, 8) if members[talk.domain] == 5 else (68, 26)
        assert 14 <= len(turns) <= messages and 5 <= len(talk.cases) <= questions, talk.name
        assert len({turn.session for turn in turns.values()}) > 1 and all(turn.said for turn in turns.values())
        long += sum(len(turn.text.split()) >= 80 for turn in turns.values() if turn.speaker == "assistant")
        for case in talk.cases:
            told = {turns[label].speaker for label in case.evidence}
            assert told == {"assistant"} if case.kind in ("told", "we") else "user" in told, case.id
    assert long > 700
    for part in (trained, held):
        kinds = {case.kind for talk in part for case in talk.cases}
        assert kinds == {"info", "now", "conflict", "time", "order", "told", "we", "wish"}
    raw = json.loads(ASSISTANTS.read_text("utf-8"))
    cited = sum(len(question["evidence"]) for talk in raw for question in talk["qa"])
    assert cited == sum(len(case.evidence) for talk in talks for case in talk.cases)  # unknown ids would be left out


def test_each_domain_has_conversations_held_out(tmp_path: Path) -> None:
    """Two numbers of every domain and the samples are kept out; all others are trained on."""
    names = [f"{domain}-{number}" for domain in DOMAINS for number in ("02", "12", "13")]
    names += ["assistant-01", "work-03"]
    trained, held = split(read_corpus(write_corpus(tmp_path, dict.fromkeys(names, "work-02"))))

    assert {talk.name for talk in held} == {name for name in names if name[-2:] in ("12", "13")} | {
        "assistant-01", "work-02"
    }  # fmt: skip
    assert {talk.name for talk in trained} == set(names) - set(HELD_OUT)
    assert by_domain(trained).keys() == set(DOMAINS)


def test_held_out_conversations_are_never_among_the_examples(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the command prints of a corpus comes from its other conversations only, not even as facts beside theirs."""
    named = {"work-02": "work-02", "work-13": "work-02", "work-03": "momoco-01", "friends-12": "assistant-01"}
    assert main(["examples", str(write_corpus(tmp_path, named)), "--each", "1000"]) == 0
    told = capsys.readouterr().err

    assert set(re.findall(r"^--- (.+):\d+$", told, re.MULTILINE)) == {"work-03"}
    assert "matcha" in told  # of the conversation that is trained on, whatever its names
    assert not re.search("rotated|password|puncture", told)


TOKEN = st.lists(st.integers(0, 65_535), min_size=1, max_size=8).map(tuple)
KIND = st.sampled_from(["unify", "read", "stop"])
EXAMPLES = st.lists(st.builds(Tokens, KIND, TOKEN, TOKEN, st.text("ab/1", max_size=3)), max_size=6).map(tuple)


@given(trained=EXAMPLES, aside=EXAMPLES, held_out=EXAMPLES)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    trained: tuple[Tokens, ...],
    aside: tuple[Tokens, ...],
    held_out: tuple[Tokens, ...],
) -> None:
    """Every example comes back in its part, in its order, and so does what is said of them."""
    file = tmp_path_factory.mktemp("prepared") / "examples.npz"
    made = prepared.Prepared(trained, aside, held_out, {"conversations": 3, "held_out": ["work-13"]}, "d1", (5, 9))
    prepared.write(made, file)

    assert prepared.read(file) == made


def test_one_conversation_in_twenty_is_set_aside() -> None:
    """By name alone: about one in twenty of many names."""
    names = [f"talk-{number:03}" for number in range(2000)]

    assert 60 < sum(map(prepared.is_aside, names)) < 140
    assert prepared.is_aside(next(filter(prepared.is_aside, names)))


@pytest.mark.parametrize("data", [b"", b"no archive"])
def test_other_files_are_refused(tmp_path: Path, data: bytes) -> None:
    """What prepare did not write is an error with a hint, not a traceback."""
    (tmp_path / "other").write_bytes(data)
    with pytest.raises(InputError) as caught:
        prepared.read(tmp_path / "other")
    assert "prepare" in caught.value.hint
