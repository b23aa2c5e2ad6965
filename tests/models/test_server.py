"""OpenAI-compatible servers: what is said to one and read from it."""

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import jsonschema
import pytest
import yaml

from goalmem_cli.errors import ContextOverflow, ModelError, ModelMissing
from goalmem_cli.main import run
from goalmem_cli.ports import Completion, JsonShape
from tests.conftest import CHECKOUT, SAMPLES
from tests.models.faulty_server import (
    CITE,
    ONE_LINE,
    Answer,
    Exchange,
    FaultyServer,
    asks,
    completion,
    echoes,
    fails,
    failure,
    fitting,
    floods,
    one,
    opened,
    says,
    sends,
)

# What is sent


def test_a_request_is_a_chat() -> None:
    """System, examples and prompt are messages; decoding is greedy; the schema stands in the response format."""
    with FaultyServer() as server:
        reply = one(server, seed=7)
    (seen,) = server.asked
    assert reply == Completion('{"fact": "F1"}')
    assert [(message["role"], message["content"]) for message in seen.body["messages"]] == [
        ("system", "You cite."), ("user", "Who?"), ("assistant", '{"fact": "F2"}'),
        ("user", "F1: Anna has a dog.\nWho has a dog?"),
    ]  # fmt: skip
    rest = {name: value for name, value in seen.body.items() if name not in ("messages", "response_format")}
    assert rest == {"model": "tiny", "temperature": 0, "seed": 7, "max_tokens": 40}
    assert seen.body["response_format"]["json_schema"] == {"name": "reply", "strict": True, "schema": CITE}


def test_replies_come_in_the_order_of_the_requests() -> None:
    """However long each takes, a completion stands where its request did; no request is none."""
    with FaultyServer(answer=echoes) as server, opened(server.url) as model:
        replies = model.complete([asks(f"{number} ", ONE_LINE) for number in range(20)])
        assert [reply.text.split()[0] for reply in replies] == [str(number) for number in range(20)]
        assert model.complete([]) == []


def test_the_bound_holds_over_all_callers() -> None:
    """Three threads with four requests each never have more than three under way, and do have three."""
    full = threading.Barrier(3, timeout=60)

    def waits_for_two_more(exchange: Exchange) -> None:
        full.wait()
        exchange.send(completion("Answer: yes\n"))

    with (
        FaultyServer(answer=waits_for_two_more) as server,
        opened(server.url, parallel=3) as model,
        ThreadPoolExecutor(3) as callers,
    ):
        calls = [callers.submit(model.complete, [asks(shape=ONE_LINE)] * 4) for _ in range(3)]
        assert [len(call.result()) for call in calls] == [4, 4, 4]
        assert server.most_at_once == 3


@pytest.mark.parametrize(
    "text",
    ["\ud83d half a pair", "\U0001f9ed\U00020bb7", '"}], "model": "x', "\x00\x1b[31m\u2028", "{{ 1 }} <|im_end|>"],
)
def test_any_text_arrives(text: str) -> None:
    """Text of any kind arrives as it is; half a surrogate pair, which no UTF-8 has, as a question mark."""
    with FaultyServer(answer=echoes) as server:
        reply = one(server, asks(text, ONE_LINE))
    assert reply.text == text.replace("\ud83d", "?") + "Who has a dog?"


def test_a_long_schema_arrives() -> None:
    """An enumeration of thousands of values, some of them odd, is sent whole."""
    values = [f'F{number} "quoted" \U0001f600 \\' for number in range(5000)]
    schema = {**CITE, "properties": {"fact": {"enum": values}}}
    with FaultyServer() as server:
        reply = one(server, asks(shape=JsonShape(schema)))
    assert json.loads(reply.text) == {"fact": values[0]}
    assert server.asked[0].schema == schema


def test_a_grammar_is_a_field() -> None:
    """A line grammar goes where llama.cpp's servers read it, and asks for no probe."""
    with FaultyServer(prose="Answer: yes\n") as server:
        assert one(server, asks(shape=ONE_LINE)).text == "Answer: yes\n"
    assert server.asked[0].body["grammar"] == ONE_LINE.grammar
    assert not server.asked[0].form and not server.probes


# How the server is told a schema


@pytest.mark.parametrize(
    ("forms", "found", "tried"),
    [
        (("json_schema", "json_object"), "json_schema", ["json_schema"]),
        (("json_object",), "json_object", ["json_schema", "json_object"]),
        ((), "", ["json_schema", "json_object"]),
    ],
)
def test_the_form_is_tried_once(forms: tuple[str, ...], found: str, tried: list[str]) -> None:
    """The form that holds the model to a schema is found by trying, once, though several threads begin at once."""
    with FaultyServer(forms=forms) as server, opened(server.url) as model, ThreadPoolExecutor(3) as callers:
        for call in [callers.submit(model.complete, [asks()] * 2) for _ in range(3)]:
            call.result()
        assert [probe.form for probe in server.probes] == tried
        assert {seen.form for seen in server.asked} == {found}


@pytest.mark.parametrize("status", [400, 422, 500, 501])
def test_a_form_that_the_server_refuses_is_not_used(status: int) -> None:
    """A server that answers the probe with an error gets the next form, and no second probe of the same."""

    def knows_objects_only(exchange: Exchange) -> None:
        is_known = exchange.seen.form == "json_object"
        answer = says(json.dumps(fitting(exchange.seen.schema))) if is_known else fails(status, "unknown type")
        answer(exchange)

    with FaultyServer(answer=knows_objects_only) as server:
        assert one(server).text == '{"fact": "F1"}'
    assert [probe.form for probe in server.probes] == ["json_schema", "json_object"]


def test_a_form_refused_under_a_status_of_success_is_not_used() -> None:
    """Some servers say 200 and put the error into the document: of a form that they do not know, the next is tried."""
    refused = sends(b'{"error": {"code": 400, "message": "response_format is not supported"}}')

    def knows_objects_only(exchange: Exchange) -> None:
        is_known = exchange.seen.form == "json_object"
        (says(json.dumps(fitting(exchange.seen.schema))) if is_known else refused)(exchange)

    with FaultyServer(answer=knows_objects_only) as server:
        assert one(server).text == '{"fact": "F1"}'
    assert [probe.form for probe in server.probes] == ["json_schema", "json_object"]


def test_a_failure_under_a_status_of_success_decides_nothing() -> None:
    """What passes, such as a provider that is down, is an error, and the same form is tried again."""
    down = sends(b'{"error": {"code": 502, "message": "the provider is down"}}')
    with FaultyServer(answer=down) as server, opened(server.url) as model:
        for _ in range(2):
            with pytest.raises(ModelError, match="the provider is down"):
                model.complete([asks()])
    assert [probe.form for probe in server.probes] == ["json_schema"] * 2


def test_a_plain_reply_loses_its_fence() -> None:
    """Where the server holds to no schema, it is in the prompt, the fence around the JSON is taken off, and it is said."""
    notes: list[str] = []
    prose = '```json\n{"fact": "F2"}\n```\n'
    with FaultyServer(forms=(), prose=prose) as server, opened(server.url, announce=notes.append) as model:
        assert [model.complete([asks()])[0].text for _ in range(2)] == ['{"fact": "F2"}'] * 2
    seen = server.asked[0]
    assert seen.last.startswith("F1: Anna has a dog.\nWho has a dog?") and json.dumps(CITE) in seen.last
    assert notes == [f"{server.url}#tiny holds the model to no schema: each is in its prompt instead"]


def test_a_note_is_said_once_whoever_asks() -> None:
    """Of several threads that ask at once, one announces what there is to say."""
    notes: list[str] = []
    with (
        FaultyServer(forms=()) as server,
        opened(server.url, announce=notes.append) as model,
        ThreadPoolExecutor(8) as callers,
    ):
        for call in [callers.submit(model.complete, [asks()]) for _ in range(24)]:
            call.result()
    assert len(notes) == 1


def test_a_schema_that_the_server_cannot_work_with_goes_into_the_prompt() -> None:
    """One refused schema is asked for in plain words, and that is said; the next request is held to its own again."""
    notes: list[str] = []
    refusal = fails(400, "Invalid schema for response_format 'reply'", param="response_format")
    with FaultyServer([refusal, says('{"fact": "F2"}')]) as server, opened(server.url, announce=notes.append) as model:
        assert model.complete([asks()])[0].text == '{"fact": "F2"}'
        assert model.complete([asks()])[0].text == '{"fact": "F1"}'
    assert [seen.form for seen in server.asked] == ["json_schema", "", "json_schema"]
    assert len(notes) == 1 and "the schema of cite" in notes[0]


def test_a_failing_probe_decides_nothing() -> None:
    """A server that cannot be used while it is tried is an error, and is tried again at the next request."""
    answers = iter([fails(403), says('{"word": "quokka-7391"}'), says('{"fact": "F1"}')])
    with FaultyServer(answer=lambda exchange: next(answers)(exchange)) as server, opened(server.url) as model:
        with pytest.raises(ModelError, match="asks for a key"):
            model.complete([asks()])
        model.complete([asks()])
        assert len(server.probes) == 2


# What the server does not take


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("seed", fails(400, "Unrecognized request argument supplied: seed")),
        ("seed", fails(422, [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}])),
        ("temperature", fails(400, "Unsupported value: 'temperature' does not support 0 with this model.", param="temperature")),
        ("grammar", fails(400, "Unknown parameter: 'grammar'.", param="grammar")),
    ],
)  # fmt: skip
def test_a_parameter_that_the_server_refuses_is_left_out(name: str, answer: Answer) -> None:
    """What the server names as unknown is not sent again, in this request or in a later one."""
    with FaultyServer([answer]) as server, opened(server.url) as model:
        model.complete([asks(shape=ONE_LINE)])
        model.complete([asks(shape=ONE_LINE)])
    assert [name in seen.body for seen in server.asked] == [True, False, False]


def test_newer_models_have_another_name_for_the_limit() -> None:
    """A model that wants `max_completion_tokens` gets that."""
    wants = fails(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", param="max_tokens")
    with FaultyServer([wants]) as server:
        one(server)
    assert "max_tokens" not in server.asked[1].body
    assert server.asked[1].body["max_completion_tokens"] == 40


def test_a_model_without_a_role_for_the_system_gets_its_text_in_the_first_message() -> None:
    """A chat template that knows users and assistants only is asked without a system's message."""
    with FaultyServer([fails(400, "System role not supported")]) as server:
        one(server)
    roles = [(message["role"], message["content"].split()[0]) for message in server.asked[1].body["messages"]]
    assert roles == [("user", "You"), ("assistant", '{"fact":'), ("user", "F1:")]


def test_a_refusal_without_remedy_is_an_error() -> None:
    """Another 400 is not tried again, and its words are shown on one line, cut."""
    with FaultyServer(answer=fails(400, "no\n\x1b[31m" + "way " * 200)) as server:
        error = failure(server, asks(shape=ONE_LINE))
    assert len(server.asked) == 1
    assert "400 Bad Request: no [31mway" in error.message and len(error.message) < 320


# What the server says


def test_usage_is_read() -> None:
    """Tokens come from the usage, those of the cache from either dialect; what is missing or nonsense counts as none."""
    usage = {"prompt_tokens": 50, "completion_tokens": 7}
    answers = [
        says("a", usage={**usage, "prompt_tokens_details": {"cached_tokens": 30}}),
        says("a", usage=usage, timings={"cache_n": 20}),
        says("a", usage={**usage, "prompt_tokens_details": {"cached_tokens": 99}}),
        says("a", usage={"prompt_tokens": "many", "completion_tokens": -1, "prompt_tokens_details": []}),
        says("a", usage=None),
    ]
    with FaultyServer(answers) as server, opened(server.url, parallel=1) as model:
        replies = [model.complete([asks(shape=ONE_LINE)])[0] for _ in answers]
    counts = [(reply.prompt_tokens, reply.cached_tokens, reply.completion_tokens) for reply in replies]
    assert counts == [(50, 30, 7), (50, 20, 7), (50, 50, 7), (0, 0, 0), (0, 0, 0)]
    own, whole = (
        sum(map(len, texts)) for texts in (asks().talk[-1][1:], [asks().system, *(t for _, t in asks().talk)])
    )
    assert [reply.shown_tokens for reply in replies] == [round(50 * own / whole)] * 3 + [0, 0]
    assert 0 < own < whole


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ({"role": "assistant", "content": None, "refusal": "I cannot."}, ""),
        ({"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]}, ""),
        ({"role": "assistant", "content": "", "reasoning_content": "Let me see"}, ""),
        ({"role": "assistant", "content": [{"type": "text", "text": "a"}, {"text": "b"}, {"image": 1}, 3]}, "ab"),
        ({"role": "assistant", "content": 12}, ""),
        ("half \ud83d", "half ?"),
    ],
)
def test_a_reply_without_text_is_empty(content: object, text: str) -> None:
    """A refusal, a call of a tool and bare reasoning have no text; parts are joined; no lone surrogate comes through."""
    with FaultyServer([says(content)]) as server:
        assert one(server, asks(shape=ONE_LINE)).text == text


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ('{"fact":\n  "F\n1"}', '{"fact": "F\\n1"}'),
        ('{"fact": "\\ud83d \\u00e9"}', '{"fact": "? é"}'),
        ('{"fact": "F1"', '{"fact": "F1"'),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_json_is_made_strict(said: str, text: str) -> None:
    """Raw line breaks in strings and halves of surrogate pairs, which some servers let through, are made harmless."""
    with FaultyServer([says(said)]) as server:
        assert one(server).text == text


def test_a_reply_cut_off_is_not_complete() -> None:
    """The reason `length` says that the limit of tokens ended the reply."""
    with FaultyServer([says("a", finish="length"), says("a")]) as server, opened(server.url) as model:
        assert not model.complete([asks(shape=ONE_LINE)])[0].is_complete
        assert model.complete([asks(shape=ONE_LINE)])[0].is_complete


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (sends(b"<html>hello</html>"), "no JSON"),
        (sends(b"\xff\xfe\x00"), "no JSON"),
        (sends(b""), "no JSON"),
        (sends(b"[" * 200_000), "no JSON"),
        (sends(b"[1, 2]"), "no chat completion"),
        (sends(b'{"choices": []}'), "no chat completion"),
        (sends(b'{"choices": [null]}'), "no chat completion"),
        (sends(b'{"error": {"code": 502, "message": "the provider is down"}}'), "the provider is down"),
        (floods, "more than 16 MB"),
    ],
)
def test_a_reply_that_is_none_is_an_error(answer: Answer, words: str) -> None:
    """Garbage under a status of success is an error at once, with a hint; so is one of more than 16 MB."""
    with FaultyServer([answer]) as server:
        assert words in failure(server, asks(shape=ONE_LINE)).message
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "answer",
    [
        fails(400, "This model's maximum context length is 4096 tokens. However, your messages resulted in 9000 tokens.", code="context_length_exceeded"),
        fails(400, "the request exceeds the available context size. try increasing the context size", type="exceed_context_size_error"),
        fails(500, "the request exceeds the available context size"),
        fails(400, "request (9000 tokens) is larger than the slot holds", type="exceed_context_size_error"),
        fails(400, "max_tokens=512 cannot be greater than max_model_len=256"),
        fails(400, "x " * 300 + "Requested tokens (9000) exceed context window of 4096"),
        sends(b'{"error": {"code": 400, "message": "the request exceeds the available context size"}}'),
    ],
)  # fmt: skip
def test_a_prompt_too_long_overflows(answer: Answer) -> None:
    """Whichever way a server says that the context is too short, it is a ContextOverflow, and is not tried again."""
    with FaultyServer([answer]) as server:
        assert type(failure(server)) is ContextOverflow
    assert len(server.asked) == 1


SERVES = """
import runpy, sys
import llama_cpp.llama_cpp as native
usual = native.llama_model_default_params
def without_special_layouts():
    wanted = usual()
    wanted.use_extra_bufts = False
    return wanted
native.llama_model_default_params = without_special_layouts
runpy.run_module("llama_cpp.server", run_name="__main__", alter_sys=True)
"""
"""llama-cpp-python's server, which cannot be told to leave AMX alone (see models/weights/loading.py)."""


@pytest.fixture(scope="module")
def llama_server(bundled_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of llama-cpp-python's server with the bundled model."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log"
    words = ["--model", bundled_path, "--model_alias", "smol", "--n_ctx", "4096", "--host", "127.0.0.1", "--port", port]
    with log.open("wb") as stream:
        process = subprocess.Popen([sys.executable, "-c", SERVES, *map(str, words)], stdout=stream, stderr=stream)
    try:
        url = f"http://127.0.0.1:{port}/v1"
        while True:
            assert process.poll() is None, log.read_text("utf-8")
            try:
                httpx2.get(f"{url}/models", trust_env=False).raise_for_status()
                break
            except httpx2.TransportError:
                threading.Event().wait(0.1)
        yield url
    finally:
        process.terminate()
        process.wait()


def test_a_real_server_is_held_to_the_schema(llama_server: str) -> None:
    """llama-cpp-python's server takes the schema in an object's form; several replies fit, in order, with their tokens."""
    with opened(llama_server, timeout=600) as model:
        schemas: Sequence[dict[str, Any]] = [
            {**CITE, "properties": {"fact": {"type": "string", "enum": [f"F{number}", f"G{number}"]}}}
            for number in range(2)
        ]
        replies = model.complete([asks(shape=JsonShape(schema)) for schema in schemas])
        for reply, schema in zip(replies, schemas, strict=True):
            jsonschema.validate(json.loads(reply.text), schema)
            assert reply.is_complete and reply.prompt_tokens > 20 and reply.completion_tokens > 3
        (line,) = model.complete([asks(shape=ONE_LINE)])
        assert line.text.startswith("Answer: ")
        assert (model.name, model.context) == ("smol", 8192)


def test_a_real_server_overflows(llama_server: str) -> None:
    """A prompt longer than the context of a real server is a ContextOverflow; a wrong name of a model is missing."""
    with opened(llama_server, timeout=600) as model, pytest.raises(ContextOverflow, match="4096"):
        model.complete([asks("dog " * 5000, ONE_LINE)])
    with pytest.raises(ModelMissing) as raised:
        opened(f"{llama_server}#other")
    assert "smol" in raised.value.hint


def short_prompts(folder: Path) -> Path:
    """A folder with the prompt of `direct` without its examples, which a small model on two cores reads slowly."""
    prompt = yaml.safe_load((CHECKOUT / "prompts" / "read.yaml").read_text("utf-8"))
    (folder / "prompts").mkdir()
    fields = prompt["output"]["schema"]["properties"]
    fields["facts"]["maxItems"], fields["answer"]["maxLength"] = 1, 12
    short = yaml.safe_dump({**prompt, "system": "Answer from the facts, as JSON.", "examples": []}, sort_keys=False)
    (folder / "prompts" / "read.yaml").write_text(short, "utf-8")
    return folder / "prompts"


@pytest.mark.slow
def test_a_question_is_asked_of_a_real_server(
    llama_server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`goalmem ask --model http://...` reaches an outcome through the server, whose tokens are counted."""
    store = ["--store", str(tmp_path / "store")]
    assert run(["ingest", str(SAMPLES / "momoco.json"), *store, "--quiet"]) == 0
    capsys.readouterr()
    words = ["ask", "Is Momoco a cafe?", *store, "--model", llama_server, "--context", "4096", "--json"]
    code = run([*words, "--reasoner", "direct", "--budget", "2", "--prompts", str(short_prompts(tmp_path))])
    document = json.loads(capsys.readouterr().out)
    assert code == {"answered": 0, "unknown": 1, "failed": 4}[document["status"]]
    assert document["model"] == f"{llama_server}#smol"
    assert document["usage"]["prompt_tokens"] > 50 and document["usage"]["completion_tokens"] > 5
