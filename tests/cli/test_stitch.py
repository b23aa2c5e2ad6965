"""`stitch` through the command line: built by `goalmem index`, then searched by labels that the model chooses."""

from __future__ import annotations

import json

import pytest

from goalmem_cli.prompts import Profile
from goalmem_cli.wiring import LoadedModel
from tests.backbones.stitch_samples import understands
from tests.cli.conftest import Goalmem, seeing
from tests.fakes import ScriptedModel


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
