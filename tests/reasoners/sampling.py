"""Texts drawn from a GBNF grammar, for a model that writes anything of the right form."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|[()|*+?]|\{\d*,?\d*\}|[a-z]+')
REPEATS = {"?": (0, 1), "*": (0, 3), "+": (1, 3), "": (1, 1)}


@dataclass
class Sampler:
    """Draws texts from the rules of one grammar; a rule made of character classes alone gives one of `texts`."""

    grammar: str
    random: Random
    texts: Sequence[str]

    def __post_init__(self) -> None:
        lines = [line.split(" ::= ", 1) for line in self.grammar.splitlines() if " ::= " in line]
        self.rules = {name.strip(): TOKEN.findall(body) for name, body in lines}

    def draw(self, rule: str = "root") -> str:
        """Return a text of the rule, each alternative as likely as the next."""
        tokens = self.rules[rule]
        if all(token[0] in "[{*+?" for token in tokens):
            return self.random.choice(self.texts)
        text, rest = self._choice(tokens)
        assert not rest
        return text

    def _choice(self, tokens: list[str]) -> tuple[str, list[str]]:
        """Return a text of one of the alternatives, and the tokens after them."""
        texts = []
        while True:
            text, tokens = self._sequence(tokens)
            texts.append(text)
            if not tokens or tokens[0] == ")":
                return self.random.choice(texts), tokens
            tokens = tokens[1:]

    def _sequence(self, tokens: list[str]) -> tuple[str, list[str]]:
        text = ""
        while tokens and tokens[0] not in "|)":
            after = self._after_one(tokens)
            least, most = _repeats(after)
            for _ in range(self.random.randint(least, most)):
                text += self._one(tokens)
            tokens = after[1:] if after and after[0][0] in "{*+?" else after
        return text, tokens

    def _after_one(self, tokens: list[str]) -> list[str]:
        return self._choice(tokens[1:])[1][1:] if tokens[0] == "(" else tokens[1:]

    def _one(self, tokens: list[str]) -> str:
        first = tokens[0]
        if first == "(":
            return self._choice(tokens[1:])[0]
        if first[0] == '"':
            return first[1:-1].replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")
        return self.random.choice(self.texts)[:1] if first[0] == "[" else self.draw(first)


def _repeats(tokens: list[str]) -> tuple[int, int]:
    mark = tokens[0] if tokens else ""
    if mark[:1] != "{":
        return REPEATS.get(mark, (1, 1))
    least, _, most = mark[1:-1].partition(",")
    return int(least or 0), min(int(most or least), 8)
