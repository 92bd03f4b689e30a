"""What modules import is found without running them: far, through packages, and only in the project."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalrun.errors import UsageError
from evalrun.import_closure import closures

FILES = {
    "closure_shop/__init__.py": "",
    "closure_shop/stages/__init__.py": "from closure_shop import setup_code\n",
    "closure_shop/setup_code.py": "",
    "closure_shop/stages/welcome.py": "from closure_shop.words import hello\nfrom . import near\n",
    "closure_shop/stages/near.py": "",
    "closure_shop/stages/order.py": """
        import json
        from closure_shop import money
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from closure_shop import types_only
        def late():
            from closure_shop import lazy
        """,
    "closure_shop/words.py": "import closure_alone\n",
    "closure_shop/money.py": "",
    "closure_shop/lazy.py": "import closure_other.deep.inner\n",
    "closure_shop/types_only.py": "",
    "closure_shop/unused.py": "raise SystemExit('never imported')\n",
    "closure_alone.py": "import closure_next\nfrom closure_other import x\n",
    "closure_next.py": "import os, sqlalchemy\n",
    "closure_other/__init__.py": "x = 1\n",
    "closure_other/deep/inner.py": "from . import beside\nfrom ..y import z\nimport closure_space.a\n",
    "closure_other/deep/beside.py": "",
    "closure_space/a.py": "from closure_space.b import c\n",
    "closure_space/b/c.py": "",
    "closure_other/y.py": "",
}
# its folder `deep` has no __init__, so all of it counts
OTHER = [
    "closure_other/__init__.py",
    "closure_other/deep/beside.py",
    "closure_other/deep/inner.py",
    "closure_other/y.py",
]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project with packages and modules beside them, found as those beside the settings are."""
    for path, text in FILES.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text), "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    assert not [m for m in set(sys.modules) - before if m.startswith("closure_")]


def found(root: Path, *modules: str) -> list[str]:
    """The files of a closure."""
    files, _ = closures({"a": modules}, root)["a"]
    return sorted(f.relative_to(root).as_posix() for f in files)


def test_a_closure_holds_what_is_imported_however_far(root: Path) -> None:
    """With the packages around, relative imports, and modules outside any package; not what is never imported."""
    assert [
        "closure_alone.py",
        "closure_next.py",
        *OTHER,
        "closure_shop/__init__.py",
        "closure_shop/setup_code.py",
        "closure_shop/stages/__init__.py",
        "closure_shop/stages/near.py",
        "closure_shop/stages/welcome.py",
        "closure_shop/words.py",
        "closure_space/a.py",
        "closure_space/b/c.py",
    ] == found(root, "closure_shop.stages.welcome")


def test_an_import_inside_a_function_counts_and_one_for_types_does_not(root: Path) -> None:
    """The first may run, the second never does."""
    files = found(root, "closure_shop.stages.order")
    assert "closure_shop/lazy.py" in files
    assert set(OTHER) <= set(files)
    assert "closure_shop/types_only.py" not in files
    assert "closure_shop/words.py" not in files


def test_a_module_outside_any_package_may_be_named(root: Path) -> None:
    """A bot of one file imports others beside it."""
    space = ["closure_space/a.py", "closure_space/b/c.py"]
    assert ["closure_alone.py", "closure_next.py", *OTHER, *space] == found(root, "closure_alone")


def test_a_folder_without_init_is_a_package_too(root: Path) -> None:
    """At the top it is followed as any; inside a package it belongs, in doubt, to all that import the package."""
    assert ["closure_space/a.py", "closure_space/b/c.py"] == found(root, "closure_space.a")
    assert "closure_other/deep/inner.py" in found(root, "closure_other.y")


def test_the_named_modules_are_told_apart(root: Path) -> None:
    """They are a stage's own; what they import is shared."""
    _, own = closures({"a": ["closure_shop.money", "closure_next"]}, root)["a"]
    assert {"closure_shop/money.py", "closure_next.py"} == {f.relative_to(root).as_posix() for f in own}


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("closure_shop.nothing", "there is no module 'closure_shop.nothing'"),
        ("closure_nowhere", "there is no module 'closure_nowhere'"),
        ("closure_alone.inner", "there is no module 'closure_alone.inner'"),
        ("sqlalchemy", "is outside the project"),
        ("json", "is outside the project"),
        ("sys", "is outside the project"),
    ],
)
def test_a_module_that_cannot_be_followed_is_refused(root: Path, module: str, said: str) -> None:
    """A typing error would otherwise leave its stage out without a word."""
    with pytest.raises(UsageError, match=said):
        found(root, module)


@pytest.mark.parametrize("file", ["closure_shop/money.py", "closure_next.py"])
def test_code_that_cannot_be_read_is_refused(root: Path, file: str) -> None:
    """What it imports is not known."""
    (root / file).write_text("def (:\n", "utf-8")
    with pytest.raises(UsageError, match="cannot be read"):
        found(root, "closure_shop.stages.order", "closure_alone")
