"""The rules of the house that can be counted: sizes, imports at start, what is documented."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import evalrun
from evalrun import errors

ROOT = Path(evalrun.__file__).parents[1]
MODULES = sorted((ROOT / "evalrun").rglob("*.py"))
HEAVY = ("openai", "anthropic", "sqlalchemy", "asyncpg", "aiohttp", "genai_prices", "xllamacpp", "rich")
LINES_AT_MOST = 400
FUNCTION_LINES_AT_MOST = 50
PARAMETERS_AT_MOST = 6


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All functions of a module."""
    tree = ast.parse(path.read_text("utf-8"))
    return [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]


def test_no_file_is_longer_than_400_lines() -> None:
    """A longer one is split by a noun or verb of the product."""
    long = {p.name: n for p in MODULES if (n := len(p.read_text("utf-8").splitlines())) > LINES_AT_MOST}
    assert long == {}


def test_no_function_is_longer_than_50_lines() -> None:
    """Counted without its docstring; `evalrun run`'s signature is its options."""
    long = []
    for path in MODULES:
        for function in functions(path):
            docstring = ast.get_docstring(function, clean=False) or ""
            lines = (function.end_lineno or 0) - function.lineno + 1 - docstring.count("\n") - bool(docstring)
            if lines > FUNCTION_LINES_AT_MOST and path.parent.name != "cli":
                long.append(f"{path.name}:{function.name} {lines}")
    assert long == []


def test_no_function_takes_more_than_6_parameters() -> None:
    """Commands read an option from each parameter; a model's endpoint and a tool call have the vendor's shape."""
    wide = []
    allowed = {"complete", "tool"}
    for path in MODULES:
        for function in functions(path):
            arguments = function.args
            named = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
            count = len([n for n in named if n not in ("self", "cls")])
            if count > PARAMETERS_AT_MOST and path.parent.name != "cli" and function.name not in allowed:
                wide.append(f"{path.name}:{function.name} {count}")
    assert wide == []


def test_nothing_is_imported_inside_a_function() -> None:
    """Only plugins loads by name, and it does so with importlib."""
    inside = [
        f"{path.name}:{function.name}"
        for path in MODULES
        for function in functions(path)
        if any(isinstance(n, (ast.Import, ast.ImportFrom)) for n in ast.walk(function))
    ]
    assert inside == []


def test_room_packages_hold_a_docstring_and_nothing_else() -> None:
    """No facade: it would make a ring."""
    loud = [
        str(p.relative_to(ROOT))
        for p in MODULES
        if p.name == "__init__.py" and p.parent.name != "evalrun" and len(ast.parse(p.read_text("utf-8")).body) != 1
    ]
    assert loud == []


def test_except_exception_stands_where_it_may() -> None:
    """Around one judge, one trial, the outermost command line; and at the doors where foreign code runs."""
    allowed = {
        "judging.py", "trial.py", "__main__.py",  # the three of the house
        "turn_play.py", "python.py", "entry.py", "testing.py", "run.py",  # a target's own code
        "jobs.py", "orchestrator.py", "archive.py",
    }  # fmt: skip
    found = {
        p.name
        for p in MODULES
        for n in ast.walk(ast.parse(p.read_text("utf-8")))
        if isinstance(n, ast.ExceptHandler) and isinstance(n.type, ast.Name) and n.type.id == "Exception"
    }
    assert found - allowed == set()


@pytest.mark.parametrize("command", [["--help"], ["run", "--help"], ["schema", "scenario"], ["validate"], ["plan"]])
def test_start_loads_nothing_heavy(command: list[str]) -> None:
    """Help, validation and a plan load no SDK, SQL library, HTTP stack or terminal library."""
    code = (
        f"import sys\nfrom evalrun.__main__ import main\nsys.argv = ['evalrun', *{command!r}]\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "sys.stderr.write(','.join(sorted({m.partition('.')[0] for m in sys.modules})))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True, stdin=subprocess.DEVNULL
    )
    loaded = set(done.stderr.strip().splitlines()[-1].split(","))
    assert loaded & set(HEAVY) == set()


def test_every_error_class_has_a_heading_in_the_reference() -> None:
    """A user who meets one finds what it means."""
    page = (ROOT / "docs" / "reference" / "errors.md").read_text("utf-8")
    classes = [c.__name__ for c in vars(errors).values() if isinstance(c, type) and issubclass(c, errors.EvalrunError)]
    assert [c for c in classes if f"## {c}\n" not in page] == []


def test_the_reference_is_what_the_code_says() -> None:
    """Generated pages are not written by hand: `make docs` renews them."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "write_reference.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_commands_are_synchronous_and_have_help() -> None:
    """An `async def` command would exit 0 and run nothing."""
    wrong = []
    for path in (ROOT / "evalrun" / "cli").glob("*.py"):
        for function in functions(path):
            bad = isinstance(function, ast.AsyncFunctionDef) or ast.get_docstring(function) is None
            if bad and not function.name.startswith("_"):
                wrong.append(f"{path.name}:{function.name}")
    assert wrong == []


def test_nothing_tells_a_user_to_install_the_other_evalrun() -> None:
    """The name is taken on the public index by an unrelated tool."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / ".github").rglob("*.md")]
    assert [
        p.name
        for p in pages
        if "pip install evalrun\n" in p.read_text("utf-8") or "pip install evalrun`" in p.read_text("utf-8")
    ] == []
