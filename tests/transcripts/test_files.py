"""Finding transcripts in files and folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts import transcript_files


def test_folders_are_searched_in_order(tmp_path: Path) -> None:
    """A folder gives its transcripts, sorted, with those of its subfolders, and nothing hidden or of another ending."""
    for name in ("b.json", "a.MD", "c.txt", ".h.json", "sub/d.jsonl", "sub/e.ndjson", ".git/f.json", "sub/g.markdown"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.touch()

    found = [str(path.relative_to(tmp_path)) for path in transcript_files([tmp_path])]
    assert found == ["a.MD", "b.json", "sub/d.jsonl", "sub/e.ndjson", "sub/g.markdown"]


def test_files_given_are_kept_as_they_are(tmp_path: Path) -> None:
    """A file given by name needs no ending, comes where it was named, and once; `-` is passed on."""
    (tmp_path / "z").touch()
    (tmp_path / "a.json").touch()
    given = [tmp_path / "z", Path("-"), tmp_path / "a.json"]

    assert transcript_files([*given, tmp_path, tmp_path / "z"]) == given


def test_a_missing_path_is_an_input_error(tmp_path: Path) -> None:
    """The error names the path."""
    with pytest.raises(InputError, match=r"none: no such file or folder"):
        transcript_files([tmp_path / "none"])


def test_a_folder_without_transcripts_is_an_input_error(tmp_path: Path) -> None:
    """The hint lists the endings."""
    with pytest.raises(InputError) as caught:
        transcript_files([tmp_path])

    assert ".jsonl" in caught.value.hint


def test_loops_of_links_end(tmp_path: Path) -> None:
    """Links to folders inside a folder are passed over, so a loop of them ends; one given by name is followed."""
    (tmp_path / "a.json").touch()
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "loop").symlink_to(tmp_path, target_is_directory=True)
    link = tmp_path / "link"
    link.symlink_to(tmp_path, target_is_directory=True)

    assert transcript_files([tmp_path]) == [tmp_path / "a.json"]
    assert transcript_files([link]) == [link / "a.json"]


def test_a_link_to_itself_is_an_input_error(tmp_path: Path) -> None:
    """A link that leads nowhere is there for nobody."""
    (tmp_path / "self.json").symlink_to(tmp_path / "self.json")

    with pytest.raises(InputError):
        transcript_files([tmp_path / "self.json"])
