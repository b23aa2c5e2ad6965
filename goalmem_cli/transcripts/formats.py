"""The table of formats, and the choice among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from goalmem_cli.errors import NearFormat, TextBroken, UnknownFormat, UnlikelyChat, UsageError
from goalmem_cli.records import Conversation
from goalmem_cli.transcripts.nearest import Near, nearest
from goalmem_cli.transcripts.plugged import plugged_reader
from goalmem_cli.transcripts.readers.agent_log import AgentLogReader
from goalmem_cli.transcripts.readers.beam import BeamReader
from goalmem_cli.transcripts.readers.came import CameReader
from goalmem_cli.transcripts.readers.chatgpt import ChatgptReader
from goalmem_cli.transcripts.readers.claude import ClaudeReader
from goalmem_cli.transcripts.readers.complex_tr import ComplexTrReader
from goalmem_cli.transcripts.readers.copied import CopiedReader
from goalmem_cli.transcripts.readers.cursor import CursorReader
from goalmem_cli.transcripts.readers.described import DescribedReader
from goalmem_cli.transcripts.readers.discord import DiscordReader
from goalmem_cli.transcripts.readers.discord_package import DiscordPackageReader
from goalmem_cli.transcripts.readers.facebook import FacebookReader
from goalmem_cli.transcripts.readers.facebook_html import FacebookHtmlReader
from goalmem_cli.transcripts.readers.gemini import GeminiReader
from goalmem_cli.transcripts.readers.gemini_cli import GeminiCliReader
from goalmem_cli.transcripts.readers.goalmem_export import GoalmemExportReader
from goalmem_cli.transcripts.readers.google_chat import GoogleChatReader
from goalmem_cli.transcripts.readers.imessage import ImessageReader
from goalmem_cli.transcripts.readers.imessage_html import ImessageHtmlReader
from goalmem_cli.transcripts.readers.irc import IrcReader
from goalmem_cli.transcripts.readers.kakaotalk import KakaotalkReader
from goalmem_cli.transcripts.readers.layouts import LAYOUTS as JSON_LAYOUTS
from goalmem_cli.transcripts.readers.line import LineReader
from goalmem_cli.transcripts.readers.locomo import LocomoReader
from goalmem_cli.transcripts.readers.longmemeval import LongmemevalReader
from goalmem_cli.transcripts.readers.mail import MailReader
from goalmem_cli.transcripts.readers.markdown import MarkdownReader
from goalmem_cli.transcripts.readers.marked import LAYOUTS, MarkedReader
from goalmem_cli.transcripts.readers.matrix import MatrixReader
from goalmem_cli.transcripts.readers.multihop import BENCHMARKS, MultihopReader
from goalmem_cli.transcripts.readers.names import NamesReader
from goalmem_cli.transcripts.readers.openai import OpenaiJsonlReader, OpenaiReader
from goalmem_cli.transcripts.readers.opencode import OpencodeReader
from goalmem_cli.transcripts.readers.realtalk import RealtalkReader
from goalmem_cli.transcripts.readers.sharegpt import SharegptReader
from goalmem_cli.transcripts.readers.signal_jsonl import SignalJsonlReader
from goalmem_cli.transcripts.readers.signal_text import SignalReader
from goalmem_cli.transcripts.readers.slack import SlackReader
from goalmem_cli.transcripts.readers.sms_backup import SmsBackupReader
from goalmem_cli.transcripts.readers.statements import TotReader
from goalmem_cli.transcripts.readers.subtitles import SubtitlesReader
from goalmem_cli.transcripts.readers.table import TableReader
from goalmem_cli.transcripts.readers.teams import TeamsReader
from goalmem_cli.transcripts.readers.telegram import TelegramReader
from goalmem_cli.transcripts.readers.telegram_html import TelegramHtmlReader
from goalmem_cli.transcripts.readers.viber import ViberReader
from goalmem_cli.transcripts.readers.vscode_copilot import VscodeCopilotReader
from goalmem_cli.transcripts.readers.wechat_qq import QqReader, WechatReader
from goalmem_cli.transcripts.readers.whatsapp import WhatsappReader
from goalmem_cli.transcripts.readers.x_archive import XArchiveReader
from goalmem_cli.transcripts.reading.columns import COLUMNS, lacking
from goalmem_cli.transcripts.reading.drafts import whole_conversations
from goalmem_cli.transcripts.reading.glimpse import Glimpse
from goalmem_cli.transcripts.reading.nodes import records
from goalmem_cli.transcripts.reading.reader import Reader
from goalmem_cli.transcripts.reading.source import Source
from goalmem_cli.transcripts.reading.zipped import Place

MARKDOWN = MarkdownReader()
# The first that recognises a file reads it.
READERS: tuple[Reader, ...] = (
    GoalmemExportReader(),
    RealtalkReader(),
    LocomoReader(),
    LongmemevalReader(),
    BeamReader(),
    CameReader(),
    ComplexTrReader(),
    TotReader(),
    *map(MultihopReader, BENCHMARKS),
    ChatgptReader(),
    *map(DescribedReader, JSON_LAYOUTS),
    ClaudeReader(),
    SharegptReader(),
    TelegramReader(),
    TelegramHtmlReader(),
    FacebookReader(),
    FacebookHtmlReader(),
    ImessageHtmlReader(),
    DiscordReader(),
    DiscordPackageReader(),
    XArchiveReader(),
    MatrixReader(),
    SignalJsonlReader(),
    GeminiReader(),
    SlackReader(),
    GoogleChatReader(),
    TeamsReader(),
    OpencodeReader(),
    GeminiCliReader(),
    AgentLogReader(),
    CursorReader(),
    VscodeCopilotReader(),
    OpenaiReader(),
    OpenaiJsonlReader(),
    ViberReader(),
    TableReader(),
    MailReader(),
    SmsBackupReader(),
    ImessageReader(),
    LineReader(),
    KakaotalkReader(),
    IrcReader(),
    CopiedReader(),
    QqReader(),
    WechatReader(),
    SubtitlesReader(),
    WhatsappReader(),
    SignalReader(),
    *map(MarkedReader, LAYOUTS),
    MARKDOWN,
    NamesReader(),
)
# In these a first bracket is no sign of JSON: to-do lists and messengers' lines begin with one too.
_NEVER_JSON = frozenset({".txt", ".vtt", ".srt", ".md", ".markdown", ".csv", ".tsv", ".eml", ".mbox"})
_MARKDOWN_HINT = "--format markdown reads it all the same, with its headings or bold words as speakers"
_JSON = frozenset({".json", ".jsonl", ".ndjson"})
_SHOWN = 12
"""How many formats an error names at most."""
_JSON_BEGINNINGS = ("{", "[", '"', "]", "}")
FORMATS: tuple[str, ...] = tuple(reader.name for reader in READERS)
_HINT = "--format NAME reads it as that one, and says where it differs; goalmem ingest --formats lists them all"
SUFFIXES: frozenset[str] = frozenset(suffix for reader in READERS for suffix in reader.suffixes)


def endings_with(format: str | None) -> frozenset[str]:  # noqa: A002
    """Return the endings of transcript files, with the plug-in's endings if the format is a plug-in's.

    Raises:
        PluginBroken: the plug-in cannot be used.
    """
    plugged = None if format is None or format in FORMATS else plugged_reader(format)
    return SUFFIXES if plugged is None else SUFFIXES.union(plugged.suffixes)


def format_of(source: Source) -> str:
    """Return the name of the source's format, judged by its ending and its beginning.

    Raises:
        UnknownFormat: the source is in none of the formats, or is broken JSON.
        InputError: it cannot be read.
    """
    return _recognise(source).name


def conversations_in(source: Source, format: str | None = None) -> Iterator[Conversation]:  # noqa: A002
    """Yield the source's conversations. A long one comes in parts, so that only a few parts are in memory at once.

    Raises:
        UnknownFormat: the source is in none of the formats.
        InputError: the source cannot be read, or is not in the format given.
        UsageError: no format has that name, or its plug-in cannot be used.
    """
    reader = None if format is None else _reader_of(format)
    if reader is not None and source.folder is None:
        _ = source.head  # blank or unreadable files are the same error in every format
    return (reader or _recognise(source)).read(source)


def read_file(path: Path, format: str | None = None) -> list[Conversation]:  # noqa: A002
    """Return the conversations in the file.

    Raises:
        InputError, UsageError: as `conversations_in`.
    """
    return whole_conversations(conversations_in(Source.from_path(path), format))


def is_folder_transcript(folder: Place) -> bool:
    """Return whether the folder as a whole is one transcript, as Slack's export is.

    Raises:
        InputError: it cannot be read.
    """
    glimpse = Glimpse.from_source(Source.from_path(folder))
    return any(reader.recognises(glimpse) for reader in READERS)


def sign_of(name: str) -> str:
    """Return a short text on how files of the format are recognised.

    Raises:
        UsageError: no format has that name, or its plug-in cannot be used.
    """
    return _reader_of(name).sign


def _reader_of(name: str) -> Reader:
    """Return the reader of a format, goalmem's own or a plug-in's; raises UsageError if there is none."""
    for reader in READERS:
        if reader.name == name:
            return reader
    if (plugged := plugged_reader(name)) is not None:
        return plugged
    raise unknown_format(name)


def unknown_format(name: str) -> UsageError:
    """Return the error for a format's name that does not exist; it suggests those that are written alike."""
    alike = get_close_matches(name.casefold(), FORMATS, 3)
    meant = f"did you mean {' or '.join(alike)}? " if alike else ""
    return UsageError(f"no transcript format is called {name!r}", f"{meant}goalmem ingest --formats lists them all")


def _recognise(source: Source) -> Reader:
    """Return the first reader that recognises the source; raises an InputError that says why none does."""
    suffix = "" if source.folder is not None else source.suffix
    candidates = [reader for reader in READERS if suffix in reader.suffixes] or READERS
    if source.columns and suffix in TableReader.suffixes:
        return _reader_of(TableReader.name)
    glimpse = _glimpse_of(source)
    for reader in candidates:
        if reader.recognises(glimpse):
            return reader
    if suffix not in _NEVER_JSON and len(glimpse.lines) < 2 and _is_meant_as_json(source, suffix):
        # It looks like JSON but does not parse: where it breaks says more than that no reader recognised it.
        _check_json(source)
    if MARKDOWN in candidates and not glimpse.lines and MARKDOWN.may_be_meant(glimpse):
        reason = "looks like a document, not like a chat: nobody in it speaks in turns"
        error = UnlikelyChat(source.file, "", reason, _MARKDOWN_HINT, format=MARKDOWN.name)
        error.near = _near_formats(nearest(READERS, glimpse, candidates))
        raise error
    raise _unknown(source, glimpse, suffix, candidates)


def _unknown(source: Source, glimpse: Glimpse, suffix: str, candidates: Sequence[Reader]) -> UnknownFormat:
    """Return the error that names the nearest formats, or else the formats with the file's ending."""
    near = nearest(READERS, glimpse, candidates)
    likely = [one.reader for one in near if one.is_likely]
    error = UnknownFormat(source.file, "", _why_unknown(likely, suffix), _hint_for(suffix))
    error.near = _near_formats(near)
    if suffix in TableReader.suffixes:
        table = _reader_of(TableReader.name)
        others = [one for one in error.near if one.name != table.name]
        error.near = (NearFormat(table.name, table.sign, lacking(glimpse.head.partition("\n")[0])), *others[:2])
    return error


def _near_formats(near: Iterable[Near]) -> tuple[NearFormat, ...]:
    return tuple(NearFormat(one.reader.name, one.reader.sign, one.lacks) for one in near)


def _glimpse_of(source: Source) -> Glimpse:
    """Return what detection sees of the source.

    Raises:
        UnknownFormat: it is not text.
        InputError: it cannot be read, or is blank.
    """
    try:
        return Glimpse.from_source(source)
    except TextBroken as error:
        if not error.place:
            raise
        raise UnknownFormat(error.path, error.place, error.reason, error.hint) from error


def _check_json(source: Source) -> None:
    """Read the document to its end; raises UnknownFormat if it is not JSON."""
    try:
        for _ in records(source):
            pass
    except TextBroken as error:
        raise UnknownFormat(error.path, error.place, error.reason, error.hint) from error


def _is_meant_as_json(source: Source, suffix: str) -> bool:
    """Say whether the text begins like JSON. In other files, a bracket before a date or a name does not count."""
    if not source.looks_like_json:
        return False
    return suffix in _JSON or source.head.lstrip()[1:].lstrip()[:1] in _JSON_BEGINNINGS


def _hint_for(suffix: str) -> str:
    """Return a hint on what to do with a file that no reader recognises."""
    if suffix in TableReader.suffixes:
        return f"--columns text=NAME,speaker=NAME names the columns that hold what; there are {', '.join(COLUMNS)}"
    return _HINT


def _why_unknown(likely: Sequence[Reader], suffix: str) -> str:
    """Return the reason. It names the nearest formats, or else those with the file's ending."""
    if likely:
        beside = f"nearest: {', '.join(f'{reader.name} ({reader.sign})' for reader in likely)}"
    elif suffix and suffix not in SUFFIXES:
        beside = f"none of them ends in {suffix}"
    else:
        names = [reader.name for reader in READERS if not suffix or suffix in reader.suffixes]
        such = f" with {suffix}" if suffix else ""
        beside = f"none of the {len(names)}{such} is near"
        beside = f"with {suffix}: {', '.join(names)}" if len(names) <= _SHOWN else beside
    return f"in none of the accepted formats; {beside}"
