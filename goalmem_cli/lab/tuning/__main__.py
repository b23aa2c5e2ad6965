"""``python -m goalmem_cli.lab.tuning``: trains, checks and describes the adapter of the bundled model."""

from __future__ import annotations

import sys

from goalmem_cli.lab.tuning.commands import main

if __name__ == "__main__":
    sys.exit(main())
