"""What the pages written by goalmem may do in a browser: show themselves, and nothing else."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256


def source(text: str) -> str:
    """Return what names this style or script, and no other, in a Content-Security-Policy."""
    digest = b64encode(sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
