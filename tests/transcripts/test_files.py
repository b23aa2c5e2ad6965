"""Finding transcripts in files and folders."""

import os
from pathlib import Path

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.transcripts import Found, folders_without_transcripts, read_file, transcript_files


def paths(*given: Path) -> list[Path]:
    """Return the paths that are found."""
    return [found.path for found in transcript_files(given)]


def test_folders_are_searched_in_order(tmp_path: Path) -> None:
    """A folder gives its transcripts, sorted, with those of its subfolders, and nothing hidden or of another ending."""
    for name in (
        "b.json",
        "a.MD",
        "c.doc",
        "t.txt",
        ".h.json",
        "sub/d.jsonl",
        "sub/e.ndjson",
        ".git/f.json",
        "sub/g.markdown",
    ):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.touch()

    found = [str(path.relative_to(tmp_path)) for path in paths(tmp_path)]
    assert found == ["a.MD", "b.json", "sub/d.jsonl", "sub/e.ndjson", "sub/g.markdown", "t.txt"]


def test_files_given_are_kept_as_they_are(tmp_path: Path) -> None:
    """A file given by name needs no ending, comes where it was named, and once; `-` is passed on."""
    (tmp_path / "z").touch()
    (tmp_path / "a.json").touch()
    given = [tmp_path / "z", Path("-"), tmp_path / "a.json"]

    assert paths(*given, tmp_path, tmp_path / "z") == given
    assert all(found.is_named for found in transcript_files([tmp_path, *given]))


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

    assert paths(tmp_path) == [tmp_path / "a.json"]
    assert paths(link) == [link / "a.json"]


def test_pipes_in_a_folder_are_passed_over(tmp_path: Path) -> None:
    """Opening a pipe waits for whoever writes into it, perhaps for ever; a link to nothing is kept, to be reported."""
    (tmp_path / "a.json").touch()
    os.mkfifo(tmp_path / "b.json")
    (tmp_path / "c.json").symlink_to(tmp_path / "absent.json")

    assert paths(tmp_path) == [tmp_path / "a.json", tmp_path / "c.json"]


def test_a_pipe_given_by_name_is_an_input_error() -> None:
    """A pipe can be read only once, and detection reads too: the error says how to give what it holds."""
    reading, writing = os.pipe()
    try:
        os.write(writing, b'[{"role": "user", "content": "x"}]')
        os.close(writing)
        with pytest.raises(InputError, match="a pipe, which can be read only once") as caught:
            read_file(Path(f"/dev/fd/{reading}"))
    finally:
        os.close(reading)
    assert "standard input" in caught.value.hint


def test_a_link_to_itself_is_an_input_error(tmp_path: Path) -> None:
    """A link that leads nowhere is there for nobody."""
    (tmp_path / "self.json").symlink_to(tmp_path / "self.json")

    with pytest.raises(InputError):
        transcript_files([tmp_path / "self.json"])


def test_a_folder_that_is_a_transcript_is_one(tmp_path: Path) -> None:
    """Slack's export is found as its root, named or not, and nothing in it is found apart."""
    for name in ("a.json", "slack/users.json", "slack/channels.json", "slack/general/2023-12-31.json"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("[]")

    assert paths(tmp_path) == [tmp_path / "a.json", tmp_path / "slack"]
    assert transcript_files([tmp_path / "slack"]) == [Found(tmp_path / "slack")]
    assert paths(tmp_path / "slack" / "general") == [tmp_path / "slack" / "general" / "2023-12-31.json"]


def test_what_was_found_knows_where_it_was_searched(tmp_path: Path) -> None:
    """A file named is one that has to be a transcript, a file found in a folder is not; naming it too decides."""
    (tmp_path / "a.json").touch()
    (tmp_path / "b.txt").touch()
    found = [Found(tmp_path / "a.json", tmp_path), Found(tmp_path / "b.txt", tmp_path)]

    assert transcript_files([tmp_path]) == found
    assert transcript_files([tmp_path, tmp_path / "b.txt"]) == [found[0], Found(tmp_path / "b.txt")]
    assert [one.is_named for one in found] == [False, False]


def test_a_folder_of_other_files_is_an_error(tmp_path: Path) -> None:
    """Where every file of a folder was passed over, the folder holds no transcript; where one was not, it does."""
    one, other, named = Found(tmp_path / "a", tmp_path), Found(tmp_path / "b", tmp_path), Found(tmp_path / "c")

    (error,) = folders_without_transcripts([one, other, named], {one.path, other.path})
    assert error.message == f"{tmp_path}: the folder holds no transcript"
    assert folders_without_transcripts([one, other, named], {one.path}) == []
    assert folders_without_transcripts([named], {named.path}) == []
