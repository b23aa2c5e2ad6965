"""Find segment starts without a model: nltk's TextTiling (Hearst 1997), adapted to any script."""

from __future__ import annotations

from collections.abc import Sequence

from goalmem_cli.backbones.secom.exchanges import Exchange
from goalmem_cli.errors import libraries_of
from goalmem_cli.logic.normal import FUNCTION_WORDS, stem, words

_WINDOW, _BLOCK = 20, 10  # words in a pseudo-sentence, and pseudo-sentences in a block: nltk's defaults
_LETTERS = "bcdfghjklmnpqrstvwxz"
_BETWEEN = "\n\n"


def tiled_starts(exchanges: Sequence[Exchange]) -> set[int]:
    """Return the positions at which TextTiling begins a new segment; none if there are too few words."""
    with libraries_of("eval", "TextTiling", "set another way to find the starts of segments"):
        from nltk.tokenize.texttiling import TextTilingTokenizer
    if len(exchanges) < 2:
        return set()
    names: dict[str, str] = {}
    paragraphs = [_named(exchange, names) for exchange in exchanges]
    tokenizer = TextTilingTokenizer(w=_WINDOW, k=_BLOCK, stopwords=[])
    try:
        pieces = tokenizer.tokenize(_BETWEEN.join(paragraphs))
    except ValueError:  # too short for it
        return set()
    starts, place = set(), 0
    for piece in pieces[:-1]:
        place += sum(bool(paragraph.strip()) for paragraph in piece.split(_BETWEEN))
        starts.add(place)
    return starts


def _named(exchange: Exchange, names: dict[str, str]) -> str:
    """Return the exchange's content words, each replaced by a code of the Latin letters that nltk's tokenizer knows."""
    found = [stem(word) for turn in exchange.turns for word in words(turn.text) if word not in FUNCTION_WORDS]
    return " ".join(names.setdefault(word, _name(len(names))) for word in found or [""])


def _name(number: int) -> str:
    """Return a number as a word of letters, at least five."""
    letters = ""
    while True:
        number, rest = divmod(number, len(_LETTERS))
        letters += _LETTERS[rest]
        if not number:
            return letters.rjust(5, "a")
