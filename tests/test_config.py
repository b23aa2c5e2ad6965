"""Settings: which source wins, and what a wrong one says."""

from pathlib import Path

import pytest

from goalmem_cli.addresses import is_loopback
from goalmem_cli.config import LEAST, MOST, Settings, load_settings, stores_folder, user_file
from goalmem_cli.errors import UsageError


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment whose user file is an empty one in the test's folder."""
    path = tmp_path / "user" / "config.yaml"
    path.parent.mkdir()
    path.write_text("")
    return {"GOALMEM_CONFIG": str(path)}


def write_user_file(environment: dict[str, str], text: str) -> Path:
    path = Path(environment["GOALMEM_CONFIG"])
    path.write_text(text)
    return path


def test_defaults_need_no_file(environment: dict[str, str]) -> None:
    """Without files, variables or flags every setting has its default, and the store is in the user's data."""
    assert load_settings({}, environment) == Settings(store=stores_folder() / "default")
    assert user_file({}).parent.name == "goalmem"


def test_each_source_yields_to_the_next(environment: dict[str, str], tmp_path: Path) -> None:
    """Default < user file < store file < environment < typed flag, key by key."""
    store = tmp_path / "store"
    store.mkdir()
    write_user_file(environment, f"store: {store}\nmax_depth: 1\nbudget: 11\nseed: 1\nmodel: a")
    (store / "goalmem.yaml").write_text("budget: 22\nseed: 2\nmodel: b")
    environment |= {"GOALMEM_SEED": "3", "GOALMEM_MODEL": "c"}
    settings = load_settings({"model": "d", "max_breadth": None}, environment)
    found = (settings.max_breadth, settings.max_depth, settings.budget, settings.seed, settings.model)
    assert found == (3, 1, 22, 3, "d")
    assert settings.store == store


def test_the_store_s_file_is_that_of_the_store_finally_chosen(environment: dict[str, str], tmp_path: Path) -> None:
    """A store named by a flag brings its own file, not that of the store it replaces."""
    for name, budget in (("one", 1), ("two", 2)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "goalmem.yaml").write_text(f"budget: {budget}")
    environment["GOALMEM_STORE"] = str(tmp_path / "one")
    assert load_settings({}, environment).budget == 1
    assert load_settings({"store": tmp_path / "two"}, environment).budget == 2


def test_paths_of_a_file_are_relative_to_it(environment: dict[str, str]) -> None:
    """A relative path in a file means a place beside the file, wherever the command runs."""
    path = write_user_file(environment, "store: mine\nprompts: my-prompts")
    settings = load_settings({}, environment)
    assert settings.store == path.parent / "mine"
    assert settings.prompts == path.parent / "my-prompts"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("depth: 3", "'depth'"),
        ("max_depth: deep", "'max_depth'"),
        ("max_depth: true", "'max_depth'"),
        ("max_depth: -1", "'max_depth'"),
        ("max_breadth: 0", "'max_breadth'"),
        ("budget: 1.5", "'budget'"),
        ("strict: 1", "'strict'"),
        ("model: [a]", "'model'"),
        ("model: ''", "'model'"),
        ("store: 3", "'store'"),
        ("- a", "not a mapping"),
        ("a: [", "not YAML"),
    ],
)
def test_a_wrong_file_is_an_error_that_names_file_and_key(environment: dict[str, str], text: str, named: str) -> None:
    """Unknown keys and values of the wrong kind are refused, with the file and the key."""
    path = write_user_file(environment, text)
    with pytest.raises(UsageError) as caught:
        load_settings({}, environment)
    assert str(path) in caught.value.message
    assert named in caught.value.message
    assert caught.value.hint
    assert "\n" not in caught.value.message


def test_a_store_s_file_cannot_name_another_store(environment: dict[str, str], tmp_path: Path) -> None:
    """`store` in a store's own file would be a riddle."""
    (tmp_path / "goalmem.yaml").write_text("store: elsewhere")
    with pytest.raises(UsageError, match="'store' has no place"):
        load_settings({"store": tmp_path}, environment)


@pytest.mark.parametrize(
    ("variable", "value"),
    [("GOALMEM_SEED", "x"), ("GOALMEM_STRICT", "perhaps"), ("GOALMEM_CONTEXT", "12"), ("GOALMEM_THREADS", "0")],
)
def test_a_wrong_variable_is_an_error_that_names_it(environment: dict[str, str], variable: str, value: str) -> None:
    """A variable of the wrong kind is refused by its name."""
    with pytest.raises(UsageError, match=variable):
        load_settings({}, {**environment, variable: value})


@pytest.mark.parametrize(("value", "expected"), [("1", True), ("yes", True), ("off", False), ("", None)])
def test_switches_read_the_usual_words(environment: dict[str, str], value: str, *, expected: bool | None) -> None:
    """A switch in the environment takes the usual words; an empty variable is as good as none."""
    assert load_settings({}, {**environment, "GOALMEM_STRICT": value}).strict is expected


@pytest.mark.parametrize("is_variable", [False, True])
def test_backbones_are_told_by_name(environment: dict[str, str], *, is_variable: bool) -> None:
    """As a mapping of mappings in a file, and as the same YAML on one line in the variable, which replaces the file's."""
    write_user_file(environment, "backbones:\n  stitch:\n    window: 20\n  remem: {top: 3}")
    if is_variable:
        environment["GOALMEM_BACKBONES"] = "{stitch: {way: gated}}"
    expected = {"stitch": {"way": "gated"}} if is_variable else {"stitch": {"window": 20}, "remem": {"top": 3}}
    assert load_settings({}, environment).backbones == expected


@pytest.mark.parametrize(
    "value", ["stitch", "{stitch: 3}", "{stitch: }", "{1: {a: 2}}", "{stitch: {2: 3}}", "{a: [", "3"]
)
def test_what_tells_no_backbone_anything_is_an_error(environment: dict[str, str], value: str) -> None:
    """In the variable and in a file alike, with an example of what would."""
    with pytest.raises(UsageError, match=r"GOALMEM_BACKBONES is .* such as {stitch"):
        load_settings({}, {**environment, "GOALMEM_BACKBONES": value})
    write_user_file(environment, f"backbones: {value}")
    with pytest.raises(UsageError, match=r"config\.yaml: ('backbones'|not YAML)"):
        load_settings({}, environment)


def test_a_named_user_file_must_be_there(tmp_path: Path) -> None:
    """GOALMEM_CONFIG naming nothing is an error, not a silent default."""
    with pytest.raises(UsageError, match="GOALMEM_CONFIG"):
        load_settings({}, {"GOALMEM_CONFIG": str(tmp_path / "none.yaml")})


def test_null_stands_for_no_choice(environment: dict[str, str]) -> None:
    """A null leaves a setting that may be absent to the model; one that must be there refuses it."""
    write_user_file(environment, "context: null")
    assert load_settings({}, environment).context is None
    write_user_file(environment, "budget: null")
    with pytest.raises(UsageError, match="'budget'"):
        load_settings({}, environment)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("GOALMEM_SEED", "9" * 5000),
        ("GOALMEM_SEED", str(2**32)),
        ("GOALMEM_CONTEXT", "4294968000"),
        ("GOALMEM_BUDGET", "1000000000000"),
        ("GOALMEM_THREADS", "100000"),
        ("GOALMEM_STORE", "~nosuchuser/x"),
        ("GOALMEM_STORE", "x" * 5000),
        ("GOALMEM_PROMPTS", "~nosuchuser/x"),
        ("GOALMEM_CONFIG", "~nosuchuser/x"),
        ("GOALMEM_CONFIG", "x" * 5000),
    ],
)
def test_numbers_and_paths_beyond_all_bounds_are_refused(
    environment: dict[str, str], variable: str, value: str
) -> None:
    """What no machine could hold or reach is a short error, from the environment as from a flag or a file."""
    with pytest.raises(UsageError) as error:
        load_settings({}, {**environment, variable: value})
    assert len(error.value.message) < 300
    assert error.value.hint


@pytest.mark.parametrize(
    "line",
    [f"seed: {'9' * 5000}", "context: 4294968000", 'store: "a\\0b"', "store: ~nosuchuser/x", f"store: {'x' * 5000}"],
)
def test_a_file_may_hold_no_more_than_a_variable(environment: dict[str, str], line: str) -> None:
    """A settings file with such a value is named with what is wrong."""
    path = write_user_file(environment, line)
    with pytest.raises(UsageError) as error:
        load_settings({}, environment)
    assert str(path) in error.value.message


def test_the_bounds_hold_for_the_defaults() -> None:
    """Every setting that has a least has a most, and every default lies between them."""
    settings = Settings(store=stores_folder())
    assert LEAST.keys() == MOST.keys()
    chosen = {name: getattr(settings, name) for name in LEAST}
    assert all(LEAST[name] <= value <= MOST[name] for name, value in chosen.items() if value is not None)


@pytest.mark.parametrize(
    ("url", "is_here"),
    [
        ("http://127.0.0.1:8000/v1", True), ("http://127.8.8.8/v1", True), ("HTTP://LOCALHOST:1/v1#m", True),
        ("https://[::1]:8000/v1", True), ("http://localhost.example.org/v1", False), ("http://0.0.0.0/v1", False),
        ("http://127.0.0.1@example.org/v1", False), ("http://example.org#http://127.0.0.1/v1", False),
        ("http://example.org/127.0.0.1", False), ("http://127.0.0.1.example.org/v1", False), ("http://10.0.0.1", False),
        ("http://[", False), ("", False),
    ],
)  # fmt: skip
def test_which_servers_are_of_this_machine(url: str, is_here: bool) -> None:
    """Only those that nothing but this machine can answer for."""
    assert is_loopback(url) is is_here


def test_it_is_known_what_only_the_store_names(environment: dict[str, str], tmp_path: Path) -> None:
    """What a flag, a variable or the user's own file names too is the user's choice."""
    store, server = tmp_path / "store", "http://192.0.2.7/v1"
    store.mkdir()
    (store / "goalmem.yaml").write_text(f"model: {server}\nembedder: static")
    assert load_settings({"store": store}, environment).by_store == {"model": server, "embedder": "static"}
    assert load_settings({"store": store, "model": server}, environment).by_store == {"embedder": "static"}
    assert load_settings({"store": store}, environment | {"GOALMEM_MODEL": server}).by_store == {"embedder": "static"}
    write_user_file(environment, f"model: {server}")
    assert load_settings({"store": store}, environment).by_store == {"embedder": "static"}
    write_user_file(environment, "model: other")
    assert load_settings({"store": store}, environment).by_store["model"] == server
