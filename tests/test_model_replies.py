"""A reply that cannot be used is asked for once more; of several asked for together, only those."""

from collections.abc import Sequence
from functools import partial

from goalmem_cli.errors import ContextOverflow, ReplyUnusable
from goalmem_cli.model_replies import ask, ask_each
from goalmem_cli.ports import Completion, GrammarShape, Request
from goalmem_cli.testing import ScriptedModel


def request(text: str, problem: str) -> Request:
    """Return a request of that text, which says what was wrong with the last reply."""
    return Request("count", "Count.", (), text, problem, GrammarShape("root ::= [0-9]+"))


def number(text: str) -> int:
    """Return the number that a reply is.

    Raises:
        ReplyUnusable: it is none.
    """
    if not text.isdecimal():
        raise ReplyUnusable(f"{text!r} is no number")
    return int(text)


def builds(*texts: str) -> list[partial[Request]]:
    """Return what makes a request of each text."""
    return [partial(request, text) for text in texts]


def test_all_are_asked_in_one_call() -> None:
    """Each has its own tokens; the call is counted once."""
    model = ScriptedModel(["1", "2", "3"])
    replies = ask_each(model, builds("a", "b", "c"), number)
    assert [reply.value for reply in replies] == [1, 2, 3]
    assert [reply.usage.calls for reply in replies] == [1, 0, 0]
    assert [reply.usage.prompt_tokens for reply in replies] == [1, 1, 1]
    assert model.calls == 1
    assert ask_each(model, [], number) == []
    assert model.calls == 1


def test_only_those_that_failed_are_asked_again() -> None:
    """They hear what was wrong; whoever fails twice has no value, and a reason."""
    model = ScriptedModel(["x", "2", "y", "1", "z"])
    replies = ask_each(model, builds("a", "b", "c"), number)
    assert [reply.value for reply in replies] == [1, 2, None]
    assert [reply.problem for reply in replies] == ["", "", "'z' is no number"]
    assert [seen.growing for seen in model.seen] == ["a", "b", "c", "a", "c"]
    assert [seen.tail for seen in model.seen] == ["", "", "", "'x' is no number", "'y' is no number"]
    assert sum(reply.usage.calls for reply in replies) == model.calls == 2
    assert [reply.usage.prompt_tokens for reply in replies] == [2, 1, 2]


def test_each_may_be_read_otherwise() -> None:
    """One way of reading for all, or one for each."""
    model = ScriptedModel(["1", "x"])
    assert [reply.value for reply in ask_each(model, builds("a", "b"), [number, len])] == [1, 1]


def test_a_value_may_be_nothing() -> None:
    """A reply that is read as nothing is no failure."""
    (reply,) = ask_each(ScriptedModel(["none"]), builds("a"), lambda _: None)
    assert (reply.value, reply.problem, reply.usage.calls) == (None, "", 1)
    assert ask(ScriptedModel(["none"]), lambda _: [request("a", "")], lambda _: None).usage.calls == 1


def test_what_is_cut_off_is_asked_for_again() -> None:
    """A reply at its greatest length is not read."""
    model = ScriptedModel(lambda _: Completion("12", is_complete=False))
    (reply,) = ask_each(model, builds("a"), number)
    assert reply.value is None
    assert "cut off" in reply.problem
    assert model.calls == 2


class Short:
    """A model of a short context, which refuses a whole call when one prompt is too long."""

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return the length of each prompt."""
        if any(len(each.growing) > 5 for each in requests):
            raise ContextOverflow("too long")
        return [Completion(str(len(each.growing)), prompt_tokens=1) for each in requests]


def test_a_prompt_that_is_too_long_fails_alone() -> None:
    """The others of its call are answered."""
    replies = ask_each(Short(), builds("one", "much too long", "three"), number)
    assert [reply.value for reply in replies] == [3, None, 5]
    assert "longer than the model's context" in replies[1].problem
