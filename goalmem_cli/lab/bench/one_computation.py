"""The program that `measure_rows` runs: `python -m goalmem_cli.lab.bench.one_computation WHAT SIZE FILE`."""

from __future__ import annotations

import sys
from pathlib import Path

from goalmem_cli.lab.bench.structures import compute

if __name__ == "__main__":
    Path(sys.argv[3]).write_text(str(compute(sys.argv[1], int(sys.argv[2]))), "utf-8")
