"""Reads the package that Discord gives to users who ask for their data (2018 to 2026).

Its folder `Messages` has one folder for each channel (`c123`, older `123`). That holds `messages.json`, until about
2024 `messages.csv`: only the user's own messages, newest first. `index.json` names the channels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC
from functools import partial
from pathlib import Path

from goalmem_cli.transcripts.readers.drafted import DraftReader
from goalmem_cli.transcripts.readers.quotes import quotes_in_discord
from goalmem_cli.transcripts.reading.attributes import attributes
from goalmem_cli.transcripts.reading.columns import header_of, rows_below
from goalmem_cli.transcripts.reading.drafts import Draft, Message
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.nodes import Node, records
from goalmem_cli.transcripts.reading.parts import glimpse_of_first, oldest_first
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.texts import clean
from goalmem_cli.transcripts.reading.told_times import Stamp, in_utc_alone
from goalmem_cli.transcripts.reading.zipped import Place

_INDEX, _FILES = "index.json", ("messages.json", "messages.csv")
_KEYS = ("ID", "Timestamp", "Contents")
_CHANNEL = re.compile(r"c?(\d{15,20})", re.ASCII)
_NO_NAMES = ("None", "Unknown channel")
_OWNER = "Me"


class DiscordPackageReader(DraftReader):
    """Reads one conversation for each channel of a package, or of its folder of messages, or from a channel's file."""

    name = "discord-package"
    suffixes = (".json", ".csv")
    sign = "records of `ID`, `Timestamp` and `Contents`; a folder with `Messages/index.json`"

    def recognises(self, glimpse: Glimpse) -> bool:
        """Return whether the folder has an index and channels, or the file has the keys that only this export uses."""
        if glimpse.folder is not None:
            return _messages_in(glimpse.folder) is not None
        is_table = glimpse.head.startswith(",".join(_KEYS))
        return is_table or glimpse.has_record(lambda record: all(record.has(key) for key in _KEYS))

    def _drafts(self, source: Source) -> Iterator[Draft]:
        """Yield a conversation for each channel of the package, or the one of a single file."""
        place = None if source.folder is None else _messages_in(source.folder)
        if source.folder is None or place is None:
            match = _CHANNEL.fullmatch(Path(source.file).parent.name)
            yield from _draft(source, Draft(match[1] if match else None), _OWNER)
            return
        owner, names = _owner_of(source.folder), _names_in(source.part(place / _INDEX))
        channels = sorted(place.iterdir(), key=lambda channel: channel.name)
        yield from source.readable(channels, partial(_drafts_of_channel, source, names, owner))


def _messages_in(folder: Place) -> Place | None:
    """Return the folder of messages: in a package, or the folder itself; None if it is neither."""
    try:
        for place in (folder / "Messages", folder / "messages", folder):
            if (place / _INDEX).is_file() and any(_file_of(channel) for channel in place.iterdir()):
                return place
    except OSError:
        return None  # the reader will say why it cannot be read
    return None


def _file_of(channel: Place) -> Place | None:
    if not _CHANNEL.fullmatch(channel.name):
        return None
    return next((file for name in _FILES if (file := channel / name).is_file()), None)


def _drafts_of_channel(source: Source, names: Node, owner: str, channel: Place) -> Iterator[Draft]:
    """Yield the conversation of a channel's folder, named by the index and its id."""
    file, match = _file_of(channel), _CHANNEL.fullmatch(channel.name)
    if file is None or match is None:
        return
    name = names.at((match[1],)).optional_text()
    own_id = match[1] if not name or name in _NO_NAMES else f"{name} ({match[1]})"
    yield from _draft(source.part(file), Draft(own_id, place=str(file)), owner)


def _names_in(source: Source) -> Node:
    """Return the channels' names by id; an empty object if the index cannot be read."""
    found: list[Node] = []
    source.is_readable(lambda: found.extend(records(source)))
    return found[0] if found else Node({}, source.file)


def _owner_of(package: Place) -> str:
    """Return the name of the user who asked for the package; "Me" if the package has none."""
    for name in ("Account", "account"):
        glimpse = glimpse_of_first(package / name, "user.json")
        user = None if glimpse is None else glimpse.document
        names = [] if user is None else [user.at((key,)).value for key in ("global_name", "username")]
        if found := next((name for name in names if isinstance(name, str) and name.strip()), None):
            return found
    return _OWNER


def _draft(source: Source, draft: Draft, owner: str) -> Iterator[Draft]:
    listed = _rows(source) if source.suffix == ".csv" else records(source)
    return draft.fill(source.readable(oldest_first(listed, _KEYS[1]), partial(_messages, draft, owner)))


def _rows(source: Source) -> Iterator[Node]:
    """Yield the rows of a table as records."""
    header = header_of(source.head.partition("\n")[0], {})
    if header is None:
        raise source.error("line 1", f"it does not name the columns {', '.join(_KEYS)}")
    for number, row in enumerate(rows_below(source, header), 1):
        yield Node(dict(zip(header.names, row, strict=False)), source.file, f"row {number}")


def _messages(draft: Draft, owner: str, record: Node) -> Iterator[Message]:
    """Yield what the record says. Ids become texts; times without an offset are in UTC."""
    text, files = record.required("Contents").optional_text(), record.child("Attachments").optional_text()
    draft.count("media left out", len(files.split()))
    said = in_utc_alone(record.child("Timestamp").stamp())
    if said is not None and not said.is_placeholder and said.moment.tzinfo is None:
        said = Stamp(said.moment.replace(tzinfo=UTC), said.is_day)
    if text or not files:
        stored = clean(text)
        beside = attributes(quotes=quotes_in_discord(stored, len(stored)))
        yield Message(owner, text, said, record.child("ID").optional_name(), attributes=beside)
