"""The content security policy of pages that goalmem writes: they may show themselves and nothing else."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256


def source(text: str) -> str:
    """Return the Content-Security-Policy source that allows exactly this style or script."""
    digest = b64encode(sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
