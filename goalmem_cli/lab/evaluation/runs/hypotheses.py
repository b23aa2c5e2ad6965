"""A run's answers as the files that LongMemEval's own scorer reads."""

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
    """Write a file for each reasoner and backbone that answered, and return the files; none for another dataset.

    A line is a JSON object with the `question_id` and the `hypothesis`, in the order of the run's cases; a refused
    question's hypothesis says so. The scorer leaves questions without a line out of its means: a run that is not
    finished is scored on what it has.

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
    """Return the answer's line, all in ASCII: the scorer opens the file in whatever encoding the system prefers."""
    entry = {"question_id": answered.case, "hypothesis": encodable(prediction(answered.trace))}
    return json.dumps(entry) + "\n"


def _as_name(text: str) -> str:
    """Return the text as part of a file's name: a run from elsewhere may call a row anything."""
    return _NOT_FOR_NAMES.sub("_", text)
