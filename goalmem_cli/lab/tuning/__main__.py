"""``python -m goalmem_cli.lab.tuning``: train, check and describe the adapter of the bundled model."""

from __future__ import annotations

import sys

from goalmem_cli.lab.tuning.commands import main

if __name__ == "__main__":
    sys.exit(main())
