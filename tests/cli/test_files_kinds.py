"""The command line names the kinds of files itself, so that help loads no loader."""

from __future__ import annotations

from evalrun.cli import files
from evalrun.loading import schemas


def test_help_names_every_kind_of_file() -> None:
    """And no other."""
    assert tuple(schemas.KINDS) == files.KINDS
