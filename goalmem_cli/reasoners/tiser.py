"""`tiser`: retrieve once, then answer after writing and checking a timeline (REMem section 4.2, TISER).

`full-context-tiser` does the same with as much of the transcript as fits (REMem, Table 13).
"""

from __future__ import annotations

from goalmem_cli.reasoners.direct import Direct
from goalmem_cli.reasoners.full_context import FullContext

NAME, WHOLE = "tiser", "full-context-tiser"
TISER = "tiser"
STEPS = (TISER,)


class Tiser(Direct):
    """Shows the model the same facts as `direct`, and lets it write a timeline before it answers.

    One call: the reply has the timeline, the check and the answer.
    """

    name, step = NAME, TISER


class TiserFullContext(FullContext):
    """Shows the model what `full-context` does, and lets it write a timeline before it answers. One call."""

    name, step = WHOLE, TISER
