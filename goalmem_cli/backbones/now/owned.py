"""Statements of something of one's own: "My dentist is Dr Walsh", "the rent is 640", "the kitchen is green now"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import dropwhile, takewhile

from goalmem_cli.backbones.changes import times_named
from goalmem_cli.backbones.now.asked import DOER, KEEPER, PERSON, PERSONS, PLACE, Asked
from goalmem_cli.backbones.now.persons import ONLY_DOES, doer_in, is_given_back, is_handed_on
from goalmem_cli.backbones.now.places import NAMED_BEFORE, place_in
from goalmem_cli.backbones.now.state import AT_FIRST, LATE, NOT_YET, NOW, ONCE, WAS, State
from goalmem_cli.languages.patterns import late
from goalmem_cli.logic.normal import FUNCTION_WORDS, content_stems, numbers, stem, words

_CHANGED = late(
    r"\b(?:now|new|changed|reset|set|moved|put|switched|shifted|swapped|updated|renamed|lent|gave|postponed|delayed|"
    r"rescheduled|slipped|pushed|brought forward)\b",
    re.IGNORECASE,
)
_WAS_CHANGED = late(
    r"\b(?:was|were) (?=(?:re)?set|changed|moved|switched|updated|put|postponed|delayed|rescheduled|pushed|"
    r"brought forward|given|handed|lent|passed|returned)",
    re.IGNORECASE,
)
_BEFORE = FUNCTION_WORDS | frozenset(
    "i we they new current total monthly favourite favorite best old another change changed switch switched move moved "
    "reset set put got get pay paid need give gave euro euros pound pounds dollar dollars bucks francs".split()
)
"""What may stand before "alarm code" where that is asked for; "gate" before "code" and "guest" may not."""
_COLOURS = frozenset(
    "red orange yellow green blue purple violet pink brown black white grey gray beige cream turquoise teal navy gold "
    "golden silver maroon lilac crimson olive mint".split()
)
_OTHERS = late(
    r"\b(?:he|she|they(?! (?:have |['’]ve )?(?:put|raised|lowered|changed|cut|set|reset|moved|gave|"
    r"postponed|delayed|rescheduled|pushed)\b)|his|her|their|your|you)\b"
    rf"|\b(?:my|our) \w+['’]s\b|\b(?:my|our) (?:\w+ )?{PERSON}s?\b",
    re.IGNORECASE,
)
_NAMED = late(
    r"\b(?!(?:It|That|What|There|Here|Who|He|She|Let|This|Rent|Every\w+)\b)([A-Z]\w+)"
    r"(?:['’]s (?=[a-z])(?!got\b)|(?= has (?:got )?a new\b| (?:(?:now|only) )?(?:pays|gets|receives|earns|spends)\b))"
    r"|\b\w+s['’] (?=[a-z])"
)
_SOMEBODY = late(rf"\b(?:my|our) (?:\w+ )?{PERSON}\b(?!['’])|\bwith (?:him|her|them)\b", re.IGNORECASE)
"""A person who has the thing or does it, and whose it need not be."""
_BESIDE = late(r"\b(?:also|another|(?<!moved )(?<!changed )(?:too|as well))\b", re.IGNORECASE)
"""What holds beside another value; but "the shed key moved too" only says that other things did as well."""
_ELSEWHERE = late(r"^(?:at|in) (?:the |my |our )?[A-Za-z]+,? (?=(?:the|my|our)\b)", re.IGNORECASE)


def owned(sentence: str, asked: Asked, before: str = "") -> Iterator[State]:
    """Yield what a sentence states of the thing; `before` is the sentence before it, or what it replies to."""
    sentence = _in_full(sentence, asked)
    if not _names(sentence, asked):
        sentence = _carried(sentence, before, asked)
    if not sentence or (asked.type in ("time", DOER) and ONCE.search(sentence)):
        return
    begins = AT_FIRST.search(sentence)
    told = _WAS_CHANGED.sub("", AT_FIRST.sub("", sentence) if begins else sentence)
    clauses = [each for each in re.split("[,;]", told) if asked.head in map(stem, words(each))]
    about = told if asked.type == "amount" else ",".join(clauses)
    if asked.type in (KEEPER, DOER):
        about = _SOMEBODY.sub("", about)
    holder = _holder(told, asked)
    if holder is None or _is_other(told, about, asked) or NOT_YET.search(told) or any(map(WAS.search, clauses)):
        return
    if value := _READERS[asked.type](told, asked):
        replaces = not LATE.search(told) and not _BESIDE.search(told)
        is_shared = asked.type != "amount" and not _is_mine(about, asked)
        is_kept = asked.type == KEEPER
        yield State(
            holder, value, is_end=is_kept and is_given_back(told, asked), is_only=_is_only(told, about, asked),
            replaces=replaces, is_shared=is_shared, begins=begins["when"].lower() if begins else "",
        )  # fmt: skip


def _is_only(told: str, about: str, asked: Asked) -> bool:
    """Say whether the words, of a task those `about` it, tell that there is no other value now."""
    if asked.type == DOER:
        return bool(ONLY_DOES.search(about))
    is_handed = asked.type == KEEPER and is_handed_on(told, asked)
    return is_handed or bool(NOW.search(told) or _CHANGED.search(told))


def _in_full(sentence: str, asked: Asked) -> str:
    """Return the sentence with the thing named for "mine", for "my number" and for "my dog's name"."""
    sentence = re.sub(r"\bmine(?= is\b|['’]s\b)", f"my {asked.head}", sentence, flags=re.IGNORECASE)
    if asked.type == "name":
        sentence = _NAME_IS.sub(" is", sentence)
    return _MY_NUMBER.sub(r"\g<0>phone ", sentence) if asked.about == _PHONE else sentence


def _is_mine(about: str, asked: Asked) -> bool:
    """Say whether "my" belongs to the thing: in "my alarm code" it does, in "the key is in my coat" not."""
    told = words(about)
    heads = [at for at, word in enumerate(told) if stem(word) == asked.head]
    return any("my" in told[max(0, at - len(asked.about) - 1) : at] for at in heads)


def names_thing(text: str, asked: Asked) -> bool:
    """Say whether a text, such as a question, names the thing that is asked for, and nobody else's."""
    return asked.about | ({asked.verb} - {""}) <= frozenset(map(stem, words(text))) and not _NAMED.search(text)


def _names(sentence: str, asked: Asked) -> bool:
    """Say whether it names the thing, or tells of a change of its class; "the gate code" is no alarm code."""
    told = words(sentence)
    found = list(map(stem, told))
    is_all = asked.about <= set(found)
    if asked.verb not in ("", *found) or not (is_all or _CHANGED.search(sentence)):
        return False
    heads = [at for at, stemmed in enumerate(found) if stemmed == asked.head and _is_whole(told[:at], asked)]
    heads = [at for at in heads if told[at] != "due"]  # "the rent is due" tells of no dues
    if not is_all and any(told[at + 1 : at + 2] in (["for"], ["of"]) for at in heads):  # "the code for the laundry"
        return False
    is_of_part = asked.type in ("time", "colour", "amount") or asked.about == _PHONE
    return any(not is_of_part or not _is_part(told[at + 1 :], asked.verb) for at in heads)


def _is_whole(before: list[str], asked: Asked) -> bool:
    """Say whether no further word before the thing's name makes it another thing."""
    before = list(dropwhile(lambda word: stem(word) in asked.about, reversed(before)))
    is_sum = asked.type == "amount" and before != [] and before[0].isdigit()
    return not before or before[0] in _BEFORE or is_sum or stem(before[0]) in asked.names


def _is_part(after: list[str], verb: str) -> bool:
    """Say whether the words after the thing's name make it another thing: the choir concert is no choir."""
    if len(after) < 2 or (after[1] not in _LINKS and stem(after[1]) != verb):
        return False
    if after[0] in FUNCTION_WORDS or _is_adverb(after[0]):
        return False
    return stem(after[0]) not in _SAME and not _CHANGED.fullmatch(after[0])


def _is_adverb(word: str) -> bool:
    return word in _OFTEN or (word.endswith("ly") and word not in _NO_ADVERBS)


_LINKS = frozenset("is are was were on in to go goes cost costs".split())
_OFTEN = frozenset("always already often sometimes still then here also just".split())
_NO_ADVERBS = frozenset("assembly family rally supply reply".split())
_SAME = frozenset(map(stem, (
    "start begin meet take happen end finish run fall go come leave arrive open close play resume practice class "
    "lesson session rehearsal training time day meeting night evening hour move change switch shift price fee cost "
    "charge rate bill rent payment membership subscription ticket visit total amount sum due"
).split()))  # fmt: skip
"""Words after the name of a thing that make no other thing of it: verbs, and what it may be called as well."""
_LEAD = late(r"\W*(?:(?:and|so|but|now|oh|well|ok|okay|yes),? )*", re.IGNORECASE)
_IT = late(r"\b(?:it|they|that)(?=['’](?:s|re)\b| (?:is|are)\b)|\bthe new one(?= is\b|['’]s\b)", re.IGNORECASE)
_CHANGED_IT = late(
    r"\b(changed|moved|reset|set|put|switched|postponed|delayed|rescheduled|pushed) (it|them)\b", re.IGNORECASE
)
_HANDED_IT = late(r"\b(moved|put|gave|lent|handed|passed|returned) (it|them)\b", re.IGNORECASE)
_IT_IS = late(
    r"\b(?:it|they|that|the new one)(?:['’](?:s|re)| is| are) (?:now )?(?P<v>[^,;!?]+?)(?: now)?[.!]?(?:[,;]|$)",
    re.IGNORECASE,
)
_SHORT_REPLY = 8
_PHONE = frozenset(map(stem, ("phone", "number")))
_MY_NUMBER = late(r"\bmy (?:new )?(?=number(?:['’]s\b|:| (?:is|was|has|changed)\b))", re.IGNORECASE)
_NAME_IS = late(r"['’]s name(?: is\b|['’]s\b)", re.IGNORECASE)
_BESIDE_IT = late(
    r"\b(?:for|on|at|of|with|about|before|after) (?:the|an?|my|our|his|her|their|this) (?:\w+['’]s? )?(?P<thing>\w+)",
    re.IGNORECASE,
)
"""Another thing that the next sentence's "it" may be: "I need the charger for the trip. It's in Rome"."""
_THEY = late(r"\bthey\b", re.IGNORECASE)
_NO_THINGS = frozenset(map(stem, "start end day week month year time".split()))
_NOBODY = _NO_THINGS | frozenset(map(stem, PERSONS))
"""What "it" does not mean after it was named; "they" may be persons."""
_SUM = late(
    r"(?:about )?[€£$]? ?\d[\d.,]*"
    r"(?: ?(?:[€£$]|euros?|pounds?|dollars?|bucks|francs?|kr|(?:a|per) (?:week|month|year)))*",
    re.IGNORECASE,
)
_CODE = late(r"\S*\d\S*(?: \S*\d\S*)*|\w+[-_]\w\S*")
_NUMBERED = frozenset(map(stem, "code number pin plate combination phone mobile email address".split()))
"""What is no plain word: the alarm code may be annoying."""


def _carried(sentence: str, before: str, asked: Asked) -> str:
    """Return a sentence that leans on the one before with the thing in place of "it", or of a question; "" if none."""
    is_asked = before.rstrip().endswith("?")
    if not before or not names_thing(before, asked) or (is_asked and not _asks(before, asked)):
        return ""
    others = {stem(found["thing"].lower()) for found in _BESIDE_IT.finditer(before)} - asked.about
    others -= _NO_THINGS if _THEY.search(sentence) else _NOBODY
    if others and not is_asked and asked.type != "" and not NOW.search(sentence):
        return ""
    thing = " ".join(("the", *sorted(asked.about - {asked.head}), asked.head))
    it_is = _IT_IS.search(sentence)
    if it_is is not None and (it_is[0].lower().startswith("that") or not _LEAD.fullmatch(sentence[: it_is.start()])):
        it_is = None  # of something that the sentence itself names
    changed_it = _HANDED_IT if asked.type in (PLACE, KEEPER) else _CHANGED_IT
    if changed_it.search(sentence) or (it_is is not None and _could_be(it_is["v"], asked)):
        return _IT.sub(thing, changed_it.sub(rf"\1 {thing}", sentence, count=1), count=1)
    is_reply = is_asked and len(sentence.split()) <= _SHORT_REPLY
    bare = re.sub(r"^(?:(?:it['’]s|yes|oh|well|so|now|hi|ok|okay),? )+", "", sentence, flags=re.IGNORECASE)
    return f"{thing} is {bare}" if is_reply and _could_be(bare, asked) else ""


_ASKING = late(
    r"\b(?:how (?:much|many|often|long|high|big)|when|what time|(?:what|which) (?:day|weekday)|where|who|why|how)\b",
    re.IGNORECASE,
)
_ASKED_FOR = {
    "amount": ("how much", "how high", "how big"), PLACE: ("where", "who"), KEEPER: ("where", "who"), "name": ("who",),
    "time": ("when", "what time", "what day", "which day", "which weekday"),
}  # fmt: skip
"""What a question for a value of a type asks with; one without an asking word ("Alarm code?") asks for it too."""


def _asks(before: str, asked: Asked) -> bool:
    """Say whether the last question of a text asks for the thing, not only of it ("When did you set the code?")."""
    last = re.split(r"(?<=[.!?])\s+", before.strip())[-1]
    found = [each[0].lower() for each in _ASKING.finditer(last)]
    is_of_past = re.search(r"\b(?:did|was|were|last)\b", last, re.IGNORECASE) and asked.type not in (PLACE, KEEPER)
    return names_thing(last, asked) and not is_of_past and all(each in _ASKED_FOR.get(asked.type, ()) for each in found)


def _could_be(reply: str, asked: Asked) -> bool:
    """Say whether a bare reply has the look of a value: a number, a code, a name with a title, a time, a place."""
    text = reply.strip(" .!")
    if asked.type == "":
        return bool(_CODE.fullmatch(text))
    if asked.type == "name":
        return bool(re.fullmatch(r"(?:Dr|Mr|Mrs|Ms|Miss|Prof)\b\.? [A-Z]\S+|[A-Z][a-z]+ [A-Z][a-z]+", text))
    return asked.type in ("time", PLACE, KEEPER) or (asked.type == "amount" and bool(_SUM.fullmatch(text)))


_OF_PERSONS = (PLACE, KEEPER, DOER)
"""Types of values that may be, or name, a person."""


def _holder(sentence: str, asked: Asked) -> str | None:
    """Return whose it is: "" for the speaker's, the name that is asked about, or None for somebody else's."""
    named = [
        each for each in _NAMED.finditer(sentence) if asked.type not in _OF_PERSONS or _is_whose(sentence, each, asked)
    ]
    holders = [stem(each[1].lower()) if each[1] else "" for each in named]
    if not holders:
        return ""
    return holders[0] if len(holders) == 1 and holders[0] in asked.names else None


def _is_whose(sentence: str, named: re.Match[str], asked: Asked) -> bool:
    """Say whether the thing follows a name at once: in "Ana's key" it does, in "the club meets at Ana's place" not."""
    return asked.head in list(map(stem, words(sentence[named.end() :])))[:3]


def _is_other(sentence: str, about: str, asked: Asked) -> bool:
    """Say whether it is somebody else's, or a former one; "my boyfriend" is nobody else where he is asked for."""
    is_theirs = any(stem(words(found[0])[-1]) not in asked.about for found in _OTHERS.finditer(about))
    former = rf"\b(?:old|former|previous|ex|late|next|first)[ -](?:\w+ )?{re.escape(asked.head)}"
    elsewhere = _ELSEWHERE.match(sentence)
    is_elsewhere = elsewhere is not None and not content_stems(elsewhere[0]) <= asked.about
    return is_theirs or is_elsewhere or bool(re.search(former, sentence, re.IGNORECASE))


def _amount(sentence: str, asked: Asked) -> frozenset[str]:
    """Return the only sum; "640 for rent" is the rent's, and "plus 50 for heating" is not."""
    told = _NO_AMOUNT.sub("", sentence)
    sums = list(_FOR.finditer(told))
    if own := [each["sum"] for each in sums if stem(each["thing"].lower()) in asked.about]:
        told = " ; ".join(own)
    elif len(sums) > 1 or any(each["plus"] for each in sums):
        told = _FOR.sub("", told)
    found = numbers(told)
    return frozenset(f"{each:.10g}" for each in found) if len(set(found)) == 1 else frozenset()


_NO_AMOUNT = late(
    r"\b(?:19|20)\d\d\b|\b\d{1,2}(?:st|nd|rd|th)\b|\b\d{1,2}:\d\d\b|\b(?:up|down|by|extra|another|of|\w+day|the) "
    r"\d[\d.,]*"
    r"|\b\d[\d.,]* ?(?:%|(?:per ?cent|more|less|days?|weeks?|months?|years?|hours?|rooms?|people)\b)",
    re.IGNORECASE,
)
"""Numbers that are no sum of money: years, days, times, differences and counts."""
_FOR = late(
    r"(?P<plus>\b(?:and|plus) )?[€£$]?(?<![\w.,])(?P<sum>\d[\d.,]*)"
    r"(?: ?(?:[€£$]|(?:(?:a|per) )?(?!and\b|plus\b|for\b)[a-z]+)){0,2} for (?:the |my |our )?(?P<thing>\w+)",
    re.IGNORECASE,
)
_SHIFTED_FROM = late(r"\bfrom [^,;.]*? (?=to\b)|\b(?:moved|changed|shifted|switched)\b[^,;.]*? (?=to\b)", re.IGNORECASE)
_ENDS = late(r"\b(?:end|finish|clos)(?:s|es|ed|ing)?\b|(?:\b(?:is|are)|['’](?:s|re)) over\b", re.IGNORECASE)
_UNTIL = late(r"\b(?:until|till)\b[^,;.!?]*", re.IGNORECASE)


def _time(sentence: str, asked: Asked) -> frozenset[str]:
    """Return the day and the hour of a sentence, each with its kind; of "from X to Y" the second."""
    if not _ENDS.search(asked.verb):
        if _ENDS.search(sentence):
            return frozenset()
        sentence = _UNTIL.sub("", sentence)
    beside = rf"\b(?:for|after|before|during|of) (?:the|my|our) (?:\w+ )?{re.escape(asked.head)}\b"
    if re.search(beside, sentence, re.IGNORECASE):  # "rehearsal for the concert is on the 19th"
        return frozenset()
    named = times_named(_SHIFTED_FROM.sub("", sentence))
    return frozenset(f"{kind} {value}" for kind, values in named for value in values)


def _colour(sentence: str, _: Asked) -> frozenset[str]:
    """Return the colours named first, and right after a later "it is"; after "no longer white" only the latter."""
    first, *further = re.split(r"[,;:]", sentence)
    of_it = [words(each[found.end() :]) for each in further if (found := _OF_IT.match(each))]
    then = [word for each in of_it for word in takewhile(lambda word: word in _SHADES or _is_adverb(word), each)]
    return _COLOURS & frozenset(then if _IS_NOT.search(first) else (*words(first), *then))


_OF_IT = late(r"\W*(?:and |so |but |now )*(?:it|they)(?: is\b| are\b|['’](?:s|re)\b)", re.IGNORECASE)
_IS_NOT = late(r"\b(?:not|no longer|(?:is|are)n['’]t)\b", re.IGNORECASE)
_SHADES = _COLOURS | frozenset("a an and all now been painted bright dark light pale deep sky".split())


_IN_ANOTHER = late(r"\b(?:at|in|on|of|for|with|from)\b")
_IS_FROM = late(
    r"(?:an? )?(?:[A-Z]\w+(?:ish|ese)|German|French|Dutch|Greek|Swiss|(?:North |South )?(?:Americ|Afric|Kore|Itali|"
    r"Indi|Russi|Canadi|Australi|Brazili|Norwegi|Austri|Hungari|Ukraini|Romani|Irani|Belgi)an|Czech|Arab|Thai)"
)
"""Where somebody is from, which is no name."""
_IS = late(r"(?:\bis|['’]s|:)\s+(?:(?:now|still|currently|called|actually)\s+)*(?=(?P<v>[^,;.!?]+))")
_SET_TO = late(
    r"\b(?:changed|reset|set|switched|updated|renamed)\b(?P<b>[^,;.!?]*?) to (?=(?P<v>[^,;.!?]+))", re.IGNORECASE
)
_NEW = late(r"\bnew (?P<b>[^,;.!?:]+?)\s*[,:–—]\s*(?=(?P<v>[^,;!?]+))", re.IGNORECASE)
_AS_OUR = late(
    r"(?P<v>(?:(?:Dr|Mr|Mrs|Ms)\.? )?[A-Z]\w+(?: [A-Z]\w+)?) (?:is|as)(?: now)? (?:my|our) (?:new )?(?P<b>[\w ]+)"
)


def _said_of(sentence: str, asked: Asked) -> frozenset[str]:
    """Return the stems of what the thing is said to be: "My favourite band these days is Khruangbin"."""
    for before, text in _readings(sentence, asked):
        _, is_there, behind = f" {' '.join(map(stem, words(before)))} ".rpartition(f" {asked.head} ")
        if is_there and not (_IN_ANOTHER.search(behind) and content_stems(behind) - asked.about):
            return _worded(text, asked)
    coded = re.findall(r"\b(?=\w*\d)\w{3,}\b", sentence) if NOW.search(sentence) and not asked.type else []
    return frozenset(map(stem, words(coded[0]))) if len(coded) == 1 else frozenset()


def _readings(sentence: str, asked: Asked) -> Iterator[tuple[str, str]]:
    """Yield the ways to read a sentence as (thing, what it is said to be); "it" stands for what was named before."""
    for found in _IS.finditer(sentence):
        *earlier, before = re.split("[,;:]", sentence[: found.start()])
        if not NAMED_BEFORE.match(before):
            is_of_it = found[0][0] in "'’" and " is " in found["v"]  # "my dog's trainer is Jim"
            yield before, "" if is_of_it else found["v"]
        elif _could_be(re.sub(r" now$", "", found["v"]), asked):  # "I changed the code, it is 4402 now"
            yield " ".join(earlier), found["v"]
    for found in _SET_TO.finditer(sentence):
        yield found["b"] or re.split("[,;:]", sentence[: found.start()])[-1], found["v"]
        yield re.split("[,;:]", sentence[: found.start()])[-1], found["v"]
    for pattern in (_NEW, _AS_OUR):
        for found in pattern.finditer(sentence):
            yield found["b"], found["v"]


def _worded(text: str, asked: Asked) -> frozenset[str]:
    text = re.split(r"\s(?:and|but|since|because|for|so|now|these days|who|which|at the)\b", text.strip())[0]
    if re.match(r"(?:not|no|in|at|on|from|with)\b", text, re.I) or (asked.type == "name" and re.match(r"an?\b", text)):
        return frozenset()
    has_name = bool(re.search(r"[A-Z]|\d|@", text)) and not _IS_FROM.fullmatch(text)
    if not has_name and (asked.type == "name" or len(text.split()) > 1 or asked.head in _NUMBERED):
        return frozenset()
    return frozenset(stem(word) for word in words(text)) - {"dr", "mr", "mrs", "ms", "a", "the", "an"}


_READERS = {
    "amount": _amount, "time": _time, "colour": _colour, "name": _said_of, PLACE: place_in, KEEPER: place_in,
    DOER: doer_in, "": _said_of,
}  # fmt: skip
