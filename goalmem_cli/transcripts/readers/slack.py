"""Reads Slack's export: a folder with a folder for each channel and a file for each day; also a day's file alone."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from goalmem_cli.errors import InputError
from goalmem_cli.languages.patterns import late
from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.reading.attributes import Reaction, attributes, edited_at, objects_in
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.nodes import Node, records
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.told_times import stamp_from_epoch
from goalmem_cli.transcripts.reading.zipped import Place

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


def _lines_of_block(block: Node) -> Iterator[str]:
    """Yield the lines of a block: rich text, context, image caption, or text and fields."""
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
    """Yield the lines of a part of rich text; quotes begin with `&gt;`, items of lists with a dash."""
    kind = part.child("type").optional_text()
    if kind in _RICH:
        told = "".join(_spelled_out(element) for element in objects_in(part.child("elements")))
        yield "\n".join(f"&gt; {line}" for line in told.split("\n")) if kind == _QUOTE else told
    elif kind == "rich_text_list":
        for item in objects_in(part.child("elements")):
            yield "- " + "".join(_spelled_out(element) for element in objects_in(item.child("elements")))


def _spelled_out(element: Node) -> str:
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


_USERS = ("users.json", "org_users.json")
_CHANNELS = ("channels.json", "groups.json", "dms.json", "mpims.json")
_DAY = late(r"\d{4}-\d\d-\d\d\.json", re.ASCII)
_TIME = late(r"(\d{9,11})\.(\d{1,9})", re.ASCII)
_SPOKEN = frozenset(
    {"bot_message", "me_message", "thread_broadcast", "reply_broadcast", "file_share", "file_comment", "file_mention"}
)
_DELETED = "tombstone"
_BESIDE = frozenset({"thread_ts", "edited", "reactions", "attachments"})
_SHARE = ("is_share", "is_msg_unfurl")
# What Slack wrote about a file until 2018; words of the person who shared it may follow.
_UPLOAD = late(r"<@\w+(?:\|[^>]*)?> (?:uploaded|shared|mentioned) a file: <[^>]*>\.?(?: and commented: )?")
_ANGLED = late(r"<((?:[@#!]|[a-z][a-z0-9+.-]*:)[^<>\n]*)>", re.IGNORECASE)


class SlackReader(DraftReader):
    """Reads a channel as a conversation. All messages, those of threads too, are in the order of their times."""

    name = "slack"
    suffixes = (".json",)
    sign = "a folder with users and channels, or messages with `ts`"
    is_of_people = True

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the folder is an export, or the file is a day of a channel."""
        if glimpse.folder is not None:
            return _is_export(glimpse.folder)
        is_array = glimpse.document is not None and isinstance(glimpse.document.value, list)
        return is_array and glimpse.has_record(_is_message)

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield one conversation for each channel."""
        return _drafts_of_day(source) if source.folder is None else _drafts_of_folder(source, source.folder)


@dataclass(frozen=True, slots=True)
class _Directory:
    """The names in the export's lists: users by id, channels by id, ids and titles by the channel's folder."""

    users: Mapping[str, str] = field(default_factory=dict)
    channels: Mapping[str, str] = field(default_factory=dict)
    folders: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def _is_export(folder: Place) -> bool:
    """Say whether the folder has the lists of an export; False if it cannot be read."""
    try:
        return any((folder / name).is_file() for name in _USERS) and any(
            (folder / name).is_file() for name in _CHANNELS
        )
    except OSError:
        return False


def _is_message(node: Node) -> bool:
    time = node.child("ts").value
    return node.child("type").value == "message" and isinstance(time, str) and _TIME.fullmatch(time) is not None


def _drafts_of_folder(source: Source, root: Place) -> Iterator[Draft]:
    """Yield a conversation for each folder with files of days."""
    directory = _directory(root)
    for folder in _entries(root):
        if folder.is_symlink() or not folder.is_dir():
            continue
        days = [file for file in _entries(folder) if _DAY.fullmatch(file.name)]
        if days:
            own_id, title = directory.folders.get(folder.name, (None, folder.name))
            draft = Draft(own_id, title, place=folder.name)
            yield from draft.fill(source.readable(days, partial(_said_on, source, draft, directory)))


def _drafts_of_day(source: Source) -> Iterator[Draft]:
    path = Path(source.file)
    draft = Draft(title=f"{path.parent.name} {path.stem}" if path.parent.name else None)
    return draft.fill(_in_order(source, draft, _Directory()))


def _entries(folder: Place) -> list[Place]:
    """Return the folder's entries, sorted; only names from the file system become paths."""
    try:
        return sorted(folder.iterdir(), key=str)
    except OSError as error:
        raise InputError(str(folder), "", f"cannot be listed ({error.strerror})", "check its permissions") from error


def _said_on(source: Source, draft: Draft, directory: _Directory, day: Place) -> Iterator[Message]:
    return _in_order(source.part(day), draft, directory)


def _in_order(source: Source, draft: Draft, directory: _Directory) -> Iterator[Message]:
    """Yield the messages of one day, ordered by time; they are all in memory."""
    found = source.readable(records(source), lambda node: (_message(draft, directory, node),))
    said = [message for message in found if message is not None]
    yield from (message for _, message in sorted(said, key=lambda pair: pair[0]))


def _message(draft: Draft, directory: _Directory, node: Node) -> tuple[tuple[int, str], Message] | None:
    """Return the message with its sort key; None for what nobody said, which is counted."""
    if node.required("type").text() != "message":
        draft.count("entries that are no messages left out")
        return None
    kind = node.child("subtype").optional_text()
    if kind == _DELETED:
        draft.count("deleted messages left out")
        return None
    if (kind or "bot_message") not in _SPOKEN or _is_upload(node):
        draft.count("notices of Slack left out")
        return None
    if kind == "file_comment" and isinstance(node.child("comment").value, dict):
        node = _comment_of(node)
    time = node.required("ts")
    match = _TIME.fullmatch(time.text())
    if match is None:
        raise time.error("is not a time as Slack writes it", "such as 1704057307.000200")
    text = _plain(directory, _written(draft, node))
    if not text and (node.has("files") or node.has("attachments") or node.has("blocks")):
        draft.count("messages without text left out")
        return None
    said = stamp_from_epoch(int(match[1]))
    message = Message(
        _speaker(directory, node),
        text,
        said,
        time.text(),
        attributes=_beside(directory, node) if node.has_any(_BESIDE) else attributes(speaker=_account(node)),
    )
    return (int(match[1]), match[2]), message


def _is_upload(node: Node) -> bool:
    """Say whether the text only tells that a file was shared, as Slack wrote until 2018."""
    is_shared = node.has("file") and node.child("subtype").value in ("file_share", "file_mention")
    return is_shared and _UPLOAD.fullmatch(node.child("text").optional_text()) is not None


def _comment_of(node: Node) -> Node:
    """Return the comment as its author's message; Slack's text around it names the author and the file."""
    comment = node.child("comment")
    known = {key: value for key, value in node.value.items() if key != "text"} if isinstance(node.value, dict) else {}
    user = comment.child("user").optional_text() or node.child("user").optional_text()
    return replace(node, value={**known, "user": user, "text": comment.child("comment").optional_text()})


def _beside(directory: _Directory, node: Node) -> Mapping[str, object]:
    """Return the message's attributes; a message in a thread answers the thread's first message."""
    thread, edited = node.child("thread_ts").optional_name(), node.child("edited")
    return attributes(
        reply_to=thread if thread != node.child("ts").optional_name() else None,
        edited=isinstance(edited.value, dict) and (edited_at(edited.child("ts")) or True),
        reactions=(_reaction(directory, reaction) for reaction in objects_in(node.child("reactions"))),
        forwarded_from=_author_of_share(node),
        speaker=_account(node),
    )


def _author_of_share(node: Node) -> str | None:
    """Return the author of the message that this one only shares ("" if unknown); None if it says more."""
    shared = objects_in(node.child("attachments"))
    if len(shared) != 1 or node.child("text").optional_text() or not any(shared[0].child(key).value for key in _SHARE):
        return None
    return shared[0].child("author_name").optional_text()


def _reaction(directory: _Directory, node: Node) -> Reaction:
    givers, count = node.child("users").value, node.child("count").value
    ids = [giver for giver in givers if isinstance(giver, str)] if isinstance(givers, list) else []
    by = tuple(directory.users.get(id_, id_) for id_ in ids)
    return Reaction(node.child("name").optional_text(), by, count if isinstance(count, int) else 1)


def _written(draft: Draft, node: Node) -> str:
    """Return the message's text (or that of its blocks, which say the same) and the texts of its attachments."""
    texts = [_UPLOAD.sub("", node.child("text").optional_text(), count=1) or text_of_blocks(node.child("blocks"))]
    for attachment in node.child("attachments").elements() if node.child("attachments").value is not None else []:
        if texts[0] and any(attachment.child(key).value for key in _PREVIEWS):
            draft.count("previews of links left out")
        else:
            texts.append(text_of_attachment(attachment))
    return "\n".join(text for text in texts if text)


def _speaker(directory: _Directory, node: Node) -> str:
    """Return the author's name: the user list's, else the message's own, else the id."""
    user = node.child("user").optional_text()
    if user in directory.users:
        return directory.users[user]
    named = [("username",), *(("user_profile", key) for key in ("display_name", "real_name", "name"))]
    texts = (node.at(keys).optional_text() for keys in (*named, ("bot_profile", "name")))
    return next(filter(None, texts), "") or user or node.child("bot_id").optional_text() or "unknown"


def _account(node: Node) -> tuple[str | None, str]:
    """Return the author's id, and the name of this format."""
    return node.child("user").optional_name() or node.child("bot_id").optional_name(), SlackReader.name


def _plain(directory: _Directory, text: str) -> str:
    """Return Slack's text with names for ids and readable links."""
    return html.unescape(_ANGLED.sub(lambda match: _spelled(directory, match[1]), text)).strip()


def _spelled(directory: _Directory, inside: str) -> str:
    """Return a link or mention in readable form: "@Ana", "#general", "label (https://x)"."""
    target, _, label = inside.partition("|")
    if target.startswith("@"):
        return f"@{label or directory.users.get(target[1:], target[1:])}"
    if target.startswith("#"):
        return f"#{label or directory.channels.get(target[1:], target[1:])}"
    if target.startswith("!"):
        return label or f"@{target[1:].partition('^')[0]}"
    address = target.removeprefix("mailto:")
    return address if not label or target.endswith(label) else f"{label} ({address})"


def _directory(root: Place) -> _Directory:
    """Read the lists of users and channels at the export's root.

    Raises:
        InputError: one of them does not have the layout.
    """
    users = {node.required("id").filled_text(): _name_of_user(node) for name in _USERS for node in _listed(root / name)}
    channels: dict[str, str] = {}
    folders: dict[str, tuple[str, str]] = {}
    for node in (node for name in _CHANNELS for node in _listed(root / name)):
        own_id = node.required("id").filled_text()
        name = node.child("name").optional_text()
        if name:
            channels[own_id] = name
        members = node.child("members").elements() if node.has("members") else []
        with_whom = ", ".join(users.get(id_, id_) for id_ in (member.text() for member in members))
        folders[name or own_id] = (own_id, name or with_whom or own_id)
    return _Directory(users, channels, folders)


def _listed(file: Place) -> Iterator[Node]:
    return records(Source.from_path(file)) if file.is_file() else iter(())


def _name_of_user(node: Node) -> str:
    """Return the user's display name, else the real name, the account's name or the id."""
    profile = node.child("profile") if isinstance(node.child("profile").value, dict) else node
    candidates = (
        profile.child("display_name"),
        profile.child("real_name"),
        node.child("real_name"),
        node.child("name"),
        node.child("id"),
    )
    return next(text for text in (candidate.optional_text() for candidate in candidates) if text)
