"""Reads what people asked Gemini, and its answers, from Google's Takeout (My Activity, Gemini Apps, JSON; 2024-2026).

Takeout lists prompts with their answers, newest first. It does not say which prompts belong to one conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.readers.gemini_parts import listed
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.html_text import text_from_html
from goalmem_cli.transcripts.reading.messenger import Opening, TurnIds
from goalmem_cli.transcripts.reading.nodes import Node, records
from goalmem_cli.transcripts.reading.parts import oldest_first
from goalmem_cli.transcripts.reading.source import Source

_PRODUCTS = ("Gemini", "Bard")
# In languages other than English, a word or two and a colon precede the prompt.
_PROMPT = re.compile(
    r"(?:Prompted|Asked|Said|Branched|Answered):? ?"
    r"|(?:[^\W\d_][\w'’-]{0,20} ){0,3}(?:prompt|anfrage|eingabe|requête|pregunta|petición|richiesta|solicitação|comando"
    r"|вопрос|запрос)(?: [^\W\d_][\w-]{2,20}){0,2} ?: ?",
    re.IGNORECASE,
)
_OTHER = re.compile(r"(?:Created|Used|Gave|Added|Selected|Viewed|Visited|Opened) ")
_USER, _ASSISTANT = "user", "assistant"


class GeminiReader(DraftReader):
    """Reads a file as one conversation. A prompt and its answer have the same time; a gap of hours starts a session."""

    name = "gemini"
    suffixes = (".json",)
    sign = "records with `header` Gemini Apps, `title`, `time` and `safeHtmlItem`"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether a record is of Gemini, or of Bard, its former name."""
        return glimpse.has_record(_is_meant)

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield the file's conversation. It is read whole into memory, since the newest message comes first."""
        draft = Draft(title="Gemini Apps")
        return draft.fill(source.readable(oldest_first(records(source), "time"), partial(_messages, draft, TurnIds())))


def _is_meant(node: Node) -> bool:
    """Say whether the record is an activity of Gemini Apps."""
    if not (node.has("title") and node.has("time")):
        return False
    products = node.child("products").value
    names = [node.child("header").value, *(products if isinstance(products, list) else [])]
    return any(isinstance(name, str) and product in name for name in names for product in _PRODUCTS)


def _messages(draft: Draft, ids: TurnIds, node: Node) -> Iterator[Message]:
    """Yield the prompt and its answer."""
    title = node.required("title").text()
    answers = listed(node.child("safeHtmlItem"))
    asked = _PROMPT.match(title)
    if not _is_meant(node) or _OTHER.match(title) or (asked is None and not answers):
        draft.count("activities other than prompts left out")
        return
    draft.count("media left out", sum(len(listed(node.child(key))) for key in ("attachedFiles", "imageFile")))
    said = node.required("time").stamp()
    prompt = title if asked is None else title[asked.end() :].strip()
    answer = "\n\n".join(text for item in answers if (text := _answer(item)))
    for role, text in ((_USER, prompt), (_ASSISTANT, answer)):
        if text:
            yield Message(role, text, said, ids.of(Opening(role, said, text)), role)
        else:
            draft.count("prompts without text left out" if role == _USER else "prompts without an answer")


def _answer(item: Node) -> str:
    return text_from_html(item.child("html").optional_text(), without=()) if isinstance(item.value, dict) else ""
