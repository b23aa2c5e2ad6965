"""The program that `compare_processes` runs per question: `python -m goalmem_cli.lab.bench.one_process JOB`."""

from __future__ import annotations

import sys
from pathlib import Path

from goalmem_cli.lab.bench.calls import do_job

if __name__ == "__main__":
    do_job(Path(sys.argv[1]))
