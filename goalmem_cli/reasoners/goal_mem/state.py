"""The state of one plan: its subgoals and antecedents, the claims that the engine accepted, and what is still open.

`judge.rule` judges every claim. This module adds what spans several rounds: lists grow, a value said later replaces an
earlier one, antecedents bind provisionally, and facts against a subgoal settle it.

Claims are first sorted by their verdict: to be judged, refused at once, or denying their subgoal. A claim that facts
only suggest counts for a question that asks for a conclusion, a favourite, the best or the most. It is marked as
likely wherever it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from goalmem_cli.logic import Atom, Substitution
from goalmem_cli.logic.checks import has_one_value, told_as_you
from goalmem_cli.logic.normal import Pair, as_pair, content_stems, content_words, name_stems, name_words, normalise
from goalmem_cli.logic.questions import asks_for_ranking
from goalmem_cli.logic.support import Support
from goalmem_cli.reasoners.goal_mem.judge import are_same, rule, shares
from goalmem_cli.reasoners.goal_mem.records import Bench, Claim, Plan, Proposed, ReplyStatus, Ruling, Wish, starred_in
from goalmem_cli.reasoners.goal_mem.replacing import pairs_of, replaced_by, superseded, superseding
from goalmem_cli.reasoners.goal_mem.weighing import speakers
from goalmem_cli.records import Question
from goalmem_cli.trace import Contradicted, Denied, Fact, Grounded, Refined, Rejected, Step, Verdict

Bindings = Mapping[str, tuple[str, ...]]


class ProofState:
    """One plan and its state. Subgoals are numbered from 0: the plan's first, then antecedents in order of arrival.

    `looked_again` holds the settled subgoals that were retrieved for again, for further values of a list. `incomplete`
    holds the facts that, by the last reply, are about an open subgoal but leave out the detail that is asked for.
    """

    def __init__(
        self, question: Question, plan: Plan, *, is_strict: bool, is_unchecked: bool = False, own_checks: bool = True,
        most_antecedents: int | None = None,
    ) -> None:  # fmt: skip
        """Take the plan, how strictly its claims are judged, and how it treats antecedents.

        With `most_antecedents`, there are at most that many, and they are provisional: their bindings constrain nothing
        until the subgoal that they serve is settled, and the next reply must prove them or they are dropped. Without
        it, they count like the plan's own subgoals: all must be settled (Algorithm 1, line 30).
        """
        self.plan = plan
        self.atoms: list[Atom] = list(plan.subgoals)
        self.denials = Denials()
        self.substitution = Substitution()
        self.undecided: tuple[tuple[str, str], ...] = ()
        self.rejected: tuple[Rejected, ...] = ()
        self.looked_again: set[int] = set()
        self.incomplete: tuple[str, ...] = ()
        self._question = question
        self.is_strict = is_strict
        self._is_unchecked = is_unchecked
        self._own_checks = own_checks
        self.is_provisional = most_antecedents is not None
        self._most = most_antecedents
        self._roots = len(plan.subgoals)
        self._serves: dict[int, int] = {}
        self._dropped: set[int] = set()
        self._waiting: set[int] = set()
        self._grounded: list[Grounded] = []
        self._antecedents: list[Grounded] = []
        self._contradicted: dict[int, Contradicted] = {}
        self._several: set[str] = set()
        self._suggested: dict[Cited, str] = {}
        self._given_up: set[tuple[str, str]] = set()
        self._same: set[Pair] = set()
        self._asked: set[Pair] = set()

    # What stands

    @property
    def is_settled(self) -> bool:
        """Say whether every subgoal, but for provisional ones, is settled, and every variable of the answer bound."""
        counted = range(self._roots if self.is_provisional else len(self.atoms))
        return all(map(self.has_settled, counted)) and all(
            name in self.substitution for name in self.plan.answer_variables
        )

    @property
    def is_refuted(self) -> bool:
        """Say whether facts deny every subgoal that has an answer variable (closed question: every open subgoal)."""
        wanted = self.plan.having(self.plan.answer_variables) or self.open_roots()
        return bool(wanted) and all(self.denials.is_final(number) for number in wanted)

    @property
    def is_dead(self) -> bool:
        """Say whether facts deny a subgoal of the plan, so that the plan cannot succeed."""
        return any(self.denials.is_final(number) for number in self.open_roots())

    @property
    def groundings(self) -> tuple[Grounded, ...]:
        """The groundings behind the plan's substitution: those of its subgoals and of antecedents that agree."""
        bound = self.substitution.bindings
        kept = [item for item in self._grounded if self._rests_on(item, bound)]
        used = [item for item in self._antecedents if self.has_settled(self._root_of(item.subgoal))]
        return (*kept, *(item for item in used if all(bound.get(n) == v for n, v in item.bindings.items())))

    @property
    def contradicted(self) -> tuple[Contradicted, ...]:
        """The subgoals of a closed question that facts say are false."""
        return tuple(self._contradicted.values())

    @property
    def perhaps(self) -> Bindings:
        """The provisional bindings, which only antecedents have given so far."""
        found = {name: values for item in self._antecedents for name, values in item.bindings.items()}
        return {name: values for name, values in found.items() if name not in self.substitution}

    @property
    def judged(self) -> frozenset[Pair]:
        """The pairs of constants that the model judged to be the same."""
        return frozenset(self._same)

    @property
    def starred(self) -> frozenset[str]:
        """The variables that may have several values."""
        return starred_in(self.atoms)

    def has_subgoal(self, number: int) -> bool:
        """Say whether the subgoal exists and was not dropped."""
        return 0 <= number < len(self.atoms) and number not in self._dropped

    def has_settled(self, number: int) -> bool:
        """Say whether a subgoal is grounded, or contradicted in a closed question."""
        return number in self._contradicted or bool(self.settling(number))

    def settling(self, number: int) -> list[Grounded]:
        """Return what grounds a subgoal."""
        return [item for item in (*self._grounded, *self._antecedents) if item.subgoal == number]

    def lost_in(self, number: int) -> dict[str, dict[str, list[int]]]:
        """Return the list values of this subgoal that other subgoals lack, as variable -> value -> those subgoals."""
        lost: dict[str, dict[str, list[int]]] = {}
        bench = self._bench({})
        for item in self.settling(number):
            for name in item.bindings.keys() & self.starred:
                others = {n: self.values_of(name, n) for n in self.grounded_with(name) if n != number}
                bound = self.substitution.bindings.get(name, ())
                for value in item.bindings[name]:
                    if any(are_same(value, other, bench) for other in bound):
                        continue
                    if lacking := [n for n, found in others.items() if not shares([value], found)]:
                        lost.setdefault(name, {})[value] = lacking
        return lost

    def values_of(self, name: str, number: int) -> tuple[str, ...]:
        """Return the distinct values that a subgoal's groundings bind a variable to."""
        found = (value for item in self.settling(number) for value in item.bindings.get(name, ()))
        return tuple({normalise(value): value for value in found}.values())

    def open_roots(self) -> list[int]:
        """Return the plan's own subgoals that are not settled."""
        return [number for number in range(self._roots) if not self.has_settled(number)]

    def open_numbers(self) -> list[int]:
        """Return all open subgoals. A provisional antecedent is open until it is dropped or what it serves settles."""
        return [number for number in range(len(self.atoms)) if self._is_open(number)]

    def _is_open(self, number: int) -> bool:
        served = self._serves.get(number)
        is_there = number not in self._dropped and not self.has_settled(number)
        return is_there and (served is None or not self.is_provisional or self._is_open(served))

    def active_numbers(self) -> list[int]:
        """Return the subgoals to ask about: the open ones, and the lists that were retrieved for again."""
        return sorted({*self.open_numbers(), *self.looked_again})

    def applied(self, number: int) -> Atom:
        """Return a subgoal with the known values put in. A variable with several values stays as it is."""
        bound = {name: values for name, values in self.substitution.bindings.items() if name not in self.starred}
        return Substitution(bound).apply(self.atoms[number])

    @property
    def antecedents(self) -> tuple[Atom, ...]:
        """The statements that were added to the plan's own subgoals."""
        return tuple(self.atoms[self._roots :])

    def in_view(self) -> list[int]:
        """Return the subgoals that the next round shows: the plan's, and the antecedents that were not dropped."""
        return [*range(self._roots), *(n for n in self._serves if n not in self._dropped)]

    def grounded_with(self, name: str) -> list[int]:
        """Return the plan's grounded subgoals that bind a variable."""
        return sorted({item.subgoal for item in self._grounded if name in item.bindings})

    def serves(self, number: int) -> int | None:
        """Return the subgoal that an antecedent serves, or None for one of the plan's own."""
        return self._serves.get(number)

    # What a reply changes

    def take(self, reply: Proposed, facts: Mapping[str, Fact], step: Step) -> Step:
        """Judge a reply's claims, keep those that hold, and return the step with what happened to each."""
        if reply.plan is not None and reply.plan != self.plan:  # its answer is another, over the same subgoals
            self.plan = reply.plan
            self._several |= starred_in(reply.plan.subgoals)
            self.atoms = [atom.starring(self._several) for atom in self.atoms]
        self._same |= reply.same
        self._asked |= {as_pair(*pair) for pair in self.undecided}
        starred = self._star(reply.several)
        found = sort_claims(reply, facts, self)
        self._suggested |= found.suggested
        claims = found.kept
        certain = [claim for claim in claims if not self.is_provisional or claim.subgoal < self._roots]
        first, released = self._judge_all([claim for claim in certain if not claim.is_instead], facts)
        taken = [first]
        for claim in certain:
            if claim.is_instead:
                ruling, lost = self._replaced(claim, facts)
                taken.append(ruling)
                released += lost
        rulings = [*taken, *self._rule_on_antecedents([claim for claim in claims if claim not in certain], facts)]
        self._promote()
        dropped = self._drop()
        self.incomplete = tuple(dict.fromkeys(fact for n, fact in found.incomplete if not self.has_settled(n)))
        pairs = {as_pair(*pair): pair for ruling in rulings for pair in ruling.undecided}
        self.undecided = tuple(pair for key, pair in pairs.items() if key not in self._asked)
        self.rejected = (*found.refused, *released, *(entry for ruling in rulings for entry in ruling.rejected))
        judged = self.denials.take(found.denied, {number: self.atoms[number] for number in self.open_roots()}, facts)
        return replace(
            step,
            grounded=tuple(item for ruling in rulings for item in ruling.grounded),
            rejected=self.rejected,
            contradicted=tuple(item for ruling in taken for item in ruling.contradicted),
            denied=(*step.denied, *judged),
            several=starred,
            dropped=dropped,
            provisional=self.perhaps,
        )

    def add(self, wishes: Iterable[Wish]) -> tuple[Refined, ...]:
        """Add the antecedents that a reply asks for, each under the next number, and return the new ones."""
        known = {normalise(atom.phrase) for atom in self.atoms}
        added = []
        for wish in wishes:
            is_full = self._most is not None and len(self._serves) >= self._most
            if wish.need is None or is_full or normalise(wish.need.phrase) in known:
                continue
            if self.has_settled(wish.subgoal) or self.denials.is_final(wish.subgoal):
                continue
            number = len(self.atoms)
            known.add(normalise(wish.need.phrase))
            self.atoms.append(wish.need.starring(self._several))
            self._serves[number] = wish.subgoal
            if self.is_provisional:
                self._waiting.add(number)
            query = wish.queries[0] if wish.queries else wish.need.phrase
            added.append(Refined(wish.subgoal, str(wish.need), query, wish.relation))
        return tuple(added)

    # How claims are judged

    def _ruled(self, claims: Sequence[Claim], bench: Bench) -> Ruling:
        ruling = rule(claims, bench)
        return replace(ruling, grounded=tuple(_marked(item, self._suggested) for item in ruling.grounded))

    def _judge_all(self, claims: Sequence[Claim], facts: Mapping[str, Fact]) -> tuple[Ruling, list[Rejected]]:
        """Rule on claims for the plan's own subgoals.

        A value that grounded only some subgoals with its variable gives way to a value that grounds all of them.
        """
        for name, values in self.substitution.bindings.items() if self._own_checks else ():
            others = self._joint_alternative(name, values, claims)
            if others is None:
                continue
            lost = [item for item in self._grounded if name in item.bindings]
            ruling = self._ruled(claims, self._bench(facts, without=lost))
            if others <= {item.subgoal for item in ruling.grounded if name in item.bindings}:
                self._keep(ruling, without=lost)
                return ruling, [self._gave_way(item, name, ruling) for item in lost]
        ruling = self._ruled(claims, self._bench(facts))
        self._keep(ruling)
        return ruling, []

    def _joint_alternative(self, name: str, values: tuple[str, ...], claims: Sequence[Claim]) -> frozenset[int] | None:
        """Return the subgoals with the variable, if some are open and one other value is claimed for all of them."""
        places = {n for n in range(self._roots) if any(v.name == name for v in self.atoms[n].variables)}
        if name in self.starred or all(map(self.has_settled, places)):
            return None
        said = {(claim.subgoal, normalise(claim.bindings[name][0])) for claim in claims if claim.bindings.get(name)}
        others = {value for _, value in said} - {normalise(values[0])} - {v for n, v in self._given_up if n == name}
        return frozenset(places) if any(places <= {n for n, v in said if v == other} for other in others) else None

    def _gave_way(self, item: Grounded, name: str, ruling: Ruling) -> Rejected:
        self._given_up |= pairs_of({name: item.bindings[name]})
        value = ", ".join(ruling.substitution.bindings[name])
        return Rejected(
            item.subgoal, item.facts, f"given up: {name} = {value} settles what it left open", item.bindings
        )

    def _replaced(self, claim: Claim, facts: Mapping[str, Fact]) -> tuple[Ruling, list[Rejected]]:
        """Rule on a claim that wants to replace a settled value."""
        known: list[Grounded | Contradicted] = [*self._grounded, *self._contradicted.values()]
        lost = replaced_by(claim, known, self.starred, facts, self._given_up)
        if isinstance(lost, str):
            return Ruling(rejected=(claim.refused(lost),), substitution=self.substitution), []
        ruling = self._ruled([claim], self._bench(facts, without=lost))
        if not ruling.grounded and not ruling.contradicted:
            return ruling, []
        ruling = replace(ruling, grounded=tuple(superseding(item, lost) for item in ruling.grounded))
        before = {pair for item in lost if isinstance(item, Grounded) for pair in pairs_of(item.bindings)}
        self._given_up |= {pair for pair in before if pair[0] in claim.bindings} - pairs_of(claim.bindings)
        self._keep(ruling, without=lost)
        return ruling, [superseded(item, claim) for item in lost]

    def _rule_on_antecedents(self, claims: Sequence[Claim], facts: Mapping[str, Fact]) -> list[Ruling]:
        """Rule on claims for antecedents, each by itself: their bindings are checked only against known values."""
        rulings = []
        for number in sorted({claim.subgoal for claim in claims}):
            own = [claim for claim in claims if claim.subgoal == number]
            ruling = self._ruled(own, self._bench(facts, without=self._grounded, keep=self.substitution))
            self._antecedents += ruling.grounded
            rulings.append(ruling)
        return rulings

    def _keep(self, ruling: Ruling, without: Iterable[Grounded | Contradicted] = ()) -> None:
        """Keep what a ruling accepted, and remove what it replaces (`without`)."""
        lost = list(without)
        self._grounded = [item for item in self._grounded if item not in lost] + list(ruling.grounded)
        proved = {item.subgoal for item in ruling.grounded}
        denied = self._contradicted.items()
        self._contradicted = {n: item for n, item in denied if item not in lost and n not in proved}
        for item in ruling.contradicted:
            self._contradicted.setdefault(item.subgoal, item)
        self.substitution = ruling.substitution
        for number in proved:
            self.denials.pop(number, None)

    def _promote(self) -> None:
        """Make an antecedent's bindings certain once the plan's subgoal that it serves, directly or not, is settled."""
        bound = dict(self.substitution.bindings)
        for item in self._antecedents:
            if self.has_settled(self._root_of(item.subgoal)):
                for name, values in item.bindings.items():
                    bound.setdefault(name, values)
        self.substitution = Substitution(bound, self.starred & bound.keys())

    def _drop(self) -> tuple[int, ...]:
        """Drop the antecedents that were added before this reply and that it did not prove."""
        dropped = tuple(sorted(n for n in self._waiting if not self.has_settled(n)))
        self._dropped |= set(dropped)
        self._waiting = set()
        return dropped

    def _star(self, names: Iterable[str]) -> tuple[str, ...]:
        """Let the named variables have several values, if their types and statements allow it. Return the new ones."""
        roots = [(atom, variable) for atom in self.atoms for variable in atom.variables]
        single = {variable.name for atom, variable in roots if has_one_value(atom, variable)}
        known = {variable.name for _, variable in roots}
        fresh = tuple(sorted((set(names) & known) - single - self.starred))
        self._several |= set(fresh)
        self.atoms = [atom.starring(self._several) for atom in self.atoms]
        return fresh

    def _bench(
        self,
        facts: Mapping[str, Fact],
        without: Iterable[Grounded | Contradicted] = (),
        keep: Substitution | None = None,
    ) -> Bench:
        """Return what claims are judged against, as if the groundings in `without` had not been accepted."""
        lost = list(without)
        earlier = [item for item in self._grounded if item not in lost]
        held = {name for item in earlier for name in item.bindings}
        bound = {name: values for name, values in self.substitution.bindings.items() if name in held or not lost}
        return Bench(
            question=self._question.text,
            subgoals=tuple(self.atoms),
            facts=facts,
            substitution=keep or Substitution(bound, self.starred & bound.keys()),
            earlier=tuple(earlier),
            people=speakers(facts.values()),
            same=frozenset(self._same),
            asker=self._question.asker,
            is_closed=self.plan.is_closed,
            is_current=self.plan.is_current and self._own_checks,
            is_strict=self.is_strict,
            is_unchecked=self._is_unchecked,
            own_checks=self._own_checks,
        )

    def _rests_on(self, item: Grounded, bound: Bindings) -> bool:
        return all(shares(v, bound.get(n, ())) for n, v in item.bindings.items() if n in self.starred)

    def _root_of(self, number: int) -> int:
        while number in self._serves:
            number = self._serves[number]
        return number


SUGGESTED = "likely: the facts suggest it and do not say it"
"""The note on a grounding that facts only suggest."""
LIKELY = "likely "
"""The beginning of an answer that facts only suggest."""

Cited = tuple[int, tuple[str, ...]]
"""A subgoal and the facts that a claim cites for it."""


@dataclass(slots=True)
class Sorted:
    """The claims to be judged (`kept`), those refused at once, and those that deny their subgoal.

    `suggested` maps each claim that is only likely to its reason. `incomplete` lists subgoals with facts that are about
    them but leave out the detail that is asked for.
    """

    kept: list[Claim] = field(default_factory=list)
    refused: list[Rejected] = field(default_factory=list)
    denied: list[Claim] = field(default_factory=list)
    suggested: dict[Cited, str] = field(default_factory=dict)
    incomplete: list[tuple[int, str]] = field(default_factory=list)


def sort_claims(reply: Proposed, facts: Iterable[str], state: ProofState) -> Sorted:
    """Return a reply's claims sorted into those to judge, those to refuse and those that deny their subgoal.

    Claims that only repeat a settled value are left out. `facts` are the numbers of the facts in view.
    """
    found, in_view, is_conclusion = Sorted(), set(facts), state.plan.is_conclusion
    said = {claim.subgoal for claim in reply.claims if claim.verdict is Verdict.ENTAILED}
    for claim in reply.claims:
        cited, is_known = ", ".join(claim.facts), state.has_subgoal(claim.subgoal)
        atom = state.atoms[claim.subgoal] if is_known else None
        if atom is not None and in_view.issuperset(claim.facts) and _speaks_against(claim, state):
            found.denied.append(claim)
        elif claim.verdict is Verdict.INCOMPLETE:
            found.refused.append(claim.refused(f"{cited} leaves out what is asked for"))
            found.incomplete += [(claim.subgoal, each) for each in claim.facts if is_known and each in in_view]
        elif claim.verdict is Verdict.SUGGESTED and not (atom is not None and _may_be_likely(atom, reply, state)):
            found.refused.append(claim.refused(f"{cited} only suggests it: not enough by itself"))
        elif atom is None:
            found.refused.append(claim.refused("there is no such subgoal"))
        elif claim.verdict is Verdict.SUGGESTED and claim.subgoal in said and not is_conclusion:
            found.refused.append(claim.refused(f"{cited} only suggests it, and another fact says what it is"))
        elif not _says_again(claim, state):
            found.kept.append(claim)
            if claim.verdict is Verdict.SUGGESTED:
                found.suggested[claim.subgoal, claim.facts] = claim.why
    return found


def _speaks_against(claim: Claim, state: ProofState) -> bool:
    """Say whether a claim denies its subgoal. In a closed question a contradiction settles a plan's subgoal instead."""
    is_verdict = state.plan.is_closed and claim.subgoal < len(state.plan.subgoals)
    denies = claim.verdict is Verdict.OF_ANOTHER or (claim.verdict is Verdict.CONTRADICTED and not is_verdict)
    return denies and state.is_provisional


def _may_be_likely(atom: Atom, reply: Proposed, state: ProofState) -> bool:
    """Say whether a mere suggestion counts for a subgoal; never if claims are judged strictly.

    It does if the question asks for a conclusion, or if the subgoal asks for a favourite, the best or the most and the
    reply retrieves nothing more.
    """
    words = " ".join(part if isinstance(part, str) else part.type for part in atom.parts)
    is_last = reply.status is not ReplyStatus.LOOK and asks_for_ranking(words)
    return not state.is_strict and (state.plan.is_conclusion or is_last)


def _says_again(claim: Claim, state: ProofState) -> bool:
    """Say whether a claim only repeats a settled value."""
    number, bindings = claim.subgoal, claim.bindings
    if claim.is_contradiction:
        return any(item.subgoal == number for item in state.contradicted)
    items = state.settling(number)
    if state.plan.is_computed:  # one value may stand for two things, told by other facts or beside another date
        return any(set(claim.facts) <= set(i.facts) and i.bindings == bindings for i in items)
    return bool(items) and pairs_of(bindings) <= {pair for item in items for pair in pairs_of(item.bindings)}


def _marked(item: Grounded, suggested: Mapping[Cited, str]) -> Grounded:
    """Return a grounding that the facts only suggest marked as likely, with the reason; any other as it is."""
    why = suggested.get((item.subgoal, item.facts))
    if why is None:
        return item
    return replace(
        item,
        support=dict.fromkeys(item.bindings, Support.SUGGESTED),
        notes=(*item.notes, SUGGESTED, *([why] if why else [])),
    )


def as_likely(answer: str, groundings: Iterable[Grounded]) -> str:
    """Return the answer, preceded by "likely" if a grounding is only suggested."""
    is_suggested = any(SUGGESTED in item.notes for item in groundings)
    return f"{LIKELY}{answer}" if is_suggested and not answer.startswith(LIKELY) else answer


class Denials(dict[int, Denied]):
    """The latest denial of each subgoal, by number: facts contradict it, or say it of another, or only as a plan.

    One such verdict is only the model's opinion. It becomes final when a further look finds nothing new, or the next
    reply repeats it. It is final at once if another person says it and the named person's own statement is in view.
    """

    def is_final(self, number: int) -> bool:
        """Say whether the denial of a subgoal is final."""
        return number in self and self[number].is_final

    def why(self, number: int) -> str:
        """Return in words what denies a subgoal, or an empty text."""
        return self[number].why if number in self else ""

    def take(self, claims: Sequence[Claim], atoms: Mapping[int, Atom], facts: Mapping[str, Fact]) -> tuple[Denied, ...]:
        """Record a reply's denials of open subgoals (`atoms` by number), and return them.

        A denial is final if an earlier reply had one for this subgoal, or if the facts in view make it clear.
        """
        earlier = set(self)
        told = [claim for claim in claims if claim.subgoal in atoms]
        for claim in told:
            number = claim.subgoal
            why = _reason(claim, atoms[number], facts)
            is_final = number in earlier or _is_clear(claim, atoms[number], facts)
            self[number] = Denied(number, claim.facts, claim.verdict, why, is_final)
        return tuple(self[number] for number in dict.fromkeys(claim.subgoal for claim in told))

    def confirm(self, numbers: Iterable[int]) -> tuple[Denied, ...]:
        """Make the denials of these subgoals final, because a look found nothing new. Return those that changed."""
        confirmed = {n: replace(self[n], is_final=True) for n in numbers if n in self and not self[n].is_final}
        self.update(confirmed)
        return tuple(confirmed.values())


def _is_clear(claim: Claim, atom: Atom, facts: Mapping[str, Fact]) -> bool:
    """Say whether a further look would find nothing.

    That is so if another person says it, and one statement of the named person has every name and thing of the subgoal.
    """
    people = speakers(facts.values())
    named = [person for person in people if name_stems(person) & content_stems(atom.phrase)]
    stems = [content_stems(constant.value) for constant in atom.constants]
    things = frozenset[str]().union(*stems).difference(*map(content_stems, named))
    is_anothers = claim.verdict is Verdict.OF_ANOTHER and all(facts[each].speaker not in named for each in claim.facts)
    own = [fact.text for fact in facts.values() if fact.speaker in named and "?" not in fact.text]
    return is_anothers and bool(named) and bool(things) and any(things <= content_stems(text) for text in own)


def _reason(claim: Claim, atom: Atom, facts: Mapping[str, Fact]) -> str:
    """Return what denies a subgoal, with the fact: ``F1 says it of Audrey``."""
    cited = ", ".join(claim.facts)
    if claim.verdict is Verdict.CONTRADICTED:
        return f"{cited} says otherwise"
    named, people = content_words(str(atom)), speakers(facts.values())
    others = [person for person in sorted(people) if not name_words(person) & named]
    told = [facts[number] for number in claim.facts]
    mentioned = [person for person in others if any(name_words(person) & content_words(fact.text) for fact in told)]
    telling = [fact.speaker for fact in told if fact.speaker in others]
    addressed = [person for fact in told if (person := told_as_you(fact)) in others]
    if whom := (mentioned or telling or addressed):
        return f"{cited} says it of {whom[0]}"
    return f"{cited} says it of something else, or only as a plan or wish"
