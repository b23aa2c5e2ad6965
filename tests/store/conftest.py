"""What the tests of the store share."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store import killing
from tests.store.closed import ClosedFolder


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of three conversations, with gists and traces; to be copied, never changed."""
    folder = tmp_path_factory.mktemp("base") / "store"
    killing.build(folder)
    return folder


@pytest.fixture
def closed() -> Iterator[ClosedFolder]:
    """A folder that anybody may read and nobody may write."""
    with tempfile.TemporaryDirectory(prefix="goalmem-closed-") as name:
        folder = ClosedFolder(Path(name))
        folder.path.chmod(0o755)  # it is root's alone otherwise
        try:
            yield folder
        finally:
            folder.open()
