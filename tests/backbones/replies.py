"""A model that says anything that its schema allows: what a backbone keeps must be sound whatever is decided."""

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

from goalmem_cli.ports import JsonShape, Request
from tests.store.samples import chat

TALK = (
    "Ann home Hull",
    "Bo home York",
    "Ann home York",
    "um well",
    "Bo pet cat",
    "Ann pet dog",
    "Bo home Hull",
    "Ann so",
)
NAMES = ("Ann", "Bo", "Cy", "Hull", "York", "cat", "dog")
NAMING = ("names", "entities", "subject", "object", "source", "target")
TIMES = {"valid_at": ("", "2019", "2020", "2021"), "invalid_at": ("", "", "2020", "2022")}
ON_SOMETHING = ("UPDATE", "DELETE", "INVALIDATE", "LINK", "SAME", "CONTRADICTS")
"""Events that have to name something known."""
MOST = 3


class AnyReply:
    """Says something that fits the schema, drawn by chance; the same request always gets the same reply.

    Only what has to name something known and does not is left out, so that no reply is unusable.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def __call__(self, request: Request) -> str:
        """Return the reply as JSON."""
        assert isinstance(request.shape, JsonShape)
        chance = random.Random(f"{self._seed} {request.step} {request.growing} {request.tail}")  # noqa: S311 - no secret
        reply = self._drawn(request.shape.schema, "", chance)
        if "acts" in reply:
            reply["acts"] = [self._usable(act, request) for act in reply["acts"]]
        return json.dumps(reply)

    def _drawn(self, schema: Mapping[str, Any], name: str, chance: random.Random) -> Any:
        kind = schema["type"]
        if kind == "object":
            return {key: self._drawn(each, key, chance) for key, each in schema["properties"].items()}
        if kind == "array":
            count = chance.randint(schema.get("minItems", 0), min(MOST, schema["maxItems"]))
            return [self._drawn(schema["items"], name, chance) for _ in range(count)]
        if kind == "number":
            return round(chance.random(), 1)
        if kind == "integer":
            return chance.randint(schema.get("minimum", 1), schema.get("maximum", 9))
        if "enum" in schema:
            return chance.choice(schema["enum"])
        if name in TIMES:
            return chance.choice(TIMES[name])
        if name in NAMING:
            return chance.choice(NAMES)
        return "" if schema.get("maxLength") == 0 else f"{chance.choice(NAMES[:3])} {chance.choice(NAMES)}"

    def _usable(self, act: dict[str, str], request: Request) -> dict[str, str]:
        assert isinstance(request.shape, JsonShape)
        schema: Any = request.shape.schema
        allowed = schema["properties"]["acts"]["items"]["properties"]
        known = [number for number in allowed["on"]["enum"] if number != "0"]
        if act["event"] in ON_SOMETHING and act["on"] == "0":
            others = [event for event in allowed["event"]["enum"] if event not in ON_SOMETHING]
            return {**act, "on": known[0]} if known else {**act, "event": others[0]}
        return act


def said(texts: Sequence[str] = TALK) -> list[Any]:
    """Return a conversation of two who take turns, four a session."""
    return list(chat(texts, with_ids=True, per_session=4).turns)
