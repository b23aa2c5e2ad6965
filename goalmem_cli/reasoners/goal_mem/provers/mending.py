"""Repairs JSON replies that break their schema, names each repair, and makes nothing up.

Small models behind a server vary brackets, lists and labels. A repaired reply is a proposal like any other, which the
engine checks. A fault that could change the meaning, such as a value that was cut off or an unreadable subgoal, makes
the reply unusable.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from goalmem_cli.errors import ReplyUnusable
from goalmem_cli.logic import Atom, Constant, NotationError, Variable, parse_atom
from goalmem_cli.logic.normal import words
from goalmem_cli.logic.questions import asks_for_something, goal_asked, named_in
from goalmem_cli.model_replies import parse_json
from goalmem_cli.reasoners.goal_mem.wording import verdict_in
from goalmem_cli.records import Question
from goalmem_cli.trace import Verdict

LETTERS = tuple("xyzwvu")
"""The letters for variables."""
UNTYPED = "thing"
"""The type of a variable that was written without a type."""

_ANY_BRACKET = str.maketrans("[]{}<>", "()()()")
_BARE = re.compile(r"(?<![(\w])([u-z])\s*:\s*([A-Za-z][\w-]*\*?)(?![\w)])")
_OPENED = re.compile(r"\(\s*(?:[a-z]\s*:\s*)?[^\s():]+")
_DENYING = (Verdict.OF_ANOTHER, Verdict.CONTRADICTED)


@dataclass(frozen=True, slots=True)
class MendedPlan:
    """The texts of a repaired plan.

    `subgoals` are in the order of their labels; None stands for one that nothing needs, which is in `left_out` under
    its label. `letters` maps written variables to their new letters. `repairs` names what was done.
    """

    goal: str
    subgoals: tuple[str | None, ...]
    answer: tuple[str, ...]
    letters: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    repairs: tuple[str, ...] = ()

    def letter(self, written: str) -> str:
        """Return the letter that a written variable has now."""
        return self.letters.get(written, written)


def mended_plan(written: Mapping[str, Any], question: Question) -> MendedPlan:
    """Return the plan of a reply with `goal`, `subgoals` and `answer`, repaired where it breaks the notation.

    Raises:
        ReplyUnusable: a subgoal is unreadable, or it is unclear which variable is the answer.
    """
    repairs: list[str] = []
    letters_told = _letters_told(written)
    goal = _statement(written["goal"], repairs, letters_told)
    atoms = [_statement(text, repairs, letters_told) for text in written["subgoals"]]
    if None in atoms and len(atoms) == 1 and goal is None:
        atoms = [goal_asked(question.text)]  # the question stands for its goal and its only subgoal
    if None in atoms:
        raise ReplyUnusable(f"the subgoal {written['subgoals'][atoms.index(None)][:60]!r} cannot be read")
    told = [atom for atom in atoms if atom is not None]
    types = {variable.name: variable.type for atom in (*filter(None, [goal]), *told) for variable in atom.variables}
    asked_words = set(words(question.text))
    declared = {**dict.fromkeys((name for name in letters_told if name not in asked_words), UNTYPED), **types}
    told = [_with_variables(atom, declared, repairs) for atom in told]
    asked = None if goal is None else _with_variables(goal, declared, repairs)
    if asked is None:
        repairs.append("the goal was made of the question")
        asked = goal_asked(question.text)
    letters = _letters(told, {*written["answer"], *(variable.name for variable in asked.variables)}, repairs)
    told = [_renamed(atom, letters) for atom in told]
    said = [_in_letters(text, letters) for text in written["answer"]]
    answer = _answer(said, _renamed(asked, letters), told, question, repairs, is_own=goal is not None)
    left_out = _unneeded(told, answer, written.get("groundings", ())) if repairs else {}
    repairs += [f"nothing needs {text}" for text in left_out.values()]
    subgoals = tuple(None if f"S{n}" in left_out else str(atom) for n, atom in enumerate(told, 1))
    return MendedPlan(str(_renamed(asked, letters)), subgoals, answer, letters, left_out, tuple(dict.fromkeys(repairs)))


def read_statement(text: str, letters: Mapping[str, str]) -> Atom | None:
    """Return the statement in a text with brackets repaired and letters changed, or None if there is none."""
    found = _statement(text, [], ())
    return None if found is None else _renamed(found, letters)


def _statement(text: str, repairs: list[str], letters: Collection[str]) -> Atom | None:
    """Return the statement in a text with brackets repaired, or None if the text is a question or empty.

    In a readable statement, a letter without brackets is a variable only if it is one of `letters`.
    """
    text = " ".join(text.split())
    try:
        found = parse_atom(text)
    except NotationError:
        pass
    else:
        bare = {letter for part in found.parts if isinstance(part, str) for letter, _ in _BARE.findall(part)}
        if not bare & set(letters) - {variable.name for variable in found.variables}:
            return found
    mended = _bracketed(text)
    try:
        found = parse_atom(mended)
    except NotationError:
        plain = " ".join(re.sub(r"[()]", " ", mended).split())
        if plain.endswith("?") or asks_for_something(plain) or not re.search(r"\w", plain):
            return None
        found = named_in(plain)
    repairs.append(f"brackets of {text[:60]!r}")
    return found


def _bracketed(text: str) -> str:
    """Return the text with exactly one pair of round brackets around each term."""
    text = text.translate(_ANY_BRACKET)
    text = re.sub(r"\(\s*(?=\()", "", text)
    text = re.sub(r"\)(?:\s*\))+", ")", text)
    parts, at = list[str](), 0
    while (opened := text.find("(", at)) >= 0:
        parts.append(text[at:opened].replace(")", ""))
        closed, again = text.find(")", opened), text.find("(", opened + 1)
        if closed < 0 or 0 <= again < closed:  # it is not closed: a term of one word is meant
            found = _OPENED.match(text, opened)
            at = found.end() if found else opened + 1
            parts.append(f"{text[opened:at]})" if found else "")
        else:
            at = closed + 1
            parts.append(text[opened:at])
    parts.append(text[at:].replace(")", ""))
    return _BARE.sub(r"(\1:\2)", "".join(parts))


def _letters_told(written: Mapping[str, Any]) -> set[str]:
    """Return the letters that the rest of the reply uses as variables."""
    bindings = [binding for entry in written.get("groundings", ()) for binding in entry["bindings"]]
    named = [*written["answer"], *(each["name"] for each in written.get("variables", ()))]
    return {*named, *(binding["variable"] for binding in bindings)} & set(LETTERS)


def _with_variables(atom: Atom, declared: Mapping[str, str], repairs: list[str]) -> Atom:
    """Return the statement with variables for letters that were written as constants: ``(x)`` and ``(place:x)``."""
    parts: list[Any] = []
    for part in atom.parts:
        if isinstance(part, Constant) and part.type in declared and part.value.islower():
            repairs.append(f"({part.value}:{part.type}) was taken for a variable")
            parts.append(Variable(part.type, part.value))
        elif isinstance(part, Constant) and part.value in declared and not part.type:
            repairs.append(f"({part.value}) was taken for a variable")
            parts.append(Variable(part.value, declared[part.value]))
        else:
            parts.append(part)
    return Atom(tuple(parts))


def _letters(atoms: Iterable[Atom], taken: Collection[str], repairs: list[str]) -> dict[str, str]:
    """Return new letters for the variables whose names are not in `LETTERS`."""
    names = list(dict.fromkeys(variable.name for atom in atoms for variable in atom.variables))
    free = [letter for letter in LETTERS if letter not in names and letter not in taken]
    found = dict(zip((name for name in names if name not in LETTERS), free, strict=False))
    repairs += [f"the variable {old} is called {new}" for old, new in found.items()]
    return found


def _renamed(atom: Atom, letters: Mapping[str, str]) -> Atom:
    parts = (
        replace(part, name=letters.get(part.name, part.name)) if isinstance(part, Variable) else part
        for part in atom.parts
    )
    return Atom(tuple(parts))


def _in_letters(text: str, letters: Mapping[str, str]) -> str:
    """Return an expression with renamed variables. Text in quotes stays as it is."""
    parts = re.split(r"('[^']*')", text)
    return "".join(
        part if part.startswith("'") else re.sub(r"\b[a-z]\d?\b", lambda found: letters.get(found[0], found[0]), part)
        for part in parts
    )


def _answer(
    answer: Sequence[str], goal: Atom, atoms: Sequence[Atom], question: Question, repairs: list[str], *, is_own: bool
) -> tuple[str, ...]:
    """Return the answer's expressions: as written if the subgoals have them, else the goal's variables.

    If the goal was made by rule (not `is_own`), its letter means nothing: the answer is then the variable of the same
    type, or the only variable there is.

    Raises:
        ReplyUnusable: there is no such variable.
    """
    found = {variable.name: variable.type for atom in atoms for variable in atom.variables}
    if not asks_for_something(question.text) or any(len(text) > 1 or text in found for text in answer):
        return tuple(answer)
    wanted = [variable.name for variable in goal.variables if is_own and variable.name in found]
    if not wanted:
        types = {variable.type for variable in goal.variables} - {UNTYPED}
        wanted = [name for name, kind in found.items() if kind in types] or list(found)
        if len(wanted) != 1:
            raise ReplyUnusable("it does not say which variable of the subgoals the answer is")
    repairs.append(f"the answer is {', '.join(wanted)}")
    return tuple(dict.fromkeys(wanted))


def _unneeded(atoms: Sequence[Atom], answer: Sequence[str], groundings: Sequence[Any]) -> dict[str, str]:
    """Return the statements that nothing needs, by label.

    They have variables, share none with the answer even through other statements, and no grounding denies them.
    """
    reached = {letter for text in answer for letter in re.findall(r"\b[a-z]\b", text)}
    names = [{variable.name for variable in atom.variables} for atom in atoms]
    for _ in names:
        for own in names:
            if own & reached:
                reached |= own
    denied = {entry["subgoal"] for entry in groundings if entry["verdict"] in _DENYING}
    found = {f"S{n}": str(atom) for n, (atom, own) in enumerate(zip(atoms, names, strict=True), 1) if own - reached}
    return {label: text for label, text in found.items() if reached and label not in denied}


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
