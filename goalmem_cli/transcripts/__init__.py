"""Transcripts: one reader per format, and the choice among them."""

from goalmem_cli.transcripts.files import transcript_files
from goalmem_cli.transcripts.formats import FORMATS, READERS, detect, read_bytes, read_file
from goalmem_cli.transcripts.reader import Reader

__all__ = ["FORMATS", "READERS", "Reader", "detect", "read_bytes", "read_file", "transcript_files"]
