"""Training an adapter and turning it into llama.cpp's form, on a small model that both libraries load at once."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from goalmem_cli.errors import InputError, ModelError
from goalmem_cli.lab.tuning import adapter, training
from goalmem_cli.lab.tuning.adapter import pack
from goalmem_cli.lab.tuning.batches import Row, Tokens, packed, rows_of
from goalmem_cli.lab.tuning.prepared import Prepared
from goalmem_cli.models.in_process.prompt_tokens import next_logits
from goalmem_cli.models.weights.gguf import file_digest, read_header
from goalmem_cli.models.weights.lora import BASE_DIGEST, Adapter
from tests.conftest import examples
from tests.lab.tuning.small_model import HEADS, KEY_HEADS, LAYERS, VOCABULARY, WIDTH, write_model

pytestmark = pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # peft asks for it

COURSE = training.Course(steps=2, rank=4, alpha=8, rate=0.05, warmup=0.0)
EXAMPLES = [Tokens("plan", tuple(range(10, 30)), (50, 51, 2)), Tokens("none", tuple(range(30, 40)), (70, 2))]
BATCH = list(rows_of(EXAMPLES))
PROMPTS = [[int(token) for token in row] for row in np.random.default_rng(1).integers(0, VOCABULARY, (12, 20))]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The weights of the small model."""
    return write_model(tmp_path_factory.mktemp("small") / "small.gguf")


@pytest.fixture
def model(small: Path) -> Any:
    """The small model with a new adapter."""
    return training.with_adapter(training.load_base(small), COURSE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the trained adapter is saved."""
    return tmp_path_factory.mktemp("trained")


@pytest.fixture(scope="module")
def trained(small: Path, folder: Path) -> Any:
    """The small model with an adapter trained on two batches, which no test changes."""
    made = training.with_adapter(training.load_base(small), COURSE)
    training.train(training.started(made, COURSE), repeat(BATCH), COURSE, folder, lambda _: None)
    return made


def weights(model: Any, *, of_adapter: bool) -> dict[str, torch.Tensor]:
    """Return copies of the weights of the adapter, or of all the others."""
    return {name: each.detach().clone() for name, each in model.named_parameters() if ("lora_" in name) is of_adapter}


def test_training_changes_the_adapter_alone(model: Any, tmp_path: Path) -> None:
    """After two batches every factor of the adapter is another, and the model below it the same."""
    before, below = weights(model, of_adapter=True), weights(model, of_adapter=False)
    training.train(training.started(model, COURSE), repeat(BATCH), COURSE, tmp_path, lambda _: None)

    assert len(before) == LAYERS * len(training.LAYERS) * 2
    assert all(not torch.equal(each, before[name]) for name, each in weights(model, of_adapter=True).items())
    assert all(torch.equal(each, below[name]) for name, each in weights(model, of_adapter=False).items())


def train_well(model: Any, folder: Path) -> None:
    """Train on the same examples until their replies are likely."""
    course = training.Course(steps=12, rate=0.04)
    training.train(training.started(model, COURSE), repeat(BATCH), course, folder, lambda _: None)


def test_training_teaches_the_replies(model: Any, tmp_path: Path) -> None:
    """A few batches of the same examples make their replies likely, all tokens to the last."""
    before = training.mean_losses(model, EXAMPLES, 100)
    train_well(model, tmp_path)
    after = training.mean_losses(model, EXAMPLES, 100)

    assert before.keys() == after.keys() == {"plan", "none"}
    assert all(after[kind] < before[kind] / 4 for kind in after)


def test_prompts_are_not_taught(model: Any, tmp_path: Path) -> None:
    """Only tokens of replies count: what a prompt says is no likelier for it."""
    heard = [Tokens("heard", each.prompt[:-6], each.prompt[-6:]) for each in EXAMPLES]
    before = training.mean_losses(model, heard, 100)["heard"]
    train_well(model, tmp_path)

    assert training.mean_losses(model, heard, 100)["heard"] > before / 2


def test_progress_counts_what_was_trained_on(model: Any, tmp_path: Path) -> None:
    """Steps, examples and tokens are those of the batches; the losses those of their kinds; the rate has come down."""
    told: list[training.Progress] = []
    done = training.train(training.started(model, COURSE), repeat(BATCH), COURSE, tmp_path, told.append)

    assert told[-1] == done
    assert (done.steps, done.examples, done.tokens) == (2, 4, 2 * sum(map(len, EXAMPLES)))
    assert done.kinds == {"plan": 2, "none": 2} and done.losses.keys() == {"plan", "none"}
    assert 0 < done.rate < COURSE.rate


def test_seed_decides_what_is_trained(small: Path, trained: Any, tmp_path: Path) -> None:
    """The same seed and batches give the same adapter."""
    again = training.with_adapter(training.load_base(small), COURSE)
    training.train(training.started(again, COURSE), repeat(BATCH), COURSE, tmp_path, lambda _: None)

    expected = weights(trained, of_adapter=True)
    assert all(
        torch.allclose(each, expected[name], atol=1e-4) for name, each in weights(again, of_adapter=True).items()
    )


def test_checkpoint_is_the_trained_model(small: Path, trained: Any, folder: Path) -> None:
    """What training saved, loaded again, is what was trained."""
    again = training.load_trained(small, folder)
    expected = training.mean_losses(trained, EXAMPLES, 100)

    assert training.mean_losses(again, EXAMPLES, 100) == pytest.approx(expected, abs=1e-4)
    assert all(
        torch.equal(each, weights(trained, of_adapter=True)[name])
        for name, each in weights(again, of_adapter=True).items()
    )


def test_interrupted_training_leaves_its_last_weights(small: Path, model: Any, tmp_path: Path) -> None:
    """Weights are saved on the way, so that what ends before its time is not lost."""

    def supply() -> Iterator[list[Row]]:
        yield BATCH
        raise KeyboardInterrupt

    course = training.Course(steps=5, rank=4, alpha=8, rate=0.05, save_minutes=0.0)
    with pytest.raises(KeyboardInterrupt):
        training.train(training.started(model, course), supply(), course, tmp_path, lambda _: None)

    saved = weights(training.load_trained(small, tmp_path), of_adapter=True)
    assert saved.keys() == weights(model, of_adapter=True).keys()
    assert all(torch.equal(saved[name], each) for name, each in weights(model, of_adapter=True).items())


def test_resumed_training_is_the_one_that_was_not_interrupted(small: Path, tmp_path: Path) -> None:
    """Stopped after two of six batches and gone on with, a training ends with the weights of one that never stopped."""
    course = training.Course(steps=6, rank=4, alpha=8, rate=0.02)
    supply = [[Row((Tokens("plan", tuple(range(at, at + 12)), (50, at, 2)),))] for at in range(6)]
    whole = training.begun(small, course)
    training.train(whole, iter(supply), course, tmp_path / "whole", lambda _: None)

    def stopping() -> Iterator[list[Row]]:
        yield from supply[:2]
        raise KeyboardInterrupt

    frequent = replace(course, save_minutes=0.0)
    with pytest.raises(KeyboardInterrupt):
        training.train(training.begun(small, course), stopping(), frequent, tmp_path / "part", lambda _: None)
    again = training.resumed(small, tmp_path / "part", course)
    assert (again.done.steps, again.done.examples) == (2, 2)
    training.train(again, iter(supply), course, tmp_path / "part", lambda _: None)

    assert (again.done.steps, again.done.kinds) == (6, {"plan": 6})
    expected = weights(whole.model, of_adapter=True)
    for name, each in weights(again.model, of_adapter=True).items():
        assert torch.allclose(each, expected[name], atol=1e-4)


def test_nothing_to_resume_is_refused(small: Path, tmp_path: Path) -> None:
    """A folder in which no training was saved is an error that says what to do."""
    with pytest.raises(InputError, match="no training was saved") as caught:
        training.resumed(small, tmp_path / "nothing", COURSE)
    assert "--resume" in caught.value.hint


def test_adapter_can_be_started_from(small: Path, trained: Any, tmp_path: Path) -> None:
    """A training that starts from an adapter's file has its weights, in half precision, and its shape."""
    adapter.write_adapter(trained, small, tmp_path / "adapter.gguf")
    assert adapter.shape_of(tmp_path / "adapter.gguf") == (4, 8, training.LAYERS)
    fresh = training.with_adapter(training.load_base(small), COURSE)
    adapter.copy_weights([tmp_path / "adapter.gguf"], fresh)

    expected = weights(trained, of_adapter=True)
    for name, each in weights(fresh, of_adapter=True).items():
        assert torch.allclose(each, expected[name], atol=1e-3, rtol=1e-3)
        assert not torch.equal(each, torch.zeros_like(each))


def test_mean_of_adapters_can_be_started_from(small: Path, trained: Any, tmp_path: Path) -> None:
    """Of two adapters each weight is the mean; one of another rank is refused."""
    one, other, narrow = tmp_path / "one.gguf", tmp_path / "other.gguf", tmp_path / "narrow.gguf"
    adapter.write_adapter(trained, small, one)
    fresh = training.with_adapter(training.load_base(small), COURSE)
    adapter.write_adapter(fresh, small, other)
    halves = [
        (each + weights(fresh, of_adapter=True)[name]) / 2 for name, each in weights(trained, of_adapter=True).items()
    ]
    adapter.copy_weights([one, other], fresh)

    for each, expected in zip(weights(fresh, of_adapter=True).values(), halves, strict=True):
        assert torch.allclose(each, expected, atol=1e-3, rtol=1e-3)
    adapter.write_adapter(training.with_adapter(training.load_base(small), replace(COURSE, rank=2)), small, narrow)
    with pytest.raises(ModelError, match="differ in rank"):
        adapter.copy_weights([one, narrow], fresh)


def test_losses_are_of_each_reply_token_after_what_comes_before_it(trained: Any) -> None:
    """The mean goes over the reply's tokens, each scored on the prompt and the reply up to it, in bfloat16 at times."""
    for example in EXAMPLES:
        whole = torch.tensor([example.prompt + example.reply])
        with torch.no_grad():
            scores = torch.log_softmax(trained(input_ids=whole).logits[0], dim=-1)
        told = [float(scores[place - 1, whole[0, place]]) for place in range(len(example.prompt), len(example))]

        assert training.mean_losses(trained, [example], 100)[example.kind] == pytest.approx(-np.mean(told), abs=0.03)


@settings(max_examples=examples(8))
@given(most=st.integers(1, 300))
def test_losses_do_not_depend_on_what_examples_are_batched_with(trained: Any, most: int) -> None:
    """Padding has no say in a loss, wherever it comes."""
    some = [*EXAMPLES, Tokens("none", (5, 6, 7), (8, 9, 10, 2)), Tokens("plan", tuple(range(60)), (1, 2))]
    alone = training.mean_losses(trained, some, 1)

    assert training.mean_losses(trained, some, most) == pytest.approx(alone, abs=1e-4)


@settings(max_examples=examples(8))
@given(shared=st.integers(0, 12), most=st.integers(1, 400))
def test_losses_do_not_depend_on_what_examples_are_packed_with(trained: Any, shared: int, most: int) -> None:
    """What prompts have in common is computed once, and no example sees another: losses are those of each alone."""
    begin = tuple(range(60, 60 + shared))
    several = [
        replace(each, prompt=begin + each.prompt, group=group)
        for group in ("facts", "others", "")
        for each in (*EXAMPLES, *EXAMPLES[: len(group) // 5])
    ]
    alone = training.mean_losses(trained, [replace(each, group="") for each in several], 1)

    assert training.mean_losses(trained, several, most) == pytest.approx(alone, abs=1e-4)


def test_losses_in_bfloat16_are_about_those_in_float32(trained: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a GPU, or a processor that is faster so, computes with is the same but for what eight bits tell."""
    told = {}
    for is_half in (True, False):
        monkeypatch.setattr(training, "_is_half_faster", lambda is_half=is_half: is_half)
        told[is_half] = training.mean_losses(trained, EXAMPLES, 100)

    assert told[True] != told[False]
    assert told[True] == pytest.approx(told[False], rel=0.05)


def test_a_gpu_gets_larger_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where torch sees one it is used."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert (training.device().type, training.room()) == ("cpu", 1024)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)

    assert (training.device().type, training.room()) == ("cuda", 32_768)


def test_packed_examples_move_the_adapter_as_those_alone(small: Path, tmp_path: Path) -> None:
    """A batch of one row of two examples teaches what a batch of the two does."""
    two = [replace(each, prompt=(7, 8, 9, *each.prompt), group="facts") for each in EXAMPLES]
    course = replace(COURSE, steps=1)
    moved = []
    for number, batch in enumerate(([packed(two)], [Row((each,)) for each in two])):
        model = training.with_adapter(training.load_base(small), course)
        training.train(training.started(model, course), repeat(batch), course, tmp_path / str(number), lambda _: None)
        moved.append(weights(model, of_adapter=True))

    assert all(torch.allclose(each, moved[1][name], atol=2e-3) for name, each in moved[0].items())


def test_file_says_what_it_is_and_for_which_weights(small: Path, trained: Any, tmp_path: Path) -> None:
    """The file is a LoRA adapter of these weights to whoever loads it, and has the strength it was trained with."""
    file = tmp_path / "adapter.gguf"
    size = adapter.write_adapter(trained, small, file)
    values = read_header(file).values

    assert size == file.stat().st_size
    assert (values["general.type"], values["adapter.type"]) == ("adapter", "lora")
    assert values["general.architecture"] == "llama"
    assert values["adapter.lora.alpha"] == 8.0
    assert values[BASE_DIGEST] == file_digest(small)
    assert Adapter.from_file(file).is_for(file_digest(small))
    assert not Adapter.from_file(file).is_for("those of another model")


def test_file_has_a_pair_of_factors_for_each_linear_layer(small: Path, trained: Any, tmp_path: Path) -> None:
    """Every linear layer has its two factors, in half precision, under llama.cpp's names."""
    adapter.write_adapter(trained, small, tmp_path / "adapter.gguf")
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(tmp_path / "adapter.gguf").tensors}
    layers = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")

    assert tensors.keys() == {
        f"blk.{number}.{layer}.weight.lora_{factor}" for number in range(LAYERS) for layer in layers for factor in "ab"
    }
    assert {tensor.tensor_type for tensor in tensors.values()} == {gguf.GGMLQuantizationType.F16}
    assert all(np.any(tensor.data) for tensor in tensors.values())


def test_some_layers_can_be_adapted_alone(small: Path, tmp_path: Path) -> None:
    """An adapter of two kinds of layers has factors for these only, and its file tells which."""
    course = replace(COURSE, layers=("q_proj", "v_proj"))
    adapter.write_adapter(training.with_adapter(training.load_base(small), course), small, tmp_path / "adapter.gguf")
    tensors = gguf.GGUFReader(tmp_path / "adapter.gguf").tensors

    assert {tensor.name.split(".")[2] for tensor in tensors} == {"attn_q", "attn_v"}
    assert adapter.shape_of(tmp_path / "adapter.gguf") == (4, 8, ("q_proj", "v_proj"))


def test_llama_cpp_computes_what_was_trained(small: Path, trained: Any, tmp_path: Path) -> None:
    """The adapter changes what llama.cpp makes of a prompt, and just as it changes the trained model."""
    adapter.write_adapter(trained, small, tmp_path / "adapter.gguf")
    found = adapter.check(trained, small, tmp_path / "adapter.gguf", PROMPTS)

    assert found.plain < 0.95
    assert found.alike > 0.999 and found.effect > 0.999 and found.agreement == 1.0


def test_llama_cpp_computes_what_was_trained_on_qwen2(tmp_path: Path) -> None:
    """Whose rows it keeps in the order of transformers."""
    base = write_model(tmp_path / "qwen2.gguf", "qwen2")
    made = training.with_adapter(training.load_base(base), COURSE)
    training.train(training.started(made, COURSE), repeat(BATCH), COURSE, tmp_path / "saved", lambda _: None)
    adapter.write_adapter(made, base, tmp_path / "adapter.gguf")
    found = adapter.check(made, base, tmp_path / "adapter.gguf", PROMPTS)

    assert read_header(tmp_path / "adapter.gguf").architecture == "qwen2"
    assert found.plain < 0.95
    assert found.alike > 0.999 and found.effect > 0.999


def test_what_is_trained_on_a_packed_file_is_for_the_whole(small: Path, tmp_path: Path) -> None:
    """Tokens have other numbers there, and llama.cpp computes the same with both."""
    (tmp_path / "packed").mkdir()
    whole = Prepared(tuple(EXAMPLES), (), (), {}, file_digest(small))
    base, data = pack(whole, small, tmp_path / "packed")
    prompt = EXAMPLES[0].prompt
    (here,), (there,) = next_logits(small, None, [prompt]), next_logits(base, None, [data.trained[0].prompt])
    assert np.allclose(here[list(data.vocabulary)], there)
    assert base.stat().st_size < small.stat().st_size and data.base == file_digest(base)

    batch = list(rows_of(data.trained))
    made = training.with_adapter(training.load_base(base), COURSE)
    training.train(training.started(made, COURSE), repeat(batch), COURSE, tmp_path / "saved", lambda _: None)
    adapter.write_adapter(made, base, tmp_path / "adapter.gguf")
    assert Adapter.from_file(tmp_path / "adapter.gguf").is_for(file_digest(small))
    again = training.load_trained(small, tmp_path / "saved")
    assert adapter.check(again, small, tmp_path / "adapter.gguf", PROMPTS).effect > 0.999


def test_a_step_without_a_finite_gradient_is_left_out(
    model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is counted, changes nothing, and training goes on."""
    before, plain, factors = weights(model, of_adapter=True), training._loss, iter((float("nan"), 1.0))
    monkeypatch.setattr(training, "_loss", lambda *batch: plain(*batch) * next(factors))
    seen: list[dict[str, torch.Tensor]] = []

    def batches() -> Iterator[list[Row]]:
        for _ in range(2):
            seen.append(weights(model, of_adapter=True))
            yield BATCH

    done = training.train(training.started(model, COURSE), batches(), COURSE, tmp_path, lambda _: None)

    assert (done.steps, done.left_out, done.examples) == (2, 1, len(EXAMPLES))
    assert all(torch.equal(each, before[name]) for name, each in seen[1].items())
    assert not all(torch.equal(each, before[name]) for name, each in weights(model, of_adapter=True).items())


def test_rows_in_the_order_of_transformers_are_refused(small: Path, trained: Any, tmp_path: Path) -> None:
    """A file in which the rows of queries and keys were not put in llama.cpp's order does not pass for the adapter."""
    one_pair_a_head = SimpleNamespace(
        model_type="llama", num_attention_heads=WIDTH // 2, num_key_value_heads=WIDTH // HEADS * KEY_HEADS // 2
    )
    wrong = SimpleNamespace(
        config=one_pair_a_head, peft_config=trained.peft_config, named_parameters=trained.named_parameters
    )
    adapter.write_adapter(wrong, small, tmp_path / "wrong.gguf")

    with pytest.raises(ModelError, match="does not compute what was trained"):
        adapter.check(trained, small, tmp_path / "wrong.gguf", PROMPTS)


def test_adapter_without_effect_is_refused(small: Path, model: Any, trained: Any, tmp_path: Path) -> None:
    """A file that leaves the model as it was is not what was trained."""
    adapter.write_adapter(model, small, tmp_path / "untrained.gguf")

    with pytest.raises(ModelError, match="does not compute what was trained"):
        adapter.check(trained, small, tmp_path / "untrained.gguf", PROMPTS)


def test_untrained_model_is_what_llama_cpp_loads(small: Path, model: Any, tmp_path: Path) -> None:
    """Both read the same weights from the file: an adapter that does nothing yet passes."""
    adapter.write_adapter(model, small, tmp_path / "untrained.gguf")
    found = adapter.check(model, small, tmp_path / "untrained.gguf", PROMPTS)

    assert found.alike > 0.999 and found.plain == pytest.approx(1.0)


def test_halves_of_each_head_are_interleaved() -> None:
    """Row i of a head's first half comes before row i of its second half, heads in their order."""
    rows = np.arange(8, dtype=np.float32)[:, None] * np.ones((1, 3), dtype=np.float32)

    assert adapter.interleaved(rows, 2)[:, 0].tolist() == [0, 2, 1, 3, 4, 6, 5, 7]
    assert adapter.interleaved(rows, 1)[:, 2].tolist() == [0, 4, 1, 5, 2, 6, 3, 7]


def test_adapter_too_large_to_ship_is_refused(small: Path, trained: Any, tmp_path: Path) -> None:
    """What would make the package too large is an error that says what to do."""
    weight = torch.zeros(16, adapter.MOST_BYTES // 32 + 16)
    large = SimpleNamespace(
        config=trained.config,
        peft_config=trained.peft_config,
        named_parameters=lambda: [("base_model.model.model.layers.0.mlp.up_proj.lora_A.default.weight", weight)],
    )
    with pytest.raises(ModelError, match="at most 40000000") as caught:
        adapter.write_adapter(large, small, tmp_path / "large.gguf")
    assert "rank" in caught.value.hint
