"""Parts of others: a judge, a provider, an adapter and a reporter, by `module:attribute` or by entry point."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.projects import ROOT, Project, Ran

BOT = 'def reply(text):\n    return "hello, what is your name?"\n'
PARTS = '''\
"""Parts that a user wrote beside their settings."""
from evalrun.interfaces.models import Finish, ModelReply
from evalrun.results import Judgement
from evalrun.style import Finding, Severity
from evalrun.usage import Tokens


class Names:
    """A judge: the agent must say its name."""

    name = "names"
    version = "1"
    deterministic = True

    def __init__(self, setup):
        self.wanted = setup.options.get("wanted", "evalbot")

    def watch(self, case):
        return None

    async def judge(self, case):
        said = " ".join(b.text for t in case.transcript.turns for b in t.said)
        found = () if self.wanted in said else (
            Finding(rule="says-its-name", severity=Severity.HARD, message=f"never says {self.wanted}", quote=said),
        )
        return Judgement(
            judge=self.name, version=self.version, deterministic=True, gates=True, findings=found,
            code="says-its-name" if found else "pass", reason="does not say its name" if found else "says it",
        )


class Echo:
    """A provider: says what it was asked."""

    local = True

    def __init__(self, setup):
        self.name = setup.name

    async def start(self):
        pass

    async def complete(self, request, timeout):
        return ModelReply(text="echo of " + request.messages[-1].content, finish=Finish.STOP, tokens=Tokens())

    async def close(self):
        pass


class Parrot:
    """A target of an adapter of one's own: everything is there."""

    capabilities = frozenset()
    tools = None
    isolation = "instance"

    def __init__(self, setup):
        from evalrun.interfaces.targets import Settle
        self.settle = Settle()
        self.word = setup.options["word"]

    async def setup(self, suite): ...
    async def migrate(self, database): ...
    async def open(self, session): ...
    async def dispatch(self, session, event): ...
    async def advance(self, session, now): ...
    async def state(self, session): return {}
    async def idle(self, session): return True
    async def close(self, session): ...
    async def teardown(self): ...

    async def handle(self, session, inbound):
        session.emit(f"{self.word} {inbound.text}")


class Lines:
    """A reporter: one line."""

    def __init__(self, out, options):
        self.out = out

    def started(self, header): ...
    def progress(self, progress): ...
    def trial(self, result): ...
    def notice(self, line): ...
    def close(self): ...

    def finished(self, run):
        self.out.write(" ".join(f"{s.id}={s.verdict}" for s in run.scenarios) + "\\n")
        self.out.flush()
'''


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project of one bot with parts of its own beside it; no model is called."""
    made = Project(root=tmp_path).fill(BOT, rubric="")
    made.write("parts.py", PARTS)
    return made


def evalrun(project: Project, *words: str) -> Ran:
    """The installed command, which does not have the current folder on its path as `python -m` has."""
    command = Path(sys.executable).with_name("evalrun")
    environ = {"PATH": "/usr/bin:/bin", **project.environ}
    done = subprocess.run(
        [str(command), *words], cwd=project.root, env=environ, capture_output=True, text=True, check=False
    )
    return Ran(code=done.returncode, out=done.stdout, err=done.stderr)


def set_up(project: Project, first: str, last: str = "") -> None:
    """Settings with a line of their own at the top and at the end."""
    settings = (project.root / "evalrun.toml").read_text("utf-8")
    project.write("evalrun.toml", f"{first}\n{settings}{last}")


@pytest.mark.parametrize(("wanted", "code"), [("evalbot", 1), ("hello", 0)])
def test_a_judge_of_ones_own_decides(project: Project, wanted: str, code: int) -> None:
    """It gets its options, its findings fail the trial, and its reason is shown."""
    options = f'[judge.options."parts:Names"]\nwanted = "{wanted}"\n'
    set_up(project, 'judges = ["rules", "expectations", "parts:Names"]', options)
    done = evalrun(project, "run")
    assert code == done.code, done.out + done.err
    assert ("never says evalbot" in done.out) is (code == 1)


def test_a_provider_of_ones_own_answers(project: Project) -> None:
    """A model of it is named like any other."""
    project.write(
        "my_bot.py",
        "from evalrun.interfaces.models import Message\n"
        "async def reply(session, inbound):\n"
        "    asked = [Message(role='user', content=inbound.text)]\n"
        "    return (await session.model.complete(asked, max_output_tokens=9)).text\n",
    )
    set_up(project, "")
    settings = (project.root / "evalrun.toml").read_text("utf-8")
    settings = settings.replace('agent = "compatible:agent-1"', 'agent = "echo:any"')
    project.write("evalrun.toml", settings + '[providers.echo]\nkind = "parts:Echo"\n')
    project.write(
        "scenarios/hello.yaml",
        (project.root / "scenarios/hello.yaml").read_text() + "expect: {text: {present: [echo of hello]}}\n",
    )
    done = evalrun(project, "run")
    assert 0 == done.code, done.out + done.err


def test_an_adapter_of_ones_own_plays(project: Project) -> None:
    """It is made with the options of its target."""
    set_up(project, "", 'adapter = "parts:Parrot"\n[targets.bot.options]\nword = "squawk"\n')
    project.write(
        "scenarios/hello.yaml",
        (project.root / "scenarios/hello.yaml").read_text() + "expect: {text: {present: [squawk hello]}}\n",
    )
    done = evalrun(project, "run")
    assert 0 == done.code, done.out + done.err


def test_a_reporter_of_ones_own_reports(project: Project) -> None:
    """By name on the command line."""
    done = evalrun(project, "run", "--format", "parts:Lines")
    assert (0, "hello=pass\n") == (done.code, done.out), done.err


def test_an_installed_part_is_reached_by_its_name(project: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A package that offers an entry point is found without a change to the settings' path."""
    site = tmp_path_factory.mktemp("site")
    shutil.copy(project.root / "parts.py", site / "team_parts.py")
    info = site / "team_parts-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: team-parts\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[evalrun.reporters]\nlines = team_parts:Lines\n", "utf-8")
    project.environ["PYTHONPATH"] = f"{site}:{ROOT}"
    done = evalrun(project, "run", "--format", "lines")
    assert (0, "hello=pass\n") == (done.code, done.out), done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--format", "parts:Nothing"), "parts must define Nothing"),
        (("--format", "no_such:Thing"), "cannot import no_such"),
        (("--format", "markdwon"), "did you mean 'markdown'?"),
    ],
)
def test_a_part_that_is_not_there_is_one_line(project: Project, words: tuple[str, ...], said: str) -> None:
    """With exit code 2, before anything is run."""
    done = evalrun(project, "run", *words)
    assert 2 == done.code
    assert said in done.err
    assert "Traceback" not in done.err
