"""A report as one HTML file that needs nothing else: tables, charts, and a browser of questions with their traces.

No text of a transcript or a model is read as markup: the template escapes it, and the script, which reads its data as
JSON, only sets text. The policy allows no requests and no other script.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from goalmem_cli.lab.evaluation.runs.run import Run
from goalmem_cli.lab.evaluation.summaries.summary import Summary
from goalmem_cli.lab.render.browsing import browsing
from goalmem_cli.lab.render.cells import Section
from goalmem_cli.lab.render.charts import WIDTH, charts_of
from goalmem_cli.lab.render.figures import sections
from goalmem_cli.records import encodable
from goalmem_cli.render.policy import source
from goalmem_cli.render.text import safe

_FILES = Path(__file__).with_name("page_files")
_TEMPLATE, _STYLE, _SCRIPT = "page.html.j2", "page.css", "page.js"


def page(
    summaries: Sequence[Summary], runs: Sequence[Run], beside: Callable[[list[Section]], list[Section]] = list
) -> str:
    """Return the HTML page of the runs, encodable as UTF-8; `summaries` and `runs` are in the same order.

    `beside` may add tables and notes to the sections.
    """
    environment = Environment(
        loader=FileSystemLoader(_FILES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}  # in their own order
    style, script = ((_FILES / name).read_text(encoding="utf-8") for name in (_STYLE, _SCRIPT))
    browser = browsing(summaries, runs)
    parts = beside(sections(summaries))
    members = [[each for each in summaries if each.manifest.dataset == part.dataset] for part in parts]
    text = environment.get_template(_TEMPLATE).render(
        policy=_policy(style, script),
        style=Markup(style),  # noqa: S704 - the package's own file
        script=Markup(script),  # noqa: S704 - the package's own file
        sections=list(zip(parts, map(charts_of, members), members, strict=True)),
        width=WIDTH,
        index=browser.index,
        facts=browser.facts,
        details=browser.details,
    )
    return encodable(text)


def _shown(value: object) -> object:
    """Return a value as the template writes it: text without characters that reorder or break a line."""
    return safe(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _policy(style: str, script: str) -> str:
    """Return the page's Content-Security-Policy: only this style and this script, and no requests."""
    rules = (
        "default-src 'none'",
        f"style-src {source(style)}",
        f"script-src {source(script)}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
    return "; ".join(rules)
