"""`tiser`: retrieve once, then answer after writing and checking a timeline (REMem section 4.2, TISER)."""

from __future__ import annotations

from goalmem_cli.reasoners.direct import Direct

NAME = "tiser"
TISER = "tiser"
STEPS = (TISER,)


class Tiser(Direct):
    """Shows the model the same facts as `direct`, and lets it write a timeline before it answers.

    One call: the reply has the timeline, the check and the answer.
    """

    name, step = NAME, TISER
