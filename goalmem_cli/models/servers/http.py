"""Send requests to a server with httpx2, retry with tenacity, and translate failures into goalmem's errors."""

from __future__ import annotations

import json
import os
import socket
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import anyio
import httpx2
from tenacity import AsyncRetrying, RetryCallState, wait_exponential, wait_random

from goalmem_cli.errors import ContextOverflow, ModelError
from goalmem_cli.models.servers.address import BASE_HINT, KEY_VARIABLE, Address, host_of, sound_key
from goalmem_cli.models.servers.replies import Problem, cut, in_one_line, problem_in

TRIES = 5
LONGEST_WAIT, MOST_WAITING = 60.0, 120.0  # seconds before one retry, and in total
CONNECT_SECONDS, LISTING_SECONDS = 10.0, 30.0
LARGEST_REPLY = 16 * 2**20
PASSING = frozenset({429, 500, 502, 503, 504})
BACKOFF = wait_exponential(multiplier=0.5, max=20) + wait_random(0, 0.5)

Sleep = Callable[[float], Awaitable[None]]


class Refusal(ModelError):
    """The server answered with an error; `pause` is the number of seconds that it asks to wait."""

    def __init__(self, message: str, hint: str, status: int, problem: Problem, pause: float = 0.0) -> None:
        super().__init__(message, hint)
        self.status = status
        self.problem = problem
        self.pause = pause


class Unreachable(ModelError):
    """No connection could be made."""


class Lost(ModelError):
    """The connection broke before the reply was complete."""


class Late(ModelError):
    """The server exceeded the time limit."""


class Connection:
    """A connection to the server at `place`, for one event loop. It holds the key; its errors never contain it."""

    def __init__(
        self, client: httpx2.AsyncClient, place: str, *, key: str = "", timeout: float, sleep: Sleep = anyio.sleep,
        variable: str = KEY_VARIABLE,
    ) -> None:  # fmt: skip
        """Take the client, the server's address for messages, the key, and how long to wait (in seconds)."""
        self._client = client
        self.place = place
        self._key = key
        self._variable = variable
        self._timeout = timeout
        self._sleep = sleep
        self._has_answered = False

    @classmethod
    def to(
        cls, address: Address, key: str | None, timeout: float, sleep: Sleep = anyio.sleep, variable: str = KEY_VARIABLE
    ) -> Connection:
        """Return a connection to the server; nothing is sent yet.

        `timeout` is the most seconds that a reply may take. `sleep` waits between retries. `variable` is where the key
        comes from, for messages.

        Raises:
            ModelError: the key, or the environment's proxies and certificates, cannot be used.
        """
        key = sound_key(key or "", variable)
        headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {key}"} if key else {})
        try:
            client = httpx2.AsyncClient(
                base_url=f"{address.base}/", headers=headers, follow_redirects=False, trust_env=not address.is_local,
                timeout=httpx2.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS), pool=None),
            )  # fmt: skip
        except (httpx2.InvalidURL, ImportError, OSError, ValueError) as error:
            raise ModelError(
                f"no connection to {address.host} can be prepared: {cut(in_one_line(str(error)))}",
                "check the address, and the proxies and certificates named in the environment",
            ) from error
        return cls(client, address.base, key=key, timeout=timeout, sleep=sleep, variable=variable)

    async def aclose(self) -> None:
        """Close the connections to the server."""
        await self._client.aclose()

    async def get(self, path: str) -> object:
        """Return the JSON document at the path; raises as `post` does."""
        return await self._asked("GET", path, None, min(self._timeout, LISTING_SECONDS), PASSING)

    async def post(self, path: str, body: object, passing: frozenset[int] = PASSING) -> object:
        """Send a JSON document and return the reply; retry on a status in `passing` or a lost connection.

        Raises:
            ContextOverflow: the prompt is longer than the context.
            Refusal: the server answers with another error.
            ModelError: the server cannot be reached, is too slow, or sends no JSON document.
        """
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        return await self._asked("POST", path, content, self._timeout, passing)

    async def _asked(
        self, method: str, path: str, content: bytes | None, seconds: float, passing: frozenset[int]
    ) -> object:
        """Return the server's JSON reply; repeat the request as `_is_worth_another` says."""
        retrying = AsyncRetrying(
            sleep=self._sleep, wait=_wait, stop=_is_enough, reraise=True,
            retry=lambda state: self._is_worth_another(state, passing),
        )  # fmt: skip
        try:
            return await retrying(self._once, method, path, content, seconds)
        except (Refusal, Unreachable, Lost, Late) as error:
            tries = retrying.statistics["attempt_number"]
            if tries == 1 or (isinstance(error, Refusal) and error.status not in passing):
                raise
            raise ModelError(f"{error.message} (tried {tries} times)", error.hint) from error

    def _is_worth_another(self, state: RetryCallState, passing: frozenset[int]) -> bool:
        """Say whether a retry may succeed. If an unreachable address has never answered, it is taken as wrong."""
        error = state.outcome.exception() if state.outcome is not None else None
        if isinstance(error, Refusal):
            return error.status in passing
        if isinstance(error, Unreachable):
            return self._has_answered
        return isinstance(error, Lost) or (isinstance(error, Late) and state.attempt_number == 1)

    async def _once(self, method: str, path: str, content: bytes | None, seconds: float) -> object:
        """Return the server's JSON reply to one request; raises Unreachable, Late, Lost or Refusal."""
        try:
            with anyio.fail_after(seconds):
                status, headers, data = await self._exchanged(method, path, content)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
            raise Unreachable(
                f"{self.place} cannot be reached: {self._cause(error)}", "check the address, and that the server runs"
            ) from error
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise Late(
                f"{self.place} did not answer within {seconds:g} seconds",
                "give it longer with GOALMEM_TIMEOUT, or ask less of it at a time with GOALMEM_PARALLEL",
            ) from error
        except httpx2.TransportError as error:
            raise Lost(
                f"{self.place} broke the connection: {self._cause(error)}", "look at what the server reports"
            ) from error
        self._has_answered = True
        return self._document(status, headers, data)

    async def _exchanged(self, method: str, path: str, content: bytes | None) -> tuple[int, httpx2.Headers, bytes]:
        """Return status, headers and content of the reply; raises ModelError if it is too large."""
        headers = {"Content-Type": "application/json"} if content is not None else None
        async with self._client.stream(method, path, content=content, headers=headers) as response:
            data = bytearray()
            async for chunk in response.aiter_raw():
                data += chunk
                if len(data) > LARGEST_REPLY:
                    raise ModelError(f"{self.place} sends more than {LARGEST_REPLY // 2**20} MB for a reply", BASE_HINT)
            return response.status_code, response.headers, bytes(data)

    def _document(self, status: int, headers: httpx2.Headers, data: bytes) -> object:
        """Return the JSON document of a reply, or raise the error of its status."""
        try:
            document = json.loads(data)
        except (ValueError, RecursionError) as error:
            if status < HTTPStatus.MULTIPLE_CHOICES:
                raise ModelError(f"{self.place} answers with something that is no JSON document", BASE_HINT) from error
            document = None
        if status < HTTPStatus.MULTIPLE_CHOICES:
            return document
        if status < HTTPStatus.BAD_REQUEST:
            target = cut(in_one_line(self._without_key(host_of(headers.get("location", "")))))
            raise ModelError(
                f"{self.place} redirects to {target or 'another address'}",
                "goalmem does not follow redirects: give that address, if you trust it",
            )
        raise self._refusal(status, headers, self._problem_in(document))

    def unusable(self, document: object) -> ModelError:
        """Return the error for a JSON reply that is no chat completion.

        It is a ContextOverflow if the prompt is too long, else a `Refusal`, with the status in the document, if any.
        """
        problem = self._problem_in(document)
        if problem.is_overflow:
            return _overflow(problem)
        said = f": {cut(problem.reason)}" if problem.reason else ""
        message = f"{self.place} answers with something that is no chat completion{said}"
        return Refusal(message, BASE_HINT, problem.status or HTTPStatus.OK, problem)

    def _refusal(self, status: int, headers: httpx2.Headers, problem: Problem) -> ModelError:
        """Return the error for a reply with an error status.

        It is a ModelError about the key, a ContextOverflow if the prompt is too long, or else a `Refusal`.
        """
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            says = f"{self.place} refuses the key" if self._key else f"{self.place} asks for a key"
            return ModelError(f"{says} ({status})", f"set {self._variable} to a key of that server")
        if problem.is_overflow:
            return _overflow(problem)
        phrase = next((f" {known.phrase}" for known in HTTPStatus if known == status), "")
        message = f"{self.place} answers {status}{phrase}" + (f": {cut(problem.reason)}" if problem.reason else "")
        hint = BASE_HINT if status == HTTPStatus.NOT_FOUND else "look at what the server reports"
        return Refusal(message, hint, status, problem, _pause(headers.get("retry-after", "")))

    def _problem_in(self, document: object) -> Problem:
        problem = problem_in(document)
        return replace(
            problem, reason=self._without_key(problem.reason), parameter=self._without_key(problem.parameter)
        )

    def _without_key(self, text: str) -> str:
        """Return the server's text with the key masked; some servers repeat it in errors."""
        return text.replace(self._key, "[key]") if self._key else text

    def _cause(self, error: BaseException) -> str:
        """Return why a connection failed, in the system's words if possible."""
        deepest = error
        while (deeper := _beneath(deepest)) is not None:
            deepest = deeper
        said = getattr(deepest, "strerror", None) or str(deepest) or str(error) or type(error).__name__
        if isinstance(deepest, OSError) and deepest.errno and not isinstance(deepest, (ssl.SSLError, socket.gaierror)):
            said = os.strerror(deepest.errno)  # asyncio words "connection refused" in its own way
        return cut(self._without_key(in_one_line(str(said))))


def _beneath(error: BaseException) -> BaseException | None:
    """Return the error's cause; of a group, its first error."""
    if isinstance(error, BaseExceptionGroup):
        return error.exceptions[0]
    return error.__cause__ or error.__context__


def _overflow(problem: Problem) -> ContextOverflow:
    return ContextOverflow(
        f"a prompt is too long for the server: {cut(problem.reason)}",
        "show the model fewer facts (--budget), or start the server with a longer context",
    )


def _wait(state: RetryCallState) -> float:
    """Return how many seconds to wait: longer after each try, or as long as the server asks, within bounds."""
    error = state.outcome.exception() if state.outcome is not None else None
    asked = error.pause if isinstance(error, Refusal) else 0.0
    return min(max(BACKOFF(state), asked), LONGEST_WAIT)


def _is_enough(state: RetryCallState) -> bool:
    return state.attempt_number >= TRIES or state.idle_for + state.upcoming_sleep > MOST_WAITING


def _pause(said: str) -> float:
    """Return the seconds of a Retry-After header (a number or a date), or 0."""
    with suppress(ValueError):
        if said.strip().isdecimal():
            return float(said)
        moment = parsedate_to_datetime(said)
        aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return max(0.0, (aware - datetime.now(UTC)).total_seconds())
    return 0.0
