"""Use an OpenAI-compatible server as a language model: find its model, learn its dialect, send requests in parallel.

All requests of a model run in one event loop, in a thread of its own. So the limit on parallel requests holds over all
callers. Requests that are no longer needed, after Ctrl-C or after another request of the call failed, are cancelled at
once here and on the server.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

from goalmem_cli.errors import ModelError, ModelMissing
from goalmem_cli.models.servers.address import BASE_HINT, KEY_VARIABLE, Address
from goalmem_cli.models.servers.http import PASSING, Connection, Refusal, Sleep
from goalmem_cli.models.servers.replies import (
    HELD_FORMS,
    PROBE,
    Dialect,
    Form,
    ServedModel,
    completion_from,
    cut,
    in_one_line,
    is_held,
    named_among,
    served_models,
)
from goalmem_cli.ports import Completion, JsonShape, Request

__all__ = ["KEY_VARIABLE", "ServerModel"]

DEFAULT_CONTEXT = 8192
SHOWN_MODELS = 5
CLOSED = "the connection to the server is closed"
# Statuses for an unknown parameter or form; llama-cpp-python's server says 500, and some say 200 with an error in the
# document.
MISUNDERSTOOD = frozenset({400, 422})
FORM_UNKNOWN = MISUNDERSTOOD | {200, 500, 501}


Announce = Callable[[str], None]


def _say_nothing(note: str) -> None:
    """Ignore the note."""


class ServerModel:
    """A model of a server. Thread-safe: several threads may call `complete` at once.

    `name` is the server's name for it, `address` the server's address with that name, `context` its length in tokens.
    """

    def __init__(
        self, connection: Connection, portal: BlockingPortal, served: ServedModel, *, context: int | None = None,
        parallel: int, seed: int = 0, announce: Announce = _say_nothing, closing: ExitStack | None = None,
    ) -> None:  # fmt: skip
        """Use a model over a connection whose event loop belongs to the portal; `closing` closes both."""
        self.name = served.name
        self.address = f"{connection.place}#{served.name}"
        self.context = context or served.context or min(DEFAULT_CONTEXT, served.trained or DEFAULT_CONTEXT)
        self._connection = connection
        self._portal = portal
        self._seed = seed
        self._announce = announce
        self._noted: set[str] = set()
        self._unsaid: deque[str] = deque()
        self._closing = closing or ExitStack()
        self._running: set[Future[list[Completion]]] = set()
        self._limiter = anyio.CapacityLimiter(parallel)
        self._probing = anyio.Lock()
        self._form: Form | None = None
        self._dialect = Dialect()

    @classmethod
    def from_address(
        cls, text: str, *, key: str | None, parallel: int, timeout: float, seed: int = 0, context: int | None = None,
        announce: Announce = _say_nothing, sleep: Sleep = anyio.sleep,
    ) -> ServerModel:  # fmt: skip
        """Return the model at ``http(s)://host[:port]/path[#name]``; without a name, the server's first.

        Args:
            key: sent only to that server, as a bearer token.
            parallel: the most requests that the server gets at a time.
            timeout: the most seconds that one request may take.
            context: the most tokens of prompt and reply together; by default what the server states.
            announce: receives notes about schemas that the server does not enforce, in the calling thread.
            sleep: waits between retries.

        Raises:
            ModelMissing: the server has no model of that name, or none at all.
            ModelError: the address or key cannot be used, or the server does not answer as such servers do.
        """
        address = Address.from_text(text)
        connection = Connection.to(address, key, timeout, sleep)
        with ExitStack() as opening:
            portal = opening.enter_context(start_blocking_portal(name="goalmem-server"))
            opening.callback(portal.call, portal.stop, True)  # cancels requests; a plain exit would wait for them
            opening.callback(portal.call, connection.aclose)
            served = _chosen(address, portal.call(connection.get, "models"))
            return cls(
                connection, portal, served, context=context, parallel=parallel, seed=seed, announce=announce,
                closing=opening.pop_all(),
            )  # fmt: skip

    def close(self) -> None:
        """Cancel running requests (their callers get a ModelError) and close the connections; may be called twice."""
        for future in tuple(self._running):
            future.cancel()
        self._closing.close()

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return one completion per request, in order; they are sent in parallel up to the limit.

        Raises:
            ContextOverflow: a prompt is longer than the server's context.
            ModelError: the server cannot be used or keeps failing; the remaining requests are cancelled.
        """
        try:
            future = self._portal.start_task_soon(self._complete, requests)
        except RuntimeError as error:
            raise ModelError(CLOSED, "load the model again") from error
        self._running.add(future)
        try:
            completions = future.result()
            self._say_notes()
            return completions
        except CancelledError as error:
            raise ModelError(CLOSED, "load the model again") from error
        finally:
            future.cancel()  # if it was interrupted
            self._running.discard(future)

    def _say_notes(self) -> None:
        """Announce pending notes in the calling thread; the event loop must not write to the screen."""
        while True:
            try:
                note = self._unsaid.popleft()  # each note is taken by one thread only
            except IndexError:
                return
            self._announce(note)

    def _note(self, note: str) -> None:
        """Queue a note for announcement, once."""
        if note not in self._noted:
            self._noted.add(note)
            self._unsaid.append(note)

    async def _complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return the completions of all requests, sent in parallel; the first error cancels the others."""
        completions: dict[int, Completion] = {}
        failures: list[ModelError] = []

        async def fill(number: int, request: Request) -> None:
            """Store the completion of one request, or its error."""
            try:
                async with self._limiter:
                    completions[number] = await self._answer(request)
            except ModelError as error:
                failures.append(error)
                tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            for number, request in enumerate(requests):
                tasks.start_soon(fill, number, request)
        if failures:
            raise failures[0]
        return [completions[number] for number in range(len(requests))]

    async def _answer(self, request: Request) -> Completion:
        """Return the reply to one request; if the server refuses the schema, put it into the prompt instead."""
        form = await self._known_form() if isinstance(request.shape, JsonShape) else Form.PLAIN
        try:
            return await self._ask(request, form)
        except Refusal as refusal:
            if form is Form.PLAIN or refusal.status not in MISUNDERSTOOD or not refusal.problem.is_of_schema:
                raise
            self._note(f"{self.address} refuses the schema of {request.step}: it is in the prompt instead")
        return await self._ask(request, Form.PLAIN)

    async def _known_form(self) -> Form:
        """Return how the server takes a schema; found by a probe on first use."""
        async with self._probing:
            if self._form is None:
                self._form = await self._probed()
            return self._form

    async def _probed(self) -> Form:
        """Return the first form of schemas that the server enforces; `PLAIN`, with a note, if none."""
        for form in HELD_FORMS:
            try:
                completion = await self._ask(PROBE, form, PASSING - FORM_UNKNOWN)
            except Refusal as refusal:
                if refusal.status not in FORM_UNKNOWN:
                    raise
            else:
                if is_held(completion.text):
                    return form
        self._note(f"{self.address} holds the model to no schema: each is in its prompt instead")
        return Form.PLAIN

    async def _ask(self, request: Request, form: Form, passing: frozenset[int] = PASSING) -> Completion:
        """Return the reply to a request in the server's dialect, adapting the dialect to its refusals."""
        while True:
            dialect = self._dialect
            body = dialect.body(self.name, request, form, self._seed)
            try:
                reply = await self._connection.post("chat/completions", body, passing)
            except Refusal as refusal:
                learnt = dialect.after(refusal.problem) if refusal.status in MISUNDERSTOOD else None
                if self._dialect is dialect and learnt is None:
                    raise
                if self._dialect is dialect and learnt is not None:
                    self._dialect = learnt
                continue
            completion = completion_from(reply, request, form)
            if completion is None:
                raise self._connection.unusable(reply)
            return completion


def _chosen(address: Address, listing: object) -> ServedModel:
    """Return the model that the address names.

    Raises:
        ModelMissing: the server does not list it.
        ModelError: the reply is no list of models.
    """
    models = served_models(listing)
    if models is None:
        raise ModelError(f"{address.base} does not list its models as an OpenAI-compatible server does", BASE_HINT)
    served = named_among(models, address.model)
    if served is not None:
        return served
    if not models:
        raise ModelMissing(f"{address.base} has no models", "have the server load one")
    names = ", ".join(cut(in_one_line(model.name)) for model in models[:SHOWN_MODELS])
    more = f", and {len(models) - SHOWN_MODELS} more" if len(models) > SHOWN_MODELS else ""
    raise ModelMissing(
        f"{address.base} has no model {cut(in_one_line(address.model))}",
        f"name one that it has after the #: {names}{more}",
    )
