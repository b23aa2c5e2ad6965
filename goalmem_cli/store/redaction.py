"""Find and black out secrets in texts: keys with known forms, passwords in addresses, and card numbers.

The library detect-secrets is made for source code. It works by lines and entropy, and so has false alarms in every
other chat about code. This module takes only secrets that have a form of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import partial

from goalmem_cli.records import QUOTES, Turn

_API = "api key"
_PRIVATE = (
    r"-----BEGIN (?:[A-Z]{2,9} ){0,2}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:[^-]|-(?!----)){0,9000}-----END (?:[A-Z]{2,9} ){0,2}PRIVATE KEY(?: BLOCK)?-----"
    r"|(?:\s{1,4}[A-Za-z0-9+/=]{16,80})*)"
)
_FORMS: tuple[tuple[str, str, str], ...] = (
    ("private key", "PRIVATE KEY", _PRIVATE),
    ("aws key", "AKIA", r"\bAKIA[0-9A-Z]{16}\b"),
    ("aws key", "ASIA", r"\bASIA[0-9A-Z]{16}\b"),
    ("github token", "_", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})\b"),
    ("gitlab token", "glpat-", r"(?<![\w-])glpat-[\w-]{20,100}"),
    ("slack token", "xox", r"(?<![\w-])xox[abeoprs]-[\w-]{10,300}"),
    ("slack token", "xapp-", r"(?<![\w-])xapp-\d-[\w-]{20,300}"),
    ("slack webhook", "hooks.slack.com/", r"(?<=hooks\.slack\.com/)(?:services|workflows|triggers)/[\w/-]{20,300}"),
    (_API, "sk-", r"(?<![\w-])sk-[\w-]{20,300}"),
    (_API, "sk-or-v1-", r"(?<![\w-])sk-or-v1-[0-9a-f]{64}\b"),
    (_API, "gsk_", r"\bgsk_[A-Za-z0-9]{40,100}\b"),
    (_API, "xai-", r"(?<![\w-])xai-[A-Za-z0-9]{40,200}\b"),
    (_API, "pplx-", r"(?<![\w-])pplx-[A-Za-z0-9]{40,100}\b"),
    (_API, "r8_", r"\br8_[A-Za-z0-9]{37}\b"),
    (_API, "SG.", r"(?<![\w-])SG\.[\w-]{20,24}\.[\w-]{39,50}"),
    (_API, "lin_api_", r"\blin_api_[A-Za-z0-9]{32,64}\b"),
    (_API, "ntn_", r"\bntn_[A-Za-z0-9]{40,60}\b"),
    ("google key", "AIza", r"(?<![\w-])AIza[\w-]{35}"),
    ("google token", "ya29.", r"(?<![\w-])ya29\.[\w-]{20,2000}"),
    ("google secret", "GOCSPX-", r"(?<![\w-])GOCSPX-[\w-]{20,60}"),
    ("azure key", "AccountKey=", r"(?<=AccountKey=)[A-Za-z0-9+/]{40,100}={0,2}"),
    ("stripe key", "k_", r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,}"),
    ("stripe secret", "whsec_", r"\bwhsec_[A-Za-z0-9+/=]{24,100}"),
    ("digitalocean token", "_v1_", r"\bdo[opr]_v1_[0-9a-f]{64}\b"),
    ("shopify token", "shp", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b"),
    ("databricks token", "dapi", r"\bdapi[0-9a-f]{32}(?:-\d)?\b"),
    ("docker token", "dckr_", r"(?<![\w-])dckr_(?:pat|oat)_[\w-]{20,60}"),
    ("figma token", "figd_", r"(?<![\w-])figd_[\w-]{30,60}"),
    ("vault token", "hv", r"(?<![\w.-])hv[bsr]\.[\w-]{24,300}"),
    ("telegram token", ":AA", r"(?<![\w:/])\d{8,10}:AA[\w-]{33}(?![\w-])"),
    ("age key", "AGE-SECRET-KEY-1", r"\bAGE-SECRET-KEY-1[0-9A-Z]{58}\b"),
    ("hugging face token", "hf_", r"\bhf_[A-Za-z0-9]{30,100}\b"),
    ("npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("pypi token", "pypi-", r"(?<![\w-])pypi-AgE[\w-]{50,500}"),
    ("json web token", "eyJ", r"(?<![\w-])eyJ[\w-]{10,2000}\.eyJ[\w-]{10,6000}\.[\w-]{5,2000}"),
    ("password", "://", r"(?<=://)[^\s/:@]{0,200}:(?P<password>[^\s/]{1,200})(?=@)"),
)
"""For each kind of secret: its name, a string that it always contains, and its regular expression."""
_KINDS = tuple((kind, held, re.compile(form)) for kind, held, form in _FORMS)
_CARD = re.compile(
    r"(?<![\d.,/_-])(?:3[47]\d{2}[ -]?\d{6}[ -]?\d{5}|[3-6]\d{3}(?:[ -]?\d{4}){2,3}(?:[ -]?\d{1,4})?)(?![\d.,]{0,20}\d)"
)
_PORT = re.compile(r"\d{1,5}(?:$|@)")
_MIXED = re.compile(r"(?=.*\d)(?=.*[A-Z])|.*[0-9a-f]{32}")
"""A random key has digits and capitals, or 32 hexadecimal digits in a row; words with hyphens have neither."""
_CARD_LENGTHS = range(14, 20)
_CARD_KIND = "card number"
_SAID_BESIDE = frozenset(("quoted", "forwarded_from"))
"""Attributes of a turn that hold written text; others are ids and times."""
_PLACEHOLDERS = frozenset("password pass passwd pwd secret token xxx *** ... <password> {password} $password".split())


def redacted(text: str) -> tuple[str, Counter[str]]:
    """Return the text with each secret replaced, as by ``[redacted: aws key]``, and the counts by kind."""
    found: Counter[str] = Counter()
    for kind, held, form in _KINDS:
        if held in text:
            text = form.sub(partial(_blacked_out, kind, found), text)
    if any(letter.isdigit() for letter in text):
        text = _CARD.sub(partial(_card, found), text)
    return text, found


def redacted_turn(turn: Turn) -> tuple[Turn, Counter[str]]:
    """Return the turn with the secrets in its text and attributes blacked out, and the counts by kind."""
    text, found = redacted(turn.text)
    attributes = dict(turn.attributes)
    if found and QUOTES in attributes:
        attributes[QUOTES] = _quotes_in(turn, text)
    for name in _SAID_BESIDE & attributes.keys():
        if isinstance(value := attributes[name], str):
            attributes[name], more = redacted(value)
            found += more
    return (replace(turn, text=text, attributes=attributes), found) if found else (turn, found)


def _quotes_in(turn: Turn, text: str) -> list[dict[str, object]]:
    """Return the places of the turn's quotes in its redacted text.

    If a secret crosses the border of a quote, the whole text is one quote.
    """
    told, quotes = "", list[dict[str, object]]()
    for stretch, author in turn.stretches:
        start, told = len(told), told + redacted(stretch)[0]
        if author is not None:
            quotes.append({"start": start, "end": len(told), **({"from": redacted(author)[0]} if author else {})})
    return quotes if told == text else [{"start": 0, "end": len(text)}]


def _blacked_out(kind: str, found: Counter[str], match: re.Match[str]) -> str:
    password = match.groupdict().get("password")
    is_no_password = password is not None and (
        password.lower() in _PLACEHOLDERS or password.startswith("[redacted") or bool(_PORT.match(password))
    )
    if is_no_password or (kind == _API and not _MIXED.search(match[0])):
        return match[0]
    found[kind] += 1
    told = f"[redacted: {kind}]"
    return told if password is None else match[0][: -len(password)] + told


def _card(found: Counter[str], match: re.Match[str]) -> str:
    digits = [int(letter) for letter in match[0] if letter.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    if len(digits) not in _CARD_LENGTHS or (sum(digits[-1::-2]) + sum(doubled)) % 10:
        return match[0]
    found[_CARD_KIND] += 1
    return f"[redacted: {_CARD_KIND}]"
