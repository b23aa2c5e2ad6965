"""Greedy sampling under a grammar, with llama.cpp's grammar engine.

The library's own sampler chain is not used. It passes a rejected grammar on to llama.cpp, which ends the process. It
also tries the grammar on the whole vocabulary, while the likeliest tokens suffice.
"""

from __future__ import annotations

import ctypes
import json
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from llama_cpp.llama_grammar import SchemaConverter
from numpy.typing import NDArray

from goalmem_cli.errors import ModelError
from goalmem_cli.models.in_process.kv_cache import Logits
from goalmem_cli.models.in_process.template import Piece
from goalmem_cli.models.in_process.vocabulary import Vocabulary
from goalmem_cli.models.native_log import standard_error_closed
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
        """Return the rule for a schema; an array without possible items becomes the empty list."""
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


CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
LIKELIEST = 32
KEPT_GRAMMARS = 64
KEPT_ENDINGS = 1024
PROBES = [chr(code) for code in range(32, 127)] + ["\n"]


def compiled(native: Any, vocabulary: Any, text: str) -> Any:
    """Compile a GBNF grammar with llama.cpp; the caller must free it.

    Raises:
        ModelError: llama.cpp rejects it.
    """
    with standard_error_closed():
        grammar = native.llama_sampler_init_grammar(vocabulary, text.encode("utf-8", "replace"), b"root")
    if not grammar:
        raise ModelError("llama.cpp rejects the grammar of the reply", "check the output of the prompt's file")
    return grammar


class Grammars:
    """The grammars of replies, each compiled once and copied per reply; the least recently used are dropped."""

    def __init__(self, native: Any, vocabulary: Vocabulary) -> None:
        self._native = native
        self._vocabulary = vocabulary
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._compiled: OrderedDict[str, Any] = OrderedDict()
        self._endings = _Endings(vocabulary)

    def close(self) -> None:
        """Free all grammars."""
        while self._compiled:
            self._native.llama_sampler_free(self._compiled.popitem()[1])

    def check(self, shape: JsonShape | GrammarShape) -> None:
        """Compile the grammar of a shape, so that an invalid one is found before anything is evaluated.

        Raises:
            ModelError: llama.cpp rejects the shape.
        """
        self._compile(self._text(shape))

    @contextmanager
    def of(self, shape: JsonShape | GrammarShape) -> Iterator[ReplyGrammar]:
        """Yield the grammar of one reply of that shape.

        Raises:
            ModelError: llama.cpp rejects the shape.
        """
        text = self._text(shape)
        copy = self._native.llama_sampler_clone(self._compile(text))
        try:
            yield ReplyGrammar(self._native, self._vocabulary, copy, text, self._endings)
        finally:
            self._native.llama_sampler_free(copy)

    def _text(self, shape: JsonShape | GrammarShape) -> str:
        """Return the grammar of a shape; the latest ones are cached."""
        key = shape.grammar if isinstance(shape, GrammarShape) else json.dumps(shape.schema)
        if key not in self._texts:
            self._texts[key] = grammar_text(shape)
        self._texts.move_to_end(key)
        if len(self._texts) > KEPT_GRAMMARS:
            self._texts.popitem(last=False)
        return self._texts[key]

    def _compile(self, text: str) -> Any:
        """Return the compiled grammar; the latest ones are cached."""
        if text not in self._compiled:
            self._compiled[text] = compiled(self._native, self._vocabulary.pointer, text)
        self._compiled.move_to_end(text)
        if len(self._compiled) > KEPT_GRAMMARS:
            self._native.llama_sampler_free(self._compiled.popitem(last=False)[1])
        return self._compiled[text]


class _Endings:
    """Cache of whether a reply is over, by grammar and tokens so far; `probes` are the one-character tokens."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        found = (vocabulary.tokens(Piece(character, is_content=True)) for character in PROBES)
        self.probes = np.array(sorted({tokens[-1] for tokens in found if tokens}), dtype=np.intp)
        self._known: OrderedDict[tuple[str, tuple[int, ...]], bool] = OrderedDict()

    def is_over(self, key: tuple[str, tuple[int, ...]], look: Callable[[], bool]) -> bool:
        """Return the cached value of the key; call `look` if there is none."""
        if key not in self._known:
            self._known[key] = look()
            if len(self._known) > KEPT_ENDINGS:
                self._known.popitem(last=False)
        return self._known[key]


class ReplyGrammar:
    """The grammar of one reply: which tokens may follow the ones so far."""

    def __init__(self, native: Any, vocabulary: Vocabulary, sampler: Any, text: str, endings: _Endings) -> None:
        self._native = native
        self._vocabulary = vocabulary
        self._sampler = sampler
        self._text = text
        self._endings = endings
        self._said: list[int] = []

    def choose(self, logits: Logits) -> int:
        """Return the most probable token that may come next. The (vocabulary,) logits are modified.

        Raises:
            ModelError: no token may come next.
        """
        likeliest = np.array([logits.argmax()])
        for tokens in (likeliest, None, np.arange(len(logits))):
            tried = _largest(logits, LIKELIEST) if tokens is None else tokens
            while (best := self._best(tried, logits)) is not None:
                if self._vocabulary.is_sayable(best):
                    return best
                logits[best] = -np.inf
        raise ModelError("the reply's schema leaves the model no possible token", "check the prompt's output schema")

    def accept(self, token: int) -> None:
        """Advance past the token, which must be allowed."""
        self._native.llama_sampler_accept(self._sampler, token)
        self._said.append(token)

    def is_over(self) -> bool:
        """Say whether only the end may come next, so that the model need not be evaluated again."""
        if self._admitted(self._endings.probes).size:  # true in most cases, and far quicker than trying every token
            return False
        return self._endings.is_over((self._text, tuple(self._said)), self._has_only_ends)

    def _has_only_ends(self) -> bool:
        admitted = self._admitted(np.arange(self._vocabulary.size)).tolist()
        sayable = [token for token in admitted if self._vocabulary.is_sayable(token)]
        return bool(sayable) and all(map(self._vocabulary.is_end, sayable))

    def _admitted(self, tokens: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return those of the tokens that the grammar allows next."""
        logits = self._applied(tokens, np.zeros(len(tokens), dtype=np.float32))
        return tokens[np.isfinite(logits)]

    def _best(self, tokens: NDArray[np.intp], logits: Logits) -> int | None:
        """Return the most probable of the tokens that the grammar allows next, or None if it allows none."""
        admitted = self._applied(tokens, logits[tokens])
        best = int(admitted.argmax())
        return int(tokens[best]) if np.isfinite(admitted[best]) else None

    def _applied(self, tokens: NDArray[np.intp], logits: Logits) -> Logits:
        """Return the logits of the tokens, with minus infinity for those that the grammar does not allow next."""
        native = self._native
        candidates = np.zeros(len(tokens), dtype=CANDIDATE)
        candidates["id"], candidates["logit"] = tokens, logits
        data = ctypes.cast(candidates.ctypes.data, native.llama_token_data_p)
        array = native.llama_token_data_array(data=data, size=len(tokens), selected=-1, sorted=False)
        native.llama_sampler_apply(self._sampler, ctypes.byref(array))
        return candidates["logit"]


def _largest(logits: Logits, count: int) -> NDArray[np.intp]:
    """Return the indices of the `count` largest logits and their ties, in vocabulary order."""
    least = np.partition(logits, -min(count, len(logits)))[-min(count, len(logits))]
    return np.flatnonzero(~(logits < least))
