"""The commands: a training of the bundled model from corpus to model card, and what is refused before it starts."""

import json
from pathlib import Path
from typing import Any

import pytest

from goalmem_cli.lab.tuning import adapter, card, prepared
from goalmem_cli.lab.tuning.adapter import LEAST_ALIKE, NAME
from goalmem_cli.lab.tuning.batches import Tokens
from goalmem_cli.lab.tuning.commands import main
from goalmem_cli.lab.tuning.corpus import HELD_OUT
from goalmem_cli.lab.tuning.courses import BEGUN, CHECKPOINT
from goalmem_cli.lab.tuning.prepared import Prepared
from goalmem_cli.models.bundled import ADAPTERS, SMOLLM2
from goalmem_cli.models.weights.gguf import file_digest
from goalmem_cli.models.weights.lora import Adapter
from tests.lab.tuning.samples import write_corpus
from tests.lab.tuning.small_model import write_model

pytestmark = pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # peft asks for it

RECORD: dict[str, Any] = {
    "conversations": 1, "copies": {"minis/train": 2}, "variety": {"names": True, "years": False}, "start": "",
    "mix": {"unify": 0.7, "read": 0.3}, "available": {"unify": 5, "read": 2}, "dropped": {"unify": 1},
    "course": {"rank": 16, "threads": 2}, "device": "cpu", "steps": 7, "examples": {"unify": 3}, "tokens": 800,
    "minutes": 1.5, "losses": {"unify": 0.25}, "aside_losses": {"unify": 0.5}, "held_out_losses_before": {"unify": 2.5}, "held_out_losses": {},
    "held_out": HELD_OUT, "versions": {"torch": "2.9"}, "evaluation": {}, "base": "base.gguf", "base_digest": "b1",
    "bytes": 9, "digest": "d1", "check": {"alike": 1.0},
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a training of one batch leaves; the bundled model is loaded for it."""
    corpus = write_corpus(
        tmp_path_factory.mktemp("commands") / "corpus", {"work-03": "momoco-01", "work-02": "work-02"}
    )
    out, examples = corpus.with_name("out"), corpus.with_name("examples.npz")
    assert main(["prepare", str(examples), str(corpus), "--held-out", "1", "--aside", "1"]) == 0
    words = ["--steps", "1", "--tokens", "64", "--rank", "2", "--alpha", "6", "--rate", "0.2"]
    assert main(["train", str(examples), str(out), *words]) == 0
    return out


@pytest.mark.slow
def test_training_leaves_an_adapter_of_the_bundled_model(folder: Path, base: Path) -> None:
    """The file is for the bundled weights, and llama.cpp applies it as it was trained; the weights are kept beside it."""
    made = Adapter.from_file(folder / NAME)
    record = json.loads((folder / card.RECORD).read_text("utf-8"))

    assert made.is_for(file_digest(base)) and made.base
    assert record["check"]["alike"] >= LEAST_ALIKE
    assert (record["base"], record["base_digest"]) == (base.name, file_digest(base))
    assert (record["bytes"], record["digest"]) == ((folder / NAME).stat().st_size, file_digest(folder / NAME))
    assert (folder / CHECKPOINT / "adapter_model.safetensors").is_file()
    assert [len(prompt) > 20 for prompt in json.loads((folder / BEGUN).read_text("utf-8"))["prompts"]] == [True]


@pytest.mark.slow
def test_training_is_recorded(folder: Path) -> None:
    """The record has what was trained on, how and with what; the card says the same in words."""
    record = json.loads((folder / card.RECORD).read_text("utf-8"))
    text = (folder / card.CARD).read_text("utf-8")

    assert (record["conversations"], record["steps"], sum(record["examples"].values())) == (1, 1, 1)
    assert record["course"]["rank"] == 2 and record["course"]["alpha"] == 6 and record["course"]["rate"] == 0.2
    assert record["held_out"] == list(HELD_OUT)
    assert record["held_out_losses"].keys() == record["held_out_losses_before"].keys() != set()
    assert record["evaluation"] == {}
    assert text == card.card(record)
    assert record["digest"] in text and "rank 2" in text and "Not yet." in text


def test_figures_are_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run's figures go into the record and the card, beside those of other runs; a second time they replace them."""
    card.write_record(RECORD, tmp_path)
    assert main(["record", str(tmp_path), "LoCoMo", '{"F1": 0.5}']) == 0
    assert main(["record", str(tmp_path), "RealTalk", '{"F1": 0.4}']) == 0
    assert main(["record", str(tmp_path), "LoCoMo", '{"F1": 0.31, "n": 40}']) == 0
    record = json.loads((tmp_path / card.RECORD).read_text("utf-8"))
    text = (tmp_path / card.CARD).read_text("utf-8")

    assert record == json.loads(json.dumps(RECORD)) | {
        "evaluation": {"LoCoMo": {"F1": 0.31, "n": 40}, "RealTalk": {"F1": 0.4}}
    }
    assert "- LoCoMo: F1 0.31, n 40\n- RealTalk: F1 0.4\n" in text and "Not yet" not in text


def test_a_removed_option_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is prepared, and the hint says what does the same."""
    assert main(["prepare", str(tmp_path / "out.npz"), str(tmp_path), "--people"]) == 4
    assert "--people was removed" in capsys.readouterr().err and not (tmp_path / "out.npz").exists()


def test_card_tells_what_each_kind_was_trained_on() -> None:
    """Every kind has its line, with nought for what there was none of."""
    text = card.card(RECORD)

    assert "| copies differ in | names |" in text and "| shares of rows, by kind | unify 0.7, read 0.3 |" in text
    assert "| unify | 5 | 1 | 3 | 0.25 | 0.5 | 2.5 | 0 |\n| read | 2 | 0 | 0 | 0 | 0 | 0 | 0 |\n" in text
    assert "| base | base.gguf (b1) |" in text and "| adapter | 9 bytes, d1 |" in text
    assert "trained for what goalmem asks of it no more: unify.\n" in text
    assert "no more" not in card.card({**RECORD, "mix": {"read": 1.0}})
    assert all(name in text for name in HELD_OUT)


def test_the_shipped_card_has_the_certainties_that_run() -> None:
    """Its weights are those of the model's record, and the card says what its own record says."""
    record = json.loads((ADAPTERS / card.RECORD).read_text("utf-8"))
    told = {name: tuple(round(each, 3) for each in made["weights"]) for name, made in record["certainty"].items()}

    assert told == SMOLLM2.fitted.weights
    assert card.card(record) == (ADAPTERS / card.CARD).read_text("utf-8")


def test_card_tells_how_far_certainties_are_off() -> None:
    """By reasoner: on what they were fitted to, and on what is held out where that was measured."""
    checked = {
        "asked": 64, "error": 0.0312, "bins": [{"count": 11, "certainty": 0.134, "right": 0.182}],
        "curve": [
            {"least": 0.0, "answered": 0.8, "right": 0.4, "f1": 0.321, "refused": 0.2, "unanswerable_refused": 0.5}
        ],
    }  # fmt: skip
    text = card.card({**RECORD, "certainty": {"direct": {"weights": [-1.5, 0.25], "fitted": checked, "checked": {}}}})

    assert "weights -1.50, 0.25." in text and "expected calibration error 0.031." in text
    assert "On conversations that are held out, the error of these weights was not measured." in text
    assert "| 11 | 13% | 18% |" in text and "| 0% | 80% | 40% | 0.321 | 20% | 50% |" in text
    assert "held-out ones" not in text


def test_the_shipped_card_is_that_of_its_record() -> None:
    """What the record says stands in the card, word for word."""
    folder = ADAPTERS
    record = json.loads((folder / card.RECORD).read_text("utf-8"))

    assert (folder / card.CARD).read_text("utf-8") == card.card(record)


@pytest.mark.parametrize(
    ("named", "missing"),
    [("work-02", "conversation to train on"), ("work-03", "held-out conversation to check on")],
)
def test_corpus_without_a_side_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], named: str, missing: str
) -> None:
    """Nothing to train on, or nothing to check on, is said before the model is loaded, with what is held out."""
    corpus = write_corpus(tmp_path / "corpus", {named: "work-02"})

    assert main(["prepare", str(tmp_path / "examples.npz"), str(corpus)]) == 4
    told = capsys.readouterr().err
    assert f"there is no {missing}" in told and "hint: held out are" in told and "work-13" in told
    assert not (tmp_path / "examples.npz").exists()


def test_corpus_that_is_not_there_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that is missing is an error with a hint, not a traceback."""
    assert main(["examples", str(tmp_path / "nowhere")]) == 4
    told = capsys.readouterr().err
    assert "nowhere" in told and "hint: " in told


@pytest.mark.slow
def test_training_goes_on_where_it_stopped(folder: Path) -> None:
    """With --resume a training of one batch becomes one of two; the adapter is converted again."""
    before = file_digest(folder / NAME)
    words = ["--steps", "2", "--resume"]
    assert main(["train", str(folder.with_name("examples.npz")), str(folder), *words]) == 0

    record = json.loads((folder / card.RECORD).read_text("utf-8"))
    assert record["steps"] == 2 and record["course"]["rank"] == 2 and record["course"]["tokens"] == 64
    assert file_digest(folder / NAME) == record["digest"] != before


@pytest.mark.slow
def test_unknown_layers_are_refused(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A layer that the model does not have is an error that names those it has."""
    words = ["--steps", "1", "--layers", "q_proj,nose"]
    assert main(["train", str(folder.with_name("examples.npz")), str(tmp_path), *words]) == 4
    told = capsys.readouterr().err
    assert "no layers are called nose" in told and "hint: they are q_proj, k_proj" in told


def test_what_is_packed_replaces_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model and its examples are packed into a folder of their own, and what was packed can be trained on at once."""
    base = write_model(tmp_path / adapter.BASE)
    some = (Tokens("read", (10, 11), (12, 2)),)
    prepared.write(Prepared(some, some, some, {}, file_digest(base)), tmp_path / adapter.EXAMPLES)
    words = ["pack", str(tmp_path / adapter.EXAMPLES)]
    before = base.read_bytes()

    assert main([*words, str(tmp_path), "--base", str(base)]) == 4
    assert "would be replaced" in capsys.readouterr().err and base.read_bytes() == before
    assert main([*words, str(tmp_path / "packed"), "--base", str(base)]) == 0
    assert {file.name for file in (tmp_path / "packed").iterdir()} == {adapter.BASE, adapter.EXAMPLES}


@pytest.mark.parametrize(
    ("known", "told"),
    [
        ({"base": "BASE", "whole": "another", "vocabulary": [], "prompts": []}, "this training is not of"),
        ({"base": "BASE", "prompts": []}, "an earlier version of goalmem began this training"),
    ],
)
@pytest.mark.parametrize("words", [["convert"], ["train", "EXAMPLES", "--steps", "2", "--resume"]])
def test_a_training_of_another_model_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], known: dict[str, Any], told: str, words: list[str]
) -> None:
    """What a training began with is compared with the model that is there now, before anything is loaded."""
    base = write_model(tmp_path / "base.gguf")
    (tmp_path / BEGUN).write_text(json.dumps({**known, "base": str(base)}), "utf-8")

    assert main([*words, str(tmp_path)]) == 4
    assert told in capsys.readouterr().err


def test_what_is_not_prepared_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another file than one that prepare wrote is an error that says how to make one."""
    (tmp_path / "other.npz").write_text("other", "utf-8")
    assert main(["train", str(tmp_path / "other.npz"), str(tmp_path), "--steps", "1"]) == 4
    told = capsys.readouterr().err
    assert "no prepared examples" in told and "hint: make them with prepare" in told


def test_end_of_training_must_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A training ends after minutes or after steps, and one of them has to be said."""
    with pytest.raises(SystemExit) as caught:
        main(["train", str(tmp_path), str(tmp_path)])
    assert caught.value.code == 2
    assert "--minutes" in capsys.readouterr().err
