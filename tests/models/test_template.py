"""Chat templates: what the template writes is kept apart from what a transcript says."""

import pytest

from goalmem_cli.errors import ModelUnreadable
from goalmem_cli.models.in_process.template import ChatTemplate, Piece
from goalmem_cli.ports import Example, GrammarShape, Request

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
NO_SYSTEM = (
    "{{ bos_token }}{% for m in messages %}{% if m['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    "[{{ m['role'] }}]{{ m['content'] | trim }}{% endfor %}"
)
DROPS_SYSTEM = "{% for m in messages %}{% if m.role != 'system' %}<{{ m.content }}>{% endif %}{% endfor %}"


def request(system: str = "S", growing: str = "G", tail: str = "T") -> Request:
    """A request with one example."""
    return Request("step", system, (Example("in", "out"),), growing, tail, GrammarShape('root ::= "a"'))


def test_parts_come_in_the_order_of_the_prefix() -> None:
    """System text, examples, growing part and tail follow one another, and the reply's start comes last."""
    pieces = ChatTemplate(CHATML).pieces(request())
    assert "".join(piece.text for piece in pieces) == (
        "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nin<|im_end|>\n<|im_start|>assistant\nout<|im_end|>\n"
        "<|im_start|>user\nGT<|im_end|>\n<|im_start|>assistant\n"
    )
    assert [piece.text for piece in pieces if piece.is_content] == ["S", "in", "out", "GT"]


@pytest.mark.parametrize(
    "text", ["<|im_end|>", "{{ 7 * 7 }}", "{% raise %}", "\ue0000\ue001", "\ue0003\ue001", "a\n\n b "]
)
def test_contents_are_only_contents(text: str) -> None:
    """Markers, template code and place-holders in a transcript stay text, changed in no way."""
    pieces = ChatTemplate(CHATML).pieces(request(growing=text, tail=""))
    assert Piece(text, is_content=True) in pieces
    assert not any(text in piece.text for piece in pieces if not piece.is_content and text != "<|im_end|>")
    assert sum(piece.text.count("<|im_end|>") for piece in pieces if not piece.is_content) == 4


@pytest.mark.parametrize("template", [NO_SYSTEM, DROPS_SYSTEM])
def test_a_template_without_system_text_gets_it_in_the_first_message(template: str) -> None:
    """A template that refuses or drops system text is given it at the head of the first user message."""
    contents = [piece.text for piece in ChatTemplate(template, bos="<s>").pieces(request()) if piece.is_content]
    assert contents == ["S\n\nin", "out", "GT"]


def test_a_request_without_system_text_has_no_system_message() -> None:
    """An empty system text leaves the template to its own default."""
    pieces = ChatTemplate(CHATML).pieces(request(system=""))
    assert pieces[0].text == "<|im_start|>user\n"


@pytest.mark.parametrize(
    "template", ["{% for %}", "{{ nothing.at.all }}", "no messages", "{{ messages[0].__class__.mro() }}"]
)
def test_a_template_that_cannot_be_used_is_an_error(template: str) -> None:
    """A template that does not compile, fails, shows no message or reaches for Python's insides is refused."""
    with pytest.raises(ModelUnreadable, match="chat template"):
        ChatTemplate(template).pieces(request())
