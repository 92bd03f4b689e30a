"""Patterns of paths: whole names, folders, wildcards, and what is refused."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalrun.errors import UsageError
from evalrun.path_patterns import composed, read_pattern


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("prompts/pricing.md", "prompts/pricing.md", True),
        ("./prompts/pricing.md", "prompts/pricing.md", True),
        ("prompts", "prompts/deep/pricing.md", True),
        ("prompts/", "prompts/pricing.md", True),
        ("personas/presse", "personas/presse2.yaml", False),
        ("personas/presse.yaml", "personas/presse2.yaml", False),
        ("foo", "foo-bar/x", False),
        ("foo", "foo.py", False),
        ("foo", "a/foo", False),
        ("*.py", "a.py", True),
        ("*.py", "a/b.py", False),
        ("**/*.py", "a/b.py", True),
        ("**/*.py", "b.py", True),
        ("a/**", "a/b/c.py", True),
        ("a/**", "a-b/c.py", False),
        ("a/**/c.py", "a/c.py", True),
        ("a/**/c.py", "a/x/y/c.py", True),
        ("a/**/c.py", "a/x/y/cc.py", False),
        ("a?.py", "ab.py", True),
        ("a[bc].py", "ac.py", True),
        ("a[!bc].py", "ac.py", False),
        ("a[0-9].py", "a7.py", True),
        ("a[.py", "a[.py", True),
        ("../shared/*.md", "../shared/x.md", True),
        ("a.b", "aXb", False),
        (unicodedata.normalize("NFD", "é/*.md"), "é/x.md", True),
    ],
)
def test_a_pattern_stands_for_whole_names(pattern: str, path: str, matches: bool) -> None:
    """A prefix of a name is another name (B41)."""
    assert matches == read_pattern(pattern).matches(path)


@pytest.mark.parametrize(
    ("pattern", "folder", "may"),
    [
        ("vendor/lib/prompts/*.md", "vendor/lib", True),
        ("vendor/**", "vendor/lib", True),
        ("**/*.md", "vendor/lib", True),
        ("vendor/lib", "vendor/lib", True),
        ("vendor/lib/a.md", "vendor/lib", True),
        ("vendor", "vendor/lib", True),
        ("vendor/other/*.md", "vendor/lib", False),
        ("vendor/lib2/a.md", "vendor/lib", False),
    ],
)
def test_a_folder_of_which_no_more_is_known_may_hold_a_match(pattern: str, folder: str, may: bool) -> None:
    """In doubt, run."""
    assert may == read_pattern(pattern).may_match_in(folder)


@pytest.mark.parametrize("pattern", ["/etc/passwd", "!a.md", "a\\b", "a/{b,c}.md"])
def test_a_pattern_that_would_match_nothing_is_refused(pattern: str) -> None:
    """With the way to write it."""
    with pytest.raises(UsageError, match="is not read"):
        read_pattern(pattern)


NAMES = st.text(st.characters(blacklist_characters="/\0*?[]\\{}!", blacklist_categories=["Cs"]), min_size=1).filter(
    lambda t: t.strip() == t and t not in (".", "..")
)


@given(st.lists(NAMES, min_size=1, max_size=5))
def test_a_path_is_its_own_pattern(names: list[str]) -> None:
    """And every folder above it stands for it, and `**` does."""
    path = composed("/".join(names))
    folders = ["/".join(names[: i + 1]) for i in range(len(names))]
    assert all(
        read_pattern(f).matches(path)
        for f in [*folders, "**", f"{names[0]}/**", "**/*"]
        if f != f"{path}/**" or len(names) > 1
    )
