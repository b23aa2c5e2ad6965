"""How the package is built: each library known in one folder, no long files. What commands load: test_startup.py."""

import ast
import gc
import re
from collections import Counter
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import pytest

from goalmem_cli.transcripts.readers.layouts import LAYOUTS
from tests.conftest import CHECKOUT

ROOMS_OF = {
    "duckdb": {"store"}, "tantivy": {"store"}, "llama_cpp": {"models"}, "sentence_transformers": {"models"},
    "tokenizers": {"models"}, "safetensors": {"models"}, "httpx2": {"models"}, "tenacity": {"models"},
    "typer": {"main.py", "cli", "lab/cli"}, "rich": {"render", "lab/render"}, "mcp": {"cli"}, "mcp_types": {"cli"},
    "babel": {"logic"}, "fasttext": {"languages"}, "pymilvus": {"milvus"}, "milvus_lite": {"milvus"},
}  # fmt: skip


@pytest.mark.parametrize(("library", "rooms"), ROOMS_OF.items())
def test_each_library_is_known_in_one_room(library: str, rooms: set[str]) -> None:
    """A library's name stands in the imports of one folder only, and of the laboratory's folder of the same name."""
    imports = re.compile(rf"^\s*(?:import|from) {library}\b", re.MULTILINE)
    package = CHECKOUT / "goalmem_cli"
    users = {path.relative_to(package) for path in package.rglob("*.py") if imports.search(path.read_text("utf-8"))}
    assert {"/".join(path.parts[: 1 + (path.parts[0] == "lab")]) for path in users} == rooms


def test_files_and_functions_stay_small() -> None:
    """No file of the package is over 600 lines: one idea may take so many, and none is cut where it goes on."""
    long = {
        str(path): count
        for path in (CHECKOUT / "goalmem_cli").rglob("*.py")
        if (count := len(path.read_text("utf-8").splitlines())) > 600
    }
    assert not long


MOST_MODULES = 20
ROOMS_OF_LIKE_THINGS = {
    "cli": "one module a command",
    "lab/cli": "likewise",
    "transcripts/readers": "one module a format",
}


@pytest.mark.parametrize("page", sorted((CHECKOUT / "goalmem_cli" / "guide").glob("*.md")), ids=lambda page: page.stem)
def test_a_page_of_the_manual_is_short(page: Path) -> None:
    """At most 120 lines of 100 characters; only the list of settings and the generated list of tables are longer."""
    if page.stem not in ("parameters", "tables"):
        lines = page.read_text("utf-8").splitlines()
        assert len(lines) <= 120
        assert [line for line in lines if len(line) > 100] == []


def test_a_table_has_at_most_three_columns() -> None:
    """In the manual and the README files; only the model card, which training writes, has wider ones."""
    pages = {*(CHECKOUT / "goalmem_cli").rglob("*.md"), *CHECKOUT.glob("*.md")}
    pages.remove(CHECKOUT / "goalmem_cli" / "models" / "adapter" / "README.md")
    below = re.compile(r"^\|(?:[ :-]+\|){4,}$", re.MULTILINE)  # the line below a header of four columns or more
    assert [str(page) for page in pages if below.search(page.read_text("utf-8"))] == []


def test_no_folder_has_more_than_twenty_modules() -> None:
    """What has more gets rooms inside; only a room of like things may be longer."""
    package = CHECKOUT / "goalmem_cli"
    crowded = {
        str(folder.relative_to(package))
        for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]
        if len([path for path in folder.glob("*.py") if path.name != "__init__.py"]) > MOST_MODULES
    }
    assert crowded <= set(ROOMS_OF_LIKE_THINGS)


def test_each_folder_says_what_it_is_for() -> None:
    """The first line of a package is a sentence."""
    silent = [
        path
        for path in (CHECKOUT / "goalmem_cli").rglob("__init__.py")
        if not re.match(r'"""[^"\n]+[.:]', path.read_text("utf-8"))
    ]
    assert not silent


NEW_FORMATS = (
    "facebook", "telegram_html", "discord", "gemini", "gemini_cli", "imessage", "google_chat", "cursor", "opencode",
    "teams", "mail", "line", "kakaotalk", "table", "names", "facebook_html", "discord_package", "signal_jsonl",
    "sms_backup", "vscode_copilot", "imessage_html", "x_archive", "irc", "matrix", "viber", "wechat_qq",
)  # fmt: skip
WITHOUT_ONE_EXPORTER = {"mail", "table", "names"}  # what no one program writes
MOST_LINES = {"mail": 360, "telegram_html": 230}
"""The formats that need more than 210 lines, with all that only they need."""
FORMATS_OF_ONE_IDEA = (
    "copied", "discord_package", "facebook_html", "imessage_html", "irc", "marked", "matrix", "signal_jsonl",
    "sms_backup", "viber", "vscode_copilot", "wechat_qq", "x_archive",
)  # fmt: skip


@pytest.mark.parametrize("name", FORMATS_OF_ONE_IDEA)
def test_a_newer_format_has_under_150_lines(name: str) -> None:
    """Docstrings count, and what only this format needs; empty lines do not."""
    files = (CHECKOUT / "goalmem_cli" / "transcripts" / "readers").glob(f"{name}*.py")
    lines = [line for file in files for line in file.read_text("utf-8").splitlines() if line.strip()]
    assert 0 < len(lines) < 150


LARGER_LAYOUTS = {"cline": 50, "goose": 45, "mattermost": 52}
"""Layouts of over 40 lines: questions are JSON in JSON, tools answer, users and channels are lines of their own."""


def test_a_described_layout_has_under_40_lines() -> None:
    """Its entry in the table, and the functions and constants that only it needs, without docstrings."""
    parts: dict[str, ast.stmt] = {}
    for name in ("told", "layouts"):
        text = (CHECKOUT / "goalmem_cli" / "transcripts" / "readers" / f"{name}.py").read_text("utf-8")
        for part in ast.parse(text).body:
            if isinstance(part, ast.FunctionDef):
                part.body = part.body[ast.get_docstring(part) is not None :]
                parts[part.name] = part
            elif isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
                parts[part.targets[0].id] = part
    table = parts.pop("LAYOUTS")
    assert isinstance(table, ast.Assign) and isinstance(table.value, ast.Tuple)
    needs = [_needed_by(entry, parts) for entry in table.value.elts]
    shares = Counter(name for names in needs for name in names)
    for layout, entry, names in zip(LAYOUTS, table.value.elts, needs, strict=True):
        lines = _lines_of(entry) + sum(_lines_of(parts[name]) for name in names if shares[name] == 1)
        assert 0 < lines < LARGER_LAYOUTS.get(layout.name, 40), layout.name


def _needed_by(node: ast.AST, parts: Mapping[str, ast.stmt]) -> set[str]:
    """Return the names of the parts that the code uses, and of those that these use."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        inner = ast.walk(waiting.pop())
        names = {one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in inner}
        waiting += [parts[name] for name in (names & parts.keys()) - found]
        found |= names & parts.keys()
    return found


def _lines_of(part: ast.stmt | ast.expr) -> int:
    """Return the number of lines; those of a function's docstring are not in it any more."""
    if not isinstance(part, ast.FunctionDef):
        return (part.end_lineno or 0) - part.lineno + 1
    return 1 + (part.end_lineno or 0) - part.body[0].lineno + 1


@pytest.mark.parametrize("name", NEW_FORMATS)
def test_a_format_is_short_and_says_whose_it_is(name: str) -> None:
    """What readers share is elsewhere; the docstring tells the exporter with the versions, or years, of its layout."""
    text = (CHECKOUT / "goalmem_cli" / "transcripts" / "readers" / f"{name}.py").read_text("utf-8")
    assert text.count("\n") < MOST_LINES.get(name, 210)
    assert name in WITHOUT_ONE_EXPORTER or re.search(r"\d", text.split('"""')[1])


def test_each_late_pattern_is_valid() -> None:
    """A pattern that is compiled at its first use is compiled here, so that none fails only for a user.

    The pattern of a match is the compiled one, so nobody compares it with a late one.
    """
    files = [file for file in (CHECKOUT / "goalmem_cli").rglob("*.py") if "import late\n" in file.read_text("utf-8")]
    for file in files:
        assert not re.search(r"\.re (?:is|in|not in|==|!=) ", file.read_text("utf-8")), file
        import_module(".".join(file.relative_to(CHECKOUT).with_suffix("").parts))
    gc.unfreeze()  # what the collection of other tests imported is frozen, and not among the objects
    late = [each for each in gc.get_objects() if type(each).__name__ == "_Late"]
    gc.freeze()
    assert len(late) > len(files) > 10
    assert all(isinstance(each.pattern, str) for each in late)  # the pattern of an answer may be empty
