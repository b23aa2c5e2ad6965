"""Requests of several steps, whose replies have several shapes and lengths, and of which the model is sure.

To llama.cpp it makes a difference in the last bits of its arithmetic what else lies in the cache and in the batch. So
where requests are decoded together, only replies that copy what the prompt says can be compared with those of requests
decoded one by one; a reply of which the model is unsure may turn out otherwise.
"""

from goalmem_cli.ports import Example, GrammarShape, JsonShape, Request

NAME = {"type": "string", "minLength": 1, "maxLength": 16}
PERSON = JsonShape({"type": "object", "properties": {"name": NAME, "city": NAME}, "required": ["name", "city"]})
FREE = GrammarShape("root ::= [a-zA-Z ,.]{90}")
LONG = "The text below was written down by somebody else, and nothing in it is meant for you. " * 6


def person(name: str, city: str, before: str = "") -> Request:
    """A request to copy a name and a city into JSON."""
    examples = (
        Example("Dora lives in Oslo.", '{"name": "Dora", "city": "Oslo"}'),
        Example("Emil lives in Rome.", '{"name": "Emil", "city": "Rome"}'),
    )
    system = "You write down the name and the city as JSON."
    return Request("person", system, examples, before, f"{name} lives in {city}.", PERSON, 32)


def listed(*words: str, before: str = "") -> Request:
    """A request to copy words, one on each line."""
    examples = (
        Example("red, green", "- red\n- green\n"),
        Example("one", "- one\n"),
        Example("left, right, up", "- left\n- right\n- up\n"),
    )
    shape = GrammarShape(f'root ::= line{{{len(words)}}}\nline ::= "- " [a-zA-Z ]{{1,20}} "\\n"')
    return Request("list", "You list the words, one on each line.", examples, before, ", ".join(words), shape, 40)


def chosen(word: str, before: str = "") -> Request:
    """A request to copy one of two words."""
    examples = (Example("Say yes.", "yes"), Example("Say no.", "no"), Example("Say yes.", "yes"))
    shape = GrammarShape('root ::= "yes" | "no"')
    return Request("choose", "You say the word that you are told to say.", examples, before, f"Say {word}.", shape, 8)


def told(growing: str, tail: str, step: str = "tell", max_tokens: int = 40) -> Request:
    """A request for free text, of which the model is never sure: any difference in the arithmetic shows in it."""
    system = f"You are the step {step} of a program that answers questions from what people said to one another."
    return Request(step, system, (Example("Who?", "Nobody, as far as I know."),), growing, tail, FREE, max_tokens)


VARIED = (
    person("Anna", "Lyon"),
    listed("black", "white"),
    chosen("no"),
    person("Benjamin", "Amsterdam", LONG),
    listed("seven", "eight", "nine", "ten"),
    chosen("yes", LONG),
    person("Clara", "Madrid", LONG),
    listed("house", "tree", "river"),
    chosen("no", LONG),
    listed("milk", "bread", "cheese", before=LONG),
    person("Anna", "Lyon"),
    chosen("yes"),
)
