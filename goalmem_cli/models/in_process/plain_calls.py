"""Call llama.cpp as its Python library is commonly used, as the baseline for measuring goalmem's own way.

Every request is a separate chat completion, evaluated from the first token. The weights are used as they are, and all
other settings are the library's defaults.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalmem_cli.errors import ContextOverflow, ModelError, ModelUnreadable
from goalmem_cli.models.native_log import native_log
from goalmem_cli.ports import Completion, GrammarShape, JsonShape, Request

if TYPE_CHECKING:
    from llama_cpp import Llama

_CUT_OFF = "length"


class PlainModel:
    """A GGUF model in this process, called the common way. Not thread-safe: one thread owns it."""

    def __init__(self, llama: Llama) -> None:
        self._llama = llama

    @classmethod
    def from_file(cls, path: Path, *, context: int, threads: int | None = None) -> PlainModel:
        """Load the model at `path` with `context` tokens; with `threads` None, the library chooses their number.

        Raises:
            ModelUnreadable: the library cannot load it.
        """
        native_log()
        from llama_cpp import Llama

        try:
            return cls(Llama(str(path), n_ctx=context, n_threads=threads, n_threads_batch=threads, verbose=False))
        except (ValueError, RuntimeError, MemoryError, AssertionError) as error:
            raise ModelUnreadable(f"llama.cpp cannot load {path}: {error}", "name a model that it knows") from error

    def close(self) -> None:
        """Free the model's memory; the model cannot be used afterwards."""
        self._llama.close()

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return one completion per request, in order; none has cached tokens.

        Raises:
            ContextOverflow: a prompt leaves no room in the context.
            ModelError: llama.cpp fails.
        """
        return [self._complete(request) for request in requests]

    def _complete(self, request: Request) -> Completion:
        """Return the completion of one request by llama-cpp-python's own chat call."""
        self._llama.reset()  # type: ignore[no-untyped-call]
        try:
            reply: Any = self._llama.create_chat_completion(
                _messages(request), temperature=0.0, max_tokens=request.max_tokens, **_form(request.shape)
            )
        except ValueError as error:
            raise ContextOverflow(f"the prompt of step {request.step}: {error}", "give a longer --context") from error
        except RuntimeError as error:
            raise ModelError(f"llama.cpp cannot go on: {error}", "try a shorter context (--context)") from error
        choice, usage = reply["choices"][0], reply["usage"]
        return Completion(
            choice["message"]["content"] or "", usage["prompt_tokens"], 0, usage["completion_tokens"],
            choice["finish_reason"] != _CUT_OFF,
        )  # fmt: skip


def _messages(request: Request) -> Any:
    """Return the request as the messages of a chat."""
    said = [("system", request.system)] if request.system else []
    for example in request.examples:
        said += [("user", example.input), ("assistant", example.output)]
    said.append(("user", request.growing + request.tail))
    return [{"role": role, "content": text} for role, text in said]


def _form(shape: JsonShape | GrammarShape) -> dict[str, Any]:
    """Return the library's arguments for the form of the reply."""
    if isinstance(shape, JsonShape):
        return {"response_format": {"type": "json_object", "schema": dict(shape.schema)}}
    from llama_cpp.llama_grammar import LlamaGrammar

    return {"grammar": LlamaGrammar.from_string(shape.grammar, verbose=False)}
