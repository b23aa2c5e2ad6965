"""`stitch` through the command line: built by `goalmem index`, then searched by labels that the model chooses."""

import json
from pathlib import Path

import pytest

from goalmem_cli.prompts import Profile
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.wiring import LoadedModel
from tests.backbones.stitch_samples import understands
from tests.conftest import SAMPLES
from tests.invoking import Goalmem, seeing


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["full", "compact"])
def test_from_turns_to_hits(momoco: Goalmem, profile: Profile) -> None:
    """Not built is an error with the command that builds; then every turn has a snippet, and search finds both."""
    factories = seeing(lambda _: LoadedModel(ScriptedModel(understands), "scripted", profile, 8192, at_once=4))
    refused = momoco("search", "Kyoto Latte", "--backbone", "stitch", factories=factories)
    outlook = json.loads(momoco("index", "stitch", "--dry-run", "--json", factories=factories).out)
    built = json.loads(momoco("index", "stitch", "--json", factories=factories).out)
    again = json.loads(momoco("index", "stitch", "--json", factories=factories).out)
    found = json.loads(momoco("search", "Kyoto Latte", "--backbone", "stitch", "--json", factories=factories).out)

    assert refused.code == 3
    assert refused.error_lines[1].startswith("goalmem index stitch")
    assert outlook["parts"] == built["parts"] >= 1
    assert (built["failed"], built["units"]["snippet"]) == ([], outlook["turns"])
    assert {"scope", "event-type", "inventory", "summary"} <= built["units"].keys()
    assert (again["parts"], again["calls"], again["units"]) == (0, 0, built["units"])
    assert found["hits"]


@pytest.mark.slow
def test_the_user_tells_it_how(momoco: Goalmem, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Other windows are read again, and a run measured in another way is another run; what it does not know is refused."""
    factories = seeing(lambda _: LoadedModel(ScriptedModel(understands), "scripted", "full", 8192, at_once=4))

    def parts(told: str) -> int:
        monkeypatch.setenv("GOALMEM_BACKBONES", told)
        return int(json.loads(momoco("index", "stitch", "--json", factories=factories).out)["parts"])

    assert 0 < parts("{stitch: {window: 20}}") < parts("{stitch: {window: 5}}")
    assert parts("{stitch: {window: 5, way: gated}}") == 0
    words = (
        "eval",
        str(SAMPLES / "momoco.json"),
        "--retrieval-only",
        "--backbone",
        "stitch",
        "--out",
        str(tmp_path / "run"),
    )
    assert momoco(*words, "--limit", "1", factories=factories).code == 0
    monkeypatch.setenv("GOALMEM_BACKBONES", "{stitch: {window: 5}}")
    other = momoco(*words, "--limit", "1", factories=factories)
    assert (other.code, "stitch.way" in other.err) == (2, True)
    for told, said in (("{stitch: {windows: 5}}", "no setting 'windows'"), ("{stich: {window: 5}}", "called 'stich'")):
        monkeypatch.setenv("GOALMEM_BACKBONES", told)
        refused = momoco("index", "stitch", factories=factories)
        assert refused.code == 2
        assert said in refused.error_lines[0]
