"""LoRA adapters on the bundled model: what they change, what is refused, and that nothing evaluated is mixed up."""

import hashlib
from contextlib import closing
from pathlib import Path

import pytest

from goalmem_cli.config import Settings
from goalmem_cli.errors import AdapterUnreadable, ModelError, UsageError
from goalmem_cli.loading import load_model
from goalmem_cli.models.bundled import ADAPTERS, SMOLLM2
from goalmem_cli.models.bundled import BUNDLED as BUNDLED_MODELS
from goalmem_cli.models.catalogue import list_models, resolve
from goalmem_cli.models.in_process.llama import LlamaModel
from goalmem_cli.models.state_cache import StateCache, model_cache
from goalmem_cli.models.weights.gguf import file_digest
from goalmem_cli.models.weights.lora import Adapter, chosen_adapter
from goalmem_cli.models.weights.repacking import made_weights
from goalmem_cli.ports import Completion
from tests.models.adapters import write_adapter
from tests.models.varied import LONG, told

FACTS = "".join(f"F{n}: On day {n} somebody walked past the old mill and counted {n} boats.\n" for n in range(1, 9))
ASKED = [told(FACTS, "What happened?"), told(FACTS, "Who was there?"), told("", "Where?", "other"), told(LONG, "Why?")]
TWO_STEPS = [ASKED[0], ASKED[2]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of small adapters."""
    made = tmp_path_factory.mktemp("adapters")
    write_adapter(made / "one.gguf")
    write_adapter(made / "two.gguf", seed=1)
    write_adapter(made / "wide.gguf", wider=64)
    write_adapter(made / "deep.gguf", layers=31)
    write_adapter(made / "foreign.gguf", architecture="qwen2")
    write_adapter(made / "kind.gguf", kind="vera")
    (made / "text.gguf").write_text("this is no adapter")
    (made / "cut.gguf").write_bytes((made / "one.gguf").read_bytes()[:-100])
    return made


def asked(path: Path, adapter: Path | None, scale: float = 1.0, states: StateCache | None = None) -> list[Completion]:
    """Ask a new model a question of each step."""
    model = LlamaModel.from_file(path, context=1024, threads=1, adapter=adapter, scale=scale, states=states)
    replies = model.complete(TWO_STEPS)
    model.close()
    return replies


def said(replies: list[Completion]) -> list[tuple[str, float | None]]:
    """Return what was said, and how surely: to the last bit what the model computed."""
    return [(reply.text, reply.first_token_probability) for reply in replies]


@pytest.mark.slow
def test_an_adapter_changes_what_the_model_says(bundled_path: Path, folder: Path) -> None:
    """Each adapter, and each scale of it, gives other replies; a scale of 0 gives those of the model without one."""
    plain = said(asked(bundled_path, None))
    one, half = said(asked(bundled_path, folder / "one.gguf")), said(asked(bundled_path, folder / "one.gguf", 0.5))
    two = said(asked(bundled_path, folder / "two.gguf"))
    for reply in zip(plain, one, half, two, strict=True):
        assert len(set(reply)) == 4
    assert said(asked(bundled_path, folder / "one.gguf", 0.0)) == plain


@pytest.mark.slow
def test_an_adapter_stays_through_everything_the_cache_does(bundled_path: Path, folder: Path) -> None:
    """Forks, restored states and emptied caches lose none of it: what was asked before changes no bit of a reply."""
    with closing(LlamaModel.from_file(bundled_path, context=1024, threads=1, adapter=folder / "one.gguf")) as first:
        fresh = said(first.complete(ASKED))
    model = LlamaModel.from_file(bundled_path, context=1024, threads=1, adapter=folder / "one.gguf")
    for _ in range(2):
        model.complete([told(FACTS[:200], "What?"), told(LONG, "When?")])
        model.complete([told(FACTS, "How many?")])
        again = model.complete(ASKED)
        assert said(again) == fresh
    assert all(reply.cached_tokens for reply in again)
    model.close()


@pytest.mark.slow
def test_states_are_kept_apart(bundled_path: Path, folder: Path, tmp_path: Path) -> None:
    """What was evaluated without an adapter, with another one or at another scale is never gone on from."""
    notes: list[str] = []
    states = StateCache.in_folder(tmp_path, 10**9, notes.append)
    setups: list[tuple[Path | None, float]] = [
        (None, 1.0), (folder / "one.gguf", 1.0), (folder / "one.gguf", 0.5), (folder / "two.gguf", 1.0),
    ]  # fmt: skip
    for adapter, scale in setups:
        cold = asked(bundled_path, adapter, scale, states)
        warm = asked(bundled_path, adapter, scale, states)
        assert min(reply.cached_tokens for reply in cold) == 0 < min(reply.cached_tokens for reply in warm)
        assert said(cold) == said(warm) == said(asked(bundled_path, adapter, scale))
    assert len(states.states()) == 2 * len(setups) and notes == []


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing", "there is no adapter"), ("text", "is not a GGUF file"), ("cut", "does not apply"),
        ("wide", "incorrect shape"), ("deep", "does not exist in base model"), ("foreign", "arch mismatch"),
        ("kind", "not a LoRA adapter"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(
    bundled_path: Path, folder: Path, capfd: pytest.CaptureFixture[str], name: str, reason: str
) -> None:
    """A missing file, one that is no adapter, and one for another model: one line that says so, and one what to do."""
    with pytest.raises(AdapterUnreadable, match=reason) as raised:
        LlamaModel.from_file(bundled_path, context=256, adapter=folder / f"{name}.gguf")
    assert "\n" not in raised.value.message and "--adapter" in raised.value.hint
    assert name in raised.value.message and capfd.readouterr() == ("", "")


def test_a_model_is_no_adapter(bundled_path: Path) -> None:
    """A GGUF file of weights is refused before llama.cpp sees it."""
    with pytest.raises(AdapterUnreadable, match="not a LoRA adapter"):
        Adapter.from_file(bundled_path)


def test_the_adapter_that_is_shipped_is_the_bundled_models(bundled_path: Path, folder: Path) -> None:
    """It goes with the file, under whatever name, unless the settings name another one or none."""
    shipped_file = ADAPTERS / SMOLLM2.adapter
    assert resolve(SMOLLM2.name).adapter == resolve(str(bundled_path)).adapter == shipped_file
    one, two, notes = folder / "one.gguf", folder / "two.gguf", list[str]()
    shipped = chosen_adapter(None, one, bundled_path, notes.append)
    assert shipped == Adapter(one, hashlib.sha256(one.read_bytes()).hexdigest())
    assert chosen_adapter("none", one, bundled_path, notes.append) is None
    assert chosen_adapter(None, None, bundled_path, notes.append) is None
    for known in (one, None):
        assert chosen_adapter(str(two), known, bundled_path, notes.append) == Adapter.from_file(two)
    assert notes == []


def test_an_adapter_for_other_weights(bundled_path: Path, tmp_path: Path) -> None:
    """The shipped one is left out, which is said once; one that was named is applied, and that is said."""
    notes: list[str] = []
    right = write_adapter(tmp_path / "right.gguf", layers=1, base=file_digest(bundled_path))
    wrong = write_adapter(tmp_path / "wrong.gguf", layers=1, base="another")
    assert chosen_adapter(None, right, bundled_path, notes.append) == Adapter.from_file(right) and notes == []
    assert chosen_adapter(None, wrong, bundled_path, notes.append) is None
    assert len(notes) == 1 and "without goalmem's adapter" in notes.pop()
    assert chosen_adapter(str(wrong), right, bundled_path, notes.append) == Adapter.from_file(wrong)
    assert len(notes) == 1 and str(wrong) in notes[0]


@pytest.mark.model
def test_a_loaded_model_tells_its_adapter(folder: Path) -> None:
    """Its hash is given, and the digest is another than that of the weights alone."""
    notes: list[str] = []
    digests = {}
    for name in ("none", str(folder / "one.gguf"), str(folder / "two.gguf")):
        loaded = load_model(Settings(folder, model=SMOLLM2.name, context=512, threads=1, adapter=name), notes.append)
        loaded.close()
        assert loaded.adapter == ("" if name == "none" else Adapter.from_file(Path(name)).digest)
        assert loaded.digest.endswith(loaded.adapter)
        digests[loaded.digest] = name
    assert len(digests) == 3


@pytest.mark.model
def test_an_adapter_that_cannot_be_used_costs_no_weights(folder: Path) -> None:
    """The bundled model's repacked weights are not discarded for it, and nothing runs without it in silence."""
    load_model(Settings(folder, model=SMOLLM2.name, context=256, threads=1, adapter="none")).close()
    made = set(made_weights(model_cache()))
    with pytest.raises(AdapterUnreadable):
        load_model(Settings(folder, model=SMOLLM2.name, context=256, threads=1, adapter=str(folder / "wide.gguf")))
    assert made and made <= set(made_weights(model_cache()))


def test_a_servers_model_takes_no_adapter(folder: Path) -> None:
    """Whoever names one for it is told, before the server is asked."""
    with pytest.raises(UsageError, match="server"):
        load_model(Settings(folder, model="http://127.0.0.1:9/v1", adapter=str(folder / "one.gguf")))


def test_the_listing_names_the_shipped_adapters() -> None:
    """The bundled models' lines have theirs, and no other line has one."""
    listed = {listing.name: listing for listing in list_models()}
    for name, model in BUNDLED_MODELS.items():
        adapter = listed.pop(name).adapter
        assert adapter is not None and adapter.path == ADAPTERS / model.adapter
    assert all(listing.adapter is None for listing in listed.values())


def test_an_adapter_is_left_off_where_it_was_not_trained(bundled_path: Path, folder: Path) -> None:
    """Steps that it knows get it, others get the weights alone, in any order."""
    one, (known, other) = folder / "one.gguf", (ASKED[0], ASKED[2])

    def alone(adapter: Path | None, adapted: frozenset[str] | None = None) -> LlamaModel:
        return LlamaModel.from_file(bundled_path, context=1024, threads=1, adapter=adapter, adapted=adapted)

    with_it, without = (said(alone(path).complete([other])) for path in (one, None))
    model = alone(one, frozenset({known.step}))
    replies = [said(model.complete([request])) for request in (known, other, known, other)]

    assert known.step != other.step and with_it != without
    assert replies[1] == replies[3] == without
    assert replies[0] == replies[2] == said(alone(one).complete([known]))


@pytest.mark.model
def test_a_merged_adapter_is_left_off_where_it_was_not_trained(folder: Path) -> None:
    """The smallest model's other steps get its plain weights, in any order."""
    known, other = told(FACTS, "What happened?", "read"), told("", "Where?", "other")
    merged, plain = (
        load_model(Settings(folder, model=SMOLLM2.name, context=1024, threads=1, adapter=name))
        for name in (None, "none")
    )
    with closing(merged), closing(plain):
        alone = [said(plain.model.complete([request])) for request in (known, other)]
        first, again = (said(merged.model.complete([known, other])) for _ in range(2))

    assert first == again and first[1:] == alone[1] and first[:1] != alone[0]
    for request in (other, known):
        with pytest.raises(ModelError, match="closed"):
            merged.model.complete([request])
