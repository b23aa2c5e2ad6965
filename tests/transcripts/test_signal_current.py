"""Signal chats as the current signal-export writes them: answers, calls, and what was not exported."""

from functools import partial

import pytest

from tests.transcripts.reading import read_one, said_in

CHAT = """\
[2025-03-05 21:15:07] Ana: Where do we stay?  
[2025-03-05 21:15:40] Me: 

> Where do we stay?
> In Lisbon, I mean.

Baixa  
(- Ana: 👍, Ben: ❤️ -)![map.png](./media/map.png)  
[2025-03-05 21:16:00] Me: Outgoing voice call (accepted, 5m 3s)  
[2025-03-05 21:30:00] Ana: Missed video call  
[2025-03-05 21:31:00] Ana: the view  (media not exported)  
[2025-03-05 21:32:00] Ana:   (image not exported)  (image not exported)  
[2025-03-05 21:33:00] Ana: 

> Voice message

  [🎉](../exported_stickers/ab/1.webp)  
[2025-03-05 21:34:00] Me: > is what a prompt looks like  
[2025-03-05 21:35:00] Me: Missed call of mine, sorry (the first was not exported)  
"""  # noqa: W291 - the exporter ends texts with two blanks
read = partial(read_one, name="Ana/chat.md", format="signal")


def test_reads_the_current_layout_as_golden() -> None:
    """What is answered was said elsewhere; calls and what stands for files is nobody's speech; all is counted."""
    conversation = read(CHAT)

    assert said_in(conversation) == [
        ("Ana", "Where do we stay?"),
        ("Me", "Baixa"),
        ("Ana", "the view"),
        ("Me", "> is what a prompt looks like"),
        ("Me", "Missed call of mine, sorry (the first was not exported)"),
    ]
    assert sorted(conversation.notes) == [
        "attachments left out: 5",
        "calls left out: 2",
    ]
    assert conversation.turns[1].attributes == {
        "quoted": "Where do we stay?\nIn Lisbon, I mean.",
        "reactions": [{"reaction": "👍", "count": 1, "by": ["Ana"]}, {"reaction": "❤️", "count": 1, "by": ["Ben"]}],
    }
    assert conversation.turns[3].attributes == {"quotes": [{"start": 0, "end": 29}]}
    assert not any(turn.attributes for turn in (conversation.turns[0], conversation.turns[2], conversation.turns[4]))


@pytest.mark.parametrize(
    "call",
    [
        "Incoming call",
        "Outgoing call",
        "Missed voice call",
        "Incoming video call (declined)",
        "Outgoing voice call (unanswered)",
        "Outgoing video call (declined by recipient)",
        "Incoming group call (accepted, 12s)",
        "Incoming group call (genericgroupcall)",
    ],
)
def test_every_form_of_a_call_is_left_out(call: str) -> None:
    """With and without its kind, its end and how long it took."""
    conversation = read(f"[2025-03-05 21:15:07] Ana: {call}  \n[2025-03-05 21:15:08] Ana: {call} again  \n")

    assert [turn.text for turn in conversation.turns] == [f"{call} again"]
    assert conversation.notes == ("calls left out: 1",)
