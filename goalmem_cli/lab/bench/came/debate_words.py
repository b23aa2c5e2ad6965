"""The tables of debates: motions, background facts, and the words for every event."""

from __future__ import annotations

from collections.abc import Mapping

from goalmem_cli.lab.bench.came.records import FOCUS, Form
from goalmem_cli.lab.bench.came.wording import (
    MULTI_HOP,
    RECALL,
    REVISION,
    SYNTHESIS,
    AskForm,
    Attribute,
    Slot,
    Words,
)

PRO, CON = "pro", "con"
SIDES = (PRO, CON)
INFORM = "supply background"
ARGUE, ATTACK, DEFEND = CITING = ("propose argument", "attack argument", "defend argument")
CONCEDE, CORRECT, WITHDRAW = "concede argument", "correct figure", "withdraw evidence"
ELABORATE, SUMMARISE = "elaborate", "summarise"

MOTIONS = (
    "closing town centres to cars", "a four-day school week", "making museums free", "a tax on flights",
    "lending out public land for gardens", "ending homework", "compulsory voting", "a ban on night deliveries",
    "paying carers a wage", "moving offices out of the capital", "lights off in shops at night",
    "selling school buildings",
)  # fmt: skip
SUBJECTS = (
    "shop owners", "pensioners", "students", "night workers", "young families", "small towns", "hospitals", "farmers",
    "tenants", "bus drivers", "teachers", "villages on the coast", "nurses", "newcomers",
)  # fmt: skip
CLAIMS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    PRO: {
        "cost": ("would pay less over a year", "would save on upkeep", "would get cheaper loans"),
        "health": ("would sleep better", "would see a doctor less often", "would walk more"),
        "safety": ("would have fewer accidents", "would feel safer after dark", "would get help sooner"),
        "fairness": ("would be treated alike", "would have a say at last", "would get what is due to them"),
        "jobs": ("would find work nearer home", "would be hired sooner", "would learn a second trade"),
    },
    CON: {
        "cost": ("would pay higher fees", "would lose steady income", "would carry the cost of the change"),
        "health": ("would be under more stress", "would miss regular meals", "would sit indoors longer"),
        "safety": ("would face new dangers", "would be left without guards", "would wait longer for help"),
        "fairness": ("would be left behind", "would carry more than their share", "would have no choice left"),
        "jobs": ("would lose their posts", "would work odd hours", "would earn less by the hour"),
    },
}
"""The claims that each side may make about a subject, by aspect."""

FIGURE = Attribute("Figure", "the figure", tuple(f"{share} percent" for share in range(11, 90)))
BACKGROUND = (
    Attribute("people", "the number of people concerned", tuple(f"{n} thousand people" for n in range(12, 95))),
    Attribute("budget", "the yearly budget", tuple(f"{n} million euros" for n in range(3, 89))),
    Attribute("towns", "the number of towns that have tried it", tuple(f"{n} towns" for n in range(4, 68))),
)

_CITED = ("Argument", "Evidence", "Figure")
WORDS = Words(
    roles=SIDES,
    slots={"": Slot((), "argument", "", "on {scope} in the {topic}", (FIGURE, *BACKGROUND))},
    types={
        INFORM: ("Background", "Figure"), CONCEDE: ("Argument",), ELABORATE: ("Argument",), WITHDRAW: ("Evidence",),
        CORRECT: ("Evidence", "Figure"), ARGUE: _CITED, ATTACK: _CITED, DEFEND: _CITED,
    },
    texts={
        FOCUS: ("",),
        INFORM: ("For orientation, {what} is {value}.", "To set the frame, we put {what} at {value}."),
        ARGUE: ("We hold that {claim}. {other} finds it for {value}.", "Consider that {claim}: {other} has {value}."),
        ATTACK: ("{target} does not hold: {other} has the reverse for {value}.", "{other} refutes {target}: {value}."),
        DEFEND: ("{target} stands: {other} has {value}.", "We keep to {target}, for {other} has {value}."),
        CONCEDE: ("We give up {target}, the objection was a fair one.", "Very well, we concede {target}."),
        CORRECT: ("On {target} I misread {other}: it says {value}.", "A correction on {target}: {other} has {value}."),
        WITHDRAW: ("On {target} I withdraw {other}.", "For {target} please disregard {other}, a small sample."),
        ELABORATE: ("[{whose} reason]. [appeal]",),
        SUMMARISE: ("That is our side of the matter here.", "With this we close, and leave the rest to the judges."),
    },
    pools={
        "our reason": (
            "{target} is not a matter of taste but of what people meet every day",
            "one need only ask in any street to hear what lies behind {target}",
            "it would be too easy to set {target} aside as a detail",
            "the other side has nothing to set against {target}",
        ),
        "your reason": (
            "{target} sounds well until one asks who would notice it",
            "one need only ask in any street to hear the doubts about {target}",
            "take {target} away and little of their case remains",
            "there is a long history to {target}, and it points the other way",
        ),
        "appeal": (
            "Those who would have to live with the outcome deserve an honest reckoning.",
            "I ask everybody in this room to think of somebody they know.",
            "The burden of showing otherwise lies across the table.",
            "We will come back to it as often as we have to.",
        ),
    },
    references={
        "target": {
            Form.NAME: ("{whose} argument that {name}",),
            Form.ORDINAL: ("{whose} {nth} argument", "{whose} {nth} point"),
            Form.PRONOUN: ("that argument", "this point", "that claim"),
        },
        "other": {
            Form.NAME: ("{name}",),
            Form.ORDINAL: ("the {nth} study that I cited there",),
            Form.PRONOUN: ("that study", "this source", "the study just cited"),
        },
    },
    questions={
        "standing arguments": AskForm(REVISION, (ARGUE, CONCEDE),
            "Which of {owner}'s arguments {where} stand at the end, those conceded left out?"),
        "corrected figure": AskForm(REVISION, (CORRECT,),
            "Which figure does {owner} give from {target} {where}, after what was corrected?"),
        "withdrawn evidence": AskForm(REVISION, (WITHDRAW,), "Which evidence does {owner} withdraw {where}?"),
        "evidence kept": AskForm(REVISION, (*CITING, WITHDRAW),
            "Which evidence does {owner} rely on at the end {where}, apart from what was withdrawn?", ("Evidence",)),
        "figure": AskForm(RECALL, CITING,
            "Which figure does {owner} give from {target} {where}?", ("Evidence", "Figure")),
        "background": AskForm(RECALL, (INFORM,), "What is {what} that {owner} gives as background {where}?"),
        "evidence against the nth": AskForm(MULTI_HOP, (ARGUE, ATTACK),
            "Which evidence is cited against {owner}'s {nth} argument {where}?", _CITED[:2]),
        "figure in defence of the nth": AskForm(MULTI_HOP, (ARGUE, DEFEND),
            "Which figure is given in defence of {owner}'s {nth} argument {where}?"),
        "evidence against evidence": AskForm(MULTI_HOP, (ARGUE, ATTACK),
            "Which evidence is cited against the argument that {owner} based on {target} {where}?", _CITED[:2]),
        "evidence of all attacks": AskForm(SYNTHESIS, (ATTACK,),
            "Which evidence is cited against {owner}'s arguments in the {topic}, under any aspect?",
            ("Evidence",)),
        "all concessions": AskForm(SYNTHESIS, (CONCEDE,),
            "Which arguments are conceded in the {topic}, by either side and under any aspect?"),
    },
    is_cited=True,
)  # fmt: skip
