"""Languages on the command line: shown, set, refused where a model does not read them."""

import json
import re
from pathlib import Path

import pytest

from goalmem_cli.models.bundled import QWEN_1_5B, SMOLLM2
from goalmem_cli.ports import Request
from goalmem_cli.testing import ScriptedModel
from goalmem_cli.wiring import Factories, LoadedModel
from tests.invoking import Goalmem, seeing
from tests.languages.samples import BY_LANGUAGE, OTHER_SCRIPTS, Sample


def written(sample: Sample, folder: Path) -> str:
    """Write the sample as Markdown, and return its path."""
    lines = [line.split(": ", 1) for line in sample.lines]
    said = [f"**{speaker}** (2024-03-01 10:{place:02d}): {text}" for place, (speaker, text) in enumerate(lines)]
    file = folder / f"{sample.language or 'mixed'}.md"
    file.write_text("\n".join(said), "utf-8")
    return str(file)


def reading(languages: frozenset[str] | None, seen: list[Request] | None = None) -> Factories:
    """Return a model that reads these languages, answers that it does not know, and adds what it is asked to `seen`."""

    def reply(request: Request) -> str:
        if seen is not None:
            seen.append(request)
        return "answer: unknown"

    return seeing(lambda _: LoadedModel(ScriptedModel(reply), "small", "compact", 8192, languages=languages))


@pytest.fixture
def german(goalmem: Goalmem, tmp_path: Path) -> Goalmem:
    """The command over a German conversation."""
    assert goalmem("ingest", written(BY_LANGUAGE["de"], tmp_path), "-q").code == 0
    return goalmem


def test_the_language_is_shown_and_set(german: Goalmem) -> None:
    """In the table, in JSON, and by a command of its own."""
    assert "de" in german("stores", "show").out.splitlines()[-2].split()
    (shown,) = json.loads(german("stores", "show", "--json").out)["conversations"]
    assert (shown["language"], shown["is_language_told"]) == ("de", False)
    assert german("stores", "language", "de").out == "de: de (German)\n"
    assert german("stores", "language", "de", "NL").out == "de: nl (Dutch)\n"
    (shown,) = json.loads(german("stores", "show", "--json").out)["conversations"]
    assert (shown["language"], shown["is_language_told"]) == ("nl", True)
    assert german("stores", "language", "de", "found").out == "de: de (German)\n"
    for words in (("de", "German"), ("nobody",), ("nobody", "de")):
        assert german("stores", "language", *words).code in (2, 3)


def test_the_language_is_told_when_it_is_read(goalmem: Goalmem, tmp_path: Path) -> None:
    """It holds for all that is read; what is no code is refused."""
    file = written(BY_LANGUAGE["pt"], tmp_path)
    assert goalmem("ingest", file, "--language", "klingon").code == 2
    assert goalmem("ingest", file, "--language", "gl", "-q").code == 0
    (shown,) = json.loads(goalmem("stores", "show", "--json").out)["conversations"]
    assert (shown["language"], shown["is_language_told"]) == ("gl", True)


def test_a_model_refuses_a_question_in_a_language_that_it_does_not_read(german: Goalmem) -> None:
    """One line says what it reads, one names models that read it; and so for an English question over German alone."""
    for question in ("Wie hoch ist die Miete von Jonas?", "Where does Käthe live?"):
        outcome = german("ask", question, factories=reading(SMOLLM2.languages))
        assert (outcome.code, outcome.out) == (4, "")
        said, hint = outcome.error_lines
        assert said.startswith("small reads English only, and ")
        assert "German" in said
        assert "--model qwen-1.5b" in hint
        assert "goalmem models suggest" in hint
    assert german("search", "Miete von Jonas").code == 0


@pytest.mark.parametrize("languages", [QWEN_1_5B.languages, None], ids=["reads it", "not known"])
def test_a_model_that_reads_it_is_asked(german: Goalmem, languages: frozenset[str] | None) -> None:
    """So is one of which nobody knows what it reads."""
    outcome = german("ask", "Wie hoch ist die Miete von Jonas?", factories=reading(languages))
    assert outcome.code == 1


def citing(languages: frozenset[str], word: str, seen: list[Request] | None = None) -> Factories:
    """Return a model that reads these languages, and answers Kassel from the first fact with the word."""

    def reply(request: Request) -> str:
        if seen is not None:
            seen.append(request)
        found = re.search(rf"(F\d+)\. .*{word}", request.growing + request.tail)
        return f"answer: Kassel\nfacts: {found[1]}" if found else "answer: unknown"

    return seeing(lambda _: LoadedModel(ScriptedModel(reply), "small", "compact", 8192, languages=languages))


def test_what_is_in_doubt_is_asked(german: Goalmem, samples: Path) -> None:
    """A short question, and one over conversations of which one is in English; goalmem's own does not count."""
    german("chat", "--asker", "Ana", stdin=b"I like tea, and I live in Hull with my cat.\n", factories=reading(None))
    assert german("ask", "Where does Käthe live?", factories=reading(SMOLLM2.languages)).code == 4
    assert german("ingest", str(samples / "momoco.json"), "-q").code == 0
    for question in ("Jonas Miete?", "Where does Käthe live?"):
        assert german("ask", question, factories=reading(SMOLLM2.languages)).code == 1
    only = german("ask", "Where does Käthe live?", "--conversation", "de", factories=reading(SMOLLM2.languages))
    assert only.code == 4


@pytest.mark.parametrize(
    ("languages", "word", "code"),
    [
        (SMOLLM2.languages, "Kassel", 4), (SMOLLM2.languages, "parcel", 0), (SMOLLM2.languages, "Momoco", 0),
        (QWEN_1_5B.languages, "Kassel", 0), (frozenset(("en", "fr")), "Kassel", 0),
    ],
    ids=["another", "the turn's own", "read", "reads both", "not named"],
)  # fmt: skip
def test_an_answer_from_what_the_model_does_not_read_is_refused(
    german: Goalmem, samples: Path, tmp_path: Path, languages: frozenset[str], word: str, code: int
) -> None:
    """If every fact that it cites is in another language; all conversations are shown to it."""
    said = "**Käthe** (2024-03-01 12:00): I sent you the parcel from Kassel, it is the one with the blue ribbon."
    file = Path(written(BY_LANGUAGE["de"], tmp_path))
    file.write_text(f"{file.read_text('utf-8')}\n{said}", "utf-8")
    assert german("ingest", str(file), str(samples / "momoco.json"), "-q").code == 0
    question = f"Where did the {word} from Käthe in Kassel come from?"
    outcome = german("ask", question, "--reasoner", "direct", "--certainty", "0", factories=citing(languages, word))
    assert outcome.code == code, (outcome.out, outcome.err)
    if code:
        assert "small reads English only, and what the answer cites is in German" in outcome.err


def test_a_goal_in_a_language_that_is_not_read_is_not_checked(german: Goalmem, samples: Path) -> None:
    """It stays as it is, and the others are checked."""
    assert german("ingest", str(samples / "momoco.json"), "-q").code == 0
    german("goals", "add", "Where does Käthe live?", "--name", "a", "--conversation", "de", factories=reading(None))
    german("goals", "add", "Where did Alice go?", "--name", "b", factories=reading(None))
    outcome = german("goals", "check", "--all", factories=reading(SMOLLM2.languages))
    first, second = outcome.out.splitlines()
    assert (outcome.code, second.partition(",")[0]) == (4, "b: still so")
    assert first == ("a: not checked: small reads English only, and what is asked of is in German; it stands as before")


def prompts(goalmem: Goalmem, question: str, languages: frozenset[str] | None, *more: str) -> list[str]:
    """Return the prompts that a model of these languages gets for a question to `direct`."""
    seen: list[Request] = []
    goalmem("ask", question, "--reasoner", "direct", *more, factories=reading(languages, seen))
    return [request.growing + request.tail for request in seen]


def test_an_english_question_over_another_chat_is_answered_in_english(german: Goalmem, samples: Path) -> None:
    """The prompt says so where it shows such a fact, as it does for one in German, also a short one."""
    for question, language in (
        ("Does Jonas have a cat?", "English"), ("Hat Jonas eine Katze?", "German"), ("Spielt Lena Geige?", "German")
    ):  # fmt: skip
        assert f"{question} (Answer in {language}.)" in prompts(german, question, QWEN_1_5B.languages)[0]
    assert german("ingest", str(samples / "momoco.json"), "-q").code == 0
    question = "When did Alice go to Momoco with Priya?"
    (prompt,) = prompts(german, question, QWEN_1_5B.languages, "--budget", "1")
    assert f"Question: {question}\n" in prompt


def test_a_language_that_no_bundled_model_reads_has_a_hint_too(goalmem: Goalmem, tmp_path: Path) -> None:
    """It names the list of larger ones."""
    (hindi,) = (each for each in OTHER_SCRIPTS if each.language == "hi")
    assert goalmem("ingest", written(hindi, tmp_path), "-q").code == 0
    outcome = goalmem("ask", "राहुल कहाँ रहता है और क्या करता है?", factories=reading(QWEN_1_5B.languages))
    assert outcome.code == 4
    assert "some that may" in outcome.error_lines[1]


@pytest.mark.parametrize("sample", OTHER_SCRIPTS, ids=lambda sample: sample.language)
def test_other_scripts_are_found_and_quoted(goalmem: Goalmem, tmp_path: Path, sample: Sample) -> None:
    """A search prints the words of the turn as they were said, in their order."""
    assert goalmem("ingest", written(sample, tmp_path), "-q").code == 0
    outcome = goalmem("search", sample.query, "-k", "1", "--json")
    (hit,) = json.loads(outcome.out)["hits"]
    speaker, text = sample.lines[sample.found].split(": ", 1)
    assert (hit["speaker"], hit["text"]) == (speaker, text)
    assert " ".join(text.split()) in " ".join(goalmem("search", sample.query, "-k", "1").out.split())
