"""Load, check and fill prompts, which are the YAML files in `prompts/`.

A file has these keys:
- `description` and `system`: texts.
- `variables`: the declared inputs.
- `examples`: pairs of input and output.
- `input`: the templates `growing` and `tail`.
- `output`: a JSON `schema`, in which ``choices: NAME`` is an enumeration built per call, or a GBNF `grammar`, which has
  the same enumerations as template variables.
- `max_tokens`: the maximum length of the reply.
- `together` (optional): steps, including its own, whose requests begin alike, with the system texts and examples of all
  of them in that order. What a model evaluated for one step need not be evaluated again for the next. It applies only
  if each of these files names the same steps.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import jinja2
import jinja2.meta
import yaml

from goalmem_cli.errors import ModelError, PromptError
from goalmem_cli.ports import Example, GrammarShape, JsonShape, Request
from goalmem_cli.records import content_hash

Profile: TypeAlias = Literal["full", "compact"]
Choices: TypeAlias = Mapping[str, Sequence[str]]

LARGER = "Qwen3-4B-Instruct-2507 (`goalmem models suggest`)"
"""A model that has a prompt for every step, and how to find it."""
_KEYS = {"description", "system", "variables", "examples", "input", "output", "max_tokens"}
_OPTIONAL = {"together"}
_SHORT = (",", ":")
"""JSON without spaces: models write as the examples do, and a space costs a token or part of one.

Grammars define their own spaces.
"""
_PACKAGE = Path(__file__).parent
_PLACES = (_PACKAGE / "prompt_files", _PACKAGE.parent / "prompts")


def _alternatives(values: Sequence[str]) -> str:
    """Return the values as alternative GBNF literals; an empty list is an error."""
    if not values:
        raise jinja2.TemplateRuntimeError("no values to choose from")
    escaped = (value.replace("\\", "\\\\").replace('"', '\\"') for value in values)
    return " | ".join(f'"{each if each.isprintable() else "".join(map(_printable, each))}"' for each in escaped)


def _printable(character: str) -> str:
    return character if character.isprintable() else f"\\U{ord(character):08X}"


_ENVIRONMENT = jinja2.Environment(
    undefined=jinja2.StrictUndefined,
    keep_trailing_newline=True,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,  # noqa: S701 - prompts are plain text, not HTML
)
_ENVIRONMENT.filters["alternatives"] = _alternatives
_YAML = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C loader takes a tenth of the time
TAIL_TOKENS = 512
"""The tokens of a prompt beyond its fixed part and the facts: question, subgoals, substitution."""
LEAST_FACT_TOKENS = 256
BYTES_PER_TOKEN = 3


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt of one step. `hash` covers the file and those it is `together` with; every trace records it."""

    name: str
    description: str
    system: str
    variables: frozenset[str]
    examples: tuple[Example, ...]
    growing: str
    tail: str
    schema: Mapping[str, object] | None
    grammar: str | None
    max_tokens: int
    hash: str
    together: tuple[str, ...] = ()

    def request(self, inputs: Mapping[str, object], choices: Choices | None = None) -> Request:
        """Return the filled prompt; its enumerations come from `choices`.

        Raises:
            PromptError: an input is missing or undeclared, or an enumeration is not among the choices.
        """
        if inputs.keys() != self.variables:
            odd = ", ".join(sorted(inputs.keys() ^ self.variables))
            raise PromptError(f"prompt {self.name}: inputs and declared variables differ in {odd}")
        return Request(
            step=self.name,
            system=self.system,
            examples=self.examples,
            growing=_render(self.growing, inputs, self.name),
            tail=_render(self.tail, inputs, self.name),
            shape=self._shape(choices or {}),
            max_tokens=self.max_tokens,
        )

    def _shape(self, choices: Choices) -> JsonShape | GrammarShape:
        if self.grammar is not None:
            return GrammarShape(_render(self.grammar, choices, self.name))
        return JsonShape(_fill(self.schema, choices, self.name))


@dataclass(frozen=True, slots=True)
class PromptBook:
    """The prompts of one profile, by step."""

    profile: Profile
    folder: Path
    prompts: Mapping[str, Prompt]

    @classmethod
    def load(
        cls,
        directory: Path | None,
        profile: Profile,
        steps: Collection[str] | None = None,
        beside: Path | None = None,
    ) -> PromptBook:
        """Return the prompts of the profile; files in `directory` replace the package's (or the checkout's).

        `steps` are the steps wanted; None means all. Files in the folder `beside` (same layout, may lack a profile)
        also go before the package's.

        Raises:
            PromptError: the folder has no prompts of the profile, or a file is wrong.
        """
        root = next((place for place in _PLACES if place.is_dir()), _PLACES[-1])
        folder = folder_of(directory or root, profile)
        own = {file.stem: file for file in sorted(folder.glob("*.yaml"))}
        if not own:
            raise PromptError(f"no prompts in {folder}", "give a folder with --prompts, or leave the option out")
        shipped = {file.stem: file for file in sorted(folder_of(root, profile).glob("*.yaml"))}
        added = {file.stem: file for file in sorted(folder_of(beside, profile).glob("*.yaml"))} if beside else {}
        files = shipped | added | (own if directory else {})
        wanted = files if steps is None else steps
        read = partial(load_prompt, shipped=frozenset(shipped.values()) - frozenset(own.values() if directory else ()))
        book = cls(profile, folder, {name: read(files[name]) for name in wanted if name in files})
        for step in steps or ():
            book[step]  # raises if it is missing
        others = {name for prompt in book.prompts.values() for name in prompt.together if name in files}
        found = {**book.prompts, **{name: read(files[name]) for name in others - book.prompts.keys()}}
        return cls(profile, folder, {name: _together(prompt, found) for name, prompt in book.prompts.items()})

    def __getitem__(self, step: str) -> Prompt:
        try:
            return self.prompts[step]
        except KeyError:
            hint = f"copy {step}.yaml from the package's prompts and change it there"
            if self.profile == "compact":
                hint = f"take a model of 3 billion parameters or more, such as {LARGER}; or {hint}"
            raise PromptError(f"{self.folder}: no prompt for the step {step}", hint) from None

    @property
    def hashes(self) -> dict[str, str]:
        """The hash of each step's prompt."""
        return {name: prompt.hash for name, prompt in self.prompts.items()}

    def room_for_facts(self, context: int) -> int:
        """Return how many tokens of facts fit into `context` tokens beside the longest prompt and its reply.

        Raises:
            ModelError: too few tokens are left; the hint names the context that is needed.
        """
        fixed = max(
            prompt.max_tokens
            + _tokens(prompt.system)
            + sum(_tokens(example.input + example.output) for example in prompt.examples)
            for prompt in self.prompts.values()
        )
        room = context - fixed - TAIL_TOKENS
        if room < LEAST_FACT_TOKENS:
            least = fixed + TAIL_TOKENS + LEAST_FACT_TOKENS
            raise ModelError(
                f"a context of {context} tokens leaves no room for facts beside the prompts", f"give --context {least}"
            )
        return room


def _tokens(text: str) -> int:
    """Return an estimate of the English text's tokens, rather too high than too low."""
    return len(text.encode()) // BYTES_PER_TOKEN + 1


def _together(prompt: Prompt, found: Mapping[str, Prompt]) -> Prompt:
    """Return the prompt with the system texts and examples of its group, if all members name the same group."""
    group = [found[name] for name in prompt.together if name in found and found[name].together == prompt.together]
    if not group or len(group) < len(prompt.together):
        return prompt
    return replace(
        prompt,
        system="\n\n".join(member.system for member in group),
        examples=tuple(example for member in group for example in member.examples),
        hash=content_hash(prompt.hash, *(member.hash for member in group)),
    )


def folder_of(root: Path, profile: Profile) -> Path:
    """Return the folder of a profile below a folder of prompts."""
    return root / "compact" if profile == "compact" else root


def load_prompt(file: Path, shipped: Collection[Path] = ()) -> Prompt:
    """Load and check a prompt file: unknown keys and undeclared or unused variables are errors.

    Shipped files are not checked again, because the tests check them.

    Raises:
        PromptError: the file is wrong; the message names the file and the key.
    """
    try:
        return _parsed(file, file.read_text(encoding="utf-8"), is_checked=file not in shipped)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise PromptError(f"{file}: {' '.join(str(error).split())}", "mend the file or drop --prompts") from error


@lru_cache(maxsize=256)
def _parsed(file: Path, text: str, *, is_checked: bool) -> Prompt:
    """Parse a prompt file's text; cached by text."""
    content = yaml.load(text, Loader=_YAML)  # noqa: S506 - both loaders are safe
    if not isinstance(content, dict) or content.keys() - _OPTIONAL != _KEYS:
        odd = sorted(map(str, (content.keys() - _OPTIONAL) ^ _KEYS)) if isinstance(content, dict) else ["everything"]
        raise PromptError(
            f"{file}: unknown or missing keys: {', '.join(odd)}", f"the keys are {', '.join(sorted(_KEYS))}"
        )
    variables = frozenset(_strings(content["variables"], file, "variables"))
    growing, tail = _templates(content["input"], variables, file, is_checked=is_checked)
    schema, grammar = _output(content["output"], file, is_checked=is_checked)
    return Prompt(
        name=file.stem,
        description=str(content["description"]),
        system=str(content["system"]).strip(),
        variables=variables,
        examples=_examples(content["examples"], growing, tail, variables, file, None if schema is None else _SHORT),
        growing=growing,
        tail=tail,
        schema=schema,
        grammar=grammar,
        max_tokens=_whole(content["max_tokens"], file),
        hash=content_hash(text),
        together=_group(content.get("together", []), file),
    )


def _templates(value: Any, variables: frozenset[str], file: Path, *, is_checked: bool) -> tuple[str, str]:
    """Return the growing and tail templates; raises PromptError if their variables are not the declared ones."""
    if not isinstance(value, dict) or value.keys() != {"growing", "tail"}:
        raise PromptError(f"{file}: input: must have the keys growing and tail, and no other")
    growing, tail = str(value["growing"]), str(value["tail"])
    if not is_checked:
        return growing, tail
    try:
        used = set().union(*(jinja2.meta.find_undeclared_variables(_ENVIRONMENT.parse(t)) for t in (growing, tail)))
    except jinja2.TemplateSyntaxError as error:
        raise PromptError(f"{file}: input: {error.message}") from error
    if undeclared := sorted(used - variables):
        raise PromptError(f"{file}: input: undeclared variables: {', '.join(undeclared)}")
    if unused := sorted(variables - used):
        raise PromptError(f"{file}: variables: unused: {', '.join(unused)}")
    return growing, tail


def _output(value: Any, file: Path, *, is_checked: bool) -> tuple[Mapping[str, object] | None, str | None]:
    """Return the schema or the grammar of the reply; raises PromptError."""
    if isinstance(value, dict) and value.keys() == {"schema"} and isinstance(value["schema"], dict):
        if not is_checked:
            return value["schema"], None
        import jsonschema  # imported here because compact prompts have grammars

        try:
            jsonschema.Draft202012Validator.check_schema(value["schema"])
        except jsonschema.SchemaError as error:
            raise PromptError(f"{file}: output: schema: {error.json_path}: {error.message}") from error
        return value["schema"], None
    if isinstance(value, dict) and value.keys() == {"grammar"}:
        return None, str(value["grammar"])
    raise PromptError(f"{file}: output: must be either a schema or a grammar")


def _examples(
    value: Any, growing: str, tail: str, variables: frozenset[str], file: Path, separators: tuple[str, str] | None
) -> tuple[Example, ...]:
    """Return the examples with rendered inputs; raises PromptError."""
    if not isinstance(value, list):
        raise PromptError(f"{file}: examples: must be a list of input and output pairs")
    pairs = []
    for number, example in enumerate(value, 1):
        place = f"{file}: examples: number {number}"
        if not isinstance(example, dict) or example.keys() != {"input", "output"}:
            raise PromptError(f"{place}: must have the keys input and output")
        inputs, output = example["input"], example["output"]
        if not isinstance(inputs, dict) or inputs.keys() != variables:
            raise PromptError(f"{place}: its inputs are not the declared variables")
        reply = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, separators=separators)
        filled = _render(growing, inputs, file.stem) + _render(tail, inputs, file.stem)
        pairs.append(Example(filled, reply.rstrip("\n")))
    return tuple(pairs)


@lru_cache(maxsize=256)
def _compiled(template: str) -> jinja2.Template:
    """Return the compiled template; cached."""
    return _ENVIRONMENT.from_string(template)


def _render(template: str, values: Mapping[str, object], name: str) -> str:
    try:
        return _compiled(template).render(values)
    except (jinja2.TemplateError, TypeError, ValueError) as error:
        raise PromptError(f"prompt {name}: {error}", "check its templates against its inputs") from error


def _fill(schema: Any, choices: Choices, name: str) -> Any:
    """Return the schema with each ``choices: NAME`` replaced by its enumeration."""
    if isinstance(schema, list):
        return [_fill(item, choices, name) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    filled = {key: _fill(value, choices, name) for key, value in schema.items() if key != "choices"}
    if "choices" in schema:
        if not choices.get(schema["choices"]):
            raise PromptError(f"prompt {name}: output: no values for the choices {schema['choices']!r}")
        filled["enum"] = list(choices[schema["choices"]])
    return filled


def _group(value: Any, file: Path) -> tuple[str, ...]:
    steps = tuple(_strings(value, file, "together"))
    if steps and (file.stem not in steps or len(set(steps)) < len(steps)):
        raise PromptError(f"{file}: together: must name this step, {file.stem}, among others, each once")
    return steps


def _strings(value: Any, file: Path, key: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise PromptError(f"{file}: {key}: must be a list of names")
    return value


def _whole(value: Any, file: Path) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise PromptError(f"{file}: max_tokens: must be a whole number of at least 1")
    return value
