"""The manual's examples of formats: what is promised there is what is read."""

import re

import pytest

from goalmem_cli.guide import page
from goalmem_cli.transcripts import FORMATS
from tests.transcripts.reading import detect, read_bytes

PAGES = ("assistants", "agents", "messengers", "phones", "rooms", "files", "benchmarks")
SECTION = re.compile(r"^## `(?P<name>[a-z0-9-]+)`\n(?P<body>.*?)(?=^## `|\Z)", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"^```(?P<kind>json|text|markdown|html)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
ENDINGS = {
    "openai-jsonl": ".jsonl", "agent-log": ".jsonl", "goalmem": ".jsonl", "markdown": ".md", "whatsapp": ".txt",
    "signal": ".txt", "came": ".jsonl", "imessage": ".txt", "line": ".txt", "kakaotalk": ".txt",
    "table": ".csv", "mail": ".eml", "names": ".txt", "cursor": ".md", "telegram-html": ".html",
    "aider": ".md", "specstory": ".md", "chat-exporter": ".md", "copied-chat": ".txt", "copied-messages": ".txt",
    "llama-ui": ".jsonl", "copilot-cli": ".jsonl", "subtitles": ".vtt", "signal-jsonl": ".jsonl", "sms-backup": ".xml", "facebook-html": ".html",
    "sillytavern": ".jsonl", "goose": ".jsonl", "mattermost": ".jsonl", "imessage-html": ".html", "irc": ".log", "x-archive": ".js",
    "wechat": ".txt", "qq": ".txt", "viber": ".csv", "oasst": ".jsonl",
}  # fmt: skip


def documented() -> dict[str, str]:
    """Return format -> the example in its section of the manual."""
    return {
        section["name"]: example["text"]
        for name in PAGES
        for section in SECTION.finditer(page(name).text)
        if (example := EXAMPLE.search(section["body"]))
    }


def test_every_format_is_documented() -> None:
    """Each format has a section with an example, and no section is of a format that there is not."""
    assert set(documented()) == set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_each_example_is_read(name: str) -> None:
    """The example is recognised as the format under which it stands, and gives turns."""
    data, file = documented()[name].encode(), f"example{ENDINGS.get(name, '.json')}"

    assert detect(file, data) == name
    assert all(conversation.turns for conversation in read_bytes(data, file))
