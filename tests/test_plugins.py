"""Parts by name: built in, installed, beside the settings; what a wrong name is told."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evalrun import plugins
from evalrun.errors import EvalrunError, MissingExtra, TargetFailed, UnknownName, UsageError

BUILT_IN = [(kind, name) for kind, names in plugins.BUILT_IN.items() for name in names]
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Modules and packages with entry points, on the path for one test."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "xllamacpp", None)  # as where the extra is not installed
    before = set(sys.modules)

    def put(module: str, text: str, entry_points: str = "", package: str = "team_parts") -> None:
        (tmp_path / f"{module}.py").write_text(text, "utf-8")
        if entry_points:
            info = tmp_path / f"{package}-1.0.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", "utf-8")
            (info / "entry_points.txt").write_text(entry_points, "utf-8")

    yield put
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.mark.parametrize(("kind", "name"), BUILT_IN)
def test_every_built_in_part_is_there(kind: str, name: str) -> None:
    """The table of strings names what exists."""
    assert callable(plugins.load(kind, name))
    assert name in plugins.known(kind)


def test_an_installed_part_is_known_by_its_name(install: Install) -> None:
    """Beside the built-in ones."""
    install("mine", "class Lines: ...\n", "[evalrun.reporters]\nlines = mine:Lines\n")
    assert plugins.known("reporters") == ("table", "markdown", "json", "lines")
    assert plugins.load("reporters", "lines").__name__ == "Lines"


def test_a_module_and_an_attribute_name_a_part(install: Install) -> None:
    """Also one inside a class."""
    install("mine", "class Team:\n    class Lines: ...\n")
    assert plugins.load("reporters", "mine:Team.Lines").__name__ == "Lines"


def test_a_stranger_cannot_take_a_built_in_name(install: Install) -> None:
    """Not even one that would do the same."""
    install("mine", "class Json: ...\n", "[evalrun.reporters]\njson = mine:Json\n")
    with pytest.raises(UsageError, match="team_parts offers reporter 'json', a built-in name"):
        plugins.load("reporters", "json")


def test_two_packages_of_one_name_are_refused(install: Install) -> None:
    """Which of them was meant is not guessed."""
    for package in ("one", "two"):
        install("mine", "class Lines: ...\n", "[evalrun.reporters]\nlines = mine:Lines\n", package)
    with pytest.raises(UsageError, match="two packages offer reporter 'lines'"):
        plugins.load("reporters", "lines")


@pytest.mark.parametrize(
    ("name", "text", "error", "said"),
    [
        (
            "markdwon",
            "",
            UnknownName,
            ("no reporter named 'markdwon'; did you mean 'markdown'?", "known: table, markdown"),
        ),
        ("nothing", "", UnknownName, ("no reporter named 'nothing'", "or module:attribute")),
        ("no_such_module:X", "", UnknownName, ("cannot import no_such_module", "correct the name")),
        ("mine:Missing", "", UnknownName, ("has no attribute 'Missing'", "mine must define Missing")),
        ("mine:", "", UnknownName, ("", "mine must define")),
        ("mine:N", "N = 1\n", UsageError, ("'mine:N' is not callable", "must be a class or a function")),
        ("mine:N", "from os import nothing\n", UnknownName, ("cannot import name 'nothing'", "mine must define")),
        ("mine:N", "import no_such_module\n", UnknownName, ("no_such_module", "install its package")),
        ("mine:N", "import sys\nsys.exit(0)\n", UsageError, ("importing mine called sys.exit(0)", "__main__")),
        ("mine:N", "import xllamacpp\n", MissingExtra, ("needs the package xllamacpp", "pip install '.[local]'")),
    ],
)
def test_a_wrong_name_is_told_with_its_cure(
    install: Install, name: str, text: str, error: type[EvalrunError], said: tuple[str, str]
) -> None:
    """What is known, what is near, what is missing."""
    install("mine", text)
    with pytest.raises(error) as raised:
        plugins.load("reporters", name)
    assert said[0] in raised.value.message
    assert said[1] in raised.value.remedy


def test_a_folder_of_the_users_is_looked_in_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything that is installed."""
    monkeypatch.setattr(sys, "path", ["elsewhere"])
    plugins.look_in(tmp_path)
    plugins.look_in(tmp_path)
    assert [str(tmp_path), "elsewhere"] == sys.path


def test_work_is_waited_for_and_its_errors_are_its_own() -> None:
    """Whatever it returns or raises."""

    async def work(fails: bool) -> str:
        if fails:
            raise UsageError("no", remedy="yes")
        return "done"

    assert "done" == plugins.wait_for(work(fails=False))
    with pytest.raises(UsageError):
        plugins.wait_for(work(fails=True))


def test_leaving_the_process_is_an_error_and_no_exit_code() -> None:
    """Exit code 0 would be a verdict that nobody gave."""

    async def work() -> None:
        sys.exit(0)

    with pytest.raises(TargetFailed, match=r"called sys.exit\(0\)"):
        plugins.wait_for(work())
