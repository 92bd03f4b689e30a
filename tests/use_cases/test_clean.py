"""Removing what killed runs left, in every place a project may have used."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import pytest

from evalrun.databases import cluster_folders
from evalrun.errors import FileProblems
from evalrun.use_cases.clean import clean
from tests.databases.test_server import CHILD, databases_of

TOML = """
target = "bot"
[targets.bot]
entry = "bot:reply"
database = "${TEAM_DSN}"
[targets.other]
entry = "bot:reply"
database = "embedded"
"""


def killed_run(dsn, run):
    """Databases of a run that was killed."""
    child = subprocess.Popen([sys.executable, "-c", CHILD, dsn, run], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline().strip() == "ready"
    child.kill()
    child.wait()
    child.stdout.close()


def test_b66_leftovers_on_a_server_and_of_clusters_are_removed(cluster, tmp_path):
    """Both places are cleaned and counted; what lives stays, and a second time nothing is left."""
    (tmp_path / "evalrun.toml").write_text(TOML)
    killed_run(cluster.dsn, "left-behind")
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    folder = cluster_folders.base() / f"evalrun-pg-{child.pid}-1-test"
    folder.mkdir()
    environ = {**os.environ, "TEAM_DSN": cluster.dsn}
    first = {c.place: c for c in asyncio.run(clean(tmp_path, environ))}
    again = {c.place: c for c in asyncio.run(clean(tmp_path, environ))}
    assert set(first) == {"the embedded Postgres", "the server of target bot"}
    assert first["the server of target bot"].removed >= 2
    assert first["the embedded Postgres"].removed >= 1
    assert str(again["the server of target bot"]) == "the server of target bot: 0 leftovers of dead runs removed"
    assert asyncio.run(databases_of(cluster.dsn, "left-behind")) == []
    assert (folder.exists(), (cluster.folder / "data").exists()) == (False, True)
    assert asyncio.run(databases_of(cluster.dsn, f"tests-{os.getpid()}"))


def test_a_server_that_does_not_answer_is_told_and_the_rest_is_cleaned(tmp_path):
    """A place that cannot be reached is a line of its own, without the password."""
    (tmp_path / "evalrun.toml").write_text(TOML)
    environ = {**os.environ, "TEAM_DSN": "postgresql://u:hunter2-secret@127.0.0.1:1/x"}
    cleaned = asyncio.run(clean(tmp_path, environ))
    embedded, server = sorted(cleaned, key=lambda c: c.place)
    assert (embedded.problem, "no Postgres answers at 127.0.0.1:1/x" in str(server)) == (None, True)
    assert "hunter2" not in str(server)


def test_without_settings_the_embedded_postgres_is_cleaned(tmp_path):
    """Outside a project only clusters are looked for, on the path too; nothing has to be set up for that."""
    (only,) = asyncio.run(clean(tmp_path, os.environ))
    assert (only.place, only.problem) == ("the embedded Postgres", None)


def test_settings_that_cannot_be_read_are_told(tmp_path):
    """A variable that is not set is told rather than passed over: its server may hold leftovers."""
    (tmp_path / "evalrun.toml").write_text(TOML)
    with pytest.raises(FileProblems) as failed:
        asyncio.run(clean(tmp_path, {"PATH": os.environ["PATH"]}))
    assert "TEAM_DSN" in "\n".join(failed.value.lines())
