"""What a reader says of what has not its layout."""

from collections.abc import Callable
from typing import TypeVar

import pytest

from goalmem_cli.errors import InputError

Document = TypeVar("Document")


def check_refused(read: Callable[[Document], object], document: Document, place: str, reason: str) -> None:
    """Check that it is an error at the place, which begins with the reason."""
    with pytest.raises(InputError) as caught:
        read(document)

    assert caught.value.place == place
    assert caught.value.reason.startswith(reason)
