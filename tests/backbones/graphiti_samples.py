"""What the tests of `graphiti` have in common: a small language of facts, and a model that reads it."""

import json
import re
from collections.abc import Callable
from functools import partial

from goalmem_cli.backbones.graphiti import DATES, DECIDE, ENTITIES, FACTS, MERGE, NAME, RESOLVE, STEPS
from goalmem_cli.backbones.graphiti.backbone import Graphiti
from goalmem_cli.backbones.graphiti.settings import GraphitiSettings
from goalmem_cli.ports import JsonShape, Request
from goalmem_cli.store.store import Store
from tests.backbones.derived import Sample, books, contents_of, no_kit

FULL, COMPACT, both_profiles = books(STEPS)
TALK = (
    "ann home hull 2019",
    "ann home york 2021",
    "bea plays cello 2020",
    "ann dwells york 2021",
    "um well",
    "ann home hull 2019",
    "bea plays oboe 2018",
    "ann-smith likes tea",
    "ann home leeds 2020",
    "bea plays cello 2020-2022",
)
"""Each a name, how it is related, another name, and from which year on or to which; `dwells` is another word for
`home`, and a hyphen stands in a name of two words."""
Says = Callable[[Request], str]
contents = partial(contents_of, NAME)


def parsed(text: str) -> tuple[str, str, str, str, str] | None:
    """Return source, relation, target, beginning and end of what a line tells; None where it tells nothing."""
    words = text.split()
    if len(words) < 3:
        return None
    first, relation, last, *rest = words
    begin, _, end = (rest[0] if rest else "").partition("-")
    return first.replace("-", " "), relation, last.replace("-", " "), begin, end


def says(request: Request) -> str:
    """Return what a model says that understands the language."""
    is_json = isinstance(request.shape, JsonShape)
    told = [fact for line in re.findall(r"^T1\. \w+: (.*) \[said", request.growing, re.M) if (fact := parsed(line))]
    if request.step == ENTITIES:
        names = [name for fact in told for name in (fact[0], fact[2])]
        return json.dumps({"names": names}) if is_json else "\n".join(f"names: {name}" for name in names or ["none"])
    if request.step == FACTS:
        rows = [(one, other, how.upper(), f"{one} {how} {other}", begin, end) for one, how, other, begin, end in told]
        if is_json:
            fields = ("source", "target", "relation", "fact", "valid_at", "invalid_at")
            return json.dumps({"facts": [{"turns": ["T1"], **dict(zip(fields, row, strict=True))} for row in rows]})
        return "\n".join("fact T1: " + " | ".join(filter(None, row)) for row in rows) or "none"
    if request.step == DATES:
        return json.dumps({"valid_at": "", "invalid_at": ""}) if is_json else "valid_at: unknown\ninvalid_at: unknown"
    if request.step in (RESOLVE, DECIDE):
        acts = decided(request) if request.step == DECIDE else resolved(request)
        if is_json:
            return json.dumps({"acts": [dict(zip(("new", "event", "on"), act, strict=True)) for act in acts]})
        return "\n".join(" ".join(act) for act in acts)
    text = " + ".join(re.findall(r"^- (\w+)", request.growing, re.M)) or "a title"
    field = "summary" if request.step == MERGE else "title"
    return json.dumps({field: text}) if is_json else f"{field}: {text}"


def known_of(request: Request) -> list[str]:
    """Return what is shown as known."""
    return re.findall(r"^\d+\. (.*?) \[[-\d]+\]", request.growing, re.M)


def resolved(request: Request) -> list[tuple[str, str, str]]:
    """Return that a name is the same as a known one that begins with the same word."""
    acts = []
    for label, name in re.findall(r"^(N\d+)\. (.*)$", request.tail, re.M):
        same = [n for n, known in enumerate(known_of(request), 1) if known.split()[0] == name.split()[0]]
        acts.append((label, "SAME", str(same[0])) if same else (label, "NEW", "0"))
    return acts


def meant(fact: str) -> tuple[str, str, str]:
    """Return the first word of who, the matter, and its value."""
    *who, how, what = fact.split()
    return who[0], "home" if how == "dwells" else how, what


def decided(request: Request) -> list[tuple[str, str, str]]:
    """Return that a fact is the same in other words, and contradicts all others on the same matter."""
    (new,) = re.findall(r"^N1\. (.*)$", request.tail, re.M)
    who, how, what = meant(new)
    acts = []
    for number, known in enumerate(known_of(request), 1):
        if meant(known)[:2] == (who, how):
            acts.append(("N1", "SAME" if meant(known)[2] == what else "CONTRADICTS", str(number)))
    return acts or [("N1", "NONE", "0")]


SAMPLE = Sample(NAME, Graphiti, says, FULL, TALK, 3)
said, backbone, indexed = SAMPLE.said, SAMPLE.backbone, SAMPLE.indexed


def searching(store: Store, told: GraphitiSettings | None = None) -> Graphiti:
    """Return the backbone without a model."""
    return Graphiti(store, no_kit, told)
