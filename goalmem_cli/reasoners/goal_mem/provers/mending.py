"""Repairs JSON replies that break their schema, names each repair, and makes nothing up.

Small models behind a server vary brackets, lists and labels. A repaired reply is a proposal like any other, which the
engine checks. A fault that could change the meaning, such as a value that was cut off or an unreadable subgoal, makes
the reply unusable.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.model_replies import parse_json
from goalmem_cli.reasoners.goal_mem.wording import verdict_in

Schema = Mapping[str, Any]
_NOTHING: Final = object()
"""Stands for a part that cannot be read."""

PLAN_KEYS = ("goal", "current", "conclusion", "variables", "answer", "subgoals")
_WHOLE = ("subgoals", "answer")
"""Lists that must be readable whole: labels count their places, and a plan must prove all that it asks for."""
_FREE = ("why", "wording", "queries", "stands_for")
"""Texts that may be shortened, since they prove nothing."""
_SOME_LETTER, _ANY_LETTER = "[x-zwvu]", "[a-z]"
"""The letters for variables that a schema offers to the model, and those that are accepted when reading."""
_DEEPEST = 60
_LONGEST = 120

_LABEL = re.compile(r"\b([SF])(\d{1,4})\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?:fact|subgoal|step|statement|no\.?|#|\W)*(\d{1,4})\W*", re.IGNORECASE)
_LETTER = re.compile(r"\W*([A-Za-z])(?:\W.*)?", re.DOTALL)
_VERDICTS = {
    "entailed": "entailed entails yes true supported supports stated states proven proved confirmed".split(),
    "contradicted": "contradicted contradicts contradiction no false denied refuted".split(),
    "suggested": "suggested suggests likely implied probable possible".split(),
    "of_another": ["of_another", "of another", "another", "ofanother"],
    "incomplete": "incomplete partial partly unspecified".split(),
    "minor": ["minor"],
}
_SYNONYMS = {said: verdict for verdict, all_said in _VERDICTS.items() for said in all_said}


def mended_json(text: str, schema: Schema, defaults: Mapping[str, object]) -> tuple[Any, list[str]]:
    """Return the reply's JSON value in the form of the schema, and the repairs. `defaults` replace missing keys.

    Raises:
        ReplyUnusable: the readable parts do not have that form.
    """
    found, repairs = _loaded(text)
    schema = json.loads(json.dumps(schema).replace(_SOME_LETTER, _ANY_LETTER))
    claims_all = _key(found.get("status")) == "settled"
    mended = _Mending(schema, defaults, repairs, claims_all=claims_all).value(found, schema, "")
    if mended is _NOTHING:
        raise ReplyUnusable("it leaves out, or writes in another form, what a reply has to have")
    return parse_json(json.dumps(mended), schema), list(dict.fromkeys(repairs))


def _loaded(text: str) -> tuple[dict[str, object], list[str]]:
    """Return the JSON object in the text, and the repairs to its syntax."""
    try:
        found, repairs = json.loads(text), list[str]()
    except RecursionError:
        raise ReplyUnusable("it is nested too deep") from None
    except ValueError:
        found, repairs = _repaired(text), ["JSON that could not be read as it was"]
    if isinstance(found, list) and len(found) == 1:
        found, repairs = found[0], [*repairs, "a list around it"]
    if not isinstance(found, dict):
        raise ReplyUnusable("it is not one JSON document")
    return found, repairs


def _repaired(text: str) -> object:
    """Return the value in a text that is almost JSON.

    If the text was cut off, the value of its last key is dropped. If that key belongs to the plan or the groundings,
    the reply is unusable, since the missing rest may have said otherwise.
    """
    if max(text.count("["), text.count("{")) > _DEEPEST * 4 or _depth(text) > _DEEPEST:
        raise ReplyUnusable("it is nested too deep")
    import json_repair  # only here: few replies need it

    try:
        found = json_repair.loads(text)
    except (ValueError, RecursionError):
        raise ReplyUnusable("it is not one JSON document") from None
    if isinstance(found, dict) and found and _is_open(text):
        last = next(reversed(found))
        if "groundings" not in found or last in ("groundings", *PLAN_KEYS):
            raise ReplyUnusable("it was cut off before its groundings were complete")
        del found[last]
    return found


def _depth(text: str) -> int:
    depth = deepest = 0
    for character in text:
        depth += (character in "[{") - (character in "]}")
        deepest = max(deepest, depth)
    return deepest


def _is_open(text: str) -> bool:
    """Say whether the text ends inside an object. Braces in quotes do not count."""
    plain = re.sub(r'"(?:[^"\\]|\\.)*(?:"|$)', "", text, flags=re.DOTALL)
    return plain.count("{") > plain.count("}")


class _Mending:
    """Brings values into the form of a schema, and adds each repair to `repairs`."""

    def __init__(self, schema: Schema, defaults: Mapping[str, object], repairs: list[str], *, claims_all: bool) -> None:
        """Take the reply's schema, and whether the reply claims that all is settled (`claims_all`)."""
        self._top = set(map(_key, schema["properties"]))
        self._defaults = defaults
        self._repairs = repairs
        self._claims_all = claims_all

    def value(self, found: object, schema: Schema, name: str) -> Any:
        """Return the value in the form of the schema; `name` is its key."""
        kind = schema["type"]
        if kind == "object":
            return self._object(found, schema, name)
        if kind == "array":
            return self._array(found, schema, name)
        if kind == "boolean":
            return self._boolean(found, name)
        return self._string(found, schema, name)

    def _object(self, found: object, schema: Schema, name: str) -> Any:
        properties: Mapping[str, Schema] = schema["properties"]
        if not isinstance(found, dict):
            return self._from_text(found, properties, schema["required"], name)
        known = {_key(key): key for key in properties}
        given = {known[_key(key)]: value for key, value in found.items() if _key(key) in known}
        strange = [str(key) for key in found if _key(key) not in known]
        if name and self._top & set(map(_key, strange)):
            raise ReplyUnusable(f"{strange[0]!r} stands within {name}: a quote or a bracket is missing")
        if strange:
            self._say(f"{strange[0]!r} is no key of {name or 'a reply'}")
        if odd := sorted(str(key) for key in found if key not in properties and _key(key) in known):
            self._say(f"keys were written as {', '.join(odd)}")
        mended, read = {}, 0
        for key, part in properties.items():
            value = self.value(given[key], part, key) if key in given else _NOTHING
            read += value is not _NOTHING
            if value is _NOTHING and key in schema["required"]:
                # A grounding of which nothing else is said holds where all is said to; any other may say the opposite.
                is_bare = key not in given and not strange and not given.get("why")
                value = self._blank(key, part, name, may_hold=is_bare and self._claims_all)
                self._say(f"{key!r} was {'not readable' if key in given else 'left out'}")
            if value is not _NOTHING:
                mended[key] = value
        return mended if read and all(key in mended for key in schema["required"]) else _NOTHING

    def _blank(self, key: str, schema: Schema, place: str, *, may_hold: bool) -> Any:
        """Return a neutral value for a missing or unreadable key, or `_NOTHING` if only the model can know it."""
        if not place and key in self._defaults:
            return self._defaults[key]
        if "enum" in schema:
            usual = ("look", "semantic", "unknown", *(["entailed"] if may_hold else []))
            return next((each for each in usual if each in schema["enum"]), _NOTHING)
        if schema["type"] == "array":
            return _NOTHING if schema.get("minItems") else []
        if schema["type"] == "boolean":
            return False
        return _NOTHING if schema.get("minLength") else ""

    def _from_text(self, found: object, properties: Mapping[str, Schema], required: Sequence[str], name: str) -> Any:
        """Return the object for a reply that wrote only its text, such as a need as a plain statement."""
        if not isinstance(found, str) or "text" not in properties:
            return _NOTHING
        self._say(f"{name!r} was a plain text")
        return {
            key: found if key == "text" else self._blank(key, properties[key], name, may_hold=False) for key in required
        }

    def _array(self, found: object, schema: Schema, name: str) -> Any:
        items: Schema = schema["items"]
        listed = [one for item in self._listed(found, items, name) for one in self._apart(item, items)]
        mended = [self.value(item, items, name) for item in listed]
        kept = [item for item in mended if item is not _NOTHING]
        if name in _WHOLE and (len(kept) < len(listed) or len(kept) > schema["maxItems"]):
            return _NOTHING
        kept = kept[: schema["maxItems"]]
        if len(kept) < len(listed):
            self._say(f"{len(listed) - len(kept)} of {name!r} could not be read")
        return kept if len(kept) >= schema.get("minItems", 0) else _NOTHING

    def _listed(self, found: object, items: Schema, name: str) -> list[Any]:
        """Return the intended list: the reply may give one item alone, or an object with a key per item."""
        if isinstance(found, list):
            return found
        if found is None or found == "":
            return []
        self._say(f"{name!r} was no list")
        if items["type"] != "object" or not isinstance(found, dict):
            return [found]
        properties = list(items["properties"])
        if set(map(_key, found)) & set(map(_key, properties)):
            return [found]
        if len(properties) == 2:  # a letter and what stands for it, or is its value
            return [dict(zip(properties, entry, strict=True)) for entry in found.items()]
        told = {key: value for key, value in found.items() if isinstance(value, dict)}
        return [{properties[0]: key, **value} for key, value in told.items()]

    def _apart(self, item: Any, items: Schema) -> list[Any]:
        """Return the items that one item stands for: several labels in one text, or several values of one variable."""
        if isinstance(item, str) and "choices" in items and len(labels := _LABEL.findall(item)) > 1:
            self._say(f"several labels stood in {item!r}")
            return ["".join(label).upper() for label in labels]
        if isinstance(item, str) and "pattern" in items and re.fullmatch(r"[a-z](\s*,\s*[a-z])+", item.strip()):
            return re.split(r"\s*,\s*", item.strip())
        if isinstance(item, dict) and isinstance(item.get("value"), list) and "value" in items.get("properties", ()):
            return [{**item, "value": value} for value in item["value"]]
        return [item]

    def _boolean(self, found: object, name: str) -> Any:
        if isinstance(found, bool):
            return found
        self._say(f"{name!r} was neither true nor false")
        return str(found).strip().lower() in ("true", "yes", "1")

    def _string(self, found: object, schema: Schema, name: str) -> Any:
        text = _text_in(found)
        if text is None:
            return _NOTHING
        if "enum" in schema:
            return self._one_of(text, schema["enum"], name)
        if choices := schema.get("choices"):
            text = self._labelled(text, str(choices))
        if "pattern" in schema and not re.fullmatch(schema["pattern"], text):
            letter = _LETTER.fullmatch(text)
            if letter is None or not re.fullmatch(r"\W*\w\W*(?:\w[\w ]*\W*)?", text):
                return _NOTHING
            self._say(f"{name!r} was written as {text!r}")
            text = letter[1].lower()
            if not re.fullmatch(schema["pattern"], text):
                return _NOTHING
        if len(text) > schema.get("maxLength", len(text)):
            if name not in _FREE:
                return _NOTHING
            self._say(f"{name!r} was too long")
            text = text[: schema["maxLength"]]
        return text if len(text) >= schema.get("minLength", 0) else _NOTHING

    def _one_of(self, text: str, allowed: Sequence[str], name: str) -> Any:
        if text in allowed:
            return text
        said = text.lower().strip(" .!")
        found = next((each for each in (said, _SYNONYMS.get(said), verdict_in(text)) if each in allowed), None)
        if found is None:
            return _NOTHING
        self._say(f"{name!r} was written as {text!r}")
        return found

    def _labelled(self, text: str, choices: str) -> str:
        """Return a label in its usual form (S1, F2, or a letter). Other texts stay as they are."""
        mended = text
        if choices == "variables":
            if (letter := _LETTER.fullmatch(text)) is not None:
                mended = letter[1].lower()
        elif (label := _LABEL.search(text)) is not None:
            mended = f"{label[1].upper()}{label[2]}"
        elif (number := _NUMBER.fullmatch(text)) is not None:
            mended = f"{choices[0].upper()}{number[1]}"
        if mended != text:
            self._say(f"{mended} was written as {text!r}")
        return mended

    def _say(self, repair: str) -> None:
        self._repairs.append(repair if len(repair) <= _LONGEST else f"{repair[:_LONGEST]} ...")


def _key(name: object) -> str:
    return re.sub(r"[\W_]", "", str(name)).lower()


def _text_in(found: object) -> str | None:
    """Return a value as text, or None if it is no text or contains the end of the surrounding JSON."""
    if isinstance(found, dict):
        found = found.get("text")
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        return None
    if isinstance(found, float) and not math.isfinite(found):
        return None
    text = " ".join(str(found).split())
    return None if re.search(r'"\s*[}\]]|[}\]]\s*[}\]]\s*$', text) else text
