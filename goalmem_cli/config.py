"""What a run is told: one frozen `Settings`, from default < user file < store file < environment < typed flag.

Both files are YAML mappings with the names of the fields below. The user file is `config.yaml` in goalmem's folder
of the user's configuration (`GOALMEM_CONFIG` names another); the store file is `goalmem.yaml` inside the store. A
variable is the field's name in capitals after `GOALMEM_`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

import platformdirs
import yaml

from goalmem_cli.errors import UsageError

VARIABLE_PREFIX = "GOALMEM_"
CONFIG_VARIABLE = "GOALMEM_CONFIG"
STORE_FILE = "goalmem.yaml"

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
_KIND_NAMES = {bool: "true or false", int: "a whole number", str: "text", Path: "a path"}


def stores_folder() -> Path:
    """Return the folder that holds the user's stores."""
    return platformdirs.user_data_path("goalmem", appauthor=False) / "stores"


def user_file(environment: Mapping[str, str]) -> Path:
    """Return where the user file is looked for."""
    named = environment.get(CONFIG_VARIABLE)
    return (
        Path(named).expanduser() if named else platformdirs.user_config_path("goalmem", appauthor=False) / "config.yaml"
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a command can be told.

    `embedder` None means the store's own, and the static one for a new store; `context` (tokens) and `threads` None
    leave the choice to the model; `strict` None refuses the inferences of a small model only; `prompts` is a
    folder whose files stand in for the package's.
    """

    store: Path
    embedder: str | None = None
    model: str = "bundled"
    context: int | None = None
    threads: int | None = None
    seed: int = 0
    backbone: str = "hybrid"
    max_breadth: int = 3
    max_depth: int = 5
    max_subgoals: int = 4
    budget: int = 60
    strict: bool | None = None
    prompts: Path | None = None


_LEAST = {"context": 512, "threads": 1, "seed": 0, "max_breadth": 1, "max_depth": 0, "max_subgoals": 1, "budget": 1}


@dataclass(frozen=True, slots=True)
class _Source:
    """Where values come from: what to call it in an error, and what its relative paths are relative to."""

    name: str
    folder: Path | None = None
    is_text: bool = False


def load_settings(flags: Mapping[str, object], environment: Mapping[str, str]) -> Settings:
    """Return the settings of a run.

    Args:
        flags: what the command line gave, by field name; None stands for a flag that was not typed.
        environment: the process's variables.

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
    store = Path({**merged, **variables, **typed}["store"])
    merged.update(_from_file(store / STORE_FILE, forbidden="store"))
    merged.update(variables)
    merged.update(typed)
    return Settings(**merged)


def _from_file(path: Path, forbidden: str | None = None) -> dict[str, Any]:
    """Return the checked values of a YAML file; none where there is no such file."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}", "make the file readable, or remove it") from error
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"{path}: not YAML: {reason}", "write one `key: value` a line") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise UsageError(f"{path}: not a mapping", "write one `key: value` a line")
    if forbidden in content:
        raise UsageError(f"{path}: key {forbidden!r} has no place in a store's own file", "remove the line")
    return _checked(content, _Source(str(path), path.parent))


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the checked values of the variables that are set and not empty."""
    found: dict[str, Any] = {}
    for slot in fields(Settings):
        variable = VARIABLE_PREFIX + slot.name.upper()
        if environment.get(variable):
            found[slot.name] = _value(
                slot.name, variable, environment[variable], _Source("the environment", None, True)
            )
    return found


def _checked(content: Mapping[Any, object], source: _Source) -> dict[str, Any]:
    known = {slot.name for slot in fields(Settings)}
    for key in content:
        if key not in known:
            raise UsageError(f"{source.name}: unknown key {key!r}", f"known keys: {', '.join(sorted(known))}")
    return {key: _value(key, repr(key), value, source) for key, value in content.items()}


def _value(name: str, shown: str, value: object, source: _Source) -> Any:
    """Return the value as the field's kind, or raise an error that names the source and the key."""
    kinds = _kinds(name)
    kind = next(kind for kind in kinds if kind is not NoneType)
    if value is None and NoneType in kinds:
        return None
    converted = _converted(kind, value, source)
    if converted is None:
        raise UsageError(f"{source.name}: {shown} is {value!r}, not {_KIND_NAMES[kind]}", f"give {_KIND_NAMES[kind]}")
    least = _LEAST.get(name)
    if least is not None and converted < least:
        raise UsageError(f"{source.name}: {shown} is {converted}, below {least}", f"give {least} or more")
    return converted


def _kinds(name: str) -> tuple[Any, ...]:
    hint = get_type_hints(Settings)[name]
    return get_args(hint) or (hint,)


def _converted(kind: type, value: object, source: _Source) -> Any:
    """Return the value as `kind`, None where it is not one."""
    if kind is Path:
        return _path(value, source)
    if source.is_text and isinstance(value, str):
        return _parsed(kind, value.strip())
    is_of_kind = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    return value if is_of_kind and value != "" else None


def _path(value: object, source: _Source) -> Path | None:
    if not isinstance(value, (str, Path)) or not str(value):
        return None
    path = Path(value).expanduser()
    return source.folder / path if source.folder is not None else path


def _parsed(kind: type, text: str) -> Any:
    if kind is bool:
        return True if text.lower() in _TRUE else False if text.lower() in _FALSE else None
    if kind is int:
        return int(text) if text.removeprefix("-").isdecimal() else None
    return text or None
