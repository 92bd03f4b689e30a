"""`evalrun clean` on the command line."""

from __future__ import annotations

import typer
from typer.testing import CliRunner

from evalrun.cli import clean
from evalrun.errors import DatabaseFailed


def invoke(folder, monkeypatch, **environ):
    """Run the command in a folder."""
    app = typer.Typer(pretty_exceptions_enable=False)
    clean.register(app)
    app.command("other")(lambda: None)
    monkeypatch.chdir(folder)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    return CliRunner().invoke(app, ["clean"])


def test_what_was_removed_is_said(tmp_path, monkeypatch):
    """Each place is one line; having nothing to remove is a success."""
    done = invoke(tmp_path, monkeypatch)
    assert done.exit_code == 0, done.output
    assert done.output.startswith("the embedded Postgres: ")
    assert done.output.endswith("of dead runs removed\n")


def test_a_place_that_was_not_reached_is_an_error(tmp_path, monkeypatch):
    """A server that does not answer ends with its error after the others were cleaned: never a silent success."""
    (tmp_path / "evalrun.toml").write_text(
        'target = "bot"\n[targets.bot]\nentry = "bot:reply"\ndatabase = "${TEAM_DSN}"\n'
    )
    done = invoke(tmp_path, monkeypatch, TEAM_DSN="postgresql://u:hunter2-secret@127.0.0.1:1/x")
    assert isinstance(done.exception, DatabaseFailed)
    assert ("of dead runs removed" in done.output, "hunter2" in done.output) == (True, False)
