"""Turns the shape of a reply into a GBNF grammar. Imports llama.cpp's converter, so import this only to use it.

The converter is corrected where its grammars would let a reply through that is no JSON: raw line breaks in strings,
numbered escapes that leave half a surrogate pair, enumerated values with quotes in them, empty enumerations.
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
    """Return the GBNF grammar of a shape. JSON is spaced as `json.dumps` does it: ``{"a": 1, "b": []}``.

    Of a schema, types, properties in their order, required, enum, const, pattern, the lengths of strings and lists, and
    anyOf are expressed; what is more (minimum, uniqueItems ...) is left to whoever validates the reply. A list whose
    items have nothing to choose from is empty.

    Raises:
        ModelError: the grammar is empty, or the schema uses what a grammar cannot express.
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
    """An enumeration without values, which no reply can satisfy."""


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
