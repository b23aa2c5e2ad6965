"""What people quote is not theirs: lines behind `>`, pasted mails and messages, shared posts, forwarded mails."""

import html
import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goalmem_cli.backbones.amem.notes import Details, Reading, version
from goalmem_cli.backbones.structured.stretches import stretches_of, turn_leaves
from goalmem_cli.records import Conversation, Turn, Unit
from goalmem_cli.store.redaction import redacted_turn
from goalmem_cli.store.units import retrievable, text_with_marks, units_from_turns
from goalmem_cli.transcripts.readers import quotes
from tests.transcripts.reading import read_bytes
from tests.transcripts.test_formats import SAMPLES

HEAD = "From: Marta Bee <marta@example.org>\nSent: Monday, 2 March 2026 10:00\n"
MAIL = f"{HEAD}To: Ana\nSubject: Food\n\nI am vegan.\n\nMarta"
SAID = f"{HEAD}Subject: Food\n\nI am vegan.\n\nMarta"


def whatsapp(text: str) -> Turn:
    """Return what Ana says in a chat, before Ben answers."""
    chat = f"31/12/2023, 21:15 - Ana: {text}\n31/12/2023, 21:16 - Ben: ok\n"
    (conversation,) = read_bytes(chat.encode(), "chat.txt", "whatsapp")
    assert len(conversation.turns) == 2
    return conversation.turns[0]


def parts(turn: Turn) -> list[tuple[str, str]]:
    """Return who says what in a turn, as it is retrieved."""
    return [(unit.author, unit.text) for unit in retrievable(units_from_turns([turn]))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "> I am vegan\n> since March\nGood for her",
            [("an unknown author", "[quoted] I am vegan\nsince March"), ("Ana", "Good for her")],
        ),
        ("> I am vegan", [("an unknown author", "[quoted] I am vegan")]),
        (
            "> 5 years ago I became vegan\nI did not",
            [("an unknown author", "[quoted] 5 years ago I became vegan"), ("Ana", "I did not")],
        ),
        (
            "On Mon, 2 Mar 2026 at 10:00, Marta Bee <m@example.org> wrote:\n\n> I am vegan\nreally",
            [
                (
                    "Marta Bee",
                    "[quoted from Marta Bee] On Mon, 2 Mar 2026 at 10:00, Marta Bee <m@example.org> wrote:\n\nI am vegan",
                ),
                ("Ana", "really"),
            ],
        ),
        (
            "Am 02.03.26 um 10:00 schrieb Marta Bee:\n> Ich bin vegan",
            [("Marta Bee", "[quoted from Marta Bee] Am 02.03.26 um 10:00 schrieb Marta Bee:\nIch bin vegan")],
        ),
        (
            "On 2 March 2026, Marta Bee wrote:\nI am vegan",
            [("Marta Bee", "[quoted from Marta Bee] On 2 March 2026, Marta Bee wrote:\nI am vegan")],
        ),
        (f"Look at this:\n{MAIL}", [("Ana", "Look at this:"), ("Marta Bee", f"[quoted from Marta Bee] {SAID}")]),
        (
            f"Look\n-----Original Message-----\n{MAIL}",
            [("Ana", "Look"), ("Marta Bee", f"[quoted from Marta Bee] -----Original Message-----\n{SAID}")],
        ),
        (
            "See:\n[10:32, 3/5/2023] Marta: I am vegan\n[10:33, 3/5/2023] Ben: Me too",
            [
                ("Ana", "See:"),
                ("Marta", "[quoted from Marta] [10:32, 3/5/2023] Marta: I am vegan"),
                ("Ben", "[quoted from Ben] [10:33, 3/5/2023] Ben: Me too"),
            ],
        ),
        (
            "Marta, [05.03.2023 21:15]\nI am vegan",
            [("Marta", "[quoted from Marta] Marta, [05.03.2023 21:15]\nI am vegan")],
        ),
        (
            "Marta, [5 September 2026 at 21:15:07]:\nI am vegan",
            [("Marta", "[quoted from Marta] Marta, [5 September 2026 at 21:15:07]:\nI am vegan")],
        ),
        (
            "Begin forwarded message:\n\n> From: Marta <m@example.org>\n> Subject: Food\n>\n> I am vegan",
            [
                (
                    "Marta",
                    "[quoted from Marta] Begin forwarded message:\n\nFrom: Marta <m@example.org>\nSubject: Food\n\nI am vegan",
                )
            ],
        ),
    ],
)
def test_what_is_quoted_or_pasted_is_its_author_s(text: str, said: list[tuple[str, str]]) -> None:
    """Of each part the author, or nobody known; the turn itself keeps its text and with it its id."""
    turn = whatsapp(text)
    assert (turn.speaker, turn.text) == ("Ana", text)
    assert parts(turn) == said


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("> To: be or not to be\nWow", "To: be or not to be"),
        ("> From: London\n> To: Paris by train\nWow", "From: London\nTo: Paris by train"),
        ("> Buy milk\n>\n> To: Marta with love\nWow", "Buy milk\n\nTo: Marta with love"),
        ("> From: Marta <m@example.org>\n> To: Ana\n> I am vegan\nWow", "From: Marta <m@example.org>\nI am vegan"),
        ("> To: a@example.org\n> Cc: b@example.org\nWow", "To: a@example.org\nCc: b@example.org"),
    ],
)
def test_all_that_is_quoted_is_found_but_for_whom_a_mail_went_to(text: str, shown: str) -> None:
    """A line that begins as a head's does is kept, and so is a quote that is no more than that."""
    quoted, own = parts(whatsapp(text))
    assert quoted[1].partition("] ")[2] == shown
    assert own == ("Ana", "Wow")


@pytest.mark.parametrize(
    "text",
    [
        "I am vegan",
        "> 5 km",
        ">_< I am\n>:( vegan\n-> so\n>be me",
        "```\n> SELECT 1\n```\nworks",
        "From: Berlin\nTo: Munich\nDate: 5 May",
        "Come!\nDate: 5 May\nFrom: 6 pm\nTo: 10 pm\nSubject: I turn 30",
        "So:\nMeeting with Bob, [5.5.2023 10:30] at the cafe\nI am vegan",
        "On 3 March 2026 I wrote:\nI am vegan",
        "On 3 March 2026 I finally wrote:\nI am vegan",
        "On 3 March 2026 we wrote:\nWe are vegan",
        "> 5 km to go\nPhew",
        "We need two things:\n- milk\n- 5 eggs",
        "[21:15] I am here\n-----\nSo it is",
        ">\n>\nWhat?",
    ],
)
def test_what_only_looks_like_a_quote_is_the_speaker_s(text: str) -> None:
    """Amounts, faces, code, journeys, lists and lines are nobody else's."""
    turn = whatsapp(text)
    assert (turn.text, turn.attributes) == (text, {})


def test_assistants_and_notes_quote_nobody() -> None:
    """A `>` there is Markdown: what an assistant cites, or a prompt, is in its turn as before."""
    said = {"role": "assistant", "content": f"> I am vegan\n\nSo says she.\n{MAIL}"}
    (conversation,) = read_bytes(json.dumps([{"role": "user", "content": "> a\nb"}, said]).encode(), "a.json", "openai")
    assert [turn.attributes for turn in conversation.turns] == [{}, {}]
    (conversation,) = read_bytes(b"## User\n> I am vegan\nnow\n\n## Assistant\n> ok\nthen\n", "a.md", "markdown")
    assert [turn.attributes for turn in conversation.turns] == [{}, {}]


def table(text: str, who: str = "Ana", other: str = "Ben") -> Conversation:
    """Return a short talk of two in a table; the first message is this."""
    rows = [("User", "Message"), (who, text), (other, "ok"), (who, "Good."), (other, "So it is.")]
    data = "".join('"{}","{}"\n'.format(name, said.replace('"', '""')) for name, said in rows).encode()
    (conversation,) = read_bytes(data, "a.csv", "table")
    return conversation


@pytest.mark.parametrize("text", [f"Look:\n{MAIL}", "Look:\nMarta wrote:\nI am vegan.", "Look:\n> I am vegan.\nOh"])
def test_a_quote_in_a_table_is_its_author_s(text: str) -> None:
    """As in a chat of WhatsApp."""
    turn = table(text).turns[0]
    assert turn.text == text and parts(turn) == parts(whatsapp(text))
    assert any("[quoted" in said for _, said in parts(turn))


@pytest.mark.parametrize(("who", "other"), [("User", "Assistant"), ("Ana", "Claude"), ("Claude", "Ben")])
def test_a_talk_with_a_model_in_a_table_quotes_nobody(who: str, other: str) -> None:
    """What is pasted there is a part of the prompt or the reply, and a `>` is Markdown."""
    assert [turn.attributes for turn in table(MAIL, who, other).turns] == [{}] * 4


def test_a_message_of_blank_lines_is_read_in_linear_time() -> None:
    """In quadratic time, a table of 200 KB would take minutes: each line is asked once which line follows."""
    lines = ["Hello:", *[" "] * 200_000, "x"]
    assert quotes.quotes_in("\n".join(lines)) == []


def message(text: object, **keys: object) -> dict[str, object]:
    """Return a message as Telegram has it."""
    return {"id": 1, "type": "message", "date_unixtime": "1773570600", "from": "Ana", "text": text, **keys}


def test_telegram_s_quoted_pieces_are_not_the_sender_s() -> None:
    """In JSON and as HTML; the same words before it are the sender's."""
    pieces = ["Vegan. ", {"type": "blockquote", "text": "Vegan."}, " Oh"]
    chat = {"name": "Ana", "type": "personal_chat", "id": 1, "messages": [message(pieces)]}
    (conversation,) = read_bytes(json.dumps(chat).encode(), "result.json")
    (turn,) = conversation.turns
    assert parts(turn) == [("Ana", "Vegan."), ("an unknown author", "[quoted] Vegan."), ("Ana", "Oh")]
    page = (
        '<div class="page_body chat_page"><div class="history"><div class="message default clearfix" id="message2">'
        '<div class="body"><div class="pull_right date details" title="31.12.2023 21:15:07">21:15</div>'
        '<div class="from_name">Ana</div><div class="text">See<blockquote>I am <b>vegan</b></blockquote>Oh</div>'
        "</div></div></div></div>"
    )
    (conversation,) = read_bytes(page.encode(), "messages.html", "telegram-html")
    assert parts(conversation.turns[0]) == [("Ana", "See"), ("an unknown author", "[quoted] I am vegan"), ("Ana", "Oh")]


def discord(content: str, **keys: object) -> Turn:
    """Return what Ana says in a channel of Discord."""
    said = {"id": "1", "timestamp": "2023-03-05T21:15:07+00:00", "author": {"name": "Ana"}, "content": content, **keys}
    document = {"guild": {"name": "g"}, "channel": {"id": "7"}, "messages": [said]}
    (conversation,) = read_bytes(json.dumps(document).encode(), "a.json", "discord")
    return conversation.turns[0]


def test_discord_s_quotes_and_forwards_beside_words_of_the_sender_s() -> None:
    """Behind `>>> ` all that follows is quoted; a forwarded message stays apart from what is said of it."""
    assert parts(discord("No\n>>> I am vegan\nsince March")) == [
        ("Ana", "No"),
        ("an unknown author", "[quoted] I am vegan\nsince March"),
    ]
    assert parts(discord("> I am vegan\nNo")) == [("an unknown author", "[quoted] I am vegan"), ("Ana", "No")]
    shown = "```\n>>> import x\n```\nI am vegan"
    assert discord(shown).attributes == {}
    assert parts(discord(f"{shown}\n>>> No"))[1:] == [("an unknown author", "[quoted] No")]
    rows = [{"ID": "1", "Timestamp": "2026-02-01 10:00:09", "Contents": "No\n>>> I am\nvegan", "Attachments": ""}]
    (own,) = read_bytes(json.dumps(rows).encode(), "messages.json", "discord-package")
    assert [text for _, text in parts(own.turns[0])] == ["No", "[quoted] I am\nvegan"]
    forwarded = discord("Look", forwardedMessage={"content": "I am vegan"})
    assert parts(forwarded) == [("Ana", "Look"), ("an unknown author", "[quoted] [forwarded] I am vegan")]


def test_slack_s_quoted_lines_are_not_the_sender_s() -> None:
    """As in the text, and in the blocks of a message without one."""
    block = {"type": "rich_text_quote", "elements": [{"type": "text", "text": "I am vegan\nsince March"}]}
    blocks = [{"type": "rich_text", "elements": [block]}]
    messages = [
        {"type": "message", "user": "Ana", "text": "&gt; I am vegan\nGood", "ts": "1704057307.000200"},
        {"type": "message", "user": "Ana", "text": "", "blocks": blocks, "ts": "1704057308.000200"},
    ]
    (conversation,) = read_bytes(json.dumps(messages).encode(), "general/2024-01-01.json", "slack")
    first, second = map(parts, conversation.turns)
    assert first == [("an unknown author", "[quoted] I am vegan"), ("Ana", "Good")]
    assert second == [("an unknown author", "[quoted] I am vegan\nsince March")]


@pytest.mark.parametrize(
    ("content", "share", "said"),
    [
        (
            "Look", {"share_text": "I am vegan", "link": "https://x.org", "original_content_owner": "marta"},
            [("Ana", "Look"), ("marta", "[quoted from marta] I am vegan\nhttps://x.org")],
        ),
        ("Look", {"share_text": "I am vegan"}, [("Ana", "Look"), ("an unknown author", "[quoted] I am vegan")]),
        ("Look", {"link": "https://x.org"}, [("Ana", "Look\nhttps://x.org")]),
    ],
)  # fmt: skip
def test_a_shared_post_is_its_owner_s(content: str, share: dict[str, str], said: list[tuple[str, str]]) -> None:
    """In Messenger and Instagram; a link alone is what the sender gives."""
    told = {"sender_name": "Ana", "timestamp_ms": 1678017600000, "content": content, "share": share}
    document = {"participants": [{"name": "Ana"}], "messages": [told]}
    (conversation,) = read_bytes(json.dumps(document).encode(), "message_1.json", "facebook")
    assert parts(conversation.turns[0]) == said


def test_chats_that_other_programs_write_for_interchange_quote_too() -> None:
    """ChatLab's, though the layouts that are read like it are of assistants."""
    said = [{"sender": "a", "accountName": "Ana", "timestamp": 1772500000, "type": 0, "content": "> I am vegan\nNo"}]
    document = {"chatlab": {"version": "0.0.2"}, "meta": {"name": "Boats", "type": "private"}, "messages": said}
    (conversation,) = read_bytes(json.dumps(document).encode(), "a.json")
    assert parts(conversation.turns[0]) == [("an unknown author", "[quoted] I am vegan"), ("Ana", "No")]


OF_PEOPLE = frozenset(
    "whatsapp telegram telegram-html facebook facebook-html discord discord-package slack signal signal-jsonl imessage line"
    " kakaotalk google-chat teams sms-backup mail chatlab imessage-html x-archive matrix mattermost irc"
    " viber qq wechat rocketchat".split()
)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_only_messengers_and_mail_are_looked_through(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a sample says: all of theirs are, and none of assistants, notes and benchmarks."""
    file, data = SAMPLES[name]
    looked: list[str] = []

    def look(text: str) -> list[object]:
        looked.append(text)
        return []

    monkeypatch.setattr(quotes, "quotes_in", look)
    read_bytes(data, file, name)
    assert bool(looked) is (name in OF_PEOPLE)


def mail(body: str, subject: str = "Food", kind: str = "text/plain") -> Conversation:
    """Return the conversation of one mail of Ana's."""
    head = f"From: Ana <ana@example.org>\nDate: Tue, 3 Mar 2026 09:00:00 +0000\nMessage-ID: <1@x>\nSubject: {subject}\n"
    (conversation,) = read_bytes(f"{head}Content-Type: {kind}\n\n{body}".encode(), "a.eml")
    return conversation


GMAIL = (
    "---------- Forwarded message ---------\nFrom: Marta Bee <marta@example.org>\nDate: Mon, 2 Mar 2026 at 10:00\n"
    "Subject: Food\nTo: Ana <ana@example.org>\n\nI am vegan.\n\nOn 1 March 2026, Ben wrote:\n> I eat meat.\n"
)
OUTLOOK = "________________________________\nFrom: Marta Bee\nSent: Monday\nTo: Ana\nSubject: Food\n\nI am vegan.\n"
APPLE = "Begin forwarded message:\n\n> From: Marta Bee <marta@example.org>\n> Date: Monday\n>\n> I am vegan.\n"


@pytest.mark.parametrize(
    ("body", "subject", "sent"),
    [
        (GMAIL.partition("\n\nOn 1")[0], "Fwd: Food", "Mon, 2 Mar 2026 at 10:00"),
        (OUTLOOK, "FW: Food", "Monday"),
        (APPLE, "Fwd: Food", "Monday"),
        (f"{GMAIL.partition('On 1')[0]}", "Food", "Mon, 2 Mar 2026 at 10:00"),
    ],
)
def test_a_forwarded_mail_is_a_turn_of_its_author_s(body: str, subject: str, sent: str) -> None:
    """What its sender writes above it stays a turn, under its own id; without that there is the forwarded one alone."""
    forwarded = f"[forwarded from Marta Bee, {sent}] I am vegan."
    own, other = mail(f"Look.\n-- \nAna\n\n{body}", subject).turns
    assert (own.speaker, own.text, own.own_id, own.attributes) == ("Ana", "Look.", "1@x", {})
    assert (other.speaker, other.text, other.own_id) == ("Ana", forwarded, "1@x forwarded 1")
    assert parts(other) == [("Marta Bee", forwarded)]
    (alone,) = mail(body, subject).turns
    assert (alone.text, alone.own_id, alone.attributes) == (
        forwarded,
        "1@x forwarded 1",
        {"forwarded_from": "Marta Bee"},
    )


def test_what_a_forwarded_mail_quotes_is_another_s() -> None:
    """Each of them has their own part."""
    (turn,) = mail(GMAIL).turns
    (author, text), other = parts(turn)
    assert (author, text.partition("] ")[2]) == ("Marta Bee", "I am vegan.")
    assert other == ("Ben", "[quoted from Ben] On 1 March 2026, Ben wrote:\nI eat meat.")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "On 2 March 2026, Ben wrote:\n> On 1 March 2026, Marta wrote:\n>> I am vegan\n> I eat meat\nNo",
            [("Ben", "wrote:"), ("Marta", "I am vegan"), ("Ben", "I eat meat"), ("Ana", "No")],
        ),
        (
            "On 2 March 2026, Ben wrote:\n>> I am vegan\n> I eat meat",
            [("Ben", "wrote:"), ("an unknown author", "I am vegan"), ("Ben", "I eat meat")],
        ),
        ("> See\n> [10:32, 3/5/2023] Marta: I am vegan", [("an unknown author", "See"), ("Marta", "I am vegan")]),
        (APPLE + "> > I eat meat.\n", [("Marta", "I am vegan."), ("an unknown author", "I eat meat.")]),
    ],
)
def test_a_quote_in_a_quote_is_not_the_outer_author_s(text: str, said: list[tuple[str, str]]) -> None:
    """Each level has its own author, or nobody known."""
    found = parts(whatsapp(text))
    assert [author.removesuffix(" Bee") for author, _ in found] == [author for author, _ in said]
    assert all(part.endswith(words) for (_, part), (_, words) in zip(found, said, strict=True))


@pytest.mark.parametrize("depth", [5, 6, 2000])
def test_quotes_of_any_depth_are_read(depth: int) -> None:
    """Beyond a few levels all are one."""
    assert parts(whatsapp(f"{'> ' * depth}I am vegan\nNo"))[-1] == ("Ana", "No")


def test_words_below_a_mail_behind_marks_are_the_sender_s() -> None:
    """In a mail and in a chat: where it ends is told there."""
    own, other = mail(f"{APPLE}\nWell?", "Fwd: Food").turns
    assert (own.text, other.text) == ("Well?", "[forwarded from Marta Bee, Monday] I am vegan.")
    assert parts(whatsapp(f"{APPLE}\nWell?"))[-1] == ("Ana", "Well?")


def test_an_answer_that_quotes_a_forwarded_mail_forwards_nothing() -> None:
    """What its sender writes below is theirs."""
    marked = "".join(f"> {line}\n" for line in GMAIL.splitlines())
    (turn,) = mail(
        f"Yes.\n\nOn 3 March 2026, Ben <b@example.org> wrote:\n{marked}\nI eat meat, too.\n", "Re: Fwd: Food"
    ).turns
    assert (turn.text, turn.attributes) == ("Yes.\n\nI eat meat, too.", {})


def test_an_attached_mail_is_its_author_s() -> None:
    """It was the sender's words before."""
    body = (
        "--b\nContent-Type: text/plain\n\nLook.\n--b\nContent-Type: message/rfc822\n\n"
        "From: Marta <m@example.org>\nDate: Mon, 2 Mar 2026 10:00:00 +0000\nContent-Type: text/plain\n\nI am vegan.\n--b--\n"
    )
    own, other = mail(body, kind="multipart/mixed; boundary=b").turns
    assert (own.text, other.attributes) == ("Look.", {"forwarded_from": "Marta"})
    assert other.text == "[forwarded from Marta, Mon, 2 Mar 2026 10:00:00 +0000] I am vegan."


def test_a_forwarded_page_of_html_is_read_though_it_is_marked_as_quoted() -> None:
    """An answer that quotes so stays without it."""
    marked = html.escape(APPLE.replace("\n> ", "\n").replace("\n>", "\n")).replace("\n", "<br>")
    page = f"<p>Look.</p><blockquote>{marked}</blockquote>"
    own, other = mail(page, "Fwd: Food", "text/html").turns
    assert (own.text, other.text) == ("Look.", "[forwarded from Marta Bee, Monday] I am vegan.")
    (own,) = mail(page, "Re: Food", "text/html").turns
    assert own.text == "Look."


def unit_of(turn: Turn, number: int) -> Unit:
    """Return a passage of a turn that quotes."""
    return retrievable(units_from_turns([turn]))[number]


def test_what_yesterday_is_in_a_quote_nobody_knows() -> None:
    """The time of who quotes it is not its own; in their own part it is."""
    turn = whatsapp("> I came yesterday\nI went yesterday")
    assert "times" not in unit_of(turn, 0).attributes
    assert "times" in unit_of(turn, 1).attributes


def test_models_that_take_a_memory_apart_see_whose_it_is() -> None:
    """The text that they are shown has a mark before each quote; any other is as it was."""
    assert text_with_marks(whatsapp("> I am vegan\nGood")) == "[quoted] I am vegan [end of quote]\nGood"
    assert text_with_marks(whatsapp("Good\n> I am vegan")) == "Good\n[quoted] I am vegan"
    assert text_with_marks(whatsapp("Good\n\n so")) == "Good\n\n so"


def test_each_line_that_a_model_takes_apart_is_one_author_s() -> None:
    """What stands behind a quote is its own line, and of a long quote each passage says whose it is."""
    long = "I am vegan and eat kale. " * 40
    (stretch,) = stretches_of([whatsapp("> I am vegan\nGood"), whatsapp(f"> {long}\nNo")], 4000, passage=100)
    texts = [text for _, text in stretch.lines]
    assert texts[:2] == ["[quoted] I am vegan", "Good"]
    assert len(texts) > 5
    assert texts[-1] == "No"
    assert all(text.startswith("[quoted] ") for text in texts[2:-1])


def test_leaves_of_a_tree_are_their_authors() -> None:
    """Of what is quoted and of what is forwarded; any other is its speaker's, and has no attributes."""
    forwarded = Turn("a", 0, 1, "Ana", "[forwarded from Ben] I am", attributes={"forwarded_from": "Ben"})
    quoting = whatsapp("On 2 March 2026, Marta wrote:\n> I am\nNot I")
    leaves = turn_leaves("raptor", "leaf", [quoting, forwarded])
    assert [(leaf.author, leaf.speaker, leaf.text[-6:]) for leaf in leaves] == [
        ("Marta", "Ana", ":\nI am"), ("Ana", "Ana", "Not I"), ("Ben", "Ana", "] I am"),
    ]  # fmt: skip
    assert leaves[1].attributes == {}
    for leaf, turn in zip(leaves, (quoting, quoting, forwarded), strict=True):
        draft = Reading(leaf, turn).draft(Details())
        assert (draft.author, version(draft, Details(), (), [turn], ()).author) == (leaf.author, leaf.author)


def test_quotes_are_where_they_were_when_secrets_are_blacked_out() -> None:
    """Behind a shorter text, and in the quote itself; a secret that spans the end of a quote leaves none of it."""
    key = "AKIA" + "A" * 16
    turn, _ = redacted_turn(whatsapp(f"{key}\n> {key} is mine\nNo"))
    assert [text for text, _ in turn.stretches] == ["[redacted: aws key]\n", "> [redacted: aws key] is mine", "\nNo"]
    url = Turn("a", 0, 0, "Ana", f"see AKIA{'B' * 16}", attributes={"quotes": [{"start": 0, "end": 10}]})
    turn, found = redacted_turn(url)
    assert (turn.text, turn.stretches[0], found.total()) == (
        "see [redacted: aws key]",
        ("see [redacted: aws key]", ""),
        1,
    )


@pytest.mark.parametrize("told", [None, "x", [1], [{"start": 0, "end": 99}], [{"start": 3, "end": 2}], [{"end": 2}]])
def test_quotes_that_cannot_be_told_make_all_of_it_one(told: object) -> None:
    """Rather nobody's words than the speaker's."""
    assert parts(Turn("a", 0, 0, "Ana", "I am vegan", attributes={"quotes": told})) == [
        ("an unknown author", "[quoted] I am vegan")
    ]


@pytest.mark.parametrize(
    "text",
    ["1" * 100_000 + "\n> a", "<" * 100_000 + "\n> a", "1" + "a" * 100_000 + ":\n> a", "wrote " * 20_000 + "\n> a",
     "From: a" + " '" * 50_000 + "b\nSent: x\na", "Petra said:\n" * 10_000, "Hi Ana,\n" * 10_000,
     "Subject: a\nTo: b\nSent: c\n\n" * 3_000],
    ids=["digits", "marks", "letters", "verbs", "name", "announcements", "greetings", "heads"],
)  # fmt: skip
def test_a_long_line_does_not_take_the_square_of_its_length(text: str) -> None:
    """A line of 100 KB, as of an encoded file above a quote, took between a second and minutes."""
    start = time.process_time()
    quotes.quotes_in(text)
    assert time.process_time() - start < 0.8


@given(st.text(st.sampled_from("> \n-:[],<@/12aFrom wrote`\u00e9\U0001f642"), max_size=80))
@example("On 2 March 2026, Marta wrote:\n> a\nFrom: b <c@d>\nTo: e\n> f\n[10:32, 3/5/2023] Ben: x\n> ")
def test_the_stretches_of_any_text_are_all_of_it(text: str) -> None:
    """In order, none twice; each quote says something, and what is shown of it has nobody else's name before it."""
    found = quotes.quotes_in(text)
    turn = Turn("a", 0, 0, "Ana", text, attributes={"quotes": found} if found else {})
    assert "".join(stretch for stretch, _ in turn.stretches) == text
    quoted = [stretch for stretch, author in turn.stretches if author is not None]
    assert len(quoted) == len(found)
    assert all(any(letter.isalnum() for letter in stretch) for stretch in quoted)


@pytest.mark.parametrize("name", ["Petra", "Petra Kern", "- Petra", "petra,"])
def test_what_stands_below_the_name_under_a_pasted_mail_is_nobodys_whom_one_knows(name: str) -> None:
    """Neither its author's nor the speaker's: nothing says which; a postscript is its author's."""
    mail = (
        f"From: Petra Kern <petra@example.org>\nSent: Monday\nSubject: Graz\n\nHi,\nI moved to Graz.\n\nBest,\n{name}"
    )
    below = "I think I want to move too."
    text = f"Look:\n{mail}\nPhone 123\n\nPS: I keep hens.\n\n{below}"
    assert [(text[start:end], author) for start, end, author in map(placed, quotes.quotes_in(text))] == [
        (text[6 : -len(below) - 1], "Petra Kern"), (below, ""),
    ]  # fmt: skip
    assert [placed(one)[2] for one in quotes.quotes_in(f"Look:\n{mail}")] == ["Petra Kern"]


TOLD = "I moved to Graz."


@pytest.mark.parametrize(
    ("line", "author"),
    [
        ("Petra wrote me:", "Petra"),
        ("Petra wrote:", "Petra"),
        ("Petra Kern said:", "Petra Kern"),
        ("Look what Petra just wrote me today:", "Petra"),
        ("Ok, Petra told us this:", "Petra"),
        ("Today Petra texted:", "Petra"),
        ("from Petra:", "Petra"),
        ("Got a mail from Petra van Dyk:", "Petra van Dyk"),
        ("Petra schrieb mir gestern:", "Petra"),
        ("Petra hat mir geschrieben:", "Petra"),
        ("Petra m'a écrit:", "Petra"),
        ("*Petra wrote:*", "Petra"),
        ("She wrote me:", ""),
        ("My sister said:", ""),
        ("Somebody wrote on Facebook:", ""),
    ],
)
@pytest.mark.parametrize("is_marked", [True, False])
def test_who_is_said_to_have_written_it_did(line: str, author: str, is_marked: bool) -> None:
    """Above lines behind `>`, and above what was pasted without; where nobody is named, it is nobody's."""
    text = f"{line}\n\n{'> ' * is_marked}{TOLD}\n\nI want to move too."
    shown = f"[quoted from {author}] {TOLD}" if author else f"[quoted] {TOLD}"
    own, told, *rest = parts(whatsapp(text))
    assert own == ("Ana", line)
    if is_marked:
        assert [told, *rest] == [(author or "an unknown author", shown), ("Ana", "I want to move too.")]
    elif author:
        assert [told, *rest] == [(author, shown), ("an unknown author", "[quoted] I want to move too.")]
    else:
        assert [told, *rest] == [("an unknown author", f"{shown}\n\nI want to move too.")]


def test_a_name_alone_is_the_author_of_the_quote_below_it() -> None:
    """Without marks below it, it is whom the speaker talks to."""
    assert parts(whatsapp(f"Petra:\n> {TOLD}"))[1] == ("Petra", f"[quoted from Petra] {TOLD}")
    assert whatsapp(f"Petra:\n{TOLD}").attributes == {}


@pytest.mark.parametrize(
    "text",
    [
        "I wrote Petra:\nI moved", "As I told Petra:\nI moved", "I just said:\nI moved", "What we said:\nWe moved",
        "Ich schrieb:\nIch zog um", "We need from the shop:\nI want milk", "The plan is:\nI move",
        "Petra said that I moved: so what\nI did", "Petra wrote me", "Petra, this is from 2023:\nI moved",
        "Told Petra:\nI moved", "Hi Ben,\nI moved.\n\nBest,\nAna", "Dear Ana,\nI moved.\n\nBest,\nAna", "Hi Ana,",
    ],
)  # fmt: skip
def test_what_the_speaker_says_to_have_written_is_theirs(text: str) -> None:
    """And so is what only looks like the name of an author."""
    assert whatsapp(text).attributes == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Hi Ana,\n\nI moved.\n\nBest,\nPetra", [("Petra", "Petra")]),
        (
            "Look:\nDear Ana,\nI moved.\n\nLove\nPetra Kern\n\nI want to too.",
            [("Ana", "Look:"), ("Petra Kern", "Kern"), ("an unknown author", "I want to too.")],
        ),
        ("Liebe Ana,\nich zog um", [("an unknown author", "ich zog um")]),
    ],
)
def test_a_letter_to_the_speaker_is_of_who_signed_it(text: str, said: list[tuple[str, str]]) -> None:
    """It is pasted without a head; where nobody signed it, it is nobody's."""
    found = parts(whatsapp(text))
    assert [author for author, _ in found] == [author for author, _ in said]
    assert all(part.endswith(words) for (_, part), (_, words) in zip(found, said, strict=True))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{HEAD}\n{TOLD}\n\nI want to too.", ["Marta Bee", "an unknown author"]),
        (f"{HEAD}\nHi,\n\n{TOLD}", ["Marta Bee"]),
        (f"{HEAD}\n{TOLD}\n\nIt is big.\n\nI want to too.", ["Marta Bee", "an unknown author"]),
        (f"[10:32, 3/5/2023] Marta: {TOLD}\n\nI want to too.", ["Marta", "an unknown author"]),
        (f"[10:32, 3/5/2023] Marta: {TOLD}\n\nYes\n[10:33, 3/5/2023] Marta: Bye", ["Marta", "Marta"]),
        (f"From: marta@example.org\nSubject: x\n\n{TOLD}", ["marta@example.org"]),
        (f"Subject: x\nFrom: Marta <marta@example.org>\n\n{TOLD}", ["Marta"]),
        (f"Subject: x\nDate: Monday\nTo: Ana\n\n{TOLD}", ["an unknown author"]),
        (f"-----Original Message-----\nSent: Monday\n\n{TOLD}\n\nI want to too.", ["an unknown author"]),
    ],
)
def test_what_stands_apart_below_what_was_pasted_is_nobodys_whom_one_knows(text: str, said: list[str]) -> None:
    """Neither its author's nor the sender's, where no name below it says where it ends."""
    assert [author for author, _ in parts(whatsapp(text))] == said


def placed(quote: dict[str, object]) -> tuple[int, int, str]:
    """Return where a quote begins and ends, and its author."""
    return int(str(quote["start"])), int(str(quote["end"])), str(quote.get("from", ""))
