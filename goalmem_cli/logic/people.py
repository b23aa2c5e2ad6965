"""Persons among values: reject a person's name if the type is not a person, and resolve pronouns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from goalmem_cli.languages.patterns import late
from goalmem_cli.languages.words import Words, words_of
from goalmem_cli.logic.around.cues import is_request
from goalmem_cli.logic.checks import Remembered, told_as_you
from goalmem_cli.logic.normal import (
    SENTENCE_END,
    content_stems,
    content_words,
    name_stems,
    name_words,
    normalise,
    stem,
    words,
)
from goalmem_cli.logic.questions import asks_who_one_is, only_asks
from goalmem_cli.logic.roles import role_of
from goalmem_cli.logic.terms import Atom, Variable
from goalmem_cli.records import UNKNOWN_AUTHOR

_ANIMALS = frozenset(
    "animal pet cat kitten dog puppy parrot budgie bird hen chicken rooster duck goose pigeon owl crow fish goldfish "
    "catfish horse pony donkey cow sheep goat pig rabbit hamster mouse rat hedgehog tortoise turtle snake lizard "
    "insect bee spider ferret".split()
)
_RELATIONS = frozenset(("relation", "relationship"))
_PLACES = frozenset(
    "place city town village country street road island region area district neighbourhood room office school "
    "university station airport museum park beach hotel hostel restaurant cafe shop store venue".split()
)
_THINGS = frozenset(
    "thing object item drink food dish meal cake ingredient book film movie song game instrument tool device machine "
    "gift present car vehicle bike boat material colour color plant tree flower job profession hobby sport language "
    "weekday".split()
)
_SPEAKER = late(r"(?:i|me|myself)|i (?:do|did|am|was|have|had|will|would|can)|it (?:is|was|s) me")
_ADDRESSED = late(r"you|yourself|yours|you (?:do|did|are|were|have|had|will|would|can)")
_PRONOUN = r"(?:i|me|myself|you|yourself|we|us|ourselves|he|him|himself|she|her|herself|they|them|themselves|it|itself)"
_NOBODY = late(
    rf"(?:{_PRONOUN}|someone|somebody)"
    r"(?: both| all| do| does| did| am| are| is| was| were| has| have| had| can| could| will| would)?"
    rf"|it (?:is|was|s) {_PRONOUN}|(?:both|one|all|some|most) of (?:us|you|them)|unknown author"
)
"""What stands for a person without saying who that is, after `normalise`."""
_SPEAKS = late(
    r"\b(?:ask|wonder|want(?:s|ed)? to know|question|sp[eo]ak|spoke|talk|mention|sa(?:y|id)|tell|told|discuss|call"
    r"|writ|wrote|messag|contact|invit|offer|suggest|propos|remind)",
    re.IGNORECASE,
)
"""Verbs of speaking and asking. A statement with one of them may be about whoever asks a question."""
_TITLED = late(r"(?:mr|mrs|ms|miss|dr|prof|professor)\b\.? [A-Z]", re.IGNORECASE)
_KIN = frozenset(
    "sister brother sibling mother mum mom father dad son daughter child aunt uncle cousin niece nephew grandmother "
    "grandma grandfather grandpa wife husband girlfriend boyfriend friend neighbour neighbor landlord colleague boss "
    "flatmate roommate".split()
)
_WHOSE = late(r"(?:\w+['’]s?|my|his|her|their|our|your)(?: \w+)* (\w+)", re.IGNORECASE)

_OWNED = late(r"(?<![\w'’-])(?P<whose>my|our|your)(?= (?P<thing>[^\W\d_][\w'’-]*))", re.IGNORECASE)
_IN_PERSON = late(
    r"(?<![\w'’-])(?:i|me|mine|myself|we|us|ours|ourselves|you|u|yours|yourself|yourselves)(?![\w-])", re.IGNORECASE
)
"""Pronouns of a whole statement: "I lost my keys" stays as it was said."""
_SAYING = late(
    r"(?:my|your|our) (?:own$|(?:way|side|part|word|bad|pleasure|god|goodness|gosh|dear|honou?r|mind|opinion|view"
    r"|guess|bet|surprise|relief|delight|horror|dismay|apology|apologies|condolences|knowledge|breath|temper|tongue|eye|heart"
    r"|head|precious|darling)\b|best(?=$|[,.!]| (?:at|in|to|on|with|for|and|but|as|when)\b))"
    r"|\b(?:on|by) (?:my|your|our) own\b",
    re.IGNORECASE,
)
_WORDED = late(
    r"\b(?:songs?|tunes?|hymns?|pieces?|films?|movies?|series|shows?|books?|novels?|titles?|plays?|musicals?|poems?"
    r"|albums?|bands?|podcasts?|games?|slogans?|mottos?|quotes?|passwords?|passphrases?|names?|named|called|words?"
    r"|wordings?|phrases?|write|written|wrote|say|says|said|signs?|labels?|mean|means|stands? for|subject line)\b",
    re.IGNORECASE,
)
"""A question for words as they stand somewhere, such as a title."""
_REPORTED = late(r"\b(?:said|says|wrote|writes|asked|asks|told \w+|texted|replied|answered|like)\s*[:,]", re.IGNORECASE)
_TO_ALL = late(
    r"\b(?:every(?:one|body|body's)|each|all|both|any(?:one|body)|folks|guys|people|team|reminder|own|we|us|whoever)\b",
    re.IGNORECASE,
)
"""Words of a message to many, or of a question about many, whose "your" is nobody's alone."""
_GENERAL = late(
    r"\b(?:you|one|(?:visitor|guest|member|customer|student|parent|traveller|driver)s?|some(?:one|body))\b", re.I
)
"""Words of a question about whoever it may be: "What do you need to enter?" """
_OPENING_VERB = late(
    r"\W*(?:(?:please|always|never|just|do|don['’]t)\s+)*(?!(?:and|but|so|yes|no|is|are|was|were|has)\b)\w+\s+",
    re.IGNORECASE,
)
"""What stands before "your" in "Wear your boots"."""
_OF_ANYBODY = late(
    r"\b(?:if|when(?:ever)?|once|unless|until|while|before|after|where(?:ver)?|how) (?:you|u)\b|\bthey say\b"
    r"|\b(?:you|u)(?:['’]ll| (?:just |only |really |always |also )?(?:can|need|have to|should|must|may|might|want|get"
    r"|could|will)\b)"
    r"|\byour (?:\w+ )?(?:posture|health|core|mood|mind|head|heart|body|back|skin|hair|brain|sleep|immune|muscles|legs"
    r"|arms|feet|hands|eyes|lungs|life|soul|confidence|stress|energy|balance|focus)\b",
    re.IGNORECASE,
)
"""What says that "you" may be anybody: "You need your passport", "Yoga improves your posture"."""
_GOES_ON = late(
    r" (?!(?:of|in|on|at|to|for|with|from|by|near|behind|under|beside|next|and|or|but|is|was|who|which|that|has|had"
    r"|will)\b)[^\W\dA-Z]"
)
"""Another word of a phrase: "our home page" is no home."""
_SHARED = _KIN | frozenset(
    "kid kids children baby twins family home house flat apartment garage garden shed kitchen cellar attic basement "
    "bathroom bedroom car van dog cat wedding honeymoon anniversary".split()
)
"""Things that are the speaker's, even if "our" says that they are somebody else's too."""

_NAMES = ("name", "names")
_DESCRIBED = late(r"(?:an?|the|my|his|her|their|our|your) [^A-Z]+$")  # a description, not a name
_BEARER = late(r"(\w+) (?:is|was|are|were) (?:called|named)\b|\bname of (?:\S+ )*?(\w+) (?:is|was)\b")


def unfit(value: str, variable: Variable, atom: Atom, people: Iterable[str]) -> str:
    """Return why the value cannot fill the variable in the statement (it names a person, or is no name); "" if it can.

    `people` are the speakers. It rejects no binding of the training corpus's proofs.
    """
    if _head(variable) in _NAMES and _bearer(atom) in _ANIMALS | _KIN and _DESCRIBED.match(value):
        return f"{value} is no name"
    is_speaker = _is_one_of(value, people)
    is_person = is_speaker or bool(_TITLED.match(value))
    is_somebodys = (found := _WHOSE.fullmatch(value)) is not None and found[1].casefold() in _KIN
    kind = _kind(variable, atom)
    if kind in _ANIMALS | _PLACES and (is_person or is_somebodys):
        return f"{value} is a person, no {kind}"
    if (kind in _RELATIONS and is_person) or (kind in _THINGS and (is_speaker or is_somebodys)):
        return f"{value} is a person, no {kind}"
    return ""


def is_only_named(value: str, question: str, people: Iterable[str]) -> bool:
    """Say whether the question asks who somebody is and the value is only a speaker's name, which is no answer."""
    return asks_who_one_is(question) and _is_one_of(value, people)


def _is_one_of(value: str, people: Iterable[str]) -> bool:
    name = name_words(value)
    return bool(name) and any(name <= content_words(person) for person in people)


def _head(variable: Variable) -> str:
    return next(reversed(words(re.split(r"\b(?:of|in|for|at|with|that|where|who)\b", variable.type)[0])), "")


def _kind(variable: Variable, atom: Atom) -> str:
    """Return the head word of the variable's type; for the type "name", the animal that bears it, if it is one."""
    head = _head(variable)
    if head not in _NAMES:
        return head if head in _ANIMALS | _PLACES | _THINGS | _RELATIONS else head.removesuffix("s")
    named = _bearer(atom)
    return named if named in _ANIMALS else head


def _bearer(atom: Atom) -> str:
    """Return the word for the bearer of the name if the statement is about a name, else ""."""
    phrase = " ".join(words(atom.phrase))
    bearer = _BEARER.search(phrase)
    return next(filter(None, bearer.groups()), "") if bearer and not {"who", "that"} & set(phrase.split()) else ""


def who_is_meant(value: str, fact: Remembered) -> str:
    """Return the person whom a pronoun in the fact means: "I" its speaker, "you" its addressee.

    Other values, and pronouns that cannot be resolved, are returned unchanged.
    """
    said = value.strip(" .!,\"'").lower()
    told = words_of(fact.text)
    if _SPEAKER.fullmatch(said) or (told is not None and said in told.lists["i"]):
        return fact.speaker or value
    is_addressed = _ADDRESSED.fullmatch(said) or (told is not None and said in told.lists["you"])
    return (told_as_you(fact) or value) if is_addressed else value


def names_nobody(value: str, question: str = "") -> bool:
    """Say whether a value that is given for a person is a pronoun, or says that nobody knows who it is.

    Pronouns are those of English and of the question's language.
    """
    if (told := words_of(question)) is not None and _is_pronoun(value, told):
        return True
    return bool(_NOBODY.fullmatch(normalise(value.replace("'", " ").replace("’", " ")))) or value == UNKNOWN_AUTHOR


def _is_pronoun(value: str, told: Words) -> bool:
    said = value.strip(" .!,\"'。！、").casefold()
    return any(said in told.lists[name] for name in ("i", "you", "others", "person"))


def is_only_asking(value: str, facts: Sequence[Remembered], statement: str) -> bool:
    """Say whether the value is a person who asks a question in a fact, while no fact says anything about that person.

    A fact says something about a person if it names them, if it is their own statement, or if it is a statement that
    calls them "you". A reply to the question counts too if it names them. If `statement` is about asking or speaking,
    the result is False.
    """
    asked = [fact for fact in facts if normalise(fact.speaker) == normalise(value) and only_asks(fact.text)]
    if not asked or _SPEAKS.search(statement):
        return False
    replies = [text for fact in asked for speaker, text in fact.after if speaker != fact.speaker]
    told = {stem(word) for text in (*replies, *(fact.text for fact in facts)) for word in words(text)}
    others = [fact for fact in facts if fact not in asked and not only_asks(fact.text)]
    is_told = any(normalise(value) in map(normalise, (fact.speaker, told_as_you(fact))) for fact in others)
    return not is_told and not told & content_stems(value)


def with_owners(answer: str, facts: Sequence[Remembered], question: str, asker: str | None) -> str:
    """Return the answer with the owner's name for "my", "our" and "your", as its reader is not who said the words.

    "My garage" is Mira's if she says it in a cited fact, and "your" garage if Mira asks. "Sister" is "my sister"
    if the facts say so. "Our" is named for family and home alone, since other things may be everybody's. A phrase stays
    if no cited fact has it, if several give it different owners, in titles, quotes and sayings, in statements with
    other pronouns ("I lost my keys"), and in other languages than English.
    """
    told = _as_told(answer, facts, question)
    rest = _OWNED.sub("", told)
    is_quoted = answer[:1] in "\"“‘«'" or _WORDED.search(question) is not None
    if rest == told or is_quoted or _IN_PERSON.search(rest) or _SAYING.search(told) or words_of(question):
        return answer

    def named(found: re.Match[str]) -> str:
        if found["whose"].casefold() == "our" and (
            found["thing"].casefold() not in _SHARED
            or _GOES_ON.match(told, found.end("thing"))
            or any(_are_one(asker, fact.to) for fact in facts)
        ):
            return found["whose"]
        owners = {owner for fact in facts for owner in _owners(found["whose"], found["thing"], fact, question)}
        owner = owners.pop() if len(owners) == 1 else ""
        if not owner:
            return found["whose"]
        if _are_one(asker, owner):
            return "Your" if found["whose"][0].isupper() else "your"
        return found["whose"] if role_of(owner) or _IN_PERSON.fullmatch(owner) else f"{owner}'s"

    owned = _OWNED.sub(named, told)
    return answer if owned == told else owned


def _as_told(answer: str, facts: Sequence[Remembered], question: str) -> str:
    """Return "my sister" for an answer "sister" if the facts have it with "my" alone; else the answer.

    It stays if the question names that word or a speaker, since a relation may be asked for.
    """
    first = re.match(r"\w+", answer)
    if first is None or first[0].casefold() not in _KIN:
        return answer
    named = {stem(first[0].casefold()), *(word for fact in facts for word in name_stems(fact.speaker))}
    phrase = re.compile(rf"(\bmy )?(?<![\w'’-])({re.escape(answer)})(?![\w-])", re.IGNORECASE)
    places = [found for fact in facts for found in phrase.finditer(fact.text)]
    is_own = bool(places) and all(found[1] for found in places)
    return f"my {places[0][2]}" if is_own and not named & content_stems(question.replace("’", "'")) else answer


def _are_one(asker: str | None, person: str) -> bool:
    """Say whether one name is the other or a part of it: Ana, Ana Silva."""
    one, other = name_words(asker or ""), name_words(person)
    return bool(one and other) and (one <= other or other <= one)


def _owners(whose: str, thing: str, fact: Remembered, question: str) -> Iterable[str]:
    """Yield the owner of the thing for each place where the fact has both words, as in "my car"; "" if unknown."""
    for found in _OWNED.finditer(fact.text):
        if (found["whose"].casefold(), found["thing"].casefold()) == (whose.casefold(), thing.casefold()):
            yield "" if _is_of_others(found, fact.text) else _owner(found, fact, question)


def _is_of_others(found: re.Match[str], text: str) -> bool:
    """Say whether the words belong to a title, a quote or reported speech, or the text is not in English."""
    before, behind = text[: found.start()], text[found.end("thing") :]
    is_name = found["thing"].casefold() not in _KIN or re.match(r",? (?:(?:the|of|and|in) )?(?!I\b)[A-Z]", behind)
    is_title = found["whose"][0].isupper() and found["thing"][0].isupper() and bool(is_name)
    is_marked = before[-1:] in ("'", "‘", "*", "_", "«") or behind[:1] in ("*", "_", "»")
    is_quoted = before.count('"') % 2 == 1 or before.count("“") > before.count("”")
    return is_title or is_marked or is_quoted or bool(_REPORTED.search(before)) or words_of(text) is not None


def _owner(found: re.Match[str], fact: Remembered, question: str) -> str:
    """Return whom "my", "our" or "your" means in a fact, "" if that is not known."""
    if found["whose"].casefold() != "your":
        return "" if fact.speaker == UNKNOWN_AUTHOR else fact.speaker
    if _TO_ALL.search(question) or _GENERAL.search(question) or (not fact.to and _TO_ALL.search(fact.text)):
        return ""
    start = max((end.end() for end in SENTENCE_END.finditer(fact.text, 0, found.start())), default=0)
    end = SENTENCE_END.search(fact.text, found.end())
    is_asked = _OPENING_VERB.fullmatch(fact.text, start, found.start()) or is_request(
        fact.text.lower(), start, len(fact.text)
    )
    is_anybodys = _OF_ANYBODY.search(fact.text, start, len(fact.text) if end is None else end.start())
    return "" if is_asked or is_anybodys else told_as_you(fact)
