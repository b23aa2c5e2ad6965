"""Turn the shape of a reply into a GBNF grammar. This imports llama.cpp's converter, so import it only on use.

The converter is fixed where its grammars would allow invalid JSON: raw line breaks in strings, numeric escapes with
half a surrogate pair, enumerated values that contain quotes, and empty enumerations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from llama_cpp.llama_grammar import SchemaConverter

from goalmem_cli.errors import ModelError
from goalmem_cli.ports import GrammarShape, JsonShape

STRING_CHARACTER = re.compile(r"^char ::= .*$", re.MULTILINE)
SAFE_STRING_CHARACTER = r'char ::= [^"\\\x00-\x1F\x7F] | "\\" ["\\/bfnrt]'
SPACE = re.compile(r"^space ::= .*$", re.MULTILINE)
SEPARATOR = re.compile(r'(?<!\\)"([,:])" space')
LITERAL_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}
EMPTY_LIST = '"[" space "]" space'


def grammar_text(shape: JsonShape | GrammarShape) -> str:
    """Return the GBNF grammar of a shape. JSON is spaced as by `json.dumps`: ``{"a": 1, "b": []}``.

    The grammar covers types, properties in order, required, enum, const, pattern, lengths of strings and lists, and
    anyOf. The rest of a schema (minimum, uniqueItems ...) must be validated on the reply. A list whose items have an
    empty enumeration is empty.

    Raises:
        ModelError: the grammar is empty, or it cannot express the schema.
    """
    if isinstance(shape, GrammarShape):
        if not shape.grammar.strip():
            raise ModelError("the grammar of the reply is empty", "check the output of the prompt's file")
        return shape.grammar
    schema = json.loads(json.dumps(shape.schema))
    options: dict[str, Any] = {"prop_order": {}, "allow_fetch": False, "dotall": False, "raw_pattern": False}
    converter = _Converter(**options)  # type: ignore[no-untyped-call]
    try:
        converter.visit(converter.resolve_refs(schema, ""), "")
        grammar = str(converter.format_grammar())  # type: ignore[no-untyped-call]
    except (AssertionError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise ModelError(
            f"no grammar can be made of the reply's schema: {error}", "check the output of the prompt's file"
        ) from error
    grammar = STRING_CHARACTER.sub(lambda _: SAFE_STRING_CHARACTER, grammar)
    grammar = SPACE.sub('space ::= ""', grammar)
    return SEPARATOR.sub(r'"\1 "', grammar)


class _NothingToChoose(ValueError):
    """An enumeration without values; no reply can satisfy it."""


class _Converter(SchemaConverter):
    def visit(self, schema: Mapping[str, Any], name: str) -> str:
        if schema.get("enum") == []:
            raise _NothingToChoose("an enumeration is empty")
        try:
            return str(super().visit(schema, name))  # type: ignore[no-untyped-call]
        except _NothingToChoose:
            if schema.get("type") != "array" or schema.get("minItems"):
                raise
            return str(self._add_rule(name or "root", EMPTY_LIST))  # type: ignore[no-untyped-call]

    def _generate_constant_rule(self, value: object) -> str:
        return self._format_literal(json.dumps(value, ensure_ascii=False))

    def _format_literal(self, literal: str) -> str:
        return '"' + "".join(LITERAL_ESCAPES.get(character, character) for character in literal) + '"'
