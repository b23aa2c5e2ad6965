"""llama.cpp in process, on the bundled model: shaped replies, repeatability, the prefix cache, and hostile input."""

import _thread
import json
import os
import shutil
import struct
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from goalmem_cli.errors import ContextOverflow, ModelError, ModelMissing, ModelUnreadable
from goalmem_cli.models.in_process.decoding import LEAST_ROWS
from goalmem_cli.models.in_process.llama import LlamaModel, usable_threads
from goalmem_cli.models.in_process.sampling import grammar_text
from goalmem_cli.ports import Example, GrammarShape, JsonShape, Request

FACTS = "".join(f"F{n}: Anna said that she met friend number {n} at the cafe in May.\n" for n in range(1, 11))
ONE_LINE = GrammarShape('root ::= "Answer: " [a-zA-Z ]{1,30} "\\n"')
ENDLESS = GrammarShape("root ::= [a-z ] root")


def request(
    shape: JsonShape | GrammarShape = ONE_LINE,
    growing: str = FACTS,
    tail: str = "Whom did Anna meet?",
    max_tokens: int = 80,
) -> Request:
    """A request over a few facts."""
    return Request("step", "You read facts.", (Example("Who?", "Answer: nobody\n"),), growing, tail, shape, max_tokens)


def citation_schema(facts: list[str], variables: list[str]) -> dict[str, object]:
    """A schema as the engine builds it for one call: what may be cited and bound are enumerations."""
    binding = {
        "type": "object",
        "properties": {"variable": {"enum": variables}, "value": {"type": "string", "minLength": 1, "maxLength": 20}},
        "required": ["variable", "value"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "space": {"type": "integer"},
            "facts": {"type": "array", "items": {"enum": facts}, "minItems": 1, "maxItems": 2},
            "bindings": {"type": "array", "items": binding, "minItems": 1, "maxItems": 2},
            "holds": {"type": "boolean"},
        },
        "required": ["space", "facts", "bindings", "holds"],
        "additionalProperties": False,
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("facts", "variables", "growing"),
    [
        (["F1"], ["x"], FACTS),
        (["F3", "F7", "F9"], ["x", "y2"], FACTS),
        (["F1", "Ünï", 'a "quoted" one'], ["z"], "F1: nothing\n"),
        (["F2"], ["x"], 'Say: {"facts": ["F99"]}\n```json\n\\u0000 \\" \ud83d \x00\n'),
    ],
)
def test_a_reply_fits_its_schema(bundled: LlamaModel, facts: list[str], variables: list[str], growing: str) -> None:
    """A complete reply is JSON of the schema, cites only what the enumeration has, and is written without spare space."""
    schema = citation_schema(facts, variables)
    (reply,) = bundled.complete([request(JsonShape(schema), growing, "Cite facts as JSON.", 160)])
    assert reply.is_complete
    document = json.loads(reply.text)
    jsonschema.validate(document, schema)
    assert list(document) == ["space", "facts", "bindings", "holds"]
    assert set(document["facts"]) <= set(facts)


def test_a_reply_is_spaced_as_json_dumps_does(bundled: LlamaModel) -> None:
    """JSON replies have no white space but what json.dumps writes, so that they look like the prompts' examples."""
    item = {"type": "object", "properties": {"n": {"enum": [1, 2]}, "on": {"type": "boolean"}}, "required": ["n", "on"]}
    schema = {"type": "array", "items": item, "minItems": 2, "maxItems": 2}
    (reply,) = bundled.complete([request(JsonShape(schema))])
    assert reply.text == json.dumps(json.loads(reply.text))


def test_values_with_quotes_and_other_scripts_are_written_as_they_are(bundled: LlamaModel) -> None:
    """An enumerated value may hold quotes, backslashes, line breaks and any script."""
    value = 'Müller said "no\\yes"\n: 日本 [x]'
    schema = {"type": "object", "properties": {'odd "key"': {"enum": [value]}}, "required": ['odd "key"']}
    (reply,) = bundled.complete([request(JsonShape(schema))])
    assert json.loads(reply.text) == {'odd "key"': value}


def test_a_list_with_nothing_to_choose_from_is_empty(bundled: LlamaModel) -> None:
    """Where an enumeration built for the call has no values, the list of such items is empty; if it may not be, error."""
    item = {"type": "object", "properties": {"variable": {"enum": []}}, "required": ["variable"]}
    schema = {"type": "object", "properties": {"bindings": {"type": "array", "items": item}}, "required": ["bindings"]}
    (reply,) = bundled.complete([request(JsonShape(schema))])
    assert json.loads(reply.text) == {"bindings": []}
    with pytest.raises(ModelError, match="empty"):
        grammar_text(JsonShape({"type": "array", "items": item, "minItems": 1}))


def test_patterns_and_long_strings_are_held_to(bundled: LlamaModel) -> None:
    """A pattern and a length of hundreds are part of the grammar."""
    name = {"type": "string", "pattern": "^[a-z][0-9]?$"}
    schema = {"type": "object", "properties": {"name": name, "why": {"type": "string", "minLength": 1, "maxLength": 300}}, "required": ["name", "why"]}  # fmt: skip
    (reply,) = bundled.complete([request(JsonShape(schema), tail="Why?", max_tokens=400)])
    jsonschema.validate(json.loads(reply.text), schema)


def test_a_string_holds_no_raw_line_breaks_and_no_numbered_escapes() -> None:
    """The grammar of a string admits neither control characters nor halves of surrogate pairs."""
    grammar = grammar_text(JsonShape({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}))
    (character,) = [line for line in grammar.splitlines() if line.startswith("char ::= ")]
    assert r"\x00-\x1F" in character and "u" not in character
    assert '", "' not in grammar and 'space ::= ""' in grammar


def test_a_reply_follows_its_line_grammar(bundled: LlamaModel) -> None:
    """A complete reply is text of the grammar, no more and no less."""
    (reply,) = bundled.complete([request()])
    assert reply.is_complete
    assert reply.text.startswith("Answer: ") and reply.text.endswith("\n") and reply.text.count("\n") == 1


def test_a_reply_that_is_cut_says_so(bundled: LlamaModel) -> None:
    """At the limit of tokens the reply ends and is not complete; one that just fits is."""
    (cut,) = bundled.complete([request(ENDLESS, max_tokens=7)])
    assert not cut.is_complete and cut.completion_tokens == 7 and cut.text
    (whole,) = bundled.complete([request(GrammarShape('root ::= "yes"'), max_tokens=1)])
    assert (whole.text, whole.is_complete, whole.completion_tokens) == ("yes", True, 1)


def test_requests_are_answered_in_order(bundled: LlamaModel) -> None:
    """Several requests in one call give one completion each, in their order."""
    words = ("red", "green", "blue")
    replies = bundled.complete([request(GrammarShape(f'root ::= "{word}"')) for word in words])
    assert [reply.text for reply in replies] == list(words)


def test_a_reply_does_not_depend_on_what_was_kept(bundled_path: Path, bundled: LlamaModel) -> None:
    """A model that has answered other requests and a fresh one give the same reply, the first from its cache."""
    bundled.complete([request(growing="Other facts.\n"), request()])
    (warm,) = bundled.complete([request()])
    fresh = LlamaModel.from_file(bundled_path, context=1024, threads=1)
    (cold,) = fresh.complete([request()])
    fresh.close()
    assert warm.text == cold.text
    assert (cold.cached_tokens, warm.cached_tokens) == (0, warm.prompt_tokens - LEAST_ROWS)


def test_the_growing_part_is_kept_when_the_tail_changes(bundled: LlamaModel) -> None:
    """With facts appended and another tail, what was evaluated of the facts before is not evaluated again."""
    (first,) = bundled.complete([request(tail="Whom did Anna meet?")])
    more = FACTS + "".join(f"F{n}: Ben said that friend number {n} left.\n" for n in range(11, 19))
    (second,) = bundled.complete([request(growing=more, tail="Who left?")])
    shared = first.prompt_tokens - bundled.count_tokens("\nWhom did Anna meet?<|im_end|>\n<|im_start|>assistant\n")
    assert shared <= second.cached_tokens < first.prompt_tokens < second.prompt_tokens
    (other,) = bundled.complete([Request("other", "Unlike.", (), "Nothing shared.", "", ONE_LINE)])
    assert other.cached_tokens < 10


def test_what_a_prompt_shows_is_counted_apart(bundled: LlamaModel) -> None:
    """Growing and tail count, as in the prompt; system text and examples do not, nor what was evaluated before."""
    short, long = request(), request(growing=FACTS + "F11. Ben said: ¡qué lástima! 帰ります\n", tail="Who?")
    said = bundled.complete([short, long])
    assert [each.shown_tokens for each in said] == [
        bundled.count_tokens(each.growing + each.tail) for each in (short, long)
    ]
    assert said[1].shown_tokens - said[0].shown_tokens == said[1].prompt_tokens - said[0].prompt_tokens != 0
    assert (
        bundled.complete([replace(short, examples=())])[0].shown_tokens == said[0].shown_tokens < said[0].prompt_tokens
    )


@pytest.mark.parametrize("marker", ["<|im_end|>", "<|im_start|>", "<|endoftext|>", "<repo_name>"])
def test_markers_in_a_text_are_only_text(bundled: LlamaModel, marker: str) -> None:
    """What looks like a control token in a transcript is spelt out in ordinary tokens."""
    assert bundled.count_tokens(marker) > 2
    shape = GrammarShape('root ::= "a"')
    without, with_marker = bundled.complete([request(shape, "Hi. ", "Go."), request(shape, f"Hi. {marker}", "Go.")])
    assert with_marker.prompt_tokens >= without.prompt_tokens + 3


def test_markers_declared_as_ordinary_tokens_are_only_text_too(bundled_path: Path, tmp_path: Path) -> None:
    """Of a model that declares its markers as added tokens, a transcript cannot write them either."""
    path = tmp_path / "declared.gguf"
    shutil.copy(bundled_path, path)
    with path.open("r+b") as file:
        head = file.read(4_000_000)
        key = b"tokenizer.ggml.token_type"
        place = head.index(key) + len(key) + struct.calcsize("<IIQ") + 4  # the second token, <|im_start|>
        assert head[place : place + 4] == struct.pack("<i", 3)
        file.seek(place)
        file.write(struct.pack("<i", 4))
    model = LlamaModel.from_file(path, context=512, threads=1)
    assert model.count_tokens("<|im_start|>") == 1
    shape = GrammarShape('root ::= "a"')
    without, with_marker = model.complete([request(shape, "Hi. ", "Go."), request(shape, "Hi. <|im_start|>", "Go.")])
    model.close()
    assert with_marker.prompt_tokens >= without.prompt_tokens + 3


def test_a_reply_holds_no_control_tokens(bundled: LlamaModel) -> None:
    """A grammar that admits any character does not let the model write markers."""
    (reply,) = bundled.complete(
        [request(GrammarShape("root ::= [^\\x00]*"), "Repeat: <|im_start|> <repo_name>", "", 60)]
    )
    assert reply.completion_tokens <= 60
    assert all(bundled.count_tokens(part) > 0 for part in reply.text.split())


def test_a_prompt_longer_than_the_context_is_an_error(bundled: LlamaModel) -> None:
    """The error names both numbers and what to do, and the model goes on working."""
    with pytest.raises(ContextOverflow, match=r"step step has \d{4,} tokens, the model's context holds 1024") as raised:
        bundled.complete([request(growing=FACTS * 12)])
    assert "--budget" in raised.value.hint and "--context" in raised.value.hint
    assert bundled.complete([request()])[0].is_complete


def test_a_reply_ends_where_the_context_does(bundled_path: Path) -> None:
    """A reply that would run over the context is cut there, and not complete."""
    model = LlamaModel.from_file(bundled_path, context=64, threads=1)
    (reply,) = model.complete([Request("step", "S", (), "Tell me a story.", "", ENDLESS, 500)])
    model.close()
    assert model.context == 64
    assert not reply.is_complete and reply.prompt_tokens + reply.completion_tokens == 64


@pytest.mark.parametrize("grammar", ["", "root ::= (", "root ::= missing", 'start ::= "a"', 'root ::= root "a" | "b"'])
def test_a_grammar_that_cannot_be_followed_is_an_error(
    bundled: LlamaModel, grammar: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """A wrong grammar is ModelError, not the end of the process, and llama.cpp's complaint stays off the terminal."""
    with pytest.raises(ModelError) as raised:
        bundled.complete([request(GrammarShape(grammar))])
    assert raised.value.hint
    assert capfd.readouterr() == ("", "")
    assert bundled.complete([request()])[0].is_complete


@pytest.mark.parametrize(
    "schema", [{"type": "nonsense"}, {"type": "object", "properties": {"a": 3}}, {"$ref": "#/none"}]
)
def test_a_schema_that_no_grammar_expresses_is_an_error(schema: dict[str, object]) -> None:
    """What cannot be turned into a grammar is ModelError."""
    with pytest.raises(ModelError):
        grammar_text(JsonShape(schema))


def test_an_interrupt_passes_through(bundled: LlamaModel) -> None:
    """Control-C during a reply ends the call with KeyboardInterrupt, and the next call is as it would have been."""
    (before,) = bundled.complete([request()])
    timer = threading.Timer(0.5, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        bundled.complete([request(ENDLESS, max_tokens=100_000)] * 50)
    timer.join()
    assert bundled.complete([request()])[0].text == before.text


def test_the_default_context_is_what_the_model_was_trained_for(bundled_path: Path) -> None:
    """Without a wish the context is the trained one, at most 8192."""
    model = LlamaModel.from_file(bundled_path)
    assert model.context == 8192
    model.close()


@pytest.mark.parametrize("context", [0, -5])
def test_a_context_without_room_is_an_error(bundled_path: Path, context: int) -> None:
    """A context below one token is refused before anything is loaded."""
    with pytest.raises(ModelError, match="holds nothing"):
        LlamaModel.from_file(bundled_path, context=context)


@pytest.mark.parametrize("missing", [1, 100, 10_000])
def test_a_file_cut_in_its_last_tensor_is_unreadable(bundled_path: Path, tmp_path: Path, missing: int) -> None:
    """What the header alone cannot tell, llama.cpp does, at once and in an error of ours."""
    path = tmp_path / "cut.gguf"
    shutil.copy(bundled_path, path)
    with path.open("r+b") as file:
        file.truncate(bundled_path.stat().st_size - missing)
    with pytest.raises(ModelUnreadable) as raised:
        LlamaModel.from_file(path)
    assert raised.value.hint


def test_a_file_that_is_no_chat_model_is_an_error(tmp_path: Path) -> None:
    """Missing, foreign and empty files are told apart before llama.cpp is asked."""
    (tmp_path / "empty.gguf").touch()
    (tmp_path / "text.gguf").write_text("this is no model")
    with pytest.raises(ModelMissing):
        LlamaModel.from_file(tmp_path / "none.gguf")
    for name in ("empty.gguf", "text.gguf", "."):
        with pytest.raises(ModelUnreadable):
            LlamaModel.from_file(tmp_path / name)


def test_nothing_native_reaches_the_terminal(bundled_path: Path, tmp_path: Path) -> None:
    """Loading, replying, a rejected grammar and a damaged file leave both streams empty; our own words get through."""
    damaged = tmp_path / "cut.gguf"
    damaged.write_bytes(bundled_path.read_bytes()[:-1])
    script = f"""
import sys
from pathlib import Path
from goalmem_cli.errors import ModelError
from goalmem_cli.models.in_process.llama import LlamaModel
from goalmem_cli.ports import GrammarShape, Request
model = LlamaModel.from_file(Path({str(bundled_path)!r}), threads=1)
for grammar in ('root ::= "a"', "root ::= (", "root ::= none"):
    try:
        model.complete([Request("s", "S", (), "G", "T", GrammarShape(grammar))])
    except ModelError:
        print("refused", file=sys.stderr)
try:
    LlamaModel.from_file(Path({str(damaged)!r}))
except ModelError:
    print("damaged", file=sys.stderr)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("", "refused\nrefused\ndamaged\n")


def test_threads_are_at_most_the_cores() -> None:
    """More threads than cores only wait for one another: a thousand of them look like a hang."""
    cores = usable_threads(None)
    assert cores >= 1
    assert (usable_threads(1), usable_threads(cores), usable_threads(1000)) == (1, cores, min(1000, cores))


def test_the_library_leaves_no_file_open() -> None:
    """Python's developer mode has nothing to say when a process that loaded llama.cpp ends."""
    code = "from goalmem_cli.models.native_log import native_log; native_log()"
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


SPINS = [({}, "1000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "passive"}, "0")]


@pytest.mark.parametrize(("chosen", "spins"), SPINS)
def test_threads_hardly_spin_while_they_wait(chosen: dict[str, str], spins: str) -> None:
    """On a machine whose cores are busy, threads that spin keep each other from going on; what is chosen is left."""
    code = "from goalmem_cli.models.native_log import native_log; native_log()"
    own = {name: value for name, value in os.environ.items() if name not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
    shown = own | {"OMP_DISPLAY_ENV": "verbose"} | chosen
    done = subprocess.run([sys.executable, "-c", code], env=shown, capture_output=True, text=True, check=True)
    if "GOMP_SPINCOUNT" not in done.stderr:
        pytest.skip("llama.cpp was not built with GNU's OpenMP here")
    assert f"GOMP_SPINCOUNT = '{spins}'" in done.stderr
