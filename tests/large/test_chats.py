"""What qwen-1.5b makes of 64 small chats by an author who did not know the code: about 45 minutes on one core.

Of the `looked at` chats the wrong answers were read while goalmem was changed; `asked once` are the others. In the
`moved` ones a planned day is moved later, or that of something else is.
"""

import json
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import pytest

import goalmem_cli
from goalmem_cli.logic.normal import content_stems

pytestmark = [pytest.mark.large, pytest.mark.model]

CHATS = json.loads(Path(__file__).with_name("chats.json").read_text("utf-8"))
LEAST = {"looked at": 40, "asked once": 34, "moved, looked at": 10, "moved, not asked": 10}
"""A few fewer than were right: 37 of 72 in the second set (its questions were seen since) and 11 of 20 in the last."""


def is_right(said: str | None, golds: list[str | None]) -> bool:
    """Say whether the answer has all words of a gold answer, or most of them and no others."""
    if said is None or golds[0] is None:
        return said == golds[0]
    told = content_stems(said)
    wanted = [content_stems(gold or "") for gold in golds]
    return any(each <= told or (told <= each and 2 * len(told) >= len(each)) for each in wanted)


@pytest.mark.parametrize("name", LEAST)
def test_small_chats(tmp_path: Path, name: str) -> None:
    """Questions are asked two days after the last turn, with the default floor."""
    right, wrong = Counter[str](), []
    for number, chat in enumerate(each for each in CHATS if each["set"] == name):
        file = tmp_path / f"{number}.txt"
        file.write_text("\n".join(chat["lines"]) + "\n", "utf-8")
        asked = datetime.fromisoformat(chat["lines"][-1][1:17]) + timedelta(days=2)
        with goalmem_cli.open(tmp_path / str(number), model="qwen-1.5b") as memory:
            memory.ingest(file)
            for each in chat["questions"]:
                said = memory.ask(each["question"], asker=chat["asker"], as_of=asked).answer
                if is_right(said, [each["answer"], *each["also"]]):
                    right[each["kind"]] += 1
                else:
                    wrong.append((each["kind"], each["question"], each["answer"], said))

    print(name, right.total(), "of", right.total() + len(wrong), right, *wrong, sep="\n")  # noqa: T201
    assert right.total() >= LEAST[name]
