"""NL-Logic's notation is read and printed without loss, and nothing written breaks the reader."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalmem_cli.logic import Atom, Constant, NotationError, Rule, Variable, parse_atom

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "data" / "corpus"

plain = st.text(st.characters(exclude_characters="():", categories=("L", "N", "P", "S", "Z")), min_size=1, max_size=20)
phrases = plain.map(lambda text: " ".join(text.split())).filter(lambda text: bool(text) and not text.endswith("*"))
variables = st.builds(
    Variable, st.from_regex(r"[a-z][0-9]?", fullmatch=True).filter(str.isascii), phrases, st.booleans()
)
# A single letter before a colon is a variable, never a typed constant.
constants = st.builds(Constant, phrases) | st.builds(Constant, phrases.filter(lambda text: len(text) > 2), phrases)
atoms = st.lists(plain | variables | constants, min_size=1, max_size=6).filter(
    lambda parts: any(not isinstance(part, str) for part in parts)
    and not any(isinstance(a, str) and isinstance(b, str) for a, b in pairwise(parts))
).map(lambda parts: Atom(tuple(parts)))  # fmt: skip


def corpus_texts() -> list[str]:
    """Return every goal, subgoal, refinement and alternative of the corpus, or of the samples."""
    folder = SHARED if SHARED.is_dir() else ROOT / "sample_convos"
    texts = []
    for file in sorted(folder.glob("*.json")):
        content = json.loads(file.read_text(encoding="utf-8"))
        for entry in content["qa"] if isinstance(content, dict) and "qa" in content else []:
            texts += [entry["goal"], *entry.get("alternative", [])]
            texts += [step["text"] for step in entry["subgoals"] + entry.get("refinements", [])]
    return texts


def test_corpus_goals_and_subgoals_print_back_unchanged() -> None:
    """All that the corpus writes down is read and printed back to the letter."""
    texts = corpus_texts()

    assert len(texts) > 30
    assert [str(parse_atom(text)) for text in texts] == texts


@given(atoms)
def test_what_is_printed_is_read_back(atom: Atom) -> None:
    """Printing and reading an atom gives an atom that prints the same, with the same variables."""
    again = parse_atom(str(atom))

    assert str(again) == str(atom)
    assert again.variables == atom.variables


@given(st.text(st.sampled_from("(): xX1*ab\n日"), max_size=30) | st.text(max_size=30))
def test_any_text_is_an_atom_or_a_clear_error(text: str) -> None:
    """Stray and nested brackets, empty terms and plain text give a value or an error with a position, never a crash."""
    try:
        atom = parse_atom(text)
    except NotationError as error:
        assert 0 <= error.position <= len(text)
    else:
        assert parse_atom(str(atom)) == atom
        assert atom.phrase == " ".join(atom.phrase.split())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Alice likes tea", "no term"),
        ("(Alice likes (tea)", "inside a term"),
        ("Alice) likes (tea)", "without an opening one"),
        ("(Alice) likes (tea", "not closed"),
        ("(Alice) likes ()", "empty term"),
        ("(Alice) likes (x:)", "without a type"),
    ],
)
def test_errors_say_what_is_wrong(text: str, reason: str) -> None:
    """Each kind of malformed text has its own reason."""
    with pytest.raises(NotationError, match=reason):
        parse_atom(text)


def test_terms_are_told_apart() -> None:
    """Variables, starred variables, typed and untyped constants, and times of day are what they look like."""
    atom = parse_atom("(x:drink*) ordered by (Alice:human) at (10:30 am) in (Momoco)")

    assert atom.variables == (Variable("x", "drink", is_starred=True),)
    assert atom.constants == (Constant("Alice", "human"), Constant("10:30 am"), Constant("Momoco"))
    assert atom.phrase == "drink ordered by Alice at 10:30 am in Momoco"


def test_rule_prints_as_if_then() -> None:
    """A rule follows from goal and subgoals."""
    rule = Rule(
        (parse_atom("(Alice) likes (y:flavour)"), parse_atom("(x:drink) has (y:flavour)")), parse_atom("(x:drink)")
    )

    assert str(rule) == "IF (Alice) likes (y:flavour) AND (x:drink) has (y:flavour) THEN (x:drink)"
