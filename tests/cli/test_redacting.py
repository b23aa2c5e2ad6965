"""Secrets are blacked out before anything is stored, where that is wanted."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import goalmem_cli
from goalmem_cli.library.known import KnownMemory
from goalmem_cli.milvus.embedded import close_embedded
from goalmem_cli.store.database.access import Database
from goalmem_cli.store.redaction import redacted
from tests.cli.test_ask import NO_PROOF
from tests.invoking import Goalmem, scripted
from tests.milvus.test_forgetting import contents

KEY = "AKIA" + "IOSFODNN7EXAMPLE"
WORDS = "the boat leaves harbour early so bring warm coats and the blue lantern because winter nights fall fast".split()
GITHUB = "ghp_" + "a1B2" * 9
SECRET = {
    "role": "user", "name": "Nora", "content": f"The key is {KEY}, for the bike shed.",
    "timestamp": "2026-01-01T10:00:00+00:00",
}  # fmt: skip
REPLY = {"role": "user", "name": "Ravi", "content": "Good to know.", "timestamp": "2026-01-01T10:01:00+00:00"}


def _claude_log() -> list[object]:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": f"deploy --key {KEY}"}}
    said = [("user", "Deploy it."), ("assistant", [{"type": "text", "text": "I do."}, call])]
    return [
        {"type": who, "sessionId": "s", "uuid": f"u{at}", "message": {"role": who, "content": content}}
        for at, (who, content) in enumerate(said)
    ]


def _codex_log() -> list[object]:
    def said(role: str, text: str) -> dict[str, object]:
        return {"type": "message", "role": role, "content": [{"type": "output_text", "text": text}]}

    command = {"command": ["bash", "-lc", f"deploy --key {KEY}"], "workdir": None}
    payloads: list[dict[str, object]] = [
        said("user", "Deploy it."),
        {"type": "function_call", "name": "shell", "call_id": "c1", "arguments": json.dumps(command)},
        {"type": "local_shell_call", "call_id": "c2", "action": {"type": "exec", "command": ["pytest", "tests/app"]}},
        {"type": "function_call_output", "call_id": "c1", "output": "deployed"},
        {"type": "function_call_output", "call_id": "c2", "output": "3 passed"},
        {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c3", "input": "*** Update File: src/boat.py"},
        {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "tide tables"}},
        said("assistant", "It is deployed."),
    ]
    session = {"type": "session_meta", "payload": {"id": "s"}}
    return [session, *({"type": "response_item", "payload": payload} for payload in payloads)]


def _cursor_log() -> list[object]:
    parts = [
        {"type": "text", "text": "I do."},
        {"type": "tool_use", "name": "Shell", "input": {"command": f"deploy --key {KEY}"}},
        {"type": "tool_use", "name": "Write", "input": {"path": "src/boat.py", "contents": "print('tide tables')"}},
    ]
    said = [("user", "<user_query>Deploy it.</user_query>"), ("assistant", parts), ("assistant", "It is deployed.")]
    return [{"role": who, "message": {"content": content}} for who, content in said]


def _parallel_codex_log() -> list[object]:
    ids = [f"{16 - at:x}" for at in range(12)]
    called: list[dict[str, object]] = [
        {"type": "function_call", "name": "shell", "call_id": id_, "arguments": json.dumps({"command": f"run {at}"})}
        for at, id_ in enumerate(ids)
    ]
    answered: list[dict[str, object]] = [
        {"type": "function_call_output", "call_id": id_, "output": f"answer {at}"} for at, id_ in enumerate(ids)
    ]
    said: dict[str, object] = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Run."}]}
    payloads = (said, *called, *answered, called[0], answered[0])
    session = {"type": "session_meta", "payload": {"id": "s"}}
    return [session, *({"type": "response_item", "payload": payload} for payload in payloads)]


def _parallel_cursor_log() -> list[object]:
    parts = [{"type": "tool_use", "name": "Shell", "input": {"command": f"run {at}"}} for at in range(12)]
    said = [("user", "<user_query>Run.</user_query>"), ("assistant", [{"type": "text", "text": "I do."}, *parts])]
    return [{"role": who, "message": {"content": content}} for who, content in (*said, ("assistant", "They ran."))]


@pytest.mark.parametrize("events", [_parallel_codex_log(), _parallel_cursor_log()])
@pytest.mark.parametrize("first", ["with calls", "without", "begun without", "begun with calls"])
def test_calls_of_tools_stand_in_their_order(
    goalmem: Goalmem, tmp_path: Path, events: list[object], first: str
) -> None:
    """Each before its answer, many at once too, whether the log was stored without them before or not."""
    log = tmp_path / "0b1f2c3d-1111-4222-8333-444455556666.jsonl"
    flags = ("--tools",) if "with calls" in first else ()
    for length in (len(events) - 1, len(events)) if "begun" in first else (len(events),):
        log.write_text("\n".join(map(json.dumps, events[:length])), "utf-8")
        assert goalmem("ingest", str(log), *flags).code == 0
        flags = ("--tools",) if first != "begun with calls" else ()
    assert goalmem("ingest", str(log), "--tools").code == 0
    assert goalmem("ingest", str(log)).out.rstrip().endswith("nothing new")
    turns = [json.loads(line)["turn"] for line in goalmem("stores", "export").out.splitlines() if '"turn"' in line]
    told = [turn["text"].removeprefix("$ ") for turn in turns]
    runs = [f"run {at}" for at in range(12)]
    if len(events) > 3:
        answers = [f"answer {at}" for at in range(12)]
        assert told == ["Run.", *runs, *answers, "run 0", "answer 0"]
    else:
        assert told == ["Run.", "I do.", *runs, "They ran."]
    numbers = [turn["ordinal"] for turn in turns]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize(
    ("events", "calls", "stored"), [(_claude_log(), 1, 2), (_codex_log(), 4, 4), (_cursor_log(), 2, 3)]
)
def test_calls_of_tools_are_read_without_their_secrets(
    goalmem: Goalmem, tmp_path: Path, events: list[object], calls: int, stored: int
) -> None:
    """Even where the user wants no redaction else; without the flag they are not read, and counted.

    With the flag a log that is stored gets its calls; its other turns stay as they are, with or without ids.
    """
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(map(json.dumps, events)), "utf-8")
    left_out = goalmem("ingest", str(log))
    assert f"{stored} turns" in left_out.out
    assert re.search(rf"tool calls.* left out: {calls}", left_out.err)
    with_calls = goalmem("ingest", str(log), "--tools", "--no-redact")
    assert "redacted: 1 aws key" in with_calls.err
    assert "deploy --key [redacted: aws key]" in goalmem("search", "deploy key", "--tools").out
    assert "deploy --key" not in goalmem("search", "deploy key").out
    exported = goalmem("stores", "export").out
    assert KEY not in exported
    turns = [line for line in exported.splitlines() if '"speaker"' in line and '"ordinal"' in line]
    assert len(turns) == calls + stored
    again = goalmem("ingest", str(log), "--tools")
    assert "nothing new" in again.out, again
    goalmem("ingest", str(log))
    assert goalmem("stores", "export").out == exported
    if stored > 2:
        assert "src/boat.py" in goalmem("search", "boat.py", "--tools").out


@pytest.mark.parametrize(
    ("text", "kinds", "kept"),
    [
        (f"key {KEY}.", {"aws key": 1}, "key [redacted: aws key]."),
        (f"{GITHUB} and {GITHUB}", {"github token": 2}, "[redacted: github token] and [redacted: github token]"),
        ("postgres://ana:s3cr3t@db/x", {"password": 1}, "postgres://ana:[redacted: password]@db/x"),
        ("sk-" + "proj-aB1" * 5, {"api key": 1}, "[redacted: api key]"),
        ("pay with 4111 1111 1111 1111 now", {"card number": 1}, "pay with [redacted: card number] now"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nend",
            {"private key": 1}, "[redacted: private key]\nend",
        ),
        (f"-----BEGIN PRIVATE KEY-----\n{'MIIE' * 9}\nSo far.", {"private key": 1}, "[redacted: private key]\nSo far."),
        ("3782 822463 10005", {"card number": 1}, "[redacted: card number]"),
        ("postgres://ana:p@ss@db/x", {"password": 1}, "postgres://ana:[redacted: password]@db/x"),
    ],
)  # fmt: skip
def test_secrets_of_known_forms_are_blacked_out(text: str, kinds: dict[str, int], kept: str) -> None:
    """Of the text around them nothing is lost, and doing it again changes nothing."""
    assert redacted(text) == (kept, kinds)
    assert redacted(kept) == (kept, {})


MIXED, HEX = "a1B2" * 25, "0af9" * 16
PUTTY = (
    "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: me\nPublic-Lines: 1\nAAAAC3\n"
    f"Private-Lines: 2\n{MIXED[:64]}\n{MIXED[:8]}=\nPrivate-MAC: {HEX}"
)


@pytest.mark.parametrize(
    ("secret", "kind"),
    [
        ("ASIA" + "IOSFODNN7EXAMPLE", "aws key"),
        ("github_pat_" + MIXED[:82], "github token"),
        ("glpat-" + MIXED[:20], "gitlab token"),
        ("xoxb-" + MIXED[:50], "slack token"),
        ("xapp-1-A0" + MIXED[:60], "slack token"),
        ("sk-ant-" + "api03-" + MIXED[:90], "api key"),
        ("sk-or-v1-" + HEX, "api key"),
        ("gsk_" + MIXED[:52], "api key"),
        ("xai-" + MIXED[:80], "api key"),
        ("pplx-" + MIXED[:48], "api key"),
        ("r8_" + MIXED[:37], "api key"),
        ("SG." + MIXED[:22] + "." + MIXED[:43], "api key"),
        ("lin_api_" + MIXED[:40], "api key"),
        ("ntn_" + MIXED[:46], "api key"),
        ("AIza" + MIXED[:35], "google key"),
        ("ya29." + MIXED, "google token"),
        ("GOCSPX-" + MIXED[:28], "google secret"),
        ("sk_live_" + MIXED[:24], "stripe key"),
        ("whsec_" + MIXED[:32], "stripe secret"),
        ("hf_" + MIXED[:34], "hugging face token"),
        ("npm_" + MIXED[:36], "npm token"),
        ("pypi-AgE" + MIXED, "pypi token"),
        ("eyJ" + MIXED[:30] + ".eyJ" + MIXED[:60] + "." + MIXED[:43], "json web token"),
        ("dop_v1_" + HEX, "digitalocean token"),
        ("shpat_" + HEX[:32], "shopify token"),
        ("dapi" + HEX[:32], "databricks token"),
        ("dckr_pat_" + MIXED[:27], "docker token"),
        ("figd_" + MIXED[:40], "figma token"),
        ("hvs." + MIXED[:90], "vault token"),
        ("123456789:AA" + MIXED[:33], "telegram token"),
        ("AGE-SECRET-KEY-1" + "Q1" * 29, "age key"),
        ("SK" + HEX[:32], "twilio key"),
        ("key-" + HEX[:32], "mailgun key"),
        (f"{HEX[:32]}-{HEX[:8]}-{HEX[8:16]}", "mailgun key"),
        (HEX[:32] + "-us21", "mailchimp key"),
        ("MTE3NzUwMjg1NjE0NTc2ODQ0OA.G1x2Yz." + MIXED[:38], "discord token"),
        ("ATATT3" + MIXED + MIXED[:80] + "=AB12CD34", "atlassian token"),
        ("glsa_" + MIXED[:32] + "_" + HEX[:8], "grafana token"),
        ("NRAK-" + "Q1" * 13 + "Z", "new relic key"),
        ("HRKU-" + "AA" + MIXED[:58], "heroku key"),
        ("PMAK-" + HEX[:24] + "-" + HEX[:34], "postman key"),
        ("sntrys_" + MIXED, "sentry token"),
        ("sbp_" + HEX[:40], "supabase key"),
        ("pat" + MIXED[:14] + "." + HEX, "airtable token"),
        ("sq0atp-" + MIXED[:22], "square token"),
        ("rubygems_" + HEX[:48], "rubygems token"),
        ("1//0" + MIXED[:60], "google token"),
        ("DE89370400440532013000", "iban"),
        ("DE89 3704 0044 0532 0130 00", "iban"),
        ("GB29-NWBK-6016-1331-9268-19", "iban"),
        ("NO93 8601 1117 947", "iban"),
        ("MT84MALT011000012345MTLCAST001S", "iban"),
    ],
)
def test_tokens_with_known_beginnings_are_blacked_out(secret: str, kind: str) -> None:
    """Each whole, wherever it stands, and with the words around it as they were."""
    for before, behind in (("it is ", " now"), ("KEY=", ""), ('"', '"'), ("(", ").")):
        assert redacted(f"{before}{secret}{behind}") == (f"{before}[redacted: {kind}]{behind}", {kind: 1})


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "https://hooks.slack.com/services/T0AAAAAAA/B0AAAAAAA/" + MIXED[:24],
            "https://hooks.slack.com/[redacted: slack webhook]",
        ),
        (
            "https://discord.com/api/webhooks/112233445566778899/" + MIXED[:68],
            "https://discord.com/api/webhooks/[redacted: discord webhook]",
        ),
        (f"AWS_SECRET_ACCESS_KEY={MIXED[:38]}/+", "AWS_SECRET_ACCESS_KEY=[redacted: aws key]"),
        (f'"aws_secret_access_key": "{MIXED[:40]}"', '"aws_secret_access_key": "[redacted: aws key]"'),
        ("IBAN DE89 3704 0044 0532 0130 00 BIC COBADEFF", "IBAN [redacted: iban] BIC COBADEFF"),
        (f"{PUTTY}\nThat is it.", "[redacted: private key]\nThat is it."),
        (f"AccountName=x;AccountKey={MIXED[:86]}==;", "AccountName=x;AccountKey=[redacted: azure key];"),
    ],
)
def test_of_an_address_the_rest_stays(text: str, kept: str) -> None:
    """What says whose it is is no secret."""
    assert redacted(text)[0] == kept


@pytest.mark.parametrize(
    "text",
    [
        "10:AA is a battery", "the SG. of it", "ya29. is how they begin", "xai-models are large", "dapi is short",
        "see hv and hvs.", "r8_ and ntn_ are none", "12345678:AABBCC",
        "4111 1111 1111 1112", "+44 7700 900321 6011", "order 4111-1111", "3.14159265358979", "task-list-of-sk-words",
        "https://ana@example.org", "https://user:password@host", "https://example.org:8080/a@b", "AKIA is a prefix",
        "sk-learn-is-a-library-for-python-3", "http://localhost:8080@foo", "x.com/status/4012888888881881", "eyJhbGciOi is how they begin", "1760000000000000",
        "DE89 3704 0044 0532 0130 02", "DE89 3704 0044 0532 0130 0", "DE12 is a road", "IT27 and IT28", "AB12 3456 7890 1234",
        "the key-value store", "key-0123", "SKU 12345", f"commit {HEX[:40]}", f"md5 {HEX[:32]}", "see you in us-east-1",
        "My.dog.is", "Monday.Tuesday.Wednesday", "N" + "a" * 23 + ".abcdef." + "b" * 27,
        "123e4567-e89b-12d3-a456-426614174000", "patience is a virtue", "PuTTY-User-Key-File-3: is how they begin",
        "AWS_SECRET_ACCESS_KEY=$KEY", "1//0 is a comment", "glsa_ begins Grafana's", "Flight SK1234 at 10:00",
        "aws_secret_access_key is the setting", "SE24 London", "FR76 1234", "https://discord.com/api/webhooks/me",
        "com.example.MyClass.method_name_that_is_long_enough",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    """Numbers without a right check digit, placeholders, words."""
    assert redacted(text) == (text, {})


def stored(goalmem: Goalmem, file: Path, *words: str) -> tuple[str, str]:
    """Read the talk with the secret, and return what was said of it, and everything that the store holds."""
    file.write_text(json.dumps([SECRET, REPLY]), "utf-8")
    outcome = goalmem("ingest", str(file), *words)
    assert outcome.code == 0
    return outcome.out + outcome.err, bytes_of(file.parent / "store")


def bytes_of(store: Path) -> str:
    """Return all bytes of a store, as text."""
    return b"".join(path.read_bytes() for path in sorted(store.rglob("*")) if path.is_file()).decode("latin-1")


def test_nothing_of_a_secret_is_stored(goalmem: Goalmem, tmp_path: Path) -> None:
    """It is counted by kind; the rest of the turn is stored, and found."""
    said, held = stored(goalmem, tmp_path / "talk.json", "--redact")

    assert "redacted: 1 aws key" in said
    assert KEY not in held
    told = json.loads(goalmem("ingest", str(tmp_path / "talk.json"), "--redact", "--json").out)["files"][0]
    assert told["redacted"] == {"aws key": 1}
    assert "The key is [redacted: aws key], for the bike shed." in goalmem("search", "bike shed", "-k", "1").out
    assert "nothing new" in stored(goalmem, tmp_path / "talk.json", "--redact")[0]


def test_it_is_off_unless_the_settings_say_so(
    goalmem: Goalmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chat is stored as it is; `redact: true` is a setting, which the flag overrules."""
    said, held = stored(goalmem, tmp_path / "talk.json")
    assert "secret" not in said
    assert KEY in held
    monkeypatch.setenv("GOALMEM_REDACT", "true")
    assert "redacted" not in stored(goalmem, tmp_path / "talk.json", "--no-redact")[0]
    assert KEY not in stored(goalmem, tmp_path / "talk.json")[1]


def test_the_setting_holds_for_what_is_typed_too(
    goalmem: Goalmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a chat, a question that is remembered, with the proof of its answer, and in the library, as MCP uses it."""
    monkeypatch.setenv("GOALMEM_REDACT", "true")
    told = goalmem("chat", stdin=f"My deploy key is {KEY}.\n".encode(), factories=scripted())
    assert "redacted: 1 aws key" in told.err
    asked = goalmem("ask", "--remember", f"Whose key is {KEY}?", factories=scripted(*[NO_PROOF] * 4))
    assert "redacted: 1 aws key" in asked.err
    with goalmem_cli.open(tmp_path / "store", redact=True) as memory:
        assert memory.remember(f"The other key is {GITHUB}.").text == "The other key is [redacted: github token]."
    texts = [
        json.loads(line)["turn"]["text"] for line in goalmem("stores", "export").out.splitlines() if '"turn"' in line
    ]
    assert texts[:2] == ["My deploy key is [redacted: aws key].", "Whose key is [redacted: aws key]?"]
    assert not any(secret in bytes_of(tmp_path / "store") for secret in (KEY, GITHUB))


def test_the_setting_holds_for_names_of_goals(
    goalmem: Goalmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A typed name with a secret is refused in one line without it; one made of the question has it blacked out."""
    stored(goalmem, tmp_path / "talk.json", "--redact")
    monkeypatch.setenv("GOALMEM_REDACT", "true")
    for words in (("goals", "add", "Whose is it?", "--name", KEY), ("ask", "Whose is it?", "--keep", f"of {KEY}")):
        refused = goalmem(*words, factories=scripted())
        assert (refused.code, KEY in refused.err) == (2, False)
        assert refused.error_lines[0] == "the name has a secret (1 aws key)"
    added = goalmem("goals", "add", f"Whose key is {KEY}?", factories=scripted(*[NO_PROOF] * 4))
    assert added.out.startswith("whose-key-is-redacted-aws-key: Whose key is [redacted: aws key]?"), added.err
    held = bytes_of(tmp_path / "store").casefold()
    assert KEY.casefold() not in held


@pytest.mark.parametrize("is_copied", [True, False])
def test_the_setting_holds_for_goals_of_other_stores(
    goalmem: Goalmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_copied: bool
) -> None:
    """Names and questions of an export or a copied store have their secrets blacked out, in all that the goal keeps."""
    monkeypatch.chdir(tmp_path)
    Path("plain.md").write_text("**Ana**: Whose key is it?\n\n**Ben**: No idea.\n\n**Ana**: Hm.\n", "utf-8")
    goalmem("ingest", "plain.md", "--store", "plain")
    words = ("goals", "add", f"Whose key is {KEY}?", "--name", f"of {KEY}", "--store", "plain")
    assert f"of {KEY}: " in goalmem(*words, factories=scripted(*[NO_PROOF] * 4)).out
    goalmem("stores", "export", "--store", "plain", "--out", "all.jsonl")
    monkeypatch.setenv("GOALMEM_REDACT", "true")
    outcome = (
        goalmem("stores", "copy", "plain", "other") if is_copied else goalmem("ingest", "all.jsonl", "--store", "other")
    )
    assert outcome.code == 0, outcome.err
    told = goalmem("goals", "--store", "other").out
    assert told.startswith("of [redacted: aws key]: Whose key is [redacted: aws key]?")
    assert KEY not in bytes_of(Path("other"))


@pytest.mark.parametrize("how", ["by id", "by file"])
def test_reading_again_replaces_what_was_stored_plain(goalmem: Goalmem, tmp_path: Path, how: str) -> None:
    """No byte of it stays, and the conversation is one."""
    file = tmp_path / "talk.json"
    if how == "by id":
        file = tmp_path / "all.jsonl"
        stored(goalmem, tmp_path / "talk.json")
        goalmem("stores", "export", "--out", str(file))
        assert KEY in bytes_of(tmp_path / "store")
        assert goalmem("ingest", str(file), "--redact").code == 0
    else:
        stored(goalmem, file)
        said = "replaced: 1 stored turn with secrets, and the kept proofs that quote them; this cannot be undone"
        assert f"would be {said}" in stored(goalmem, file, "--redact", "--dry-run")[0]
        told = stored(goalmem, file, "--redact")[0]
        assert told.index("replacing 1 stored turn that has secrets, and deleting") < told.index(said)
        assert "replaced" not in stored(goalmem, file, "--redact")[0]
    assert KEY not in bytes_of(tmp_path / "store")
    stats = json.loads(goalmem("stores", "show", "--json").out)["stats"]
    assert (stats["conversations"], stats["turns"]) == (1, 2)
    assert goalmem("stores", "verify", "-q").code == 0


def test_reading_again_leaves_no_byte_in_an_embedded_milvus_either(
    goalmem: Goalmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor in what the engine unpacks of its files, as it was said and as it is searched for."""
    monkeypatch.setenv("GOALMEM_STORE", f"milvus:{tmp_path / 'store'}")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    stored(goalmem, tmp_path / "talk.json")
    folders = tmp_path / "store", tmp_path / "data"
    assert any(KEY.lower() in contents(folder).lower() for folder in folders)
    stored(goalmem, tmp_path / "talk.json", "--redact")
    assert not any(KEY.lower() in contents(folder).lower() for folder in folders)
    assert "The key is [redacted: aws key], for the bike shed." in goalmem("search", "bike shed", "-k", "1").out
    assert goalmem("stores", "verify", "-q").code == 0
    close_embedded()


@pytest.mark.parametrize("place", ["{}", "milvus:{}"])
def test_what_is_replaced_keeps_its_zone(
    goalmem: Goalmem, tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The day of "today" is the speaker's afterwards too; a zone that the user names is taken."""
    monkeypatch.setenv("GOALMEM_STORE", place.format(tmp_path / "store"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    file = tmp_path / "talk.json"
    told = json.dumps([SECRET, REPLY])
    file.write_text(told.replace("+00:00", "Z"), "utf-8")
    for flags, zone in (
        (("--timezone", "Asia/Tokyo"), "Asia/Tokyo"),
        (("--redact",), "Asia/Tokyo"),
        (("--redact", "--timezone", "Europe/Berlin"), "Europe/Berlin"),
    ):
        assert goalmem("ingest", str(file), *flags).code == 0
        assert json.loads(goalmem("stores", "show", "--json").out)["stats"]["timezones"] == {zone: 2}
    assert KEY not in goalmem("search", "bike shed").out
    close_embedded()


@pytest.mark.parametrize("place", ["{}", "milvus:{}"])
def test_a_copy_brings_no_redacted_secret_back(
    goalmem: Goalmem, tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor a second conversation, from a store that has it plain; what else is new there arrives."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    target = place.format(tmp_path / "here")
    for store, told, flags in ((target, [SECRET], ["--redact"]), (str(tmp_path / "there"), [SECRET, REPLY], [])):
        (tmp_path / "talk.json").write_text(json.dumps(told), "utf-8")
        assert goalmem("ingest", str(tmp_path / "talk.json"), "--store", store, *flags).code == 0
    done = goalmem("stores", "copy", str(tmp_path / "there"), target)
    assert done.code == 0
    assert "1 conversation, 2 turns, 1 new; 2 compared" in done.out
    assert "1 turn redacted, as it was there before" in done.err
    stats = json.loads(goalmem("stores", "show", "--json", "--store", target).out)["stats"]
    assert (stats["conversations"], stats["turns"]) == (1, 2)
    assert not any(KEY.lower() in contents(tmp_path / folder).lower() for folder in ("here", "data"))
    close_embedded()


def _window(file: Path, first: int, last: int) -> str:
    """Write a part of a chat as a table; each third turn has another key."""
    lines = [
        f"2026-03-01T{9 + at // 10:02}:{at % 10 * 5:02},{('Nora', 'Ben')[at * at % 3 % 2]},"
        f"line {at} {' '.join(f'{word}{at}' for word in WORDS)}{f' AKIA{at:016}' if at % 3 == 0 else ''}"
        for at in range(first, last)
    ]
    file.write_text("\n".join(("timestamp,speaker,text", *lines)) + "\n", "utf-8")
    return str(file)


@pytest.mark.parametrize("first", ["one", "two"])
@pytest.mark.parametrize("redacted", ["one", "two"])
def test_a_redacted_window_stays_in_its_chat(either: Goalmem, tmp_path: Path, first: str, redacted: str) -> None:
    """Either window of a joined chat is replaced in it, each turn at its place; another chat stays another."""
    files = {"one": _window(tmp_path / "one.csv", 0, 22), "two": _window(tmp_path / "two.csv", 12, 33)}
    second = "two" if first == "one" else "one"
    other = tmp_path / "other.csv"
    other.write_text(
        Path(files["two"]).read_text("utf-8").replace("line", "another").replace("03-01", "04-02"), "utf-8"
    )
    for file in (files[first], files[second], str(other)):
        assert either("ingest", file).code == 0
    assert "7 new would be stored" in either("ingest", "--redact", "--dry-run", files["two"]).out
    told = either("ingest", "--redact", files[redacted])
    count = {"one": 8, "two": 7}[redacted]
    assert f"{count} new stored" in told.out, told.err
    assert "nothing new" in either("ingest", files[redacted]).out
    assert either("stores", "export", "--out", str(tmp_path / "all.jsonl")).code == 0
    lines = map(json.loads, (tmp_path / "all.jsonl").read_text("utf-8").splitlines())
    texts = [line["turn"]["text"] for line in lines if line.get("turn", {}).get("text", "").startswith("line")]
    assert [int(text.split()[1]) for text in texts] == list(range(33))
    blacked_out = {at for at, text in enumerate(texts) if "[redacted: aws key]" in text}
    assert blacked_out == {at for at in range(33) if at % 3 == 0 and (at < 22 if redacted == "one" else at >= 12)}
    stats = json.loads(either("stores", "show", "--json").out)["stats"]
    assert (stats["conversations"], stats["turns"]) == (2, 54)
    assert either("stores", "verify", "-q").code == 0


def test_a_redacted_window_that_is_read_apart_is_another_chat(goalmem: Goalmem, tmp_path: Path) -> None:
    """As --apart has it for any window."""
    one, two = _window(tmp_path / "one.csv", 0, 22), _window(tmp_path / "two.csv", 12, 33)
    for words in ((one,), (two,), ("--redact", "--apart", two)):
        assert goalmem("ingest", *words).code == 0
    assert json.loads(goalmem("stores", "show", "--json").out)["stats"]["conversations"] == 2


def test_a_dry_run_takes_nothing_out(goalmem: Goalmem, tmp_path: Path) -> None:
    """It only says what would be."""
    stored(goalmem, tmp_path / "talk.json")
    said, held = stored(goalmem, tmp_path / "talk.json", "--redact", "--dry-run")
    assert "would be redacted: 1 aws key" in said
    assert KEY in held


def test_a_forgotten_turn_is_known_with_and_without_its_secret(goalmem: Goalmem, tmp_path: Path) -> None:
    """It was stored with the secret blacked out; read plain it does not come back."""
    stored(goalmem, tmp_path / "talk.json", "--redact")
    goalmem("forget", "--speaker", "Nora", "--yes")
    said, held = stored(goalmem, tmp_path / "talk.json")
    assert "1 turn that was forgotten" in said
    assert KEY not in held


def test_agents_logs_are_looked_through_in_any_case(goalmem: Goalmem, tmp_path: Path) -> None:
    """Without `--redact` it is said how many secrets there seem to be."""
    log = {
        "type": "user", "sessionId": "s1", "uuid": "a1", "timestamp": "2025-05-01T10:00:00.000Z",
        "message": {"role": "user", "content": f"Use {GITHUB} for it, please."},
    }  # fmt: skip
    file = tmp_path / "s1.jsonl"
    file.write_text(json.dumps(log) + "\n", "utf-8")
    assert "it may hold secrets (1 github token): --redact blacks them out" in goalmem("ingest", str(file)).err
    assert "redacted: 1 github token" in goalmem("ingest", str(file), "--redact").err
    assert GITHUB not in bytes_of(tmp_path / "store")


def test_the_library_does_it_too(tmp_path: Path) -> None:
    """As the command, and the record counts."""
    file = tmp_path / "talk.json"
    file.write_text(json.dumps([SECRET, REPLY]), "utf-8")
    with goalmem_cli.open(tmp_path / "store") as memory:
        (done,) = memory.ingest(file, redacts=True)
        assert dict(done.redacted) == {"aws key": 1}
        assert KEY not in " ".join(turn.text for turn in memory.turns("talk"))


def test_what_was_redacted_stays_so_when_it_is_read_plain(goalmem: Goalmem, tmp_path: Path) -> None:
    """A later reading without `--redact`, by a hook perhaps, brings no secret back and no second conversation."""
    stored(goalmem, tmp_path / "talk.json", "--redact")
    said, held = stored(goalmem, tmp_path / "talk.json")

    assert "nothing new" in said
    assert "redacted: 1 aws key" in said
    assert KEY not in held
    assert json.loads(goalmem("stores", "show", "--json").out)["stats"]["conversations"] == 1


def test_what_was_redacted_stays_so_under_a_contact_s_new_name(goalmem: Goalmem, tmp_path: Path) -> None:
    """The same instant and text are enough, whatever the speaker is called in a later export."""
    stored(goalmem, tmp_path / "talk.json", "--redact")
    renamed = [{**SECRET, "name": "Nora B."}, REPLY]
    (tmp_path / "later.json").write_text(json.dumps(renamed), "utf-8")
    assert goalmem("ingest", str(tmp_path / "later.json")).code == 0
    assert "Nora B." in goalmem("people").out
    assert KEY not in bytes_of(tmp_path / "store")


def test_what_was_redacted_stays_so_under_a_name_of_the_notes(goalmem: Goalmem, tmp_path: Path) -> None:
    """Where only days are told, the user's note says who is who."""
    for file, name in (("a.csv", "Ana"), ("b.csv", "Anna")):
        (tmp_path / file).write_text(
            f"date,speaker,text\n2024-02-01,{name},my key is {KEY}\n2024-02-01,Me,ok\n", "utf-8"
        )
    assert goalmem("ingest", str(tmp_path / "a.csv"), "--redact").code == 0
    assert goalmem("people", "name", "Ana", "Anna").code == 0
    assert goalmem("ingest", str(tmp_path / "b.csv")).code == 0
    assert KEY not in bytes_of(tmp_path / "store")


def test_another_conversation_loses_nothing(goalmem: Goalmem, tmp_path: Path) -> None:
    """Two files of one name may begin alike; only what is read again is taken out."""
    for folder, last in (("x", "One."), ("y", "Two.")):
        (tmp_path / folder).mkdir()
        talk = [{"role": "user", "content": f"My key is {KEY}."}, {"role": "assistant", "content": last}]
        (tmp_path / folder / "talk.json").write_text(json.dumps(talk), "utf-8")
        assert goalmem("ingest", str(tmp_path / folder / "talk.json")).code == 0
    assert goalmem("ingest", str(tmp_path / "x" / "talk.json"), "--redact").code == 0
    stats = json.loads(goalmem("stores", "show", "--json").out)
    assert (stats["stats"]["turns"], stats["stats"]["conversations"]) == (4, 2)


def test_a_copy_under_another_name_is_the_same_talk(goalmem: Goalmem, tmp_path: Path) -> None:
    """What was stored from the one file is replaced when the other is read; both are one conversation."""
    more = [
        {**REPLY, "content": f"{text} " * 30, "timestamp": f"2026-01-01T10:0{at}:00+00:00"}
        for at, text in enumerate("abcdefg", 2)
    ]
    for name, words in (("talk.json", ()), ("copy.json", ("--redact",))):
        (tmp_path / name).write_text(json.dumps([SECRET, REPLY, *more]), "utf-8")
        assert goalmem("ingest", str(tmp_path / name), *words).code == 0
    assert KEY not in bytes_of(tmp_path / "store")
    stats = json.loads(goalmem("stores", "show", "--json").out)["stats"]
    assert (stats["conversations"], stats["turns"]) == (1, 9)


def test_many_conversations_are_taken_out_at_once(goalmem: Goalmem, tmp_path: Path, calls: list[object]) -> None:
    """Each deletion writes the store anew: a folder with secrets in every file costs one."""
    folder = tmp_path / "talks"
    folder.mkdir()
    for number in range(4):
        talk = [{**SECRET, "content": f"{number}: {KEY}"}, {**REPLY, "content": f"Thanks, {number}."}]
        (folder / f"talk{number}.json").write_text(json.dumps(talk), "utf-8")
    assert goalmem("ingest", str(folder)).code == 0
    assert goalmem("ingest", str(folder), "--redact").code == 0
    assert len(calls) == 1
    assert KEY not in bytes_of(tmp_path / "store")
    stats = json.loads(goalmem("stores", "show", "--json").out)["stats"]
    assert (stats["conversations"], stats["turns"]) == (4, 8)
    assert goalmem("stores", "verify", "-q").code == 0


def test_what_cannot_be_stored_takes_nothing_behind_it_along(goalmem: Goalmem, tmp_path: Path) -> None:
    """An export with two turns of one id is refused by its own name; the files behind it are stored, redacted."""
    stored(goalmem, tmp_path / "talk.json")
    export = tmp_path / "a.jsonl"
    goalmem("stores", "export", "--out", str(export))
    lines = [json.loads(line) for line in export.read_text("utf-8").splitlines()]
    for line in lines:
        if "turn" in line:
            line["turn"]["own_id"] = "x1"
        elif "conversation" in line:
            line.update(conversation="elsewhere", own_id=None)
    export.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    chats = [tmp_path / "b.txt", tmp_path / "c.txt"]
    for day, chat in enumerate(chats, 23):
        said = (
            f"[05/{day}/23, 10:00:01] Pia: {chat.stem} has a shed\n[05/{day}/23, 10:00:02] Quin: and {KEY} is its key\n"
        )
        chat.write_text(said, "utf-8")

    outcome = goalmem("ingest", "--redact", str(export), *map(str, chats))

    assert outcome.code == 5
    errors = [line for line in outcome.err.splitlines() if line.startswith("error:")]
    assert len(errors) == 1
    assert f"{export}: conversation elsewhere" in errors[0]
    assert "two turns have this id" in errors[0]
    for chat in chats:
        assert f"{chat}: whatsapp, 1 conversation, 2 turns, 2 new stored" in outcome.out
    told = goalmem("stores", "export").out
    assert "b has a shed" in told
    assert "c has a shed" in told
    assert told.count("[redacted: aws key]") == 2


def test_stopped_after_the_deletion_no_secret_comes_back(
    goalmem: Goalmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mark is written before it, so a plain reading redacts too; and it is said that turns may be missing."""
    file, take_out = tmp_path / "talk.json", KnownMemory.take_out
    stored(goalmem, file)

    def stop(known: KnownMemory, plain: Any, note: Callable[[str], None]) -> None:
        take_out(known, plain, note)
        raise KeyboardInterrupt

    with monkeypatch.context() as stopped:
        stopped.setattr(KnownMemory, "take_out", stop)
        outcome = goalmem("ingest", str(file), "--redact")
    assert outcome.code == 130
    assert (
        "interrupted: run it again, since turns with secrets may be taken out and not stored again yet" in outcome.err
    )
    assert "what is stored stays" not in outcome.err
    said, held = stored(goalmem, file)
    assert "redacted: 1 aws key" in said
    assert KEY not in held


def test_stopped_without_redaction_what_is_stored_stays(
    goalmem: Goalmem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is taken out then, and that is what is said."""

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    file = tmp_path / "talk.json"
    file.write_text(json.dumps([SECRET, REPLY]), "utf-8")
    monkeypatch.setattr("goalmem_cli.store.store.Store.add_all", stop)
    assert "interrupted: what is stored stays" in goalmem("ingest", str(file)).err


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The rewritings of a database, one an item."""
    found: list[object] = []
    rewrite = Database.rewrite

    def counted(database: Database, *words: Any) -> None:
        found.append(database)
        rewrite(database, *words)

    monkeypatch.setattr(Database, "rewrite", counted)
    return found
