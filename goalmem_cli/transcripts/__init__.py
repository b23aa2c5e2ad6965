"""Transcripts: one reader per format, and the choice among them."""

from goalmem_cli.transcripts.files import Found, folders_without_transcripts, transcript_files
from goalmem_cli.transcripts.formats import (
    FORMATS,
    READERS,
    conversations_in,
    endings_with,
    format_of,
    read_file,
    sign_of,
)
from goalmem_cli.transcripts.reading.columns import COLUMNS
from goalmem_cli.transcripts.reading.day_orders import Order
from goalmem_cli.transcripts.reading.drafts import summed
from goalmem_cli.transcripts.reading.reader import Reader
from goalmem_cli.transcripts.reading.source import Source, refuse
from goalmem_cli.transcripts.reading.zipped import Place

__all__ = [
    "COLUMNS",
    "FORMATS",
    "READERS",
    "Found",
    "Order",
    "Place",
    "Reader",
    "Source",
    "conversations_in",
    "endings_with",
    "folders_without_transcripts",
    "format_of",
    "read_file",
    "refuse",
    "sign_of",
    "summed",
    "transcript_files",
]
