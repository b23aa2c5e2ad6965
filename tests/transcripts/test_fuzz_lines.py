"""Whatever a chat in lines holds, its reader gives conversations or an InputError; no tokens are taken for words."""

from hypothesis import given
from hypothesis import strategies as st

from tests.transcripts.test_described import VTT
from tests.transcripts.test_fuzz import check
from tests.transcripts.test_imessage import CHAT as IMESSAGE
from tests.transcripts.test_kakaotalk import ANDROID, ENGLISH, WINDOWS
from tests.transcripts.test_line import ENGLISH as LINE
from tests.transcripts.test_line import JAPANESE
from tests.transcripts.test_mail import FIRST, MAILBOX
from tests.transcripts.test_marked import AIDER, COPIED, SPECSTORY
from tests.transcripts.test_names import TALK
from tests.transcripts.test_table import FULL

OTTER = "Mira Holt  0:02  \nThe boat\n\nOtto  1:05  \nCoffee & cake?\n\nTranscribed by https://otter.ai\n"
MARKED = [("a.md", AIDER), ("a.md", SPECSTORY), ("a.txt", COPIED), ("a.vtt", VTT), ("a.txt", OTTER)]
FORMATS = st.sampled_from([None, "imessage", "line", "kakaotalk"])
TOKENS = st.lists(
    st.sampled_from(
        ["May 17, 2022  5:29:42 PM", "May 47, 2022  5:29:42 PM", "\n", "\n\n", "Me", "    ", "Tapbacks:", "Edited 1 second later: ",
         " Me named it", "2024/01/15(Mon)", "Fri, 9/25/2026", "99.99.9999", "21:03\t", "9:03PM\t", "25:61\tA\tx", "\t", '"', "[Photo]",
         "2023년 3월 5일 오후 9:15", "2023. 13. 5. 21:15", ", ", " : ", ": ", "--------------- 2023년 3월 5일 일요일 ---------------",
         "[Ana] [9:15 PM] ", "[", "] ", "March 5, 2023, 9:15 PM", "March 5, 2023 at 9:15 p.m.", "사진", "\x00", "\u2028"]
    )
    | st.text(max_size=3),
    max_size=40,
).map("".join)  # fmt: skip


@given(TOKENS, FORMATS)
def test_any_tokens(text: str, format_name: str | None) -> None:
    """Arbitrary sequences of what means something in these lines."""
    check(text.encode("utf-8", "replace"), "a.txt", format_name)


@given(st.data(), st.sampled_from([IMESSAGE, JAPANESE, LINE, ANDROID, WINDOWS, ENGLISH]), TOKENS, FORMATS)
def test_mutated_chats(data: st.DataObject, chat: str, token: str, format_name: str | None) -> None:
    """A valid chat with a stretch of it replaced by anything."""
    start = data.draw(st.integers(0, len(chat)))
    end = data.draw(st.integers(start, min(len(chat), start + 40)))
    check((chat[:start] + token + chat[end:]).encode("utf-8", "replace"), "a.txt", format_name)


@given(
    st.data(),
    st.sampled_from([("a.csv", FULL), ("a.eml", FIRST), ("a.mbox", MAILBOX), ("a.txt", TALK), *MARKED]),
    st.binary(),
)
def test_mutated_files(data: st.DataObject, file: tuple[str, str], token: bytes) -> None:
    """A valid table, mail or text with a stretch of it replaced by any bytes."""
    name, text = file
    whole = text.encode()
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(len(whole), start + 40)))
    check(whole[:start] + token + whole[end:], name, None)
