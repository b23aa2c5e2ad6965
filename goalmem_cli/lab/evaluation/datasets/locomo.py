"""Read LoCoMo's questions with repairs of errors in the published file, and the corpus form's gold plans.

The category names differ between papers. LoCoMo's own code says: 1 multi-hop, 2 temporal, 3 open-domain, 4 single-hop.
The ten published conversations have 282 questions of code 1, 321 of 2, 96 of 3, 841 of 4 and 446 of 5. Papers after
Mem0 report the numbers multi-hop 282, single-hop 321, temporal 96 and open-domain 841; GOAL-MEM's intervals fit these.
So in those papers 2 is single-hop, 3 temporal and 4 open-domain. Mem0's authors use a third naming (mem0ai/mem0, issue
2609: 1 single-hop, 2 temporal, 3 multi-hop), which does not fit the tables.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from goalmem_cli.lab.evaluation.cases import Case
from goalmem_cli.lab.evaluation.datasets.plans import asker_of, plan_from_question
from goalmem_cli.lab.evaluation.datasets.questions import Repair, answer_from_node, evidence_from_node
from goalmem_cli.transcripts.readers.locomo import draft_from_sample
from goalmem_cli.transcripts.reading.drafts import names_of_drafts
from goalmem_cli.transcripts.reading.nodes import Node, records
from goalmem_cli.transcripts.reading.source import Source

CATEGORIES: Mapping[str, str] = {
    "1": "multi-hop",
    "2": "temporal",
    "3": "open-domain",
    "4": "single-hop",
    "5": "adversarial",
}
MEM0_CATEGORIES: Mapping[str, str] = {
    "1": "multi-hop",
    "2": "single-hop",
    "3": "temporal",
    "4": "open-domain",
    "5": "adversarial",
}
"""The names of the same codes in the tables of GOAL-MEM and other papers after Mem0."""

_ADVERSARIAL = "5"
_SPEAKERS = ("speaker_a", "speaker_b")
_NUMBER = re.compile(r"-[0-9]+$")


def read_cases(source: Source, repairs: Counter[str]) -> Iterator[Case]:
    """Yield the questions of the file's samples and count repairs; a sample may have none.

    A sample names its domain. Else one with gold plans belongs to the domain with which its id begins: ``friends`` for
    ``friends-07``. A question in the first person names its `asker`, or its plan tells who asks.

    Raises:
        InputError: the file cannot be read or is not in LoCoMo's layout; the place is the path to the value.
    """
    samples = list(records(source))
    drafts = [draft_from_sample(sample) for sample in samples]
    names = names_of_drafts(source, drafts)
    for sample, draft, name in zip(samples, drafts, names, strict=True):
        questions = questions_of(sample)
        if not draft.is_begun:
            repairs[Repair.NO_MESSAGES] += len(questions)
            continue
        has_plans = any(question.has("goal") for question in questions)
        domain = _word(sample.child("domain")) or (_NUMBER.sub("", name) if has_plans else "")
        talk = sample.child("conversation") if sample.has("conversation") else sample
        speakers = [talk.child(key).optional_text() or "" for key in _SPEAKERS] if has_plans else []
        for number, question in enumerate(questions, 1):
            case = case_from_question(
                question, f"{name}:{number}", name, draft.message_ids, CATEGORIES, repairs, domain
            )
            asker = _word(question.child("asker")) or None
            if case.plan is not None:
                asker = asker or asker_of(case.question, case.plan, speakers)
            yield replace(case, asker=asker, language=_word(sample.child("language")))


def questions_of(sample: Node) -> list[Node]:
    """Return the sample's questions; none if it has no `qa`.

    Raises:
        InputError: `qa` is no array.
    """
    questions = sample.child("qa")
    return [] if questions.value is None else questions.elements()


def case_from_question(
    question: Node,
    name: str,
    conversation: str,
    known: Collection[str],
    categories: Mapping[str, str],
    repairs: Counter[str],
    domain: str = "",
) -> Case:
    """Return a question in LoCoMo's layout; `name` is the case's id, `known` are the turns' labels.

    An adversarial question has no answer; one that the file gives is dropped and counted. It needs no evidence.
    goalmem's own files may say a question's `language`, its `type`, and `accepted` other ways to write its answer.

    Raises:
        InputError: the question has another layout; the place is the path to the value.
    """
    category = question.required("category")
    code = str(category.value) if type(category.value) is int else ""
    if code not in categories:
        raise category.error(f"expected a category from {min(categories)} to {max(categories)}")
    is_adversarial = code == _ADVERSARIAL
    given, accepted = question.child("answer"), question.child("accepted")
    repairs[Repair.ADVERSARIAL_ANSWER] += is_adversarial and given.value not in (None, "")
    has_evidence = question.has("evidence") or not is_adversarial
    return Case(
        id=name,
        conversation=conversation,
        question=question.required("question").filled_text(),
        answer=None if is_adversarial else answer_from_node(given, repairs),
        evidence=evidence_from_node(question.child("evidence"), known, repairs) if has_evidence else (),
        category=code,
        is_unanswerable=is_adversarial,
        adversarial_answer=answer_from_node(question.child("adversarial_answer"), repairs),
        domain=domain,
        plan=plan_from_question(question, known),
        accepted=tuple(node.filled_text() for node in (accepted.elements() if accepted.value is not None else ())),
        asked_in=_word(question.child("language")),
        kind=_word(question.child("type")),
    )


def _word(node: Node) -> str:
    """Return the text, or "" if there is none or the file means something else by the key."""
    return node.value.strip() if isinstance(node.value, str) else ""
