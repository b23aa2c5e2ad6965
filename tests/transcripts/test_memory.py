"""Exports far larger than the memory that reading them takes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

MEGABYTE = 10**6
STATUS = Path("/proc/self/status")
# The peak is the kernel's, since resource.getrusage would count the memory of the process that started this one.
READ = r"""
import re, sys
from pathlib import Path
from goalmem_cli.transcripts import Source, conversations_in

def peak():
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024

before, turns, reached = peak(), 0, []
for conversation in conversations_in(Source.from_path(Path(sys.argv[1]), reached.append)):
    turns += len(conversation.turns)
print(turns, peak() - before, reached[-1])
"""


def chat(number: int, messages: int) -> dict[str, object]:
    """Return a conversation as ChatGPT exports it, its messages of about 2,000 characters in a row."""
    ids = [f"{number}-{position}" for position in range(messages)]
    mapping = {
        own_id: {
            "id": own_id,
            "parent": ids[position - 1] if position else None,
            "children": ids[position + 1 : position + 2],
            "message": {
                "id": own_id,
                "author": {"role": "assistant" if position % 2 else "user"},
                "create_time": 1.7e9 + position,
                "content": {"content_type": "text", "parts": ["word " * 400]},
            },
        }
        for position, own_id in enumerate(ids)
    }
    return {"title": "t", "conversation_id": str(number), "current_node": ids[-1], "mapping": mapping}


def written(file: Path, layout: str) -> int:
    """Write about 150 MB of messages and return how many."""
    if layout == "chatgpt":
        with file.open("w") as out:
            for number in range(700):
                out.write(("," if number else "[") + json.dumps(chat(number, 100)))
            out.write("]")
        return 70_000
    message = json.dumps({"from": "human", "value": "word " * 400})
    with file.open("w") as out:
        out.write('{"id": "long", "conversations": [' + message)
        for _ in range(69_999):
            out.write("," + message)
        out.write("]}")
    return 70_000


@pytest.mark.slow
@pytest.mark.skipif(not STATUS.exists(), reason="the system does not say how much memory a process had at most")
@pytest.mark.parametrize("layout", ["chatgpt", "sharegpt"])
def test_a_long_export_on_one_line_needs_little_memory(tmp_path: Path, layout: str) -> None:
    """Many conversations, or one long one, are read to the end in less memory than the file is long."""
    file = tmp_path / "conversations.json"
    turns = written(file, layout)
    size = file.stat().st_size
    done = subprocess.run([sys.executable, "-c", READ, str(file)], capture_output=True, text=True, check=False)

    assert done.stderr == ""
    read, growth, reached = map(int, done.stdout.split())
    assert size > 140 * MEGABYTE
    assert (read, reached) == (turns, size)
    assert growth < 60
