"""Reads what can be read of a JSON reply that breaks its schema; each repair is named, and nothing is made up.

Small models behind a server write brackets, lists and labels in ways of their own. What is read so is a proposal like
any other: the engine checks it all the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.model_replies import parse_json

Schema = Mapping[str, Any]
_NOTHING: Final = object()
"""What stands for a part that cannot be read."""

_LABEL = re.compile(r"\D{0,20}(\d+)\b.*", re.DOTALL)
_VERDICTS = {
    "entailed": "entailed entails yes true supported supports stated states proven proved confirmed".split(),
    "contradicted": "contradicted contradicts contradiction no false denied refuted".split(),
    "suggested": "suggested suggests likely implied probable possible".split(),
    "of_another": ["of_another", "of another", "another", "ofanother"],
    "minor": ["minor"],
}
_SYNONYMS = {said: verdict for verdict, all_said in _VERDICTS.items() for said in all_said}


def mended_json(text: str, schema: Schema, defaults: Mapping[str, object]) -> tuple[Any, list[str]]:
    """Return the reply's JSON value, of the form of the schema, and what had to be repaired; `defaults` are what stands
    for keys that were left out.

    Raises:
        ReplyUnusable: what can be read of it does not have that form.
    """
    found, repairs = _loaded(text)
    mended = _Mending(defaults, repairs).value(found, schema, "")
    if mended is _NOTHING:
        raise ReplyUnusable("nothing of it can be read")
    return parse_json(json.dumps(mended), schema), list(dict.fromkeys(repairs))


def _loaded(text: str) -> tuple[dict[str, object], list[str]]:
    """Return the object in the text, and what of its JSON had to be repaired."""
    try:
        try:
            found, repairs = json.loads(text), list[str]()
        except ValueError:
            import json_repair  # only here: few replies need it

            found, repairs = json_repair.loads(text), ["JSON that could not be read as it was"]
    except RecursionError:
        raise ReplyUnusable("it is nested too deep") from None
    if isinstance(found, list) and len(found) == 1:
        found, repairs = found[0], [*repairs, "a list around it"]
    if not isinstance(found, dict):
        raise ReplyUnusable("it is not one JSON document")
    return found, repairs


class _Mending:
    """Brings values into the form of a schema; what it repairs is added to `repairs`."""

    def __init__(self, defaults: Mapping[str, object], repairs: list[str]) -> None:
        self._defaults = defaults
        self._repairs = repairs

    def value(self, found: object, schema: Schema, name: str) -> Any:
        """Return the value in the form of the schema; `name` is the key under which it stands."""
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
        given = {_key(key): value for key, value in found.items()}
        if odd := sorted(key for key in found if key not in properties and _key(key) in set(map(_key, properties))):
            self._say(f"keys were written as {', '.join(map(str, odd))}")
        if strange := sorted(set(given) - set(map(_key, properties))):
            self._say(f"{strange[0]!r} is no key of {name or 'a reply'}")
        mended, read = {}, 0
        for key, part in properties.items():
            is_there = _key(key) in given
            value = self.value(given[_key(key)], part, key) if is_there else _NOTHING
            read += value is not _NOTHING
            if value is _NOTHING and key in schema["required"]:
                blank = _blank(part, is_there=is_there)
                value = blank if name else self._defaults.get(key, blank)
                self._say(f"{key!r} was {'not readable' if is_there else 'left out'}")
            if value is not _NOTHING:
                mended[key] = value
        return mended if read and all(key in mended for key in schema["required"]) else _NOTHING

    def _from_text(self, found: object, properties: Mapping[str, Schema], required: Sequence[str], name: str) -> Any:
        """Return an object of which only its text was written: a need as a plain statement."""
        if not isinstance(found, str) or "text" not in properties:
            return _NOTHING
        self._say(f"{name!r} was a plain text")
        return {key: found if key == "text" else _blank(properties[key], is_there=False) for key in required}

    def _array(self, found: object, schema: Schema, name: str) -> Any:
        items: Schema = schema["items"]
        listed = found if isinstance(found, list) else self._listed(found, items, name)
        mended = [self.value(item, items, name) for item in listed]
        kept = [item for item in mended if item is not _NOTHING][: schema["maxItems"]]
        if len(kept) < len(listed):
            self._say(f"{len(listed) - len(kept)} of {name!r} could not be read")
        return kept if len(kept) >= schema.get("minItems", 0) else _NOTHING

    def _listed(self, found: object, items: Schema, name: str) -> list[object]:
        """Return the list that was meant: one thing alone, a text with commas, or an object with a key for each."""
        if found is None or found == "":
            return []
        self._say(f"{name!r} was no list")
        if items["type"] == "object":
            properties = list(items["properties"])
            if not isinstance(found, dict) or set(map(_key, found)) & set(map(_key, properties)):
                return [found]
            if set(properties) == {"variable", "value"}:
                return [{"variable": key, "value": one} for key, value in found.items() for one in _all_of(value)]
            told = {key: value for key, value in found.items() if isinstance(value, dict)}
            return [{properties[0]: key, **value} for key, value in told.items()]
        if isinstance(found, str) and ("enum" in items or "choices" in items):
            return list(found.replace(" and ", ",").split(","))
        return [found]

    def _boolean(self, found: object, name: str) -> Any:
        if isinstance(found, bool):
            return found
        self._say(f"{name!r} was neither true nor false")
        return str(found).strip().lower() in ("true", "yes", "1")

    def _string(self, found: object, schema: Schema, name: str) -> Any:
        if isinstance(found, list) and len(found) == 1:
            found = found[0]
        if isinstance(found, bool) or not isinstance(found, str | int | float):
            return _NOTHING
        text = " ".join(str(found).split())
        if "enum" in schema:
            return self._one_of(text, schema["enum"], name)
        if choices := schema.get("choices"):
            text = self._labelled(text, str(choices))
        if "pattern" in schema and not re.fullmatch(schema["pattern"], text):
            bare = re.sub(r"^[(\[{<]?\s*([a-z])\s*(:[^)\]}>]*)?[)\]}>]?$", r"\1", text)
            if not re.fullmatch(schema["pattern"], bare):
                return _NOTHING
            self._say(f"{name!r} was written as {text!r}")
            text = bare
        if len(text) > schema.get("maxLength", len(text)):
            self._say(f"{name!r} was too long")
            text = text[: schema["maxLength"]]
        return text if len(text) >= schema.get("minLength", 0) else _NOTHING

    def _one_of(self, text: str, allowed: Sequence[str], name: str) -> Any:
        if text in allowed:
            return text
        said = text.lower().strip(" .!")
        found = next((each for each in allowed if each.lower() == said), None)
        if found is None and _SYNONYMS.get(said) in allowed:
            found = _SYNONYMS[said]
        if found is None and (number := _LABEL.fullmatch(text)):
            found = next((each for each in allowed if each[:1] in "SF" and each[1:] == number[1]), None)
        if found is None:
            return _NOTHING
        self._say(f"{name!r} was written as {text[:20]!r}")
        return found

    def _labelled(self, text: str, choices: str) -> str:
        """Return a label as it is written: S1, F2, or a letter."""
        if choices == "variables":
            mended = re.sub(r"^\W*([A-Za-z])\b.*$", lambda found: found[1].lower(), text)
        else:
            number = _LABEL.fullmatch(text)
            mended = f"{choices[0].upper()}{number[1]}" if number else text
        if mended != text:
            self._say(f"{choices[:-1]} {mended} was written as {text[:20]!r}")
        return mended

    def _say(self, repair: str) -> None:
        self._repairs.append(repair)


def _key(name: object) -> str:
    return re.sub(r"[\W_]", "", str(name)).lower()


def _all_of(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _blank(schema: Schema, *, is_there: bool) -> Any:
    """Return what stands for a key that was left out, or is not readable; nothing where only the model can say it.

    A grounding without a verdict is meant to hold. One whose verdict cannot be read may say the opposite.
    """
    if "enum" in schema:
        usual = ("look", "semantic") if is_there else ("look", "semantic", "entailed")
        return next((each for each in usual if each in schema["enum"]), _NOTHING)
    if schema["type"] == "array":
        return _NOTHING if schema.get("minItems") else []
    if schema["type"] == "boolean":
        return False
    return _NOTHING if schema.get("minLength") else ""
