"""Find and black out secrets in texts: keys with known forms, passwords in addresses, card numbers and IBANs.

The library detect-secrets is made for source code. It works by lines and entropy, and so has false alarms in every
other chat about code. This module takes only secrets that have a form of their own.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from goalmem_cli.languages.patterns import late
from goalmem_cli.records import FORWARDED_FROM, QUOTED, QUOTES, Turn

_API, _DISCORD = "api key", "discord token"
_PRIVATE = (
    r"-----BEGIN (?:[A-Z]{2,9} ){0,2}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:[^-]|-(?!----)){0,9000}-----END (?:[A-Z]{2,9} ){0,2}PRIVATE KEY(?: BLOCK)?-----"
    r"|(?:\s{1,4}[A-Za-z0-9+/=]{16,80})*)"
)
_BEHIND_NAME = r"[\"']?\s{0,3}[=:]\s{0,3}[\"']?(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
_PUTTY = (
    r"PuTTY-User-Key-File-[23]: ?[^\r\n]{1,100}(?:\r?\n(?!Private-Lines:|PuTTY-)[^\r\n]{0,200}){0,99}"
    r"\r?\nPrivate-Lines: ?\d{1,4}(?:\r?\n(?!Private-)[A-Za-z0-9+/=]{1,80})*"
    r"(?:\r?\nPrivate-(?:MAC|Hash): ?[0-9a-f]{40,64})?"
)
_FORMS: tuple[tuple[str, str | re.Pattern[str], str], ...] = (
    ("private key", "PRIVATE KEY", _PRIVATE),
    ("private key", "PuTTY-User-Key-File", _PUTTY),
    ("aws key", "AKIA", r"\bAKIA[0-9A-Z]{16}\b"),
    ("aws key", "ASIA", r"\bASIA[0-9A-Z]{16}\b"),
    (
        "aws key",
        "secret_access_key",
        rf"aws_secret_access_key{_BEHIND_NAME}",
    ),
    (
        "aws key",
        "SECRET_ACCESS_KEY",
        rf"AWS_SECRET_ACCESS_KEY{_BEHIND_NAME}",
    ),
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
    ("twilio key", "SK", r"\bSK[0-9a-f]{32}\b"),
    ("mailgun key", "key-", r"(?<![\w-])key-[0-9a-f]{32}(?![\w-])"),
    (
        "mailgun key",
        late(r"-[0-9a-f]{8}-[0-9a-f]{8}"),
        r"(?<![\w-])[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])",
    ),
    ("mailchimp key", "-us", r"(?<![\w-])[0-9a-f]{32}-us\d{1,2}(?![\w-])"),
    ("discord webhook", "/api/webhooks/", r"(?<=/api/webhooks/)\d{17,20}/[\w-]{60,80}"),
    (_DISCORD, late(r"\.[\w-]{6}\.[\w-]{27}"), r"(?<![\w.-])[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])"),
    ("atlassian token", "ATATT3", r"(?<![\w-])ATATT3[\w=-]{100,300}"),
    ("grafana token", "gl", r"(?<![\w-])(?:glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|glc_[A-Za-z0-9+/=]{40,400})"),
    ("new relic key", "NRAK-", r"(?<![\w-])NRAK-[A-Z0-9]{27}\b"),
    ("heroku key", "HRKU-", r"(?<![\w-])HRKU-[\w-]{36,80}"),
    ("postman key", "PMAK-", r"(?<![\w-])PMAK-[0-9a-f]{24}-[0-9a-f]{34}\b"),
    ("sentry token", "sntry", r"\bsntry[su]_[\w+/=-]{40,400}"),
    ("supabase key", "sbp_", r"\bsbp_[0-9a-f]{40}\b"),
    ("airtable token", "pat", r"\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}\b"),
    ("square token", "sq0", r"(?<![\w-])sq0(?:atp|csp)-[\w-]{22,43}(?![\w-])"),
    ("rubygems token", "rubygems_", r"\brubygems_[0-9a-f]{48}\b"),
    ("google token", "1//0", r"(?<![\w/])1//0[\w-]{40,200}"),
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
"""For each kind of secret: its name, what it always contains (found quickly), and its regular expression."""
_KINDS = tuple((kind, held, late(form)) for kind, held, form in _FORMS)
_CARD = late(
    r"(?<![\d.,/_-])(?:3[47]\d{2}[ -]?\d{6}[ -]?\d{5}|[3-6]\d{3}(?:[ -]?\d{4}){2,3}(?:[ -]?\d{1,4})?)(?![\d.,]{0,20}\d)"
)
_PORT = late(r"\d{1,5}(?:$|@)")
_MIXED = late(r"(?=.*\d)(?=.*[A-Z])|.*[0-9a-f]{32}")
"""A random key has digits and capitals, or 32 hexadecimal digits in a row; words with hyphens have neither."""
_IBAN = late(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?=[ -]?[A-Z0-9])")
_IBAN_KIND = "iban"
_IBAN_LENGTHS = {
    country: length
    for length, countries in {
        15: "NO", 16: "BE", 18: "DK FI FO GL NL", 19: "MK SI", 20: "AT BA EE KZ LT LU XK", 21: "CH HR LI LV",
        22: "BG BH DE GB GE IE ME RS VA", 23: "AE GI IL", 24: "AD CZ ES MD PK RO SA SE SK TN", 25: "PT", 26: "IS TR",
        27: "FR GR IT MC SM", 28: "AL AZ CY HU LB PL", 29: "BR EG QA UA", 30: "JO KW MU", 31: "MT",
    }.items()
    for country in countries.split()
}  # fmt: skip
_CARD_LENGTHS = range(14, 20)
_CARD_KIND = "card number"
_SAID_BESIDE = frozenset((QUOTED, FORWARDED_FROM))
"""Attributes of a turn that hold written text; others are ids and times."""
_PLACEHOLDERS = frozenset("password pass passwd pwd secret token xxx *** ... <password> {password} $password".split())


def kinds_in_words(found: Mapping[str, int]) -> str:
    """Return the counts of secrets by kind as people read them: ``2 aws keys, 1 card number``."""
    return ", ".join(f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in sorted(found.items()))


def redacted(text: str) -> tuple[str, Counter[str]]:
    """Return the text with each secret replaced by its kind (``[redacted: aws key]``), and the counts by kind."""
    found: Counter[str] = Counter()
    for kind, held, form in _KINDS:
        if held in text if isinstance(held, str) else held.search(text):
            text = form.sub(partial(_blacked_out, kind, found), text)
    if any(letter.isdigit() for letter in text):
        text = _without_ibans(text, found)
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
    """Return the replacement of a match, and count it; a match that is no secret stays."""
    if match.groupdict().get("secret"):
        found[kind] += 1
        return f"{match[0][: -len(match['secret'])]}[redacted: {kind}]"
    password = match.groupdict().get("password")
    is_no_password = password is not None and (
        password.lower() in _PLACEHOLDERS or password.startswith("[redacted") or bool(_PORT.match(password))
    )
    is_none = (kind == _API and not _MIXED.search(match[0])) or (kind == _DISCORD and not _is_of_bot(match[0]))
    if is_no_password or is_none:
        return match[0]
    found[kind] += 1
    told = f"[redacted: {kind}]"
    return told if password is None else match[0][: -len(password)] + told


def _is_of_bot(token: str) -> bool:
    """Say whether the token begins with the number of an account, as those of Discord's bots do."""
    head = token.partition(".")[0]
    try:
        return urlsafe_b64decode(f"{head}{'=' * (-len(head) % 4)}").isdigit()
    except ValueError:
        return False


def _without_ibans(text: str, found: Counter[str]) -> str:
    """Return the text without its IBANs; each has the length of its country, and right check digits."""
    pieces, end = list[str](), 0
    for match in _IBAN.finditer(text):
        stop = _end_of_iban(text, match.start()) if match.start() >= end else None
        if stop is not None:
            pieces += [text[end : match.start()], f"[redacted: {_IBAN_KIND}]"]
            end, found[_IBAN_KIND] = stop, found[_IBAN_KIND] + 1
    return "".join((*pieces, text[end:]))


def _end_of_iban(text: str, start: int) -> int | None:
    """Return the end of the IBAN that begins at `start`, with blanks or hyphens; None if there is none."""
    length, letters, at = _IBAN_LENGTHS.get(text[start : start + 2], 0), "", start
    while at < len(text) and len(letters) < length and at < start + 2 * length:
        if text[at].isascii() and text[at].isalnum():
            letters += text[at]
        elif text[at] not in " -" or text[at - 1] in " -":
            break
        at += 1
    is_whole = length and len(letters) == length and not text[at : at + 1].isalnum()
    if not is_whole or not letters.isupper():
        return None
    turned = "".join(str(int(letter, 36)) for letter in letters[4:] + letters[:4])
    return at if int(turned) % 97 == 1 else None


def _card(found: Counter[str], match: re.Match[str]) -> str:
    """Return the replacement of a card number with right check digit, and count it; other digits stay."""
    digits = [int(letter) for letter in match[0] if letter.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    if len(digits) not in _CARD_LENGTHS or (sum(digits[-1::-2]) + sum(doubled)) % 10:
        return match[0]
    found[_CARD_KIND] += 1
    return f"[redacted: {_CARD_KIND}]"
