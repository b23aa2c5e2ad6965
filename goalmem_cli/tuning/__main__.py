"""``python -m goalmem_cli.tuning``: trains, checks and describes the adapter of the bundled model."""

from __future__ import annotations

import sys

from goalmem_cli.tuning.commands import main

if __name__ == "__main__":
    sys.exit(main())
