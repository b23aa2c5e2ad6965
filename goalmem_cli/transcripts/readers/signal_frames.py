"""Reads the frames of Signal's own export (`Backups.proto` of 2026): people, texts, polls and reactions."""

from __future__ import annotations

from collections.abc import Iterator

from goalmem_cli.transcripts.reading.attributes import Reaction, objects_in
from goalmem_cli.transcripts.reading.nodes import Node

GONE = {
    "remoteDeletedMessage": "deleted messages left out",
    "updateMessage": "calls and notices of Signal left out",
    "stickerMessage": "stickers left out",
    "contactMessage": "shared contacts left out",
    "viewOnceMessage": "media to be seen once left out",
    "paymentNotification": "payments and gifts left out",
    "giftBadge": "payments and gifts left out",
}
"""The kinds of items in which nobody says anything, and the words under which each is counted."""
_TEXTS = {
    "standardMessage": (("text", "body"),),
    "directStoryReplyMessage": (("textReply", "text", "body"), ("emoji",)),
}
_RANGES = {"standardMessage": ("text", "bodyRanges"), "directStoryReplyMessage": ("textReply", "text", "bodyRanges")}
_POLL = "poll"
_NAMES = (
    (("nickname", "given"), ("nickname", "family")),
    (("systemGivenName",), ("systemFamilyName",)),
    (("profileGivenName",), ("profileFamilyName",)),
    (("username",),),
)
"""Where a person's name may be; the name that the owner chose comes first."""
_ME, _UNKNOWN, _SIGNAL = "Me", "unknown", "Signal"
_MENTION = "\ufffc"
"""The character in a text that stands for the name of a person who is mentioned."""


class People:
    """The people and groups of an export by number; mentions find them by account id."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._accounts: dict[str, str] = {}
        self._account_of: dict[str, str] = {}
        self._number_of: dict[str, str] = {}
        self._owner = _ME

    def is_exported_by(self, account: Node) -> None:
        """Take the name of the export's owner; its frame comes before all people."""
        self._owner = _joined(account, (("givenName",), ("familyName",))) or _ME

    def meet(self, recipient: Node) -> None:
        """Take a person or a group.

        Raises:
            InputError: the frame does not have the layout.
        """
        number, contact = recipient.required("id").optional_name(), recipient.child("contact")
        name = self._owner if recipient.has("self") else _SIGNAL if recipient.has("releaseNotes") else ""
        name = name or recipient.at(("group", "snapshot", "title", "title")).optional_text() or _name_of(contact)
        self._names[number or ""] = name or _UNKNOWN
        if account := contact.at(("aci",)).optional_name():
            self._accounts[account] = name
            self._account_of[number or ""] = account
        if (telephone := _number_of(contact)) != name:
            self._number_of[number or ""] = telephone

    def name(self, number: Node) -> str:
        """Return the name of the person or group with this number."""
        return self._names.get(number.optional_name() or "", _UNKNOWN)

    def account(self, number: Node) -> str | None:
        """Return the account id of the person with this number; it is the same in every export."""
        return self._account_of.get(number.optional_name() or "")

    def telephone(self, number: Node) -> str:
        """Return the telephone number of the person with this number; "" if it is unknown, or is their name."""
        return self._number_of.get(number.optional_name() or "", "")

    def mentioned(self, account: Node) -> str:
        """Return the name of the person with this account id, as a mention: `@Mira`."""
        return f"@{self._accounts.get(account.optional_name() or '', _UNKNOWN)}"


def said_in(item: Node, people: People) -> tuple[str, Node] | None:
    """Return the text of the item, and the message in it; None if its kind is unknown.

    Raises:
        InputError: it does not have the layout.
    """
    if item.has(_POLL):
        poll = item.child(_POLL)
        return "\n".join(_lines_of_poll(poll, people)), poll
    for kind, ways in _TEXTS.items():
        if item.has(kind):
            message = item.child(kind)
            text = next((text for way in ways if (text := message.at(way).optional_text())), "")
            ranges = objects_in(message.at(_RANGES[kind]))
            return _with_names(text, [one for one in ranges if one.has("mentionAci")], people), message
    return None


def reactions_to(message: Node, people: People) -> Iterator[Reaction]:
    """Yield the reactions to the message."""
    for reaction in objects_in(message.child("reactions")):
        yield Reaction(reaction.child("emoji").optional_text(), (people.name(reaction.child("authorId")),))


def _with_names(text: str, mentions: list[Node], people: People) -> str:
    """Return the text with the names of the people mentioned, in the order of their positions."""
    pieces = text.split(_MENTION)
    names = [people.mentioned(one.child("mentionAci")) for one in sorted(mentions, key=_start)]
    names += [_MENTION] * (len(pieces) - 1 - len(names))
    return pieces[0] + "".join(name + piece for name, piece in zip(names, pieces[1:], strict=False))


def _start(mention: Node) -> float:
    start = mention.child("start").value
    return start if isinstance(start, (int, float)) else 0


def _lines_of_poll(poll: Node, people: People) -> Iterator[str]:
    """Yield the question, and each option with its voters."""
    yield poll.child("question").optional_text()
    for option in objects_in(poll.child("options")):
        voters = ", ".join(people.name(vote.child("voterId")) for vote in objects_in(option.child("votes")))
        yield f"- {option.child('option').optional_text()}{f': {voters}' if voters else ''}"


def _name_of(contact: Node) -> str:
    names = (name for ways in _NAMES if (name := _joined(contact, ways)))
    return next(names, "") or _number_of(contact)


def _number_of(contact: Node) -> str:
    number = contact.at(("e164",)).optional_name()
    return f"+{number.lstrip('+')}" if number else ""


def _joined(node: Node, ways: tuple[tuple[str, ...], ...]) -> str:
    return " ".join(part for way in ways if (part := node.at(way).optional_text()))
