"""A model for the tests of `stitch` that understands a few words, and the conversation that it is asked about."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from goalmem_cli.backbones.stitch import CHOOSE, EVENT, MERGE, NOTE, SCOPE, SEED, STEPS, SUMMARY
from goalmem_cli.backbones.stitch.backbone import Stitch
from goalmem_cli.backbones.stitch.ranking import Choose
from goalmem_cli.backbones.stitch.settings import StitchSettings, Way
from goalmem_cli.backbones.structured.kit import Kit
from goalmem_cli.ports import Completion, JsonShape, LanguageModel, PartDone, Request
from goalmem_cli.prompts import PromptBook
from goalmem_cli.records import Turn
from goalmem_cli.store.store import Store
from goalmem_cli.testing import ScriptedModel
from tests.backbones.derived import books, indexed_by, no_kit
from tests.reasoners.scripting import chat
from tests.store.samples import open_store

FULL, COMPACT, both_profiles = books(STEPS)
SMALL = StitchSettings(window=4, seed=3, period=4, history=2, candidates=2, aligned=2)
LINES = (
    "Alice: About Lisbon: what does the Apollo cost?",
    "Ben: 90 euros a night.",
    "Alice: Book it!",
    "Ben: Done.",
    "--",
    "Alice: About Oslo: what does the ferry cost?",
    "Ben: 12 euros.",
    "Alice: Back to LISBON: is there a tram?",
    "Ben: Yes, it is free.",
    "Alice: And what does the castle cost?",
)
Reply = Callable[[Request], str | Completion]


def turns(conversation: str = "chat", lines: Sequence[str] = LINES) -> list[Turn]:
    """Return the turns of two who plan two trips."""
    return chat(*lines, conversation=conversation)


def understands(request: Request) -> str:
    """Return what a model would say that goes by "About" and "Back to", by "?" and "!", and by the word "cost"."""
    said = re.split(r"Message: ?\n?", request.tail)[-1].split("\n")[0]
    numbered = dict(re.findall(r"^(\d+)\. (.+)$", request.growing, re.MULTILINE))
    is_json = isinstance(request.shape, JsonShape)
    place = re.search(r"(?:About|Back to) (\w+)", said)
    match request.step:
        case step if step == SEED:
            return written({"event_types": ["ask", "tell"], "entity_types": ["price"]}, is_json)
        case step if step == SCOPE:
            if place is None and numbered:
                return label("1", "", is_json)
            name = f"trip to {place[1]}" if place else "greetings"
            number = next((number for number, known in numbered.items() if known == name), "0")
            return label(number, "" if number != "0" else f'"{name}."', is_json)
        case step if step == EVENT:
            name = "ask" if said.endswith("?") else "order" if said.endswith("!") else "tell"
            number = next((number for number, known in numbered.items() if known == name), "0")
            return label(number, "" if number != "0" else name, is_json)
        case step if step == NOTE:
            scope = re.search(r"^Scope: (.+)$", request.growing, re.MULTILINE)
            fields: dict[str, object] = {"resolved": said.replace("it", "the Apollo") if "it" in said else ""}
            fields |= {"note": f"{said} ({scope[1] if scope else 'nowhere'})"}
            fields |= {"types": ["1"] if "cost" in said else [], "new_types": ["Vehicle"] if "tram" in said else []}
            return written({key: value for key, value in fields.items() if is_json or key != "resolved"}, is_json)
        case step if step == SUMMARY:
            return written({"summary": f"summary: {request.growing.splitlines()[-1]}"}, is_json)
        case step if step == MERGE:
            return written({"merges": [] if is_json else ["0"]}, is_json)
        case step if step == CHOOSE:
            chosen = [number for number, known in numbered.items() if known.split()[-1] in request.tail]
            return written({"labels": chosen or ([] if is_json else ["0"])}, is_json)
    raise AssertionError(request.step)


def label(number: str, new: str, is_json: bool) -> str:
    """Return a picked or a new label."""
    if is_json:
        return json.dumps({"label": number, "new": new})
    return f"new: {new}" if new else f"label: {number}"


def written(fields: Mapping[str, object], is_json: bool) -> str:
    """Return the fields as the profile writes them."""
    if is_json:
        return json.dumps(fields)
    lines = [(name, each) for name, value in fields.items() for each in (value if isinstance(value, list) else [value])]
    return "\n".join(f"{name}: {each}" for name, each in lines)


def but(step: str, reply: str, when: str = "") -> Reply:
    """Return a model that understands, except at a step, where a prompt ends with these words in it."""
    return lambda request: reply if request.step == step and when in request.tail else understands(request)


def backbone(
    store: Store,
    model: LanguageModel | None = None,
    book: PromptBook = FULL,
    *,
    at_once: int = 4,
    settings: StitchSettings = SMALL,
    way: Way = Way.WEIGHTED,
    choose: Choose | None = None,
) -> Stitch:
    """Return the backbone over the store; without a model, none may be asked."""
    if model is None:
        return Stitch(store, no_kit, replace(settings, way=way), choose)
    return Stitch(store, lambda: Kit(model, book, at_once, 4096), replace(settings, way=way), choose)


def filled(path: Path, said: Sequence[Turn] | None = None) -> Store:
    """Return a store with the turns, of which nothing was derived yet."""
    store = open_store(path, dimension=64)
    store.add_turns(turns() if said is None else said)
    return store


def indexed(store: Store, reply: Reply = understands, book: PromptBook = FULL, at_once: int = 4) -> list[PartDone]:
    """Index the store and return what was reported."""
    return indexed_by(backbone(store, ScriptedModel(reply), book, at_once=at_once), store)
