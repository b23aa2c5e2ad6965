"""Reads what Mattermost exports in bulk (`mmctl export create`, 5.x to 11.x, 2018 to 2026): JSONL with typed lines.

Users and channels come before the posts. A post contains its answers. Posts have no ids: author and time identify them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from goalmem_cli.transcripts.readers.drafted import RecordReader
from goalmem_cli.transcripts.reading.attributes import Reaction, attributes, edited_at, objects_in
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.nodes import Node, json_lines
from goalmem_cli.transcripts.reading.parts import oldest_first
from goalmem_cli.transcripts.reading.source import Source

_POST, _DIRECT, _USER, _CHANNEL = "post", "direct_post", "user", "channel"
_KEYS = {_POST: "create_at", _DIRECT: "channel_members", _USER: "username", _CHANNEL: "team", "team": "display_name"}
"""A key that lines of each kind have, in the object that is named after the kind."""
_NOTICE = "system_"


class MattermostReader(RecordReader):
    """Reads a conversation from each channel and from each direct chat; times are UTC."""

    name = "mattermost"
    suffixes = (".jsonl",)
    sign = "lines of `type` post with `post`, below people and channels"
    is_of_people = True

    def _is_meant(self, line: Node) -> bool:
        kind = line.child("type").value
        return isinstance(kind, str) and kind in _KEYS and line.child(kind).has(_KEYS[kind])

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield a conversation for each channel and direct talk, its posts oldest first."""
        export = _Export()
        for line in json_lines(source):
            source.is_readable(partial(export.take, line))
        for draft, posts in export.chats.values():
            listed = oldest_first(iter(posts), "create_at", lambda _: False)
            yield from draft.fill(source.readable(listed, partial(_messages, draft, export)))


class _Export:
    """What was read so far: the names of users and channels, and the posts of each channel."""

    def __init__(self) -> None:
        self.chats: dict[str, tuple[Draft, list[Node]]] = {}
        self._names: dict[str, str] = {}
        self._titles: dict[str, str] = {}

    def name(self, user: str) -> str:
        """Return the name of the user with this account name; the account name if no name is known."""
        return self._names.get(user, user) or "unknown"

    def take(self, line: Node) -> None:
        """Take a line.

        Raises:
            InputError: it does not have the layout.
        """
        kind = line.required("type").optional_text()
        if kind == _USER:
            self._meet(line.required(_USER))
        elif kind == _CHANNEL:
            channel = line.required(_CHANNEL)
            name = channel.child("display_name").optional_text()
            self._titles[_key_of(channel.child("team"), channel.child("name"))] = name
        elif kind == _POST:
            post = line.required(_POST)
            self._put(_key_of(post.required("team"), post.required(_CHANNEL)), post)
        elif kind == _DIRECT:
            post = line.required(_DIRECT)
            members = sorted(one.optional_text() for one in post.required("channel_members").elements())
            self._put(", ".join(members), post)

    def _meet(self, user: Node) -> None:
        given = " ".join(part for key in ("first_name", "last_name") if (part := user.child(key).optional_text()))
        account = user.required("username").filled_text()
        self._names[account] = given or user.child("nickname").optional_text() or account

    def _put(self, key: str, post: Node) -> None:
        """Keep a post and its answers. An answer has its own time, and under `answered` the id of the post."""
        _, posts = self.chats.setdefault(key, (Draft(key, self._titles.get(key), post.place), []))
        posts.append(post)
        for reply in objects_in(post.child("replies")):
            told = dict(reply.value) if isinstance(reply.value, dict) else {}
            posts.append(Node(told | {"answered": _id_of(post)}, reply.file, reply.path, reply.line))


def _key_of(team: Node, channel: Node) -> str:
    return f"{team.optional_name() or ''}/{channel.optional_name() or ''}"


def _id_of(post: Node) -> str:
    return f"{post.child('create_at').optional_name() or 'undated'}-{post.child('user').optional_name() or ''}"


def _messages(draft: Draft, export: _Export, post: Node) -> Iterator[Message]:
    """Yield what the post says; notices, media and cards of programs are counted."""
    user, text = post.required(_USER).optional_name() or "", post.required("message").optional_text()
    if post.child("type").optional_text().startswith(_NOTICE):
        draft.count("notices left out")
        return
    media = len(objects_in(post.child("attachments")))
    draft.count("media left out", media)
    draft.count("cards of programs left out", len(objects_in(post.at(("props", "attachments")))))
    if text or not media:
        shown = post.at(("props", "override_username")).optional_text()
        reactions = [_reaction(one, export) for one in objects_in(post.child("reactions"))]
        beside = attributes(
            reply_to=post.child("answered").optional_name(),
            edited=edited_at(post.child("edit_at")),
            reactions=reactions,
            speaker=(None if shown else user, "mattermost"),
        )
        yield Message(
            shown or export.name(user), text, post.child("create_at").stamp(), _id_of(post), attributes=beside
        )


def _reaction(node: Node, export: _Export) -> Reaction:
    return Reaction(node.child("emoji_name").optional_text(), (export.name(node.child("user").optional_text()),))
