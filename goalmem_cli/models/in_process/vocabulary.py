"""A model's vocabulary: text to tokens and back, where transcript text never becomes a control token."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from goalmem_cli.models.in_process.template import Piece

CONTROL, USER_DEFINED = 8, 16  # attributes of tokens in llama.cpp
BREAK = "\u200b"


class Vocabulary:
    """The vocabulary of one loaded model; `size` is its number of tokens."""

    def __init__(self, native: Any, pointer: Any) -> None:
        self.pointer = pointer
        self.size: int = native.llama_vocab_n_tokens(pointer)
        self._native = native
        self._bos: int = native.llama_vocab_bos(pointer)
        self._is_end: dict[int, bool] = {}

    @property
    def bos(self) -> str:
        """The text of the start token, or "" if there is none."""
        return self._text_of(self._bos)

    @property
    def eos(self) -> str:
        """The text of the end token, or "" if there is none."""
        return self._text_of(self._native.llama_vocab_eos(self.pointer))

    def is_end(self, token: int) -> bool:
        """Say whether the token ends a reply."""
        if token not in self._is_end:
            self._is_end[token] = bool(self._native.llama_vocab_is_eog(self.pointer, token))
        return self._is_end[token]

    def is_sayable(self, token: int) -> bool:
        """Say whether a reply may contain the token: end tokens may, other control tokens may not."""
        return self.is_end(token) or not self._attributes(token) & CONTROL

    def tokens(self, piece: Piece) -> list[int]:
        """Return the tokens of a piece; content never yields control tokens."""
        data = piece.text.encode("utf-8", "replace")
        room = len(data) + 2
        while True:
            array = (self._native.llama_token * room)()
            count = self._native.llama_tokenize(self.pointer, data, len(data), array, room, False, not piece.is_content)
            if count >= 0:
                return list(array[:count])
            room = -count

    def prompt(self, pieces: Sequence[Piece]) -> tuple[list[int], int]:
        """Return the tokens of a prompt and the number of fixed tokens at its start; no content becomes a marker.

        The fixed tokens are those before the last content, which all prompts of a step share.
        """
        tokenised = [self.tokens(piece) for piece in pieces]
        markers = {
            token
            for piece, tokens in zip(pieces, tokenised, strict=True)
            for token in (() if piece.is_content else tokens)
            if self._attributes(token) & (CONTROL | USER_DEFINED)
        }
        must_start = bool(self._native.llama_vocab_get_add_bos(self.pointer))
        prompt = [self._bos] if must_start and tokenised[0][:1] != [self._bos] else []
        last = max((place for place, piece in enumerate(pieces) if piece.is_content), default=0)
        fixed = 0
        for place, (piece, tokens) in enumerate(zip(pieces, tokenised, strict=True)):
            if place == last:
                fixed = len(prompt)
            posing = {token for token in set(tokens) if token in markers or self.is_end(token)}
            prompt += self.tokens(self._broken(piece, posing)) if piece.is_content and posing else tokens
        return prompt, fixed

    def text(self, tokens: Sequence[int]) -> str:
        """Return the text of the tokens; incomplete characters become replacement characters."""
        array = (self._native.llama_token * len(tokens))(*tokens)
        size = 16 * len(tokens) + 16
        while True:
            buffer = ctypes.create_string_buffer(size)
            length = self._native.llama_detokenize(self.pointer, array, len(tokens), buffer, size, False, True)
            if length >= 0:
                return buffer.raw[:length].decode("utf-8", "replace")
            size = -length

    def _broken(self, piece: Piece, posing: set[int]) -> Piece:
        """Return the content with an invisible break in each text that the model would read as a marker.

        Some models declare their markers as ordinary added tokens, which llama.cpp finds in any text.
        """
        text = piece.text
        for marker in map(self._text_of, sorted(posing)):
            if any(character.isalnum() for character in marker):
                text = text.replace(marker, marker[0] + BREAK + marker[1:])
        return Piece(text, is_content=True)

    def _attributes(self, token: int) -> int:
        return int(self._native.llama_vocab_get_attr(self.pointer, token))

    def _text_of(self, token: int) -> str:
        return "" if token < 0 else self.text([token])
