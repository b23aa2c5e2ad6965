"""Export a run's answers as files for LongMemEval's own scorer."""

from __future__ import annotations

import json
import re
from pathlib import Path

from goalmem_cli.lab.evaluation.metrics.refusal import prediction
from goalmem_cli.lab.evaluation.runs.folder import HINT
from goalmem_cli.lab.evaluation.runs.run import Answered, Run
from goalmem_cli.records import encodable
from goalmem_cli.store.files import replace_file

FORMAT = "longmemeval"

_NOT_FOR_NAMES = re.compile(r"[^\w-]")


def write_hypotheses(run: Run, folder: Path) -> list[Path]:
    """Write a file for each reasoner and backbone with answers, and return the files; none for other datasets.

    A line is a JSON object with `question_id` and `hypothesis`, in the order of the run's cases; a refused question's
    hypothesis says so. The scorer ignores questions without a line, so an unfinished run is scored on what it has.

    Raises:
        StoreError: a file cannot be written.
    """
    if run.manifest.format != FORMAT:
        return []
    places = {placed.case.id: placed.place for placed in run.cases}
    rows: dict[tuple[str, str], list[Answered]] = {}
    for answered in sorted(run.answered, key=lambda answered: places[answered.case]):
        rows.setdefault((answered.reasoner, answered.backbone), []).append(answered)
    files = []
    for (reasoner, backbone), answers in sorted(rows.items()):
        file = folder / f"hypotheses.{_as_name(reasoner)}.{_as_name(backbone)}.jsonl"
        replace_file(file, "".join(map(_line, answers)).encode("ascii"), hint=HINT)
        files.append(file)
    return files


def _line(answered: Answered) -> str:
    """Return the answer's line in ASCII, because the scorer opens the file in the system's encoding."""
    entry = {"question_id": answered.case, "hypothesis": encodable(prediction(answered.trace))}
    return json.dumps(entry) + "\n"


def _as_name(text: str) -> str:
    """Return the text as part of a file name; names in a foreign run may be anything."""
    return _NOT_FOR_NAMES.sub("_", text)
