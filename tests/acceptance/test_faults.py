"""What goes wrong around a run: each fault one line with its cure, the right exit code, nothing lost."""

from __future__ import annotations

import signal
import sqlite3
from pathlib import Path

import pytest

from tests.acceptance.projects import Project, interrupt_after, judge_says
from tests.scripted_server import ScriptedServer

BOT = 'def reply(text):\n    return "hello"\n'


def project(tmp_path: Path, bot: str = BOT, **more: str) -> Project:
    """A project without a rubric: no model is called."""
    return Project(root=tmp_path).fill(bot, rubric="", **more)


@pytest.mark.parametrize(
    ("bot", "code", "outcome", "reason"),
    [
        ("def reply(text):\n    return ['one?', 'two?']\n", 1, "fail", "one-question"),
        ("def reply(text):\n    return 'hello {name}'\n", 1, "fail", "no-placeholders"),
        ("def reply(text):\n    return None\n", 1, "fail", "empty_reply"),
        ("def reply(text):\n    return '\\u200b '\n", 1, "fail", "empty_reply"),
        ("def reply(text):\n    raise RuntimeError('db down')\n", 3, "error", "target"),
        ("def reply(session, inbound):\n    session.emit('psst', to='+33600')\n", 1, "fail", "wrong_recipient"),
        ("import time\ndef reply(text):\n    time.sleep(30)\n", 3, "error", "agent_timeout"),
        (
            "async def reply(text):\n    while True:\n        import asyncio; await asyncio.sleep(1)\n",
            3,
            "error",
            "agent_timeout",
        ),
        ("def reply(text):\n    return {'text': 'x'}\n", 3, "error", "target"),
    ],
)
def test_a_broken_bot(tmp_path: Path, bot: str, code: int, outcome: str, reason: str) -> None:
    """B19, B20: questions, placeholders, silence, an exception, a wrong recipient, an endless turn, a bad return."""
    made = project(tmp_path, bot, settings="[timeouts]\nturn = 1\n")
    done = made.run("run", "--format", "json", seconds=20)
    trial = done.trial()
    assert (done.code, trial["outcome"], trial["code"]) == (code, outcome, reason)
    assert "Traceback" not in done.err


def test_an_exception_keeps_its_traceback_for_the_report(tmp_path: Path) -> None:
    """B19: the report says where the agent broke."""
    made = project(tmp_path, "def reply(text):\n    raise RuntimeError('db down')\n")
    trial = made.run("run", "--format", "json").trial()
    assert "RuntimeError: db down at my_bot.py:2 in turn 1" in trial["reason"]
    assert "Traceback" in trial["detail"]


def test_no_tool_record_is_an_error_and_not_a_pass(tmp_path: Path) -> None:
    """B24: `not_called` cannot hold when nobody saw tool calls."""
    made = project(tmp_path)
    made.write(
        "scenarios/hello.yaml",
        "title: t\ncategory: action\npersona: ana\nobjective: o\nsteps: [{user: hi}]\n"
        "expect: {tools: {not_called: [delete_client]}}\n",
    )
    done = made.run("run", "--format", "json")
    assert (done.code, done.trial()["outcome"], done.trial()["code"]) == (3, "error", "expectation_broken")


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        ({"my_bot.py": "import not_there\n"}, 2, "not_there"),
        ({"my_bot.py": "def other(): ...\n"}, 2, "has no 'reply'"),
        ({"my_bot.py": "1/0\n"}, 2, "ZeroDivisionError"),
        ({"scenarios/hello.yaml": "title: [x\n"}, 2, "scenarios/hello.yaml:"),
        ({"scenarios/hello.yaml": "assert: {}\n"}, 2, "`assert` does not belong in `scenario`; it is called `expect`"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(tmp_path: Path, change: dict[str, str], code: int, said: str) -> None:
    """Files and settings that cannot be used: named, with a place or a cure; nothing runs."""
    made = project(tmp_path)
    for path, text in change.items():
        made.write(path, text)
    done = made.run("run")
    assert (done.code, "Traceback" in done.err, said in done.err) == (code, False, True), done.err


def test_an_unknown_scenario_is_a_usage_error_with_the_nearest_name(tmp_path: Path) -> None:
    """Zero matches for an explicit name never pass."""
    done = project(tmp_path).run("run", "helo")
    assert done.code == 2
    assert "did you mean 'hello'" in done.err


def test_a_dead_dsn_is_one_line_without_its_password(tmp_path: Path) -> None:
    """B49: the address is shown, the password is not."""
    made = project(tmp_path)
    text = (tmp_path / "evalrun.toml").read_text("utf-8")
    made.write("evalrun.toml", text + 'database = "${PG_URL}"\n')
    made.environ["PG_URL"] = "postgresql://app:s3cr3t%40x@127.0.0.1:9/agent"
    done = made.run("run")
    assert (done.code, "s3cr3t" in done.err + done.out) == (3, False)
    assert "127.0.0.1:9" in done.err


def test_secrets_are_hidden_everywhere(tmp_path: Path) -> None:
    """B49: the agent says a key; no report and no history holds it."""
    made = project(tmp_path, "def reply(text):\n    return 'my key is sk-test-0123456789abcdef'\n")
    made.environ["OPENAI_API_KEY"] = "sk-test-0123456789abcdef"
    for form in ("table", "markdown", "json"):
        done = made.run("run", "--format", form)
        assert "sk-test-0123456789" not in done.out + done.err
    history = (tmp_path / ".evalrun" / "history.db").read_bytes()
    assert b"sk-test-0123456789" not in history


def test_a_history_that_cannot_be_written_loses_nothing(tmp_path: Path) -> None:
    """The report is whole, the trials are kept beside it, and the user is told."""
    made = project(tmp_path)
    made.write(".evalrun/history.db/in-the-way", "a folder where a file should be\n")
    done = made.run("run")
    assert done.code == 0
    assert "cannot be used" in done.out
    assert (tmp_path / ".evalrun" / "history.jsonl").read_text("utf-8").count('"hello"') >= 1


SLOW = 'import time\ndef reply(text):\n    time.sleep(0.6)\n    return "hello"\n'


def six(tmp_path: Path) -> Project:
    """Six slow scenarios."""
    made = project(tmp_path, SLOW)
    (tmp_path / "scenarios" / "hello.yaml").unlink()
    for i in range(6):
        made.write(
            f"scenarios/s{i}.yaml", "title: t\ncategory: action\npersona: ana\nobjective: o\nsteps: [{user: hi}]\n"
        )
    return made


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_b33_an_interruption_keeps_what_is_finished(tmp_path: Path, number: signal.Signals, code: int) -> None:
    """Finished trials are stored and reported, the rest is not run; --resume plays exactly the rest."""
    made = six(tmp_path)
    process = made.start("run", "--concurrency", "2")
    out, err, _took = interrupt_after(process, 2, number)
    assert process.returncode == code, out + err
    assert "interrupted" in out
    with sqlite3.connect(tmp_path / ".evalrun" / "history.db") as history:
        kept = history.execute("select count(*) from evalrun_trials where outcome = 'pass'").fetchone()[0]
    history.close()
    assert 2 <= kept < 6
    resumed = made.run("run", "--resume", "--format", "json")
    assert resumed.code == 0, resumed.err
    with sqlite3.connect(tmp_path / ".evalrun" / "history.db") as history:
        total = history.execute("select count(*) from evalrun_trials where outcome = 'pass'").fetchone()[0]
    history.close()
    assert total == 6


def test_resume_plays_again_what_changed_and_says_why(tmp_path: Path) -> None:
    """B35: a pass under another scenario text does not count."""
    made = project(tmp_path)
    assert made.run("run").code == 0
    made.write("scenarios/hello.yaml", (tmp_path / "scenarios/hello.yaml").read_text("utf-8") + "tags: [new]\n")
    done = made.run("run", "--resume")
    assert done.code == 0
    assert "hello is played again: scenario changed" in done.out


def test_fail_fast_leaves_the_rest_not_run(tmp_path: Path) -> None:
    """The first failure ends the run; what was not played says so."""
    made = six(tmp_path)
    made.write("my_bot.py", "def reply(text):\n    return 'a? b?'\n")
    done = made.run("run", "--fail-fast", "--concurrency", "1", "--format", "json")
    outcomes = [t["outcome"] for s in done.report["scenarios"] for t in s["trials"]]
    assert (done.code, outcomes) == (1, ["fail"] + ["not_run"] * 5)


def test_a_simulated_user_that_speaks_as_the_assistant_is_invalid(tmp_path: Path) -> None:
    """B11: replayed once, then invalid and exit 3; the judge's nines do not rescue it."""

    def script(role: str, _body: object) -> str:
        if role == "persona":
            return '{"message": "Bonjour ! Comment puis-je vous aider aujourd\'hui ?", "done": false}'
        return str(judge_says(9, 9, 9, 9)(role, {}))

    with ScriptedServer(script) as server:
        made = Project(root=tmp_path, url=server.base_url).fill(BOT)
        made.write(
            "scenarios/hello.yaml",
            "title: t\ncategory: action\npersona: ana\nobjective: o\nsteps: [{persona: {turns: 3}}]\n",
        )
        done = made.run("run", "--judge-gate", "always", "--format", "json")
    scenario = done.report["scenarios"][0]
    assert (done.code, scenario["verdict"], len(scenario["trials"])) == (3, "invalid", 2)
    assert done.trial()["transcript"]["ending"] == "simulator_fault"


def test_b12_goodbyes_end_after_two_exchanges(tmp_path: Path) -> None:
    """Both sides keep thanking each other: it stops after two closing exchanges, not at twenty turns."""

    def script(role: str, _body: object) -> str:
        return '{"message": "merci beaucoup, à vous aussi !", "done": false}' if role == "persona" else "ok"

    with ScriptedServer(script) as server:
        made = Project(root=tmp_path, url=server.base_url).fill(
            "def reply(text):\n    return 'avec plaisir, bonne journée !'\n", rubric=""
        )
        made.write(
            "scenarios/hello.yaml",
            "title: t\ncategory: action\npersona: ana\nobjective: o\nsteps: [{persona: {turns: 20}}]\n",
        )
        done = made.run("run", "--format", "json")
        calls = server.calls("persona")
    assert done.trial()["transcript"]["ending"] == "goodbyes"
    assert calls < 6


def test_b13_done_with_a_message_gives_the_agent_one_more_turn(tmp_path: Path) -> None:
    """The yes is delivered, the tool is called, the expectation holds."""
    bot = (
        "class Bot:\n    tools = ['send_quote']\n"
        "    def handle(self, session, inbound):\n"
        "        if 'oui' in inbound.text:\n"
        "            session.tool('send_quote', {'amount': 4200})\n            return 'envoyé'\n"
        "        return 'vous confirmez ?'\nreply = Bot()\n"
    )
    drafts = iter(['{"message": "je veux le devis", "done": false}', '{"message": "oui, allez-y", "done": true}'])
    with ScriptedServer(lambda role, _body: next(drafts) if role == "persona" else "x") as server:
        made = Project(root=tmp_path, url=server.base_url).fill(bot, rubric="")
        made.write(
            "scenarios/hello.yaml",
            "title: t\ncategory: action\npersona: ana\nobjective: o\nsteps: [{persona: {turns: 5}}]\n"
            "expect: {tools: {called: [{name: send_quote, args: {amount: 4200}, times: 1}]}}\n",
        )
        done = made.run("run", "--format", "json")
    assert (done.code, done.trial()["transcript"]["ending"]) == (0, "persona_done")
