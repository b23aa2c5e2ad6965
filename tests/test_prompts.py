"""Prompts are files: both profiles are whole, and a wrong file is an error that names what is wrong."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from llama_cpp.llama_grammar import LlamaGrammar

from goalmem_cli.errors import PromptError
from goalmem_cli.models.in_process.llama import LlamaModel
from goalmem_cli.ports import GrammarShape, JsonShape
from goalmem_cli.prompts import Profile, PromptBook, load_prompt

GOOD: dict[str, Any] = {
    "description": "A test.",
    "system": "Say it.",
    "variables": ["fact", "problem"],
    "examples": [{"input": {"fact": "F1", "problem": ""}, "output": {"a": "F1"}}],
    "input": {"growing": "Fact: {{ fact }}\n", "tail": "{% if problem %}{{ problem }}{% endif %}"},
    "output": {"schema": {"type": "object", "properties": {"a": {"type": "string", "choices": "facts"}}}},
    "max_tokens": 10,
}


def written(folder: Path, **changes: object) -> Path:
    """Return a prompt file that differs from a good one in the given keys; None leaves a key out."""
    content = {key: value for key, value in (GOOD | changes).items() if value is not None}
    file = folder / "step.yaml"
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    return file


@pytest.mark.parametrize("profile", ["full", "compact"])
def test_shipped_prompts_load_and_their_examples_are_of_their_own_form(profile: Profile) -> None:
    """Every example's reply fits the schema, or is a text of the grammar that llama.cpp accepts."""
    book = PromptBook.load(None, profile)
    choices = {
        "facts": ["F1", "F2", "F3", "F4"], "subgoals": ["S1", "S2"], "variables": ["x", "y"],
        "names": ["Priya"], "replies": ["unknown", "alone", "cited"], "types": ["date"], "entity_types": ["person", "organization", "place", "event"], "open": ["x"], "several": ["x and y"], "closed": ["no"], "kinds": ["date"],
        "lines": ["1", "2"], "new": ["N1", "N2", "N3"], "events": ["ADD", "UPDATE", "DELETE", "NONE", "LINK", "TAG", "INVALIDATE", "SAME", "NEW", "CONTRADICTS"], "labels": ["0", "1", "2", "3"], "numbers": ["0", "1", "2", "3", "4"], "points": ["P1", "P2"], "actions": ["Retrieve", "Finish"], "turns": ["T1", "T2", "T3"], "gists": ["F1"], "intents": ["why", "when", "entity"],
        "tools": ["semantic_retrieve", "lexical_retrieve", "find_gist_contexts", "find_entity_contexts", "output_answer"],
    }  # fmt: skip

    assert {"decompose", "read"} <= book.prompts.keys()
    assert ({"unify", "refine", "answer", "verdict"} & book.prompts.keys() != set()) == (profile == "full")
    for name, prompt in book.prompts.items():
        checked = load_prompt(book.folder / f"{name}.yaml")  # a book takes what is shipped at its word
        assert (checked.growing, checked.tail, checked.schema, checked.grammar) == (
            prompt.growing, prompt.tail, prompt.schema, prompt.grammar
        )  # fmt: skip
        request = prompt.request(dict.fromkeys(prompt.variables, ""), choices)
        assert len(book.hashes[name]) == 32
        # the adapter has learnt these; a benchmark's own prompt has neither them nor instructions of goalmem's
        assert prompt.examples or profile == "compact" or (name, prompt.system) == ("own_prompt", "")
        if isinstance(request.shape, JsonShape):
            for example in checked.examples:
                jsonschema.validate(yaml.safe_load(example.output), dict(request.shape.schema))
        else:
            LlamaGrammar.from_string(request.shape.grammar, verbose=False)


@pytest.mark.parametrize(
    ("step", "lines"),
    [
        ("reflect", [("why", 59), ("sufficient: no\nquery", 57)]),
        ("react", [("thought", 59), ("action: Finish\ninput", 79), ("facts: F11, F12, F13, F14", 0)]),
        ("intent", [("intent", 59), *[("queries", 59)] * 5]),
        (
            "remem",
            [
                ("thought", 59),
                ("tool: find_entity_contexts\nsubject", 29),
                ("predicate", 29),
                ("object", 29),
                (
                    "start_time: 2023-02-03\nstart_operator: ge\nend_time: 2023-02-03\nend_operator: ge\nordering: desc",
                    0,
                ),
                ("limit: 1\noffset: 1\naggregation: count_unique_subjects", 0),
            ],
        ),
        ("remem_extract", [("gist T3", 101)] * 8),
        ("slots", [("sufficient: no\nmissing", 59), *[("missing", 59)] * 2, *[("queries", 59)] * 3]),
    ],
)
def test_the_grammar_of_a_small_model_s_reply_ends_it_and_not_its_length(
    step: str, lines: list[tuple[str, int]], bundled_path: Path
) -> None:
    """Where a letter is a token, as a digit is, the longest reply that the grammar admits is not cut off."""
    longest = "\n".join(f"{label}: {'7' * size}" for label, size in lines)
    model = LlamaModel.from_file(bundled_path, context=512, threads=1)
    try:
        assert model.count_tokens(longest) <= PromptBook.load(None, "compact")[step].max_tokens
    finally:
        model.close()


def test_enumerations_are_built_per_call(tmp_path: Path) -> None:
    """A schema's ``choices`` become the values of the call; none is an error."""
    prompt = load_prompt(written(tmp_path))
    shape = prompt.request({"fact": "x", "problem": ""}, {"facts": ["F7"]}).shape

    assert isinstance(shape, JsonShape)
    assert shape.schema["properties"] == {"a": {"type": "string", "enum": ["F7"]}}
    with pytest.raises(PromptError, match="facts"):
        prompt.request({"fact": "x", "problem": ""}, {"facts": []})


def test_grammar_quotes_what_it_enumerates(tmp_path: Path) -> None:
    """A name with quotes in it stays one literal of the grammar."""
    prompt = load_prompt(written(tmp_path, output={"grammar": "root ::= {{ facts | alternatives }}"}))
    shape = prompt.request({"fact": "x", "problem": ""}, {"facts": ['a"b', "c"]}).shape

    assert shape == GrammarShape('root ::= "a\\"b" | "c"')


@pytest.mark.parametrize("name", ["A\x0cB", "A\x08B", "tab\there", "back\\slash", "日本 🙂", "zero\u200bwidth", 'q"q'])
def test_any_name_is_a_literal_that_llama_cpp_accepts(tmp_path: Path, name: str) -> None:
    """Control characters and other scripts in a speaker's name leave the grammar whole."""
    prompt = load_prompt(written(tmp_path, output={"grammar": "root ::= {{ facts | alternatives }}"}))
    shape = prompt.request({"fact": "x", "problem": ""}, {"facts": [name]}).shape

    assert isinstance(shape, GrammarShape)
    LlamaGrammar.from_string(shape.grammar, verbose=False)
    assert shape.grammar.isprintable()


def test_one_file_of_ones_own_stands_in_for_the_shipped_one(tmp_path: Path) -> None:
    """A folder with one prompt changes that step only."""
    shipped = PromptBook.load(None, "full")
    own = (shipped.folder / "answer.yaml").read_text(encoding="utf-8").replace("shortest", "very shortest")
    (tmp_path / "answer.yaml").write_text(own, encoding="utf-8")
    book = PromptBook.load(tmp_path, "full")

    assert book.prompts.keys() == shipped.prompts.keys()
    assert book.hashes["answer"] != shipped.hashes["answer"]
    assert book.hashes["unify"] == shipped.hashes["unify"]


@pytest.mark.slow
def test_proving_and_refining_begin_alike_up_to_the_last_fact(bundled_path: Path) -> None:
    """What a call read of the facts, the next one goes on from; each also comes so where it is loaded alone."""
    book = PromptBook.load(None, "full")
    inputs = {name: "" for step in ("unify", "refine") for name in book[step].variables}
    seen = inputs | {"question": "Who sang?", "facts": [f"F{n}. Ana: I sang song number {n}." for n in range(20)]}
    choices = {"facts": ["F1"], "subgoals": ["S1"], "variables": ["x"]}
    prove, refine = (
        book[step].request({name: seen[name] for name in book[step].variables}, choices) for step in ("unify", "refine")
    )

    assert (prove.system, prove.examples, prove.growing) == (refine.system, refine.examples, refine.growing)
    assert prove.tail != refine.tail
    assert len(prove.examples) == 4
    assert PromptBook.load(None, "full", ["refine"]).prompts == {"refine": book["refine"]}
    assert PromptBook.load(None, "full", []).prompts == {}
    model = LlamaModel.from_file(bundled_path, context=4096, threads=1)
    try:
        (first,) = model.complete([replace(prove, max_tokens=1)])
        (second,) = model.complete([replace(refine, max_tokens=1)])
        assert second.prompt_tokens - second.cached_tokens < model.count_tokens(refine.growing)
        assert first.prompt_tokens - first.cached_tokens > 1000
    finally:
        model.close()


def test_a_file_that_says_nothing_of_the_other_stands_alone(tmp_path: Path) -> None:
    """One's own unify.yaml without `together` is not mixed with the shipped refine.yaml; with it, both change."""
    shipped = PromptBook.load(None, "full")
    text = (shipped.folder / "unify.yaml").read_text(encoding="utf-8")
    own = tmp_path / "unify.yaml"
    own.write_text(text.replace("together: [unify, refine]\n", ""), encoding="utf-8")
    apart = PromptBook.load(tmp_path, "full")
    own.write_text(text.replace("You work on", "You are given"), encoding="utf-8")
    changed = PromptBook.load(tmp_path, "full")

    assert len(apart["unify"].examples) == len(apart["refine"].examples) == 2
    assert "to refine" in apart["refine"].system and "to prove" not in apart["refine"].system
    assert changed["refine"].system.startswith("You are given")
    assert len({book.hashes["refine"] for book in (shipped, apart, changed)}) == 3


def test_text_that_looks_like_a_template_is_data(tmp_path: Path) -> None:
    """A fact with braces in it is printed, not evaluated."""
    request = load_prompt(written(tmp_path)).request({"fact": "{{ 7 * 6 }}", "problem": ""}, {"facts": ["F1"]})

    assert request.growing == "Fact: {{ 7 * 6 }}\n"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"extra": 1}, "extra"),
        ({"system": None}, "system"),
        ({"variables": ["fact", "problem", "spare"]}, "unused: spare"),
        ({"variables": ["fact"]}, "undeclared variables: problem"),
        ({"input": {"growing": "{% if %}", "tail": ""}}, "input"),
        ({"input": {"growing": "x"}}, "growing and tail"),
        ({"examples": [{"input": {"fact": "F1"}, "output": "x"}]}, "number 1"),
        ({"examples": "none"}, "examples"),
        ({"together": ["other"]}, "together"),
        ({"together": ["step", "step"]}, "together"),
        ({"together": "step"}, "together"),
        ({"output": {"schema": {}, "grammar": ""}}, "output"),
        ({"output": {"schema": {"type": "strin"}}}, "schema"),
        (
            {
                "input": {"growing": "{% for f in fact %}{{ f }}{% endfor %}", "tail": "{{ problem }}"},
                "examples": [{"input": {"fact": 3, "problem": ""}, "output": "x"}],
            },
            "not iterable",
        ),
        ({"max_tokens": 0}, "max_tokens"),
    ],
)
def test_wrong_files_are_named_with_the_key(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    """An unknown key, an undeclared or unused variable, or a value of the wrong kind says which."""
    with pytest.raises(PromptError, match=message) as caught:
        load_prompt(written(tmp_path, **changes))

    assert "step" in caught.value.message


def test_inputs_must_be_those_declared(tmp_path: Path) -> None:
    """A missing input and an undeclared one are errors that name it."""
    prompt = load_prompt(written(tmp_path))
    with pytest.raises(PromptError, match="problem"):
        prompt.request({"fact": "x"}, {"facts": ["F1"]})


def test_missing_folder_is_an_error(tmp_path: Path) -> None:
    """A folder without prompts is refused with the option that chose it."""
    with pytest.raises(PromptError) as caught:
        PromptBook.load(tmp_path / "nowhere", "full")

    assert "--prompts" in caught.value.hint
