"""The reader of Facebook Messenger and Instagram."""

import json
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from zipfile import ZipFile

import pytest

from goalmem_cli.errors import InputError
from goalmem_cli.records import Conversation, Turn
from goalmem_cli.transcripts import Source, conversations_in, read_file, transcript_files
from tests.transcripts.reading import read_bytes, said_in

NOON = datetime(2023, 3, 5, 12, tzinfo=UTC)
MILLISECONDS = int(NOON.timestamp() * 1000)


def garbled(text: str) -> str:
    """Return the text as Meta writes it."""
    return text.encode().decode("latin-1")


def message(minutes: int, sender: str = "Zoë", **keys: object) -> dict[str, object]:
    """Return a message with the fields that each has."""
    return {
        "sender_name": garbled(sender), "timestamp_ms": MILLISECONDS + minutes * 60_000,
        "is_geoblocked_for_viewer": False, "is_unsent_image_by_messenger_kid_parent": False, **keys,
    }  # fmt: skip


FILE = {"uri": "messages/inbox/zoe_1/x.jpg", "creation_timestamp": 1678017600}
FACEBOOK: dict[str, object] = {
    "participants": [{"name": garbled("Zoë")}, {"name": "Ana"}],
    "messages": [
        message(20, "Ana", content="Liked a message"),
        message(19, type="Generic", sticker={"uri": "messages/stickers_used/1.png", "ai_stickers": []}),
        message(18, "Ana", type="Subscribe", users=[{"name": garbled("Zoë")}], content="Ana added Zoe."),
        message(17, "Ana", type="Call", call_duration=61, content="Ana called you."),
        message(16, type="Generic", is_unsent=True, is_taken_down=False),
        message(15, "Ana", content="Ana sent an attachment.", share={
            "link": "https://x.org/baixa", "share_text": garbled("Três quartos"), "original_content_owner": "flats"}),
        message(14, content=garbled("Look 🙂"), photos=[FILE], videos=[FILE | {"thumbnail": FILE}], audio_files=[FILE],
                gifs=[{"uri": "x.gif"}], files=[FILE], ip="1.2.3.4",
                bumped_message_metadata={"bumped_message": "x", "is_bumped": False}),
        message(1, "Ana", type="Generic", content=garbled("In Baixa – near São Bento"), is_unsent=False,
                reactions=[{"reaction": garbled("❤"), "actor": garbled("Zoë")},
                           {"reaction": garbled("❤"), "actor": "Ana", "timestamp": 1678017700}]),
        message(0, type="Generic", content="Where do we stay?"),
    ],
    "title": garbled("Zoë"), "is_still_participant": True, "thread_type": "Regular", "thread_path": "inbox/zoe_1",
    "magic_words": [], "image": FILE, "joinable_mode": {"mode": 1, "link": ""},
}  # fmt: skip
ENCRYPTED: dict[str, object] = {
    "participants": ["Zoë", "Ana"], "threadName": "Zoë_15",
    "messages": [
        {"isUnsent": False, "media": [], "reactions": [{"actor": "Ana", "reaction": "❤"}], "senderName": "Zoë",
         "text": "Wo? – Ã©", "timestamp": MILLISECONDS, "type": "text"},
        {"isUnsent": False, "media": [{"uri": "./media/x.jpeg"}], "reactions": [], "senderName": "Ana", "text": "",
         "timestamp": MILLISECONDS + 60_000, "type": "media"},
        {"isUnsent": True, "media": [], "reactions": [], "senderName": "Ana", "text": "User unsent a message",
         "timestamp": MILLISECONDS + 120_000, "type": "text"},
        {"isUnsent": False, "media": [], "reactions": [], "senderName": "Ana", "text": "https://x.org",
         "timestamp": MILLISECONDS + 180_000, "type": "link"},
        {"isUnsent": False, "media": [], "reactions": [], "senderName": "Ana", "text": "", "timestamp": MILLISECONDS,
         "type": "placeholder"},
    ],
}  # fmt: skip
SHARED = {"quotes": [{"start": 0, "end": 32, "from": "flats"}]}
HEARTS = {"reactions": [{"reaction": "❤", "count": 2, "by": ["Zoë", "Ana"]}]}
read = partial(read_bytes, name="message_1.json")


def test_reads_a_file_as_golden() -> None:
    """The oldest first, texts and names repaired, links kept, reactions beside; the rest is counted."""
    (conversation,) = read(FACEBOOK)
    times = [NOON + timedelta(minutes=minutes) for minutes in (0, 1, 14, 15)]
    texts = ["Where do we stay?", "In Baixa – near São Bento", "Look 🙂", "Três quartos\nhttps://x.org/baixa"]
    ids = [turn.own_id for turn in conversation.turns]
    turns = tuple(
        Turn("inbox/zoe_1", 0, place, ("Zoë", "Ana", "Zoë", "Ana")[place], text, at, own_id,
             attributes={1: HEARTS, 3: SHARED}.get(place, {}))
        for place, (text, at, own_id) in enumerate(zip(texts, times, ids, strict=True))
    )  # fmt: skip
    assert conversation == Conversation("inbox/zoe_1", "facebook", turns, "inbox/zoe_1", conversation.notes)
    assert str(ids[0]).startswith("20230305-120000-")
    assert sorted(conversation.notes) == [
        "calls and notices left out: 2", "deleted messages left out: 1", "media left out: 6",
        "notices of reactions left out: 1", "notices of something sent left out: 1",
    ]  # fmt: skip


def test_reads_an_encrypted_chat_as_golden() -> None:
    """Its own keys, in the order of time, in UTF-8 that is right."""
    (conversation,) = read(ENCRYPTED, name="Zoe_15.json")
    assert (conversation.own_id, said_in(conversation)) == (
        "Zoë_15", [("Zoë", "Wo? – Ã©"), ("Ana", "https://x.org")],
    )  # fmt: skip
    assert conversation.turns[0].attributes == {"reactions": [{"reaction": "❤", "count": 1, "by": ["Ana"]}]}
    assert sorted(conversation.notes) == [
        "calls and notices left out: 1",
        "deleted messages left out: 1",
        "media left out: 1",
    ]


@pytest.mark.parametrize(
    "notice",
    [
        "Liked a message", "Reacted ❤ to your message ", "Le gustó un mensaje", "Reaccionó con 😂 a tu mensaje",
        "Curtiu uma mensagem", "Reagiu com 👍 à sua mensagem", "A aimé un message", "A réagi ❤️ à votre message ",
        "Gefällt eine Nachricht", "Hat mit ❤️ auf deine Nachricht  reagiert", 'Ha messo "Mi piace" a un messaggio',
        "Ha aggiunto la reazione ❤ al tuo messaggio", "Bir mesajı beğendi", "Đã thích một tin nhắn",
        "Đã bày tỏ cảm xúc 😍 về tin nhắn của bạn", "ถูกใจข้อความ", "แสดงความรู้สึก ❤ ต่อข้อความของคุณ",
    ],
)  # fmt: skip
def test_reactions_that_are_told_as_messages_are_left_out(notice: str) -> None:
    """In the languages that are known; a message that goes on with more is somebody's."""
    told, said_more = message(1, "Ana", content=garbled(notice)), message(0, content=garbled(f"{notice.strip()}, ja"))
    (conversation,) = read({**FACEBOOK, "messages": [told, said_more]})
    assert said_in(conversation) == [("Zoë", f"{notice.strip()}, ja")]
    assert conversation.notes == ("notices of reactions left out: 1",)


@pytest.mark.parametrize(
    "notice",
    [
        "Ana sent an attachment.", "You sent an attachment.", "Ana hat einen Anhang gesendet.",
        "Ana a envoyé une pièce jointe.", "Enviaste un archivo adjunto.", "Te envió un archivo adjunto.",
        "Ana envió un archivo adjunto.", "Você enviou um anexo.", "Hai inviato un allegato", "Wysłałeś(aś) załącznik.",
        "Ana wysłała załącznik.", "Ana bir ek gönderdi.", "Ana отправил(-а) вложение.", "Bạn đã gửi một file đính kèm.",
        "Ana ได้ส่งไฟล์แนบ",
    ],
)  # fmt: skip
def test_that_something_was_sent_is_left_out_where_it_is_nobody_s_words(notice: str) -> None:
    """What is shared beside it stays; alone it is a notice only where it is about its sender."""
    share = {"link": "https://x.org/baixa", "share_text": garbled("Três quartos")}
    messages = [
        message(3, "Ana Reis", content=garbled(notice)),
        message(2, "Ana Reis", content=garbled(notice), photos=[FILE]),
        message(1, "Ana Reis", content=garbled(notice), share=share),
        message(0, content=garbled(f"Cy {notice}")),
    ]
    (conversation,) = read({**FACEBOOK, "messages": messages})
    assert said_in(conversation) == [("Zoë", f"Cy {notice}"), ("Ana Reis", "Três quartos\nhttps://x.org/baixa")]
    assert set(conversation.notes) == {"notices of something sent left out: 3", "media left out: 1"}


def test_what_is_said_beside_a_share_stays() -> None:
    """Words of the sender's own, and notices in a language that is not known."""
    share = {"link": "https://x.org/baixa"}
    messages = [message(1, "Ana", content=text, share=share) for text in ("Ana liittasi tiedoston.", "Ana is near it")]
    (conversation,) = read({**FACEBOOK, "messages": messages[::-1]})
    assert [turn.text.split("\n") for turn in conversation.turns] == [
        ["Ana liittasi tiedoston.", "https://x.org/baixa"],
        ["Ana is near it", "https://x.org/baixa"],
    ]


def test_a_folder_of_files_is_one_chat(tmp_path: Path) -> None:
    """The highest number has the oldest; the same message has the same id in a file alone and in the folder."""
    folder = tmp_path / "inbox" / "zoe_1"
    folder.mkdir(parents=True)
    for number in (1, 2, 10):
        texts = [message(-number * 60 + place, content=f"{number}-{place}") for place in (1, 0)]
        (folder / f"message_{number}.json").write_text(json.dumps({**FACEBOOK, "messages": texts}))
    (folder / "photos").mkdir()

    (found,) = transcript_files([tmp_path])
    (conversation,) = read_file(found.path)
    (alone,) = read_file(folder / "message_2.json")

    assert found.path == folder
    assert [turn.text for turn in conversation.turns] == ["10-0", "10-1", "2-0", "2-1", "1-0", "1-1"]
    assert alone.own_id == conversation.own_id
    assert [turn.own_id for turn in alone.turns] == [turn.own_id for turn in conversation.turns[2:4]]


def test_a_chat_in_a_zip_is_one_as_well(tmp_path: Path) -> None:
    """As Meta hands it out: the folder of a chat is one conversation there, too."""
    with ZipFile(tmp_path / "instagram.zip", "w") as archive:
        for number in (1, 2):
            texts = [message(-number * 60, content=f"number {number}")]
            archive.writestr(f"inbox/zoe_1/message_{number}.json", json.dumps({**FACEBOOK, "messages": texts}))

    (found,) = transcript_files([tmp_path / "instagram.zip"])
    (conversation,) = conversations_in(Source.from_path(found.place))

    assert (conversation.own_id, [turn.text for turn in conversation.turns]) == (
        "inbox/zoe_1",
        ["number 2", "number 1"],
    )


def test_a_file_that_breaks_off_gives_what_it_has(tmp_path: Path) -> None:
    """The newest messages are there and in order; where it breaks is said."""
    file = tmp_path / "message_1.json"
    file.write_text(json.dumps(FACEBOOK)[:-700])
    with pytest.raises(InputError, match="not JSON"):
        read_file(file)


@pytest.mark.parametrize(
    ("document", "place", "reason"),
    [
        ({"messages": [message(0, content=5)]}, "messages[0].content", "expected text, found a number"),
        ({"messages": [message(0, content="x"), {"x": 1}]}, "messages[1].sender_name", "is missing"),
    ],
)
def test_errors_name_the_place(document: object, place: str, reason: str) -> None:
    """What does not have the layout is an error with the path to the value."""
    with pytest.raises(InputError) as caught:
        read(document)
    assert (caught.value.place, caught.value.reason) == (place, reason)
