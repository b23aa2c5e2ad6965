"""What a model's adapter leaves in records and listings, and how one is named, from the command line."""

import json
from pathlib import Path

import pytest

from goalmem_cli.config import Settings, load_settings
from goalmem_cli.models.bundled import ADAPTERS, BUNDLED
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.trace import as_document, from_document
from goalmem_cli.wiring import Factories, LoadedModel
from tests.invoking import Goalmem, seeing

HASH = "0123456789abcdef" * 4


def adapted(adapter: str, seen: list[Settings] | None = None) -> Factories:
    """Return factories with a model that has this adapter and says nothing usable; what was asked for is kept."""

    def load(settings: Settings) -> LoadedModel:
        if seen is not None:
            seen.append(settings)
        model = ScriptedModel(lambda _: "rubbish")
        return LoadedModel(model, "scripted", "full", 8192, digest=f"d1+{adapter}", adapter=adapter)

    return seeing(load)


@pytest.mark.parametrize("reasoner", ["goal-mem", "direct"])
def test_a_trace_has_the_adapters_hash(momoco: Goalmem, reasoner: str) -> None:
    """What is printed and what is kept name it; a trace of before there were adapters is read as one without."""
    words = ("ask", "Which drink?", "--reasoner", reasoner, "--json")
    document = json.loads(momoco(*words, factories=adapted(HASH)).out)
    assert document["adapter"] == HASH
    assert json.loads(momoco("trace", "show", "last", "--json").out)["adapter"] == HASH
    trace = from_document(document)
    assert as_document(trace) == document
    del document["adapter"]
    assert from_document(document).adapter == ""


def test_the_flag_and_the_variable(momoco: Goalmem, monkeypatch: pytest.MonkeyPatch) -> None:
    """--adapter goes before GOALMEM_ADAPTER; without both the choice is goalmem's."""
    seen: list[Settings] = []
    momoco("ask", "Who?", factories=adapted("", seen))
    monkeypatch.setenv("GOALMEM_ADAPTER", "none")
    momoco("ask", "Who?", factories=adapted("", seen))
    momoco("ask", "Who?", "--adapter", "mine.gguf", factories=adapted("", seen))
    assert [settings.adapter for settings in seen] == [None, "none", "mine.gguf"]
    assert load_settings({}, {"GOALMEM_ADAPTER": "none"}).adapter == "none"


@pytest.mark.model
def test_an_adapter_that_is_not_there(momoco: Goalmem, tmp_path: Path) -> None:
    """It is an error in two lines, with the code of a model that cannot be used."""
    outcome = momoco("ask", "Who?", "--adapter", str(tmp_path / "none.gguf"))
    assert outcome.code == 4
    message, hint = outcome.error_lines
    assert message.startswith("there is no adapter") and "--adapter" in hint


def test_doctor_and_models_name_the_adapter(momoco: Goalmem) -> None:
    """doctor gives the head of its hash; the listing of the bundled model has the shipped one, where there is one."""
    assert f"adapter {HASH[:12]}" in " ".join(momoco("doctor", factories=adapted(HASH)).out.split())
    assert "no adapter" in " ".join(momoco("doctor", factories=adapted("")).out.split())
    listed = {listing["name"]: listing for listing in json.loads(momoco("models", "list", "--json").out)["models"]}
    for name, model in BUNDLED.items():
        assert listed.pop(name)["adapter"]["path"] == str(ADAPTERS / model.adapter)
    assert all(listing["adapter"] is None for listing in listed.values())
