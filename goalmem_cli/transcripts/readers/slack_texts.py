"""Reads what a Slack message says beside `text`: in blocks, which apps write, and in attachments, their older form."""

from __future__ import annotations

from collections.abc import Iterator

from goalmem_cli.transcripts.reading.attributes import objects_in
from goalmem_cli.transcripts.reading.nodes import Node

_QUOTE = "rich_text_quote"
_RICH = frozenset({"rich_text_section", "rich_text_preformatted", _QUOTE})
_PREVIEWS = ("from_url", "original_url", "app_unfurl_url", "is_app_unfurl")


def text_of_blocks(blocks: Node) -> str:
    """Return the text of the blocks, a line for each; people, channels and links are as in Slack's text (``<@U1>``).

    Raises:
        InputError: a block does not have the layout; the place is the path to the value.
    """
    return _lines(line for block in objects_in(blocks) for line in _lines_of_block(block))


def text_of_attachment(attachment: Node) -> str:
    """Return the attachment's text: its introduction, author, title, text and fields.

    Raises:
        InputError: it does not have the layout; the place is the path to the value.
    """
    author = attachment.child("author_name").optional_text()
    title, link = (attachment.child(key).optional_text() for key in ("title", "title_link"))
    said = _lines([attachment.child("text").optional_text(), text_of_blocks(attachment.child("blocks"))])
    fields = (
        ": ".join(part for part in (field.child(key).optional_text() for key in ("title", "value")) if part)
        for field in objects_in(attachment.child("fields"))
    )
    about = _lines([f"{title} (<{link}>)" if title and link else title, said, *fields])
    about = f"{author}: {about}" if author and about else about or attachment.child("fallback").optional_text()
    return _lines([attachment.child("pretext").optional_text(), about])


def is_preview(attachment: Node) -> bool:
    """Return whether Slack itself made the attachment, from a page or message that the text links to."""
    return any(attachment.child(key).value for key in _PREVIEWS)


def _lines_of_block(block: Node) -> Iterator[str]:
    kind = block.child("type").optional_text()
    if kind == "rich_text":
        for part in objects_in(block.child("elements")):
            yield from _lines_of_rich_text(part)
    elif kind == "context":
        yield " ".join(filter(None, (_text(element) for element in objects_in(block.child("elements")))))
    elif kind == "image":
        caption = _text(block.child("title")) or block.child("alt_text").optional_text()
        yield f"[image: {caption}]" if caption else ""
    else:
        yield _text(block.child("text"))
        for field in objects_in(block.child("fields")):
            yield _text(field)


def _lines_of_rich_text(part: Node) -> Iterator[str]:
    kind = part.child("type").optional_text()
    if kind in _RICH:
        told = "".join(_spelled(element) for element in objects_in(part.child("elements")))
        yield "\n".join(f"&gt; {line}" for line in told.split("\n")) if kind == _QUOTE else told
    elif kind == "rich_text_list":
        for item in objects_in(part.child("elements")):
            yield "- " + "".join(_spelled(element) for element in objects_in(item.child("elements")))


def _spelled(element: Node) -> str:
    """Return a piece of rich text in the form of Slack's plain text."""
    kind = element.child("type").optional_text()
    if kind == "text":
        value = element.child("text")
        value.optional_text()
        return _escaped(str(value.value or ""))
    if kind == "link":
        label, url = (element.child(key).optional_text() for key in ("text", "url"))
        return f"<{url}|{_escaped(label)}>" if label else f"<{url}>"
    if kind == "emoji":
        return f":{element.child('name').optional_text()}:"
    for key, sign in (("user_id", "@"), ("channel_id", "#"), ("usergroup_id", "!subteam^"), ("range", "!")):
        if named := element.child(key).optional_text():
            return f"<{sign}{named}>"
    return _escaped(element.child("fallback").optional_text())


def _escaped(text: str) -> str:
    """Escape the text as Slack does in texts, where angles enclose links."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _text(node: Node) -> str:
    """Return a text that is given as a string, or as an object with `text`."""
    return node.child("text").optional_text() if isinstance(node.value, dict) else node.optional_text()


def _lines(lines: Iterator[str] | list[str]) -> str:
    return "\n".join(line for line in lines if line.strip())
