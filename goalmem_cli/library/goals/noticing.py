"""Notice, without a model, which kept goals a change of the memory can touch.

A goal is touched if a unit that its proof cites, or one that replaced that, is gone, if a later turn or unit makes a
cited one out of date, or if a new turn is among the first hits of a query that the proof depends on, and may tell of
it. Queries are ranked by `reranked`, whatever the backbone of the answers, as it needs no index of its own. A unit that
a structured backbone derived stands for its turns there. What takes a memory raises StoreError if it cannot be read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goalmem_cli.backbones.changes import topic
from goalmem_cli.backbones.now.asked import PERSON
from goalmem_cli.backbones.now.states import clock_of
from goalmem_cli.backbones.small_talk import likelihood, may_be_evidence
from goalmem_cli.languages.finding import other_language
from goalmem_cli.logic.days import MONTHS, WEEKDAYS
from goalmem_cli.logic.normal import content_stems, stem, words
from goalmem_cli.logic.questions import only_asks
from goalmem_cli.logic.roles import ASSISTANT, role_of
from goalmem_cli.memory_records import FLAT, Capability
from goalmem_cli.store import local
from goalmem_cli.store.goal_records import FORGOTTEN, Goal, GoalStatus, Watch

if TYPE_CHECKING:
    from goalmem_cli.memory_ports import KeptMemory
    from goalmem_cli.ports import Backbone
    from goalmem_cli.reasoners.facts import NumberedFacts
    from goalmem_cli.records import Hit, Question, Unit
    from goalmem_cli.trace import Trace

DEPTH = 30
"""How many hits of a query are remembered, so that a hit which only moved up is not taken for a new turn."""
FIRST, LEAST = 3, 0.07
"""A new turn with a word of a query touches the goal if it is so likely evidence, and among so many first hits."""
NEARLY = 0.6
"""So does one with a word of the query that is so likely evidence as a cited turn, times this. Where a matter was told
of often, earlier tellings stand before it."""
TELLING = 0.31
"""So does one of the first hits in other words, if it tells of a change, names the answer or is so likely evidence of
anything (`small_talk`), and takes up no other matter. Chosen on `noticing_histories.yaml` and `bench goals`."""
LINK = -2
"""Stands for who is meant in the question, such as Ana's flatmate, where subgoals are numbered."""
_MOST_MEANT = 2
_UPPER = f"[{''.join(filter(str.isupper, map(chr, range(0x530))))}]"
_NAME = re.compile(rf"\b{_UPPER}\w+")
_WORD = rf"{_UPPER}(?:[\w-]|['’](?={_UPPER}))*"
_WHOSE = rf"{_WORD}(?: {_WORD})*"
_ROLE = rf"(?:ex-|step|grand)?{PERSON}(?:-in-law)?"
_MEANT = re.compile(
    rf"(?<![\w'’-])(?!^\w+ {_UPPER})(?:(?:(?P<whose>{_WHOSE})['’]s?|[Mm]y|[Oo]ur) (?P<role>(?:\w+ )?{_ROLE})"
    rf"|the (?P<its>{_ROLE}) of (?P<who>{_WHOSE}))\b(?=['’]s? | \w)"
)
"""A person whom a question gives by a relation, not by name: "Ana's sister" in "Where does Ana's sister live?"."""
_NO_NAME = "|".join(
    "I He She It We You They Who That This These Those There Here Where How What Which When Why If And But So Or Nor "
    "Neither Then Now Today Tonight Tomorrow Yesterday Yes Yeah No Not Well Okay Ok Sorry Thanks Hello Hi Hey Bye "
    "Cheers Please Dear Welcome Great Good Nice Right True Sure Such One Another Also Next Only Maybe Perhaps Both All "
    "Most Mine Anyway However Still Besides Instead Meanwhile Since The A An My Our His Her Their Your Everybody "
    "Everyone Somebody Someone Anybody Anyone Nobody None Outside Inside Upstairs Downstairs Christmas Easter".split()
)
_TITLE = r"(?:(?:Mrs?|Ms|Dr|Prof)\.? )?"
_CALLED = (
    rf"(?P<name>(?!(?:{_NO_NAME})\b)(?!{_UPPER}{_UPPER}){_TITLE}{_WORD}(?: (?!(?:{_NO_NAME})\b){_WORD})?)(?![\w-])"
)
_STILL = r"(?: (?:still|now|also|currently|actually|really))*"
_NATION = r"\w*(?:ish|ese|an|ch|ic|st|im|ss|ek|i)\b"
_BEFORE = (
    r"(?:^|[.!?;:,…] |\b(?i:and|but|so|that|because|when|while|if|as|with|of|by|from|for|to|than|like|about|is|was|met"
    r"|saw|know|miss|love|visited|married) )"
)
_SAYING = (
    rf"(?<![\w'’-])(?<![Nn]or )(?<![Ii]f ){_CALLED}(?: is|['’]s){_STILL} WHOM(?![\w'’-])",
    rf"WHOM(?: is{_STILL} (?:called|named)|['’]s name is) {_CALLED}",
    rf"WHOM is{_STILL} (?!{_NATION}){_CALLED}(?= (?:now|and|from|since|again)\b|[.,;!)…]|$)",
    rf"{_BEFORE}WHOM {_CALLED}",
    rf"(?<![\w'’-])(?!\w+ly\b){_CALLED}, WHOM(?=, (?!and\b|or\b)|[.!…]?$|[.!…] )",
)
"""Patterns of texts that say who somebody is; WHOM stands for "my flatmate". "My flatmate is Irish" says no name."""
_OWN = re.compile(r"\b(?:I|[Mm]y|me|mine)\b")
_OTHERS = re.compile(
    r"\b(?:you|your|he|she|they|it|his|her|their|them|him|we|our|us|everybody|everyone|both|all)\b", re.IGNORECASE
)
_SENTENCES = re.compile(r"(?<=[.!?;…])\s+|\n+")
_SELF = re.compile(r"\b(?:I|we|me|us)\b")
_RELATIVE = re.compile(
    r"(?:(?:and|but|so|oh|well),? )?(?:my|our|his|her|their|a|an|the|one of my|one of our) (?:\w+ ){0,2}?(?P<who>"
    r"(?:grand|step)?(?:mother|father|son|daughter)|(?:step)?(?:brother|sister)s?|mum|mom|dad|parents?|grandma|grandpa"
    r"|aunt|uncle|cousins?|niece|nephew|friends?|neighbou?rs?|colleagues?"
    r")(?:-in-law)?(?: of (?:mine|ours))?\b",
    re.IGNORECASE,
)
_DOES = re.compile(
    r"\b([Ww]e|I|[A-Z]\w+) (?:(?:still|now|also|just|only|currently|has|is|was|does|do|did|not|doesn['’]t|isn['’]t) )*"
    r"([a-z]+)"
)
"""A name, "I" or "we", and the verb behind it."""
_CORRECTING = r"wrong(?:ly)?|mistaken?|meant|mixed up|actually|correct\w*"
_CORRECTION = re.compile(rf"\b(?:{_CORRECTING})\b", re.IGNORECASE)
"""Words with which people correct themselves."""
_CHANGE = re.compile(
    r"\b(?:now|new|no longer|no more|any ?more|moved?|moving|back|left|leaving|quit|instead|chang\w+|switch\w+"
    r"|stopp?\w*|sold|bought|gave up|since|these days|cannot|never"
    rf"|{_CORRECTING}|cancel\w*|next|from)\b",
    re.IGNORECASE,
)
"""Words with which people tell of a change, or correct themselves."""
GONE, OUTDATED, NEW = "a cited turn is gone or changed", "a later turn changes a cited one", "a new turn may tell of it"


@dataclass(frozen=True, slots=True)
class Touch:
    """Why a goal may have changed: the reason, the new hits, and the numbers of the subgoals to prove again.

    `replaced` are the cited units of a structured backbone that it has replaced since. `generation` is the memory's
    number of changes when the hits were read.
    """

    why: str
    new: tuple[Hit, ...] = ()
    subgoals: frozenset[int] = frozenset()
    replaced: frozenset[str] = frozenset()
    generation: int = -1


def watches_of(trace: Trace, question: Question, backbone: Backbone, others: Sequence[Watch] = ()) -> tuple[Watch, ...]:
    """Return the queries that a question's outcome depends on, and `others`, each with its present hits."""
    from goalmem_cli.reasoners.facts import NumberedFacts
    from goalmem_cli.reasoners.goal_mem.kept_proofs import depends_on

    facts, depends = NumberedFacts(backbone, question), depends_on(trace)
    settled = {each.subgoal for each in depends if each.cited}
    links = () if len(settled) > 1 else _links_of(trace, question, facts)
    later = {fact.unit: fact.moved_on.unit for fact in trace.facts.values() if fact.moved_on is not None}
    beside = ((each.subgoal, each.query, each.cited) for each in others)
    named = ((each.subgoal, each.query, each.cited) for each in depends)
    return tuple(
        Watch(
            number, query, tuple(hit.unit.id for hit in facts.hits(query, DEPTH)),
            cited, tuple(later[unit] for unit in cited if unit in later),
        )
        for number, query, cited in {each[:2]: each for each in (*links, *beside, *named)}.values()
    )  # fmt: skip


def _links_of(trace: Trace, question: Question, facts: NumberedFacts) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Yield the queries by which a question that was not proved in steps finds somebody, as the fields of watches.

    Of "Where does Ana's flatmate work?" they are "Ana's flatmate", and "Where does Emil work?" if a turn says that it
    is Emil. The turns that say so are cited, so that forgetting them takes the name out.
    """
    found = _MEANT.search(question.text)
    if found is None:
        return
    link, whose = found[0], found["whose"] or found["who"]
    hits = facts.hits(link, DEPTH)
    asked = _Asked.of(facts.naming_asker(link), hits, (), frozenset())
    told = sorted(filter(asked.may_be_told_by, hits), key=lambda hit: (clock_of(hit.unit.said), hit.unit.place))
    no_names = content_stems(f"{question.text} {trace.answer or ''}") | set(map(stem, (*MONTHS, *WEEKDAYS)))
    role = re.escape((found["role"] or found["its"]).removeprefix("new "))
    theirs = rf"{re.escape(whose)}['’]s? (?:new )?{role}|[Tt]he {role} of {re.escape(whose)}" if whose else ""
    for hit in reversed(told):
        speaker = hit.unit.speaker
        is_own = asked.is_asked_about(speaker) if whose else speaker == question.asker
        ways = (rf"(?:[Mm]y|[Oo]ur) (?:new )?{role}" if is_own else "", theirs)
        meant = _names_in(hit.unit.text, "|".join(filter(None, ways)), asked.speakers)
        names = dict.fromkeys(name for name in meant if not content_stems(name) & no_names)
        if names:
            queries = (link, *(question.text.replace(link, name) for name in list(names)[:_MOST_MEANT]))
            yield from ((LINK, query, (hit.unit.id,)) for query in queries)
            return


def _names_in(text: str, whom: str, speakers: Collection[frozenset[str]]) -> Iterator[str]:
    """Yield the names by which a text says, and does not ask, who somebody is; `whom` is a pattern of that person.

    "Bruno, my friend, ..." may address the speaker Bruno.
    """
    for pattern in _SAYING if whom else ():
        for said in re.finditer(pattern.replace("WHOM", f"(?:{whom})"), text):
            is_asked = re.match(r"[^.!?…]*\?", text[said.end() :]) is not None
            if not is_asked and not (pattern == _SAYING[-1] and content_stems(said["name"]) in speakers):
                yield said["name"]


def touch_of(goal: Goal, question: Question, kept: KeptMemory, backbone: Backbone, generation: int) -> Touch | None:
    """Return why the goal may have changed since its last state, None if nothing can have changed it.

    `generation` is the memory's; if the state knows of it, nothing is looked up.
    """
    state = goal.state
    if state.status is GoalStatus.UNDERMINED:
        return Touch(FORGOTTEN, generation=generation)
    if state.generation == generation:
        return None
    cited = {unit: watch.subgoal for watch in state.watches for unit in watch.cited}
    later = {unit: watch.subgoal for watch in state.watches for unit in watch.later}
    with kept.reading() as reader:
        stored = reader.hits([*(later | cited)])
        there = {unit: hit for unit, hit in stored.items() if unit in cited}
        behind = {unit: hit.unit.turns for unit, hit in there.items() if hit.unit.backbone != FLAT}
        told = {turn: cited[unit] for unit, turns in behind.items() for turn in turns}
        turns = reader.hits([*told])
        by = replaced_units(kept, [there[unit].unit for unit in behind])
        replacing = reader.hits([*by.values()])
    found = _Found(_known(goal), state.answer or "")
    found.gone(number for unit, number in (later | cited).items() if unit not in stored)
    found.replaced(by, replacing, cited)
    found.look(state.watches, question, backbone, behind)
    found.outdated([*there.values(), *turns.values()], told | cited)
    touch = found.touch({watch.subgoal for watch in state.watches})
    return None if touch is None else replace(touch, generation=generation)


def with_replacing(watches: Sequence[Watch], kept: KeptMemory) -> tuple[Watch, ...]:
    """Return the watches, with the structured backbone's units that have already replaced a cited one.

    A question about the past cites a replaced unit; an old replacement does not touch it.
    """
    with kept.reading() as reader:
        cited = reader.hits([unit for watch in watches for unit in watch.cited])
        by = replaced_units(kept, [hit.unit for hit in cited.values() if hit.unit.backbone != FLAT])
    return tuple(
        replace(watch, later=(*watch.later, *(by[unit] for unit in watch.cited if unit in by))) for watch in watches
    )


def replaced_units(kept: KeptMemory, units: Iterable[Unit]) -> dict[str, str]:
    """Return which of a structured backbone's units no longer hold, each with the unit that replaced or ended it."""
    from goalmem_cli.backbones.graphiti import INVALIDATES
    from goalmem_cli.backbones.structured.decisions import SUPERSEDES

    names: dict[str, set[str]] = {}
    for unit in units:
        names.setdefault(unit.backbone, set()).add(unit.id)
    store = local(kept, Capability.STRUCTURE) if names else None
    return {
        edge.target: edge.source
        for name, known in names.items()
        for edge in (store.edges_of(name, [SUPERSEDES, INVALIDATES]) if store is not None else ())
        if edge.target in known
    }


class _Found:
    """Collects the reasons why a goal may have changed."""

    def __init__(self, known: frozenset[str], answer: str) -> None:
        self._known = known
        self._answer = answer
        self._reasons: list[str] = []
        self._subgoals: set[int] = set()
        self._new: dict[str, Hit] = {}
        self._seen: dict[str, Hit] = {}
        self._telling: dict[int, frozenset[str]] = {}
        self._replaced: frozenset[str] = frozenset()

    def gone(self, subgoals: Iterable[int]) -> None:
        """Add the subgoals that cite, or whose cited units were replaced by, a unit which is not stored any more."""
        if numbers := set(subgoals):
            self._reasons.append(GONE)
            self._subgoals |= numbers

    def replaced(self, by: Mapping[str, str], replacing: Mapping[str, Hit], subgoals: Mapping[str, int]) -> None:
        """Add the cited units that were replaced since the last state.

        `by` has cited id -> replacing id; those that the state knows are skipped. `replacing` has replacing id -> hit,
        `subgoals` cited id -> subgoal number. A backbone's decision is no new hit.
        """
        from goalmem_cli.backbones.structured.decisions import DECISION

        by = {unit: other for unit, other in by.items() if other not in self._known}
        self._replaced = frozenset(by)
        for unit, other in by.items():
            hit = replacing.get(other)
            self._add(OUTDATED, [] if hit is None or hit.unit.kind == DECISION else [hit], subgoals[unit])

    def look(
        self, watches: Sequence[Watch], question: Question, backbone: Backbone, behind: Mapping[str, Sequence[str]]
    ) -> None:
        """Look for new units among the first hits of the queries; `behind` are the turns of cited derived units."""
        from goalmem_cli.reasoners.facts import NumberedFacts

        facts = NumberedFacts(backbone, question)
        for watch in watches:
            hits = facts.hits(watch.query, DEPTH)
            self._seen |= {hit.unit.id: hit for hit in hits}
            cited = {*watch.cited, *(turn for unit in watch.cited for turn in behind.get(unit, ()))}
            meant = content_stems(watch.query) - content_stems(question.text) if watch.subgoal == LINK else None
            asked = _Asked.of(facts.naming_asker(watch.query), hits, cited, meant)
            matter = _Matter.of(question, self._answer, [hit for hit in hits if hit.unit.id in self._known], cited)
            telling = [hit for hit in hits if asked.may_be_told_by(hit)]
            self._telling[watch.subgoal] = self._telling.get(watch.subgoal, frozenset()) | {h.unit.id for h in telling}
            known = max((hit.score for hit in telling if hit.unit.id in self._known), default=0.0)
            unknown = [hit for hit in telling if hit.unit.id not in self._known]
            if new := [
                hit
                for place, hit in enumerate(unknown)
                if asked.is_told_by(hit, is_first=hit in telling[:FIRST], leads=place < FIRST, known=known)
                or (hit in telling[:FIRST] and asked.is_near(hit, matter.talks) and matter.is_told_by(hit))
            ]:
                self._add(NEW, new, watch.subgoal)

    def outdated(self, cited: Sequence[Hit], subgoals: Mapping[str, int]) -> None:
        """Look for new units that say that a cited one is no longer so."""
        from goalmem_cli.backbones.later import marked

        for hit in marked(cited, [hit.unit for hit in self._seen.values()]):
            later = hit.moved_on
            number = subgoals[hit.unit.id]
            if later is not None and later.id in self._telling.get(number, ()) and later.id not in self._known:
                self._add(OUTDATED, [self._seen[later.id]], number)

    def touch(self, watched: Set[int]) -> Touch | None:
        """Return the reasons as one, or None if there are none; a `LINK` touches all `watched` subgoals."""
        reasons = tuple(dict.fromkeys(self._reasons))
        if not reasons:
            return None
        subgoals = frozenset(watched if LINK in self._subgoals else self._subgoals)
        return Touch("; ".join(reasons), tuple(self._new.values()), subgoals, self._replaced)

    def _add(self, reason: str, new: Iterable[Hit], subgoal: int) -> None:
        self._reasons.append(reason)
        self._subgoals.add(subgoal)
        self._new |= {hit.unit.id: hit for hit in new}


@dataclass(frozen=True, slots=True)
class _Asked:
    """The terms of a query, as stems: the speakers' names in it, and its other words.

    `verb` is the word after the person with whom the query begins: "lives" in "Ana lives in". `best` is the highest
    likelihood that a cited turn is evidence; infinite if none is cited. `speakers` are those of all hits. If there is a
    `key`, a turn or its speaker has to have a word of it.
    """

    names: frozenset[str]
    words: frozenset[str]
    verb: str
    best: float
    speakers: frozenset[frozenset[str]]
    key: frozenset[str] = frozenset()

    @classmethod
    def of(cls, query: str, hits: Sequence[Hit], cited: Collection[str], meant: frozenset[str] | None = None) -> _Asked:
        """Return the terms of a query, given its hits and the ids of the cited units.

        `meant`, for a `LINK` only: the stems of the query that the question lacks, which are the person's name, if the
        query has it.
        """
        speakers = frozenset(content_stems(hit.unit.speaker) for hit in hits)
        capital = content_stems(" ".join(_NAME.findall(query)))
        names = capital & frozenset[str]().union(*speakers) if meant is None else frozenset() if meant else capital
        best = max((hit.score for hit in hits if hit.unit.id in cited), default=math.inf)
        order = list(map(stem, words(query)))
        led = next((place for place, word in enumerate(order) if word not in names), 0)
        verb = order[led] if led and meant is None else ""
        own = content_stems(query) - names - (meant or frozenset())
        return cls(names, own, verb, best, speakers, frozenset() if meant is None else meant or own)

    def is_told_by(self, hit: Hit, *, is_first: bool, leads: bool, known: float) -> bool:
        """Say whether a new hit has a word of the query, and may change the answer.

        `is_first`: it is among the first hits that may say something about the query. `leads`: it is among the first of
        the new ones. `known` is the highest likelihood that a known turn is evidence.
        """
        if hit.score < LEAST or not self.words & content_stems(hit.unit.text):
            return False
        bound = (known if self.best == math.inf else self.best) * NEARLY
        return is_first or (leads and _CORRECTION.search(hit.unit.text) is not None) or hit.score >= bound

    def is_near(self, hit: Hit, talks: Collection[str]) -> bool:
        """Say whether a hit is by or names somebody in the query, or is from one of the `talks`.

        If the query names nobody and there are no talks, every hit is near.
        """
        if not self.names and not talks:
            return True
        is_named = bool(self.names & content_stems(hit.unit.text))
        return is_named or self.is_asked_about(hit.unit.speaker) or hit.unit.conversation in talks

    def may_be_told_by(self, hit: Hit) -> bool:
        """Say whether a hit may say something about the query: no mere question, no small talk, not only about others.

        If Ben says "I live in Leeds", it says nothing about Ana, unless it names her or includes others ("you", "we").
        """
        text = hit.unit.text
        if only_asks(text) or not may_be_evidence(hit):
            return False
        if self.key and not self.key & content_stems(f"{hit.unit.speaker} {text}"):
            return False
        is_own = self.is_asked_about(hit.unit.speaker)
        if self.names and self._is_on_another(text, is_own=is_own):
            return False
        if not self.names or self.names & content_stems(text) or is_own:
            return True
        return not _OWN.search(text) or bool(_OTHERS.search(text))

    def is_asked_about(self, speaker: str) -> bool:
        """Say whether the query names the speaker: as "Ana Lind", or as "Ana" if nobody is called just that."""
        own = content_stems(speaker)
        return bool(own & self.names) and (own <= self.names or (self.names <= own and self.names not in self.speakers))

    def _is_on_another(self, text: str, *, is_own: bool) -> bool:
        """Say whether only somebody else is meant by the text ("my brother lives in Leeds", "Ben lives here")."""
        sentences = _SENTENCES.split(text)
        told = [each for each in sentences if self.words & content_stems(each)] or sentences
        return all(self._is_on_relative(each) or self._does_another(each, is_own=is_own) for each in told)

    def _is_on_relative(self, sentence: str) -> bool:
        found = _RELATIVE.match(sentence)
        return found is not None and not _SELF.search(sentence) and not content_stems(found["who"]) & self.words

    def _does_another(self, sentence: str, *, is_own: bool) -> bool:
        """Say whether the query's verb only follows other names in the sentence, or another speaker's "I"."""
        named = {stem(found[1].casefold()) for found in _DOES.finditer(sentence) if stem(found[2]) == self.verb}
        return bool(named) and not named & (self.names | self.words | {"we"} | ({"i"} if is_own else set()))


@dataclass(frozen=True, slots=True)
class _Matter:
    """What a goal's answer is about, as stems, to judge a new turn that tells of it in other words than a query has.

    `words` are those of the question, the answer, the cited turns and the speakers, `answer` the answer's. `talks` are
    the conversations of the cited turns, `others` the other known turns.
    """

    words: frozenset[str]
    answer: frozenset[str]
    talks: frozenset[str]
    others: tuple[Unit, ...]

    @classmethod
    def of(cls, question: Question, answer: str, known: Sequence[Hit], cited: Collection[str]) -> _Matter:
        """Return the matter of a question with its answer, given the known hits of a query and the cited ids."""
        resting = [hit.unit for hit in known if hit.unit.id in cited]
        others = tuple(hit.unit for hit in known if hit.unit.id not in cited)
        told = " ".join((question.text, answer, *(unit.text for unit in resting), *(hit.unit.speaker for hit in known)))
        talks = frozenset(unit.conversation for unit in resting)
        return cls(content_stems(told), content_stems(answer), talks, others)

    def is_told_by(self, hit: Hit) -> bool:
        """Say whether a new hit names the answer, or tells something and takes up no other matter of its conversation.

        Whether something in another language, or of an assistant, tells anything is not known: a word of the query and
        its likelihood decide.
        """
        text = hit.unit.text
        if self.answer & content_stems(text):
            return True
        if other_language(text) or role_of(hit.unit.speaker) == ASSISTANT:
            return False
        about = topic(text) - self.words
        if any(about & topic(unit.text) for unit in self.others if unit.conversation == hit.unit.conversation):
            return False
        return _CHANGE.search(text) is not None or likelihood(hit) >= TELLING


def _known(goal: Goal) -> frozenset[str]:
    """Return the units that the goal's state has seen: its facts, and the hits of its queries."""
    state = goal.state
    units = {unit for watch in state.watches for unit in (*watch.found, *watch.cited, *watch.later)}
    return frozenset(units | {fact.unit for fact in (state.trace.facts.values() if state.trace is not None else ())})
