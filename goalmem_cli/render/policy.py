"""The content security policy of pages that goalmem writes: they may show themselves and nothing else."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape

from goalmem_cli.records import encodable


def source(text: str) -> str:
    """Return the Content-Security-Policy source that allows exactly this style or script."""
    digest = b64encode(sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def page(title: str, style: str, body: str) -> str:
    """Return a page, encodable as UTF-8, that loads and runs nothing; the title and the body are HTML already."""
    policy = f"default-src 'none'; style-src {source(style)}; base-uri 'none'; form-action 'none'"
    return encodable(
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )
