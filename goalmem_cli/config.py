"""The settings of a run, as one frozen `Settings`: default < user file < store file < environment < flag.

Both files are YAML mappings with the names of the fields below. The user file is `config.yaml` in goalmem's folder of
the user's configuration; `GOALMEM_CONFIG` names another. The store file is `goalmem.yaml` in the store. An environment
variable is `GOALMEM_` and the field's name in capitals.
"""

from __future__ import annotations

import errno
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import tzinfo
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeAlias, get_args, get_type_hints

from goalmem_cli.addresses import MilvusAddress, is_loopback, is_milvus, parse_address
from goalmem_cli.errors import UsageError

VARIABLE_PREFIX = "GOALMEM_"
CONFIG_VARIABLE = "GOALMEM_CONFIG"
STORE_FILE = "goalmem.yaml"

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
Parameters: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Settings of backbones or reasoners: name -> parameter -> value."""
_KIND_NAMES: Mapping[Any, str] = {
    bool: "true or false", int: "a whole number", str: "text", Path: "a path",
    Parameters: "settings by name, such as {stitch: {window: 20}}",
}  # fmt: skip


def stores_folder() -> Path:
    """Return the folder that holds the user's stores."""
    import platformdirs

    return platformdirs.user_data_path("goalmem", appauthor=False) / "stores"


def folder_beside(address: MilvusAddress) -> Path:
    """Return the folder for what goalmem keeps locally about a memory in Milvus."""
    import platformdirs

    return platformdirs.user_data_path("goalmem", appauthor=False) / "milvus" / address.folder_name


def user_file(environment: Mapping[str, str]) -> Path:
    """Return the path of the user file.

    Raises:
        UsageError: the variable holds an impossible path.
    """
    named = environment.get(CONFIG_VARIABLE)
    if named:
        return _usable(named, CONFIG_VARIABLE)
    import platformdirs

    return platformdirs.user_config_path("goalmem", appauthor=False) / "config.yaml"


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a command.

    Memory:
    - `store`: the store's folder. For a memory in Milvus, the folder of its settings, traces and locks.
    - `address`: the address of a memory in Milvus.
    - `by_store`: the model and embedder where the store's own file alone names them; see `require_trusted`.
    - `embedder`: None is the store's own, or `multilingual` for a new store.
    - `trust_remote_code`: run the Python code that an `embedder` named with it brings along. No store may set it.
    - `redact`: black out secrets in transcripts, and in what is typed, before they are stored.
    - `timezone`: the IANA zone of the speakers for transcripts with UTC times only. None is the machine's.
    - `backbones`, `reasoners`: settings of structured backbones and of reasoners, by name; each checks its own when
      it is built.

    Model:
    - `context` (tokens), `threads`, `planning`: None leaves the choice to the model.
    - `adapter`: the file of a LoRA adapter for a model in this process, or ``none``. None is the shipped adapter.
    - `prompts`: a folder whose files replace the package's one by one.
    - `parallel`: how many requests a model processes at a time.
    - `timeout`: how many seconds a server may take for one request.
    - `model_cache`: how many megabytes of evaluated prompts are kept on disk; 0 for none.

    Answers:
    - `certainty` (percent): withhold less certain answers. None uses the model's own limit, 0 withholds none.
    - `strict`: refuse inferences. None refuses those of small models only.
    - `fact_tokens`: about how many tokens of facts are shown at a time. None leaves it to the model, 0 fills the
      context.
    - `max_subgoals`: of a plan. 0 sets no bound, with `planning: paper` alone.
    - `checks`: False makes goal-mem accept a model's groundings unchecked; the trace says so.
    - `sift`: with full prompts, leave out turns that are never evidence, such as small talk.
    - `lean`: with full prompts, add the turns that retrieved turns depend on.
    - `rules`: try a rule that settled a question of the same form before a model plans, with full prompts. None does so
      for questions of the user, unless the model's certainties are fitted to its own plans; never in measurements.
    - `keep_prompts`: keep each prompt and reply in the trace.
    """

    store: Path
    embedder: str | None = None
    model: str = "bundled"
    context: int | None = None
    threads: int | None = None
    seed: int = 0
    backbone: str = "reranked"
    backbones: Parameters = field(default_factory=dict)
    reasoner: str = "goal-mem"
    reasoners: Parameters = field(default_factory=dict)
    planning: str | None = None
    max_breadth: int = 3
    max_depth: int = 5
    max_subgoals: int = 4
    max_steps: int = 5
    certainty: int | None = None
    budget: int = 60
    fact_tokens: int | None = None
    strict: bool | None = None
    checks: bool = True
    sift: bool = True
    lean: bool = True
    rules: bool | None = None
    keep_prompts: bool = False
    trust_remote_code: bool = False
    redact: bool = False
    timezone: str | None = None
    prompts: Path | None = None
    parallel: int = 8
    timeout: int = 300
    model_cache: int = 2048
    adapter: str | None = None
    address: MilvusAddress | None = None
    by_store: Mapping[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """The memory's location in the form of `--store`."""
        return str(self.store if self.address is None else self.address)


KEYS = tuple(slot.name for slot in fields(Settings) if slot.name not in ("address", "by_store"))
"""The settings that files, variables and flags can set."""

LEAST = {
    "context": 512, "threads": 1, "seed": 0, "max_breadth": 1, "max_depth": 0, "max_subgoals": 0, "max_steps": 1,
    "certainty": 0, "budget": 1, "fact_tokens": 0, "parallel": 1, "timeout": 1, "model_cache": 0,
}  # fmt: skip
# Above any useful value, and within llama.cpp's 32 bits.
MOST = {
    "context": 2**24, "threads": 4096, "seed": 2**31 - 1,
    "max_breadth": 1000, "max_depth": 1000, "max_subgoals": 4, "max_steps": 1000, "certainty": 100,
    "budget": 10**6, "fact_tokens": 10**7,
    "parallel": 64, "timeout": 10**6, "model_cache": 10**7,
}  # fmt: skip
_SHOWN_LENGTH = 60
_SERVED = ("model", "embedder")
ZONE_HINT = "give an IANA name, such as Europe/Berlin"


@dataclass(frozen=True, slots=True)
class _Source:
    """The source of values: its name in errors, and the base folder of its relative paths."""

    name: str
    folder: Path | None = None
    is_text: bool = False


def command_for(store: str | None, *words: str, names: Sequence[str] = ()) -> str:
    """Return a command as it is typed in a shell, with `--store` unless the store is None.

    `words` are the command and its flags. `names` are its arguments; a `--` keeps them from being taken for flags.
    """
    place = () if store is None else ("--store", store)
    guard = ("--",) if any(name.startswith("-") for name in names) else ()
    return shlex.join(["goalmem", *words, *place, *guard, *names])


def load_settings(flags: Mapping[str, object], environment: Mapping[str, str]) -> Settings:
    """Return the settings of a run.

    Args:
        flags: the command line's values by field name; None means that a flag was not given.
        environment: the process's environment variables.

    Raises:
        UsageError: a file or a variable has an unknown key or a value of the wrong kind; the message names both.
    """
    typed = _checked({key: value for key, value in flags.items() if value is not None}, _Source("the command line"))
    variables = _from_environment(environment)
    own_path = user_file(environment)
    if CONFIG_VARIABLE in environment and not own_path.is_file():
        raise UsageError(f"{CONFIG_VARIABLE}: {own_path} is not a file", "name a YAML file, or unset the variable")
    merged: dict[str, Any] = {"store": stores_folder() / "default"}
    merged.update(_from_file(own_path))
    store, address = _placed({**merged, **variables, **typed}["store"])
    own = _from_file(store / STORE_FILE, forbidden=("store", "trust_remote_code"))
    by_store = {
        key: value for key, value in own.items()
        if key in _SERVED and value is not None and merged.get(key) != value and key not in {**variables, **typed}
    }  # fmt: skip
    merged.update(own)
    merged.update(variables)
    merged.update(typed)
    return Settings(**{**merged, "store": store}, address=address, by_store=by_store)


def require_trusted(key: str, server: str, place: str) -> None:
    """Refuse the address of a server that only a store names, except on this machine; somebody else may have made it.

    Args:
        key: `model` or `embedder`.
        server: the address.
        place: the store.

    Raises:
        UsageError: the server is on another machine.
    """
    if not is_loopback(server):
        raise UsageError(
            f"{place} names the {key} {_cut(server)}, and a store alone may name no server on another machine",
            f"where you trust it, name it yourself: --{key}, {VARIABLE_PREFIX}{key.upper()}, or {key}: in your own "
            "settings file (goalmem guide settings)",
        )


def given_settings(given: Mapping[str, object]) -> Settings:
    """Return the settings from a program's keyword arguments, including `store`; no file or variable is read.

    Raises:
        UsageError: a key is unknown or a value has the wrong type; the message names it.
    """
    checked = _checked(given, _Source("goalmem_cli.open"))
    store, address = _placed(checked["store"])
    return Settings(**{**checked, "store": store}, address=address)


def zone_of(name: str) -> tzinfo | None:
    """Return the time zone of an IANA name, or None if there is no such zone."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # imported here because few settings need it

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _placed(named: Path | MilvusAddress) -> tuple[Path, MilvusAddress | None]:
    """Return the store's folder, and its address if it is in Milvus."""
    return (folder_beside(named), named) if isinstance(named, MilvusAddress) else (named, None)


def setting_in_words(key: str, text: str, where: str) -> Any:
    """Return the value of a setting written as text; `where` is its source, for the error message.

    Raises:
        UsageError: the text is no valid value.
    """
    return _value(key, repr(key), text, _Source(where, None, is_text=True))


def _from_file(path: Path, forbidden: Sequence[str] = ()) -> dict[str, Any]:
    """Return the checked values of a YAML file; none if there is no file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}", "make the file readable, or remove it") from error
    import yaml  # imported here because few users have such a file

    try:
        content = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError) as error:  # a number of too many digits is a ValueError
        reason = " ".join(str(error).split())
        raise UsageError(f"{path}: not YAML: {reason}", "write one `key: value` a line") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise UsageError(f"{path}: not a mapping", "write one `key: value` a line")
    for key in forbidden:
        if key in content:
            raise UsageError(f"{path}: key {key!r} has no place in a store's own file", "remove the line")
    return _checked(content, _Source(str(path), path.parent))


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the checked values of the variables that are set and not empty."""
    found: dict[str, Any] = {}
    for key in KEYS:
        variable = VARIABLE_PREFIX + key.upper()
        if environment.get(variable):
            found[key] = _value(key, variable, environment[variable], _Source("the environment", None, True))
    return found


def _checked(content: Mapping[Any, object], source: _Source) -> dict[str, Any]:
    for key in content:
        if key not in KEYS:
            raise UsageError(f"{source.name}: unknown key {key!r}", f"known keys: {', '.join(sorted(KEYS))}")
    return {key: _value(key, repr(key), value, source) for key, value in content.items()}


def _value(name: str, shown: str, value: object, source: _Source) -> Any:
    """Return the value in the field's type, or raise an error that names the source and the key."""
    kinds = _kinds(name)
    kind = next(kind for kind in kinds if kind is not NoneType)
    if value is None and NoneType in kinds:
        return None
    converted = _converted(kind, value, source)
    if converted is None:
        given = _cut(repr(value))
        raise UsageError(f"{source.name}: {shown} is {given}, not {_KIND_NAMES[kind]}", f"give {_KIND_NAMES[kind]}")
    if name == "timezone" and zone_of(converted) is None:
        given = _cut(repr(value))
        raise UsageError(f"{source.name}: {shown} is {given}, which no time zone is called", ZONE_HINT)
    if name in LEAST and converted < LEAST[name]:
        raise UsageError(f"{source.name}: {shown} is below {LEAST[name]}", f"give {LEAST[name]} or more")
    if name in MOST and converted > MOST[name]:
        raise UsageError(f"{source.name}: {shown} is above {MOST[name]}", f"give {MOST[name]} or less")
    return converted


def _kinds(name: str) -> tuple[Any, ...]:
    hint = get_type_hints(Settings)[name]
    return get_args(hint) if isinstance(hint, UnionType) else (hint,)


def _converted(kind: Any, value: object, source: _Source) -> Any:
    """Return the value as `kind`, or None if it has another type."""
    if kind is Path:
        return _path(value, source)
    if kind == Parameters:
        return _parameters(value, source)
    if source.is_text and isinstance(value, str):
        return _parsed(kind, value.strip())
    is_of_kind = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    return value if is_of_kind and value != "" else None


def _parameters(value: object, source: _Source) -> Parameters | None:
    """Return settings by name, parsed from a variable's text if needed; None if malformed."""
    if source.is_text and isinstance(value, str):
        import yaml

        try:
            value = yaml.safe_load(value)
        except (yaml.YAMLError, ValueError):
            return None
    if not isinstance(value, dict) or not all(isinstance(told, dict) for told in value.values()):
        return None
    names = [*value, *(name for told in value.values() for name in told)]
    return value if all(isinstance(name, str) for name in names) else None


def _path(value: object, source: _Source) -> Path | MilvusAddress | None:
    """Return the path or Milvus address, relative to its file's folder; None if malformed."""
    if not isinstance(value, (str, Path)) or not str(value):
        return None
    if isinstance(value, str) and is_milvus(value):
        address = parse_address(value, source.name)
        if source.folder is None or address.path is None:
            return address
        return replace(address, path=source.folder / address.path)
    path = _usable(value, source.name)
    return source.folder / path if source.folder is not None else path


def _usable(value: str | Path, where: str) -> Path:
    """Return the path with `~` expanded, if it is possible on this system; it need not exist.

    Raises:
        UsageError: it is too long, holds a null character, or its `~` names an unknown user.
    """
    hint = "name another path"
    if "\0" in str(value):
        raise UsageError(f"{where}: {_cut(repr(str(value)))} is no path: it holds a null character", hint)
    try:
        path = Path(value).expanduser()
        path.exists()
    except RuntimeError as error:
        raise UsageError(f"{where}: {_cut(str(value))}: no such user: its home is not known", hint) from error
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise UsageError(f"{where}: {_cut(str(value))} is too long for a path", hint) from error
        return path  # an unreadable folder fails when it is opened
    return path


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_LENGTH else f"{text[:_SHOWN_LENGTH]}..."


def _parsed(kind: type, text: str) -> Any:
    """Return a variable's text as this kind; None if it is none."""
    if kind is bool:
        return True if text.lower() in _TRUE else False if text.lower() in _FALSE else None
    if kind is int:
        try:
            return int(text) if text.removeprefix("-").isdecimal() else None
        except ValueError:  # too many digits for Python
            return None
    return text or None
