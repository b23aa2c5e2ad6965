"""Keep llama.cpp's messages off the terminal: most come through a callback, a few go straight to standard error."""

from __future__ import annotations

import atexit
import ctypes
import functools
import logging
import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

NATIVE_ERROR = 4  # GGML_LOG_LEVEL_ERROR
STDERR = 2

logger = logging.getLogger(__name__)


class NativeLog:
    """Receives llama.cpp's messages, logs all at debug level, and keeps the last errors."""

    def __init__(self) -> None:
        import llama_cpp
        from llama_cpp import _utils

        for file in (_utils.outnull_file, _utils.errnull_file):
            atexit.register(file.close)  # the library leaves them open, and Python's developer mode warns about that
        self.errors: deque[str] = deque(maxlen=8)
        self._callback = llama_cpp.llama_log_callback(self._receive)  # kept alive: llama.cpp calls it until the end
        llama_cpp.llama_log_set(self._callback, ctypes.c_void_p(0))

    def _receive(self, level: int, text: bytes, _: object) -> None:
        line = text.decode("utf-8", "replace").strip()
        if level == NATIVE_ERROR and line:
            self.errors.append(line)
        logger.debug("%s", line)


@functools.cache
def native_log() -> NativeLog:
    """Return the receiver of this process; llama.cpp allows only one."""
    return NativeLog()


@contextmanager
def standard_error_closed() -> Iterator[None]:
    """Discard what is written to the file descriptor of standard error while the block runs."""
    try:
        saved = os.dup(STDERR)
    except OSError:  # already closed
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, STDERR)
        yield
    finally:
        os.dup2(saved, STDERR)
        os.close(saved)
        os.close(nowhere)
