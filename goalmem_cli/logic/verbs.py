"""English verbs whose forms no ending tells: "broke" and "broken" are of "break"."""

from __future__ import annotations

from collections.abc import Mapping

_VERBS = """
arise arose arisen, awake awoke awoken, beat beaten, become became, begin began begun, bend bent, bite bitten, bleed
bled, blow blew blown, break broke broken, breed bred, bring brought, build built, buy bought, catch caught, choose
chose chosen, cling clung, come came, creep crept, deal dealt, dig dug, draw drew drawn, dream dreamt, drink drank
drunk, drive drove driven, eat ate eaten, fall fell fallen, feed fed, feel felt, fight fought, find found, flee
fled, fly flew flown, forbid forbade forbidden, forget forgot forgotten, forgive forgave forgiven, freeze froze
frozen, get got gotten, give gave given, go goes going gone went, grow grew grown, hang hung, have has had, hear
heard, hide hid hidden, hold held, keep kept, kneel knelt, know knew known, lay laid, lead led, lean leant, leap
leapt, learn learnt, leave left, lend lent, lie lain, light lit, lose lost, make made, mean meant, meet met, mistake
mistook mistaken, overcome overcame, pay paid, prove proven, ride rode ridden, ring rang rung, rise risen, run ran,
say said, see saw seen, seek sought, sell sold, send sent, sew sewn, shake shook shaken, shine shone, shoot shot,
show shown, shrink shrank shrunk, sing sang sung, sink sank sunk, sit sat, sleep slept, slide slid, sow sown, speak
spoke spoken, spend spent, spin spun, spoil spoilt, stand stood, steal stole stolen, stick stuck, sting stung,
strike struck, swear swore sworn, sweep swept, swell swollen, swim swam swum, swing swung, take took taken, teach
taught, tear tore torn, tell told, think thought, throw threw thrown, understand understood, undo undone undid, wake
woke woken, wear wore worn, weave wove woven, weep wept, win won, withdraw withdrew withdrawn, write wrote written
"""
"""A verb, then its irregular forms. Left out are forms that are mostly another word: rose, lay, ground, wound."""

BASES: Mapping[str, str] = {
    form: base for base, *forms in (verb.split() for verb in _VERBS.split(",")) for form in forms
}
"""By irregular form, the verb."""
