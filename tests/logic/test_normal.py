"""Normal forms: what two wordings have in common across forms of words."""

import pytest

from goalmem_cli.logic.normal import BASES, content_stems, stem


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("What did Ines break?", "Ines broke a cup"),
        ("Where will Ben go?", "yesterday he went to Leeds"),
        ("Who is making tea?", "Ben made coffee"),
        ("What has she written?", "her brother writes letters"),
    ],
)
def test_forms_of_a_verb_are_one(asked: str, told: str) -> None:
    """What these have in common is the verb, whose past no ending tells."""
    assert content_stems(asked) & content_stems(told) - {stem("Ines".lower())}


def test_irregular_forms_are_of_one_verb_each() -> None:
    """A form of a form would be stemmed to what is no verb."""
    assert not BASES.keys() & set(BASES.values())
    assert {stem(form) for form in BASES} == {stem(base) for base in BASES.values()}


@pytest.mark.parametrize("word", ["rose", "ground", "lay", "wound"])
def test_other_words_stay_what_they_are(word: str) -> None:
    """A rose is no past of rising."""
    assert stem(word) == stem(f"{word}s")
