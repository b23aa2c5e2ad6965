"""What a question in the present tense asks for, if it is a thing that has one value at a time.

"Where does Ana live?" asks for her home, "Who is Jo's dentist?" for a dentist, "How much rent does Mina pay?" for an
amount, "Where is the spare key?" for a place. `states` finds what was said about it. English only: a question in
another language asks for nothing here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.normal import content_stems, stem, words

HOME, WORK, OWN, DOING = "home", "work", "own", "doing"
"""The kinds: where one lives; where one works; something of one's own, such as a rent; any other verb."""
PLACE, KEEPER, DOER = "place", "keeper", "doer"
"""Types of values: where a thing is, who has it, who does it ("who looks after the cat?")."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for: its kind, and whose it is.

    `names` are the stems of the names in the question. `kin` is the stem of "sister" in "Ana's sister". `verb` is the
    stem of the verb, "" if any will do, and `about` are the stems that a statement has to name: {rent}, or {best,
    drink} of "like best to drink"; a statement of a change need only name `head`, the class of "pottery class". `type`
    says which values answer: an amount, a time, a colour, a name, a place, or anything.
    """

    kind: str
    names: frozenset[str]
    kin: str = ""
    verb: str = ""
    about: frozenset[str] = frozenset()
    type: str = ""
    head: str = ""

    @property
    def has_one_value(self) -> bool:
        """Say whether it has one value whatever the words: two values cannot both be so."""
        return self.type != DOER and (self.kind != DOING or bool(self.about & _SUPERLATIVES))


AT_HOME, AT_WORK = Asked(HOME, frozenset(), verb="liv"), Asked(WORK, frozenset(), verb="work")
_SUPERLATIVES = frozenset(map(stem, ("best", "most", "least", "favourite", "favorite")))
_PAST = late(
    r"\b(?:did|was|were|had|will|would|could|should|might|may|can|has|have|used to|before|after|when did|first|"
    r"previous\w*|former\w*|original\w*|until|ago|last|next|back then|at the time|tomorrow|yesterday|(?:in|on|during) "
    r"(?:(?:early|mid|late) )?(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"(?:19|20)\d\d))\b",
    re.IGNORECASE,
)
"""Words of a question that asks for another time than now, or for what might be."""
_NOW = r"(?:now|still|currently|presently|nowadays|today|these days|at the moment|at present|actually|usually|even)"
_WHO = (
    r"(?P<who>(?:(?:my|our|your|the) )?[\w’'-]+?(?:['’]s? (?:(?:older|younger|elder|big|little) )?"
    r"(?P<kin>[a-z]\w+))?)"
)
_WH = (
    r"(?:(?:(?:in|at|on|for|to|from|with) )?(?:where|who|whom|how|what|which)"
    r"(?: (?!is\b|are\b|do\b|does\b)[\w’'-]+){0,3})"
)
_DOES = late(
    rf"^(?:{_WH} )?(?:do|does|is|are) {_WHO}(?: {_NOW})* (?:{_NOW} )*(?P<verb>[a-z]+)\b(?P<rest>.*)$", re.IGNORECASE
)
_IN = late(rf"^(?:is|are) {_WHO} (?:{_NOW} )*(?:back )?in (?-i:[A-Z])[\w’' -]+$", re.IGNORECASE)
_TELLS = late(
    rf"^(?-i:(?=[A-Z])){_WHO} (?:{_NOW} )*(?P<verb>(?!is\b|was\b|has\b|does\b)[a-z]+s)\b(?P<rest>.*)$", re.IGNORECASE
)
_PAYS = late(
    r"^(?:how much|what(?!.* (?:get|getting|receive)\b))"
    rf"(?P<thing>(?: (?!do\b|does\b|is\b|are\b)[\w’'-]+){{0,3}}) (?:do|does|is|are) {_WHO} "
    rf"(?:{_NOW} )*(?:pay|paying|charge|spend|get|getting|receive)\b(?: (?:for|in|on))?(?P<rest>.*)$",
    re.IGNORECASE,
)
_COSTS = late(rf"^(?:how much|what) (?:do|does) (?P<thing>.+?) (?:{_NOW} )*costs?\b(?P<rest>.*)$", re.IGNORECASE)
_EARNS = late(
    rf"^how much (?:do|does|is|are) {_WHO} (?:{_NOW} )*(?P<verb>earn|make|earning|making)(?: {_NOW})*$",
    re.IGNORECASE,
)
_PLACES = (
    late(rf"^where(?: is|['’]s| are) (?P<thing>.+?)(?: (?:kept|stored|parked|hidden|hanging|{_NOW}))*$", re.I),
    late(
        rf"^where (?:do|does) (?:I|we|you|they|[A-Z]\w+) (?:{_NOW} )*(?:keep|store|put|park|hide|leave) (?P<thing>.+)$",
        re.IGNORECASE,
    ),
    late(
        rf"^where (?:do|does) (?P<thing>.+?) (?:{_NOW} )*"
        r"(?:meet|rehearse|practi[sc]e|train|take place|happen|hang|go|belong|stand|sit)$",
        re.IGNORECASE,
    ),
    late(
        rf"^(?:which|what) (?:room|hall|building|block|floor|drawer|box|shelf) (?:is|are) (?P<thing>.+?)(?: {_NOW})* "
        rf"(?:in|on|at)(?: {_NOW})*$",
        re.IGNORECASE,
    ),
)
_KEPT_BY = late(
    rf"^(?:who(?: {_NOW})*(?: has(?: got)?|['’]s got| holds| keeps)|(?:do|does) {_WHO} still have)(?: {_NOW})* "
    r"(?P<thing>(?:the|our|my) (?!(?:new|same|latest|best|most) ).+)$",
    re.IGNORECASE,
)
_NOT_KEPT = frozenset(map(stem, "flu cold virus measles covid cough fever time energy idea right chance day".split()))
"""What several people may have."""
_DOES_IT = late(
    rf"^who(?: {_NOW})* (?:(?:is|['’]s) (?P<doing>[a-z]+ing)|(?P<does>[a-z]+s))(?: {_NOW})* "
    r"(?P<thing>(?:[a-z]+ )?(?:the|our|my) .+)$",
    re.IGNORECASE,
)
_NOT_PAST = late(
    rf"^who(?: {_NOW})* (?:has|looks after|is looking after)\b|^(?:do|does) (?:\w+ ){{1,3}}still have\b", re.IGNORECASE
)
"""Beginnings of questions about the present, though they have a word of another time."""
_USES = late(
    rf"^(?:which|what) (?P<thing>[a-z]+) (?:do|does) {_WHO} (?:{_NOW} )*(?:go to|see|use|visit)(?: {_NOW})*$", re.I
)
PERSONS = (
    "son daughter sister brother mother mum mom father dad wife husband partner boyfriend girlfriend friend cousin "
    "aunt uncle neighbour neighbor boss colleague flatmate roommate parent kid child children"
).split()
PERSON = f"(?:{'|'.join(PERSONS)})"
"""Words for somebody by what they are to another."""
_IS = late(
    r"^(?P<ask>(?:(?:on|at|in) )?(?:who|what|which|when|how much|how high|how big)(?: (?!is\b|are\b)[\w’'-]+){0,2}?)"
    r"(?: is|['’]s|(?<=how much) are|(?<=how high) are) (?P<thing>.+)$",
    re.IGNORECASE,
)
_HIS = late(r"^(?:the )?(?P<thing>[a-z][\w’' -]*?) of (?:the )?(?P<who>[A-Z][\w]+)$")
_OF_HIS = late(r"^(?:the )?(?P<thing>\w+) (?:of|for|to) (?P<who>[A-Z]\w+)['’]s (?P<of>[a-z]\w*)$")
_SOMEBODYS = late(rf"{PERSON}s?['’]", re.IGNORECASE)
_BARE = late(r"^[a-z]\w+(?: [a-z]\w+)?$")
_OTHER_HALF = late(r" (?:for|of|to) ")
_OF = late(r"^(?P<who>(?:my |our )?[\w-]+)['’]s? (?P<thing>.+)$|^(?:my|our|the) (?P<own>.+)$", re.IGNORECASE)
_AMOUNT = late(r"\bhow (?:much|high|big)\b|\b(?:price|fee|rent|cost|salary|wage|amount|sum)\b", re.IGNORECASE)
_MEETS = late(
    rf"^(?:(?:on|at|in) )?(?:when|(?:which|what) (?:week ?day|day|day of the week|time|time of day|hour|month)) "
    rf"(?:do|does) (?P<thing>.+?) (?:{_NOW} )*"
    rf"(?P<verb>meet|start|begin|happen|open|close|run|rehearse|practi[sc]e|take place|get together|end|finish|go out|"
    rf"leave|arrive|come|go)(?: {_NOW})*$",
    re.IGNORECASE,
)
_OF_MANY = late(r"^(?:open|close|end|finish|go|leave|arrive|come)")
"""Verbs that a statement of the time has to have: a shop that opens closes too."""
_LEAD = late(rf"^(?:{_NOW}|(?:so|and|please|remind me|tell me)),? ", re.IGNORECASE)
_WHEN = late(r"\b(?:when|day|weekday|time|month)\b", re.IGNORECASE)
_COLOUR = late(r"\bcolou?r\b", re.IGNORECASE)
_NO_THING = frozenset(
    "be do have say think know mean feel get seem happen look come remember mention plan want".split()
)
"""Verbs whose object may be anything."""
_TASKS = frozenset(map(stem, (
    "look take run coach lead manage own walk feed water clean chair host organise organize edit teach drive pay mind "
    "conduct mow captain cook bake keep train"
).split()))  # fmt: skip
"""What mostly one person at a time does, as "looks after the cat" and "runs the club"."""
_HOMES = frozenset(map(stem, ("live", "reside", "living")))
_WORKS = frozenset(map(stem, ("work", "employ")))
_EMPTY = frozenset(map(stem, (
    "now still currently presently nowadays today these days day moment present actually even usually in at on for to "
    "from with his her their my our your called named exactly right who what which where how much many"
).split()))  # fmt: skip
_COLOURED = frozenset(("colour", "color"))
_SETTLED = late(r"\b(?:based|employed|living|working|residing|paying)\b", re.IGNORECASE)


def asked_in(question: str) -> Asked | None:
    """Return what a question, or a statement to be proved ("Ana lives in city"), asks for; None if it is not so.

    It is None for a question about another time than now, and for one that does not name whose it is in a way that is
    understood here.
    """
    asker = re.search(r"\(([^()]+)\)\s*$", question)
    text = re.sub(r"\([^()]*\)\s*$", "", " ".join(question.split())).strip(" ?.!")
    text = _LEAD.sub("", text)
    if _PAST.search(_NOT_PAST.sub("", text)) or len(text) > 200:
        return None
    found = _price(text) or _placed(text) or _met(text) or _used(text) or _done(text) or _verb(text) or _own(text)
    if found is not None and asker is not None and not found.names and found.type not in (KEEPER, DOER):
        return replace(found, names=_stems(asker[1]))
    return found


def _price(text: str) -> Asked | None:
    if found := _PAYS.match(text):
        thing = f"{found['thing']} {found['rest']}"
        about = content_stems(thing) - _EMPTY - {"price"}
        head = next((stem(word) for word in reversed(words(thing)) if stem(word) in about), "")
        return Asked(OWN, _names(found["who"]), _kin(found), about=about, type="amount", head=head) if about else None
    if found := _COSTS.match(text):
        return _thing(found["thing"], "amount")
    if found := _EARNS.match(text):
        verb = stem(found["verb"].lower())
        return Asked(OWN, _names(found["who"]), _kin(found), about=frozenset((verb,)), type="amount", head=verb)
    return None


def _placed(text: str) -> Asked | None:
    for pattern in _PLACES:
        if (found := pattern.match(text)) and (asked := _thing(found["thing"], PLACE)) is not None:
            return None if asked.head in map(stem, PERSONS) else asked
    found = _KEPT_BY.match(text)
    kept = _thing(found["thing"], KEEPER) if found is not None else None
    return None if kept is None or kept.head in _NOT_KEPT else kept


def _done(text: str) -> Asked | None:
    """Return what "Who looks after the cat?" asks for: who does it."""
    found = _DOES_IT.match(text)
    verb = "" if found is None else stem((found["does"] or found["doing"]).lower())
    if found is None or verb not in _TASKS:
        return None
    asked = _thing(re.sub(r"^[a-z]+ (?=(?:the|our|my) )", "", found["thing"], flags=re.IGNORECASE), DOER)
    return None if asked is None else replace(asked, verb=verb)


def _met(text: str) -> Asked | None:
    found = _MEETS.match(text)
    asked = _thing(found["thing"], "time", is_bare=True) if found else None
    if found is None or asked is None or not _OF_MANY.match(found["verb"].lower()):
        return asked
    return replace(asked, verb=stem(found["verb"].lower().split()[0]))


def _used(text: str) -> Asked | None:
    """Return what "Which dentist does Ana go to?" asks for: Ana's dentist."""
    found = _USES.match(text)
    if found is None or _kin(found):
        return None
    head = stem(found["thing"].lower())
    return Asked(OWN, _names(found["who"]), about=frozenset((head,)), type="name", head=head)


def _verb(text: str) -> Asked | None:
    if found := _IN.match(text):
        return replace(AT_HOME, names=_names(found["who"]), kin=_kin(found))
    found = _DOES.match(text) or _TELLS.match(text)
    if found is None:
        return None
    verb = found["verb"].lower()
    is_doing = not re.match(rf"^(?:{_WH} )?(?:is|are)\b", text, re.IGNORECASE)
    if not is_doing and not (verb.endswith("ing") or _SETTLED.fullmatch(verb)):
        return None
    names, kin = _names(found["who"]), _kin(found)
    root = stem(verb)
    if root in _HOMES or verb == "based":
        return replace(AT_HOME, names=names, kin=kin)
    if root in _WORKS:
        return replace(AT_WORK, names=names, kin=kin)
    if root in _NO_THING or not names | ({kin} - {""}):
        return None
    is_open = bool(re.match(rf"^{_WH} ", text, re.IGNORECASE))
    about = frozenset(each for each in content_stems(found["rest"]) - _EMPTY) if is_open else frozenset[str]()
    return Asked(DOING, names, kin, root, about)


def _own(text: str) -> Asked | None:
    found = _IS.match(text)
    if found is None:
        return None
    ask = found["ask"]
    if re.match(r"(?:what|which) colou?r\b", ask, re.IGNORECASE):
        type_ = "colour"
    elif _WHEN.search(ask):
        type_ = "time"
    elif _AMOUNT.search(text):
        type_ = "amount"
    elif re.match(r"who\b", ask, re.IGNORECASE):
        type_ = "name"
    elif ask.lower() == "what":
        type_ = "colour" if _COLOUR.search(found["thing"]) else ""
    else:
        return None
    return _thing(found["thing"], type_, is_bare=type_ == "time")


def _thing(text: str, type_: str, *, is_bare: bool = False) -> Asked | None:
    """Return what is asked for of "Jo's dentist", "my dentist" or "the password"; None if it is no such thing.

    With `is_bare` it may be "choir", too.
    """
    text = re.sub(rf"(?:^| )(?:{_NOW}|called|named|paying|on|at|held)$", "", re.sub(rf" {_NOW}$", "", text.strip()))
    text, named = re.subn(r"^(?:the )?name of (?=.+ )", "", text)
    type_ = "name" if named and not type_ else type_
    text = _OF_HIS.sub(r"\g<who>'s \g<of> \g<thing>", text)
    found = _HIS.match(text) or _OF.match(text)
    if found is None and not (is_bare and _BARE.match(text)):
        return None
    of = found.groupdict() if found is not None else {"own": text}
    thing = of.get("own") or of["thing"] or ""
    if text.lower().startswith("the ") and not _SOMEBODYS.match(thing):
        thing = re.sub("['’]s ", " ", thing, count=1)  # "the router's password"
    if re.search(r"['’]|\b(?:who|that|which|where)\b", thing):  # "Ana's sister's dentist", "the man who ..."
        return None
    thing = re.sub(r"\b(email|mobile|cell) (?:address|number)\b", r"\1", thing, flags=re.IGNORECASE)
    *_, last = words(_OTHER_HALF.split(thing)[0]) or [""]
    about = frozenset(stem(word) for word in words(thing)) - _EMPTY - {"the", "a", "an", "of", "new"} - _COLOURED
    most, who = 3, _names(of.get("who") or "")
    return Asked(OWN, who, about=about, type=type_, head=stem(last)) if 0 < len(about) <= most else None


def _kin(found: re.Match[str]) -> str:
    if found["kin"]:
        return stem(found["kin"].lower())
    mine = re.match(r"(?:my|our) (\w+)$", found["who"], re.IGNORECASE)
    return stem(mine[1].lower()) if mine else ""


def _names(who: str) -> frozenset[str]:
    """Return the stems of the capitalised words; none for "I" and "my sister"."""
    return _stems(" ".join(re.findall(r"\b[A-Z][\w-]+", who)))


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word.removesuffix("'s")) for word in words(text))
