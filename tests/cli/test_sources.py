"""`goalmem sources` and `goalmem ingest --from`: what programs keep on a machine, here on made-up ones."""

import json
import os
import re
from pathlib import Path

import pytest

from goalmem_cli.errors import StoreLocked
from goalmem_cli.transcripts import Source, format_of, places
from goalmem_cli.transcripts.formats import FORMATS
from goalmem_cli.transcripts.places import PROGRAMS, folders_of, kept_by, program_of
from tests.cli.test_ingest_zips import WHATSAPP, zipped
from tests.cli.test_redacting import GITHUB
from tests.invoking import Goalmem
from tests.transcripts.test_documented import documented

SAID = {
    "type": "user", "sessionId": "s1", "uuid": "a1", "timestamp": "2025-05-01T10:00:00.000Z",
    "message": {"role": "user", "content": "Where does the boat lie?"},
}  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Somebody's home, with nothing in it."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in (
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "GEMINI_CLI_HOME",
        "QWEN_RUNTIME_DIR",
        "XDG_CONFIG_HOME",
        "XDG_DOWNLOAD_DIR",
        "COPILOT_HOME",
        "CONTINUE_GLOBAL_DIR",
        "APPDATA",
    ):
        monkeypatch.delenv(name, raising=False)
    return home


def write(file: Path, text: str) -> Path:
    """Write a file and the folders that it lies in."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file


def session(home: Path, *uuids: str, name: str = "s1") -> Path:
    """Write a session of Claude Code with so many prompts."""
    lines = [json.dumps({**SAID, "sessionId": name, "uuid": uuid}) for uuid in uuids]
    return write(home / ".claude" / "projects" / "-boats" / f"{name}.jsonl", "\n".join(lines) + "\n")


def listed(goalmem: Goalmem) -> dict[str, list[str]]:
    """Return source -> the paths that are listed of it."""
    rows = json.loads(goalmem("sources", "--json").out)["sources"]
    return {row["source"]: row["paths"] for row in rows}


@pytest.mark.usefixtures("home")
def test_watching_reads_what_is_new_and_ends(goalmem: Goalmem, home: Path) -> None:
    """Once for cron: the first time all, then what was added, of the sources that are named; nothing is no error."""
    assert goalmem("sources", "watch").out == ""
    file = session(home, "a1")
    assert "1 turn, 1 new stored" in goalmem("sources", "watch").out
    outcome = goalmem("sources", "watch")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    session(home, "a1", "a2")
    assert goalmem("sources", "watch", "codex").out == ""
    assert (
        goalmem("sources", "watch", "claude-code").out == f"{file}: agent-log, 1 conversation, 2 turns, 1 new stored\n"
    )


@pytest.mark.usefixtures("home")
def test_watching_says_how_to_black_out_secrets_and_does_it(goalmem: Goalmem, home: Path, tmp_path: Path) -> None:
    """With the flag that it names; what was stored plain is replaced, as by `ingest`."""
    log = {**SAID, "sessionId": "s1", "uuid": "a1", "message": {"role": "user", "content": f"Use {GITHUB} for it."}}
    file = write(home / ".claude" / "projects" / "-boats" / "s1.jsonl", json.dumps(log) + "\n")
    told = re.search(r"it may hold secrets \(1 github token\): (--\S+) blacks", goalmem("sources", "watch").err)
    assert told is not None
    outcome = goalmem("sources", "watch", told[1])
    assert f"{file}: redacted: 1 github token" in outcome.err
    assert "replaced: 1 stored turn with secrets" in outcome.err
    stored = b"".join(path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file())
    assert GITHUB.encode() not in stored
    assert goalmem("sources", "watch", told[1]).out == ""


@pytest.mark.usefixtures("home")
def test_watching_reads_under_the_zone_of_the_settings(
    goalmem: Goalmem, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And under that of the machine where there is none."""
    session(home, "a1")
    for variable, zone in (("TZ", "Asia/Tokyo"), ("GOALMEM_TIMEZONE", "Europe/Berlin")):
        monkeypatch.setenv(variable, zone)
        assert goalmem("sources", "watch").code == 0
        assert json.loads(goalmem("stores", "show", "--json").out)["stats"]["timezones"] == {zone: 1}


@pytest.mark.usefixtures("home")
def test_watching_goes_on_with_what_changed(goalmem: Goalmem, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `--every` it reads again after a while, only files that are not as they were, until it is stopped."""
    read, slept = list[str](), list[float]()
    session(home, "a1")
    session(home, "b1", name="s2")
    grown = iter([("a1",), ("a1", "a2")])

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        uuids = next(grown, None)
        if uuids is None:
            raise KeyboardInterrupt
        if len(uuids) > 1:
            session(home, *uuids)

    def opened(place: Path, *words: object, **more: object) -> Source:
        read.append(place.name)
        return from_path(place, *words, **more)  # type: ignore[arg-type]

    from_path = Source.from_path
    monkeypatch.setattr("goalmem_cli.cli.sources.time.sleep", sleep)
    monkeypatch.setattr(Source, "from_path", opened)
    assert goalmem("sources", "watch", "--every", "5m").code == 130
    assert slept == [300, 300, 300]
    assert [name for name in read if name.startswith("s")] == ["s1.jsonl", "s2.jsonl", "s1.jsonl"]


@pytest.mark.usefixtures("home")
def test_watching_waits_for_a_store_that_is_in_use(
    goalmem: Goalmem, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once it is an error, as for any command; with `--every` the next round reads what this one could not."""
    session(home, "a1")

    def locked(*_: object, **__: object) -> None:
        raise StoreLocked("the store is in use", "try again")

    with monkeypatch.context() as held:
        held.setattr("goalmem_cli.store.store.Store.add_all", locked)
        assert goalmem("sources", "watch").code == 3
    rounds = iter(range(2))
    with monkeypatch.context() as held:
        held.setattr("goalmem_cli.store.store.Store.add_all", locked)

        def sleep(_: float) -> None:
            held.undo() if next(rounds, None) == 0 else stop()

        def stop() -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("goalmem_cli.cli.sources.time.sleep", sleep)
        outcome = goalmem("sources", "watch", "--every", "5m")
    assert "the store is in use" in outcome.err
    assert "1 new stored" in outcome.out


@pytest.mark.parametrize("words", [("--every", "soon"), ("--every", "5s"), ("--every", "-5m"), ("no-such",)])
def test_watching_refuses_what_it_does_not_know(goalmem: Goalmem, words: tuple[str, ...]) -> None:
    """A time of ten seconds or more, and sources that there are."""
    assert goalmem("sources", "watch", *words).code == 2


@pytest.mark.usefixtures("home")
def test_where_nothing_is_the_places_are_named(goalmem: Goalmem) -> None:
    """Exit 1, as for a search without hits, and the folders that were looked at."""
    outcome = goalmem("sources")
    assert (outcome.code, outcome.out) == (1, "")
    assert ".claude/projects" in outcome.err
    failed = goalmem("ingest", "--from", "codex")
    assert failed.code == 5
    assert "no sessions of the Codex CLI found in" in failed.error_lines[0]


def test_every_program_is_found_in_its_place(goalmem: Goalmem, home: Path) -> None:
    """An example of each format lies where its program keeps it; all are listed, with when they were written."""
    examples, downloads = documented(), home / "Downloads"
    session(home, "a1")
    write(home / ".codex/sessions/2025/05/01/rollout-1.jsonl", examples["agent-log"])
    write(home / ".gemini/tmp/ab12/chats/session-1.json", examples["gemini-cli"])
    write(home / ".qwen/projects/-boats/chats/s1.jsonl", "{}")
    write(home / ".cursor/projects/boats/agent-transcripts/t1/t1.jsonl", "{}")
    tasks = home / ".config/Code/User/globalStorage"
    write(tasks / "saoudrizwan.claude-dev/tasks/1769940005000/ui_messages.json", examples["cline"])
    write(tasks / "saoudrizwan.claude-dev/tasks/1769940005000/api_conversation_history.json", "[]")
    write(tasks / "rooveterinaryinc.roo-cline/tasks/1769940005001/ui_messages.json", examples["cline"])
    write(home / ".config/Code/User/workspaceStorage/ab12/chatSessions/s1.json", examples["vscode-copilot"])
    write(home / ".copilot/session-state/s1/events.jsonl", examples["copilot-cli"])
    write(home / ".local/share/goose/sessions/20260201_1.jsonl", examples["goose"])
    write(home / ".continue/sessions/0a1b-2c.json", examples["continue"])
    write(home / ".continue/sessions/sessions.json", "[]")
    write(home / ".lmstudio/conversations/boats/1769940000000.conversation.json", examples["lm-studio"])
    write(downloads / "Telegram Desktop/ChatExport_2025-05-01/result.json", examples["telegram"])
    zipped(downloads / "WhatsApp Chat - Ben.zip", {"_chat.txt": WHATSAPP})
    zipped(downloads / "0a1b-2025.zip", {"conversations.json": examples["chatgpt"], "user.json": "{}"})
    zipped(downloads / "data-2025.zip", {"conversations.json": examples["claude"]})
    slack = {"users.json": "[]", "channels.json": "[]", "boats/2025-05-01.json": examples["slack"]}
    zipped(downloads / "Boats Slack export May 2025.zip", slack)
    zipped(downloads / "holiday.zip", {"photo.jpg": b"\xff"})
    found = listed(goalmem)
    assert set(found) == {program.name for program in PROGRAMS}
    assert [len(paths) for paths in found.values()] == [1] * len(PROGRAMS)
    assert found["chatgpt"] == [str(downloads / "0a1b-2025.zip")]
    table = goalmem("sources").out
    assert all(program.what in table for program in PROGRAMS)
    for agent in ("cline", "roo", "copilot", "copilot-cli", "goose", "continue", "lm-studio"):
        (read,) = json.loads(goalmem("ingest", "--from", agent, "--dry-run", "--json").out)["files"]
        assert (read["format"], read["new_turns"] > 0) == (program_of(agent).formats[0], True)


def test_a_source_is_read_and_later_only_what_is_new(goalmem: Goalmem, home: Path) -> None:
    """A grown session adds its new prompts, a new one is added, and the rest is nothing new."""
    session(home, "a1")
    write(home / ".claude/projects/-boats/sessions-index.jsonl", '{"version": 1}\n')
    first = json.loads(goalmem("ingest", "--from", "claude-code", "--json").out)
    assert [file["new_turns"] for file in first["files"] if file["new_turns"]] == [1]
    session(home, "a1", "a2")
    session(home, "b1", name="s2")
    later = goalmem("ingest", "--from", "claude-code", "--json")
    assert later.code == 0
    assert sorted(file["new_turns"] for file in json.loads(later.out)["files"] if file["new_turns"]) == [1, 1]


def test_places_of_one_s_own_are_looked_at(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables that move a program's folder move it here too."""
    monkeypatch.setenv("CODEX_HOME", str(home / "codex"))
    file = write(home / "codex" / "sessions" / "rollout-1.jsonl", "{}")
    assert kept_by(program_of("codex")).paths == (file,)


def test_nothing_is_read_but_names_and_beginnings(
    home: Path, monkeypatch: pytest.MonkeyPatch, goalmem: Goalmem
) -> None:
    """In a program's own folder no file is opened; of the downloads only beginnings are looked at, whatever follows."""
    opened: list[str] = []

    def recording(source: Source) -> str:
        opened.append(source.file)
        return format_of(source)

    monkeypatch.setattr(places, "format_of", recording)
    session(home, "a1")
    big = home / "Downloads" / "conversations.json"
    write(big, documented()["chatgpt"].rstrip()[:-1] + ", " + " " * 5_000_000 + "broken")
    write(home / "Downloads" / "letter.txt", "Dear Ana, ...")
    assert set(listed(goalmem)) == {"claude-code", "chatgpt"}
    assert set(opened) == {str(big)}


@pytest.mark.parametrize("name", ["[bold]x[red].jsonl", "a\nb.jsonl", "\x1b[31m.jsonl"])
def test_hostile_names_and_links_do_no_harm(goalmem: Goalmem, home: Path, name: str) -> None:
    """Names are text; links to folders are not followed, damaged zips are nobody's."""
    projects = home / ".claude" / "projects"
    write(projects / "p" / name, json.dumps(SAID) + "\n")
    (projects / "p" / "round").symlink_to(projects)
    write(home / "Downloads" / "WhatsApp Chat - X.zip", "no zip")
    assert [Path(path).name for path in listed(goalmem)["claude-code"]] == [name]
    assert "\x1b" not in goalmem("sources").out + goalmem("ingest", "--from", "claude-code", "--dry-run").err


def test_a_source_that_there_is_not_is_a_usage_error(goalmem: Goalmem) -> None:
    """It names those that there are; nothing to read at all is one too."""
    outcome = goalmem("ingest", "--from", "notes")
    assert outcome.code == 2
    assert "claude-code" in outcome.error_lines[1]
    assert goalmem("ingest").code == 2


def test_every_place_has_formats_that_there_are() -> None:
    """Names are once each, and the formats are readers'."""
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)
    assert {name for program in PROGRAMS for name in program.formats} <= set(FORMATS)


def test_what_cannot_be_read_is_not_waited_for(goalmem: Goalmem, home: Path) -> None:
    """Pipes, broken links and folders that are called like sessions are none; neither command hangs or fails."""
    project = session(home, "a1").parent
    os.mkfifo(project / "pipe.jsonl")
    (project / "gone.jsonl").symlink_to(home / "nowhere")
    (project / "folder.jsonl").mkdir()
    (home / "Downloads").mkdir()
    os.mkfifo(home / "Downloads" / "conversations.json")
    (home / "Downloads" / "WhatsApp Chat of all").symlink_to("/")
    assert listed(goalmem) == {"claude-code": [str(project / "s1.jsonl")]}
    assert goalmem("ingest", "--from", "claude-code").code == 0


def test_two_ways_to_one_folder_are_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session is counted once, though a variable names the usual folder by another way."""
    file = session(home, "a1")
    (home / "other").symlink_to(home / ".claude")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "other"))
    assert [path.resolve() for path in kept_by(program_of("claude-code")).paths] == [file]


def test_a_variable_that_leads_nowhere_leaves_its_folder_out(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The home of somebody that there is not is no folder; the usual ones are looked at all the same."""
    monkeypatch.setenv("CODEX_HOME", "~nobody-of-that-name/codex")
    assert folders_of(program_of("codex")) == [home / ".codex/sessions", home / ".codex/archived_sessions"]


def test_what_was_not_looked_at_is_told(goalmem: Goalmem, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a huge folder only so many names are looked at, and that is said; other folders are not gone into."""
    for number in range(4):
        session(home, "a1", name=f"s{number}")
        write(home / ".claude/projects/-boats/s0/tool-results" / f"{number}.txt", "found")
    monkeypatch.setattr(places, "MOST_NAMES", 7)
    assert kept_by(program_of("claude-code")).unseen == ()
    monkeypatch.setattr(places, "MOST_NAMES", 3)
    outcome = goalmem("sources", "--json")
    assert "more than 3 names" in json.loads(outcome.out)["unseen"][0]
    assert "more than 3 names" in outcome.err
    read = goalmem("ingest", "--from", "claude-code")
    assert read.code == 5
    assert "more than 3 names" in read.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list every folder")
def test_a_folder_that_cannot_be_listed_is_told(goalmem: Goalmem, home: Path) -> None:
    """It is not taken for one that holds nothing."""
    projects = session(home, "a1").parents[1]
    projects.chmod(0)
    outcome = goalmem("sources")
    projects.chmod(0o700)
    assert outcome.code == 1
    assert "cannot be listed" in outcome.err


def test_only_what_is_the_program_s_is_read_of_a_download(goalmem: Goalmem, home: Path) -> None:
    """Notes that lie beside a chat in a zip are in another format: they are not read with it."""
    (home / "Downloads").mkdir()
    parts = {"conversations.json": documented()["chatgpt"], "notes/diary.json": documented()["openai"]}
    zipped(home / "Downloads" / "backup.zip", parts)
    outcome = json.loads(goalmem("ingest", "--from", "chatgpt", "--json").out)
    assert [file["format"] for file in outcome["files"]] == ["chatgpt"]


def test_a_chat_exported_in_another_language_is_found(goalmem: Goalmem, home: Path) -> None:
    """Names of exports differ from language to language; what is in them tells."""
    file = write(home / "Downloads" / "Chat de WhatsApp con Ben.txt", WHATSAPP)
    write(home / "Downloads" / "WhatsApp tips.txt", "Read this first.\n")
    assert listed(goalmem) == {"whatsapp": [str(file)]}


def test_sessions_without_a_message_are_passed_over(goalmem: Goalmem, home: Path) -> None:
    """A program begins sessions in which nothing is said: they are no failure, also where a project has no other."""
    session(home, "a1")
    for name, text in {"summed": '{"type": "summary", "summary": "Boats", "leafUuid": "u"}\n', "empty": ""}.items():
        write(home / ".claude/projects" / f"-{name}" / "s.jsonl", text)
    outcome = goalmem("ingest", "--from", "claude-code")
    assert outcome.code == 0
    assert outcome.err.count("passed over") == 2


def test_of_a_zip_only_what_an_export_names_is_opened(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Zips of code lie among downloads too: their files are not opened one by one, and of chats only the first."""
    opened: list[str] = []

    def recording(source: Source) -> str:
        opened.append(Path(source.file).name)
        return format_of(source)

    monkeypatch.setattr(places, "format_of", recording)
    downloads = home / "Downloads"
    downloads.mkdir()
    zipped(downloads / "code.zip", {f"code/{number}.json": "{}" for number in range(places.MOST_INSIDE + 5)})
    assert kept_by(program_of("chatgpt")).paths == ()
    assert opened == []
    file = zipped(downloads / "WhatsApp.zip", {f"media/{number:02}.txt": "no chat" for number in range(30)})
    assert kept_by(program_of("whatsapp")).paths == ()
    assert len(opened) == places.MOST_INSIDE
    zipped(file, {**{f"media/{number:02}.txt": "no chat" for number in range(30)}, "_chat.txt": WHATSAPP})
    assert kept_by(program_of("whatsapp")).paths == (file,)
