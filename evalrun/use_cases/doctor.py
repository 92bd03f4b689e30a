"""Look at a project and its surroundings: what would keep it from running, and what could spend by accident.

Nothing is spent, and nothing is started that stays.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from evalrun import changes, plugins
from evalrun.config import EMBEDDED_MODEL, Settings
from evalrun.errors import EvalrunError, FileProblems, MissingKey, NoMergeBase, NotAskedFor
from evalrun.loading.settings import Overrides, load_settings
from evalrun.loading.suite import read_all
from evalrun.redaction import Redactor
from evalrun.usage import Role
from evalrun.use_cases.doctor_paths import Follower, Way, git_says, hooks
from evalrun.use_cases.doctor_workflows import Player, read_workflows
from evalrun.use_cases.wiring import make_server, make_target, provider_faults, store_place

DATABASE_SECONDS = 15.0
BASES = ("origin/main", "origin/master", "main", "master")
"""What a change is usually compared with."""


class Standing(StrEnum):
    """How one thing stands. `warn`: it works, but something is missing or risky."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at, what was found, and the cure where it is not right."""

    standing: Standing
    area: str
    found: str
    cure: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Where to look and with what. `base` is a reference that changes are compared with, "" for the usual ones."""

    start: Path
    environ: Mapping[str, str]
    profile: str = ""
    base: str = ""


def examine(question: Question) -> tuple[Check, ...]:
    """All checks, each with its secrets hidden."""
    found: list[Check] = []
    settings: Settings | None = None
    try:
        settings = load_settings(question.start, Overrides(profile=question.profile), question.environ)
    except EvalrunError as e:
        found.append(_failed("settings", e))
    root = settings.root if settings else question.start
    redactor = Redactor.from_environ(
        question.environ, [t.database for t in settings.targets.values()] if settings else ()
    )
    if settings is not None:
        plugins.look_in(settings.root)
        found += _of_project(settings, question)
    found += _of_git(root, question)
    paid = settings is None or bool(paid_roles(settings, question.environ))
    found += of_hooks(root, paid=paid)
    found += of_workflows(root, paid=paid, capped=settings is not None and settings.budget_usd is not None)
    return tuple(replace(c, found=redactor.text(c.found), cure=redactor.text(c.cure)) for c in found)


def paid_roles(settings: Settings, environ: Mapping[str, str]) -> tuple[Role, ...]:
    """The roles whose model may cost money, with or without a key at hand."""
    with tempfile.TemporaryDirectory(prefix="evalrun-") as folder:
        faults = provider_faults(settings, environ, Path(folder))
    return tuple(r for r, e in faults.items() if isinstance(e, (MissingKey, NotAskedFor)))


def _of_project(settings: Settings, question: Question) -> Iterator[Check]:
    profile = f", profile {settings.profile}" if settings.profile else ""
    yield Check(standing=Standing.OK, area="settings", found=f"{settings.file}{profile}, target {settings.target}")
    loaded = read_all(settings)
    problems = loaded.problems.found
    if problems:
        more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        yield Check(standing=Standing.FAIL, area="files", found=f"{problems[0]}{more}", cure="run: evalrun validate")
    else:
        yield Check(standing=Standing.OK, area="files", found=f"{len(loaded.files)} files, no problem")
    yield from _of_models(settings, question.environ)
    yield _tried("target", f"{settings.target} can be connected", lambda: make_target(settings))
    yield from _of_database(settings, question.environ)
    yield _of_store(settings)
    if settings.budget_usd is None and paid_roles(settings, question.environ):
        cure = 'set budget_usd = "0.50" in the settings, or EVAL_USD_BUDGET'
        yield Check(standing=Standing.WARN, area="budget", found="a model may cost money and no cap is set", cure=cure)


def _of_models(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    """Each role's model: whether it can be reached, and whether its key is there, by name only."""
    with tempfile.TemporaryDirectory(prefix="evalrun-") as folder:
        faults = provider_faults(settings, environ, Path(folder))
        # without any variable a provider says which one its key comes from
        named = provider_faults(settings, {}, Path(folder))
    for role in Role:
        model, fault = settings.models[role], faults.get(role)
        key = named.get(role)
        variable = key.short.rpartition("(")[2].rstrip(")") if isinstance(key, MissingKey) else ""
        found = f"{role} {model}"
        if isinstance(fault, MissingKey):
            cure = f"set {variable}; until then scenarios that need it are not run"
            yield Check(standing=Standing.WARN, area="key", found=f"{found}: {variable} is not set", cure=cure)
        elif fault is not None and not isinstance(fault, NotAskedFor):
            yield _failed("model", fault, found)
        elif variable:
            yield Check(standing=Standing.OK, area="key", found=f"{found}: {variable} is set")
        else:
            free = ", free and offline" if model == EMBEDDED_MODEL else ", no key needed"
            yield Check(standing=Standing.OK, area="model", found=f"{found}{free}")


def _of_database(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    location = settings.targets[settings.target].database if settings.target in settings.targets else ""
    if not location:
        yield Check(standing=Standing.OK, area="database", found="the target has none")
        return
    with tempfile.TemporaryDirectory(prefix="evalrun-") as folder:
        if location == "embedded":
            found = "embedded: the programs of Postgres are there"
            yield _tried("database", found, lambda: make_server(settings, "doctor", environ, Path(folder)))
        else:
            yield _tried("database", "the server answers", lambda: _reach(settings, environ, Path(folder)))


def _reach(settings: Settings, environ: Mapping[str, str], tmp: Path) -> None:
    """Open the server and let go of it. Raises DatabaseFailed."""

    async def knock() -> None:
        server = make_server(settings, "doctor", environ, tmp)
        assert server is not None
        async with asyncio.timeout(DATABASE_SECONDS):
            try:
                await server.start()
            finally:
                await server.close()

    asyncio.run(knock())


def _of_store(settings: Settings) -> Check:
    kind, location = store_place(settings)
    if kind != "sqlite":
        return Check(standing=Standing.OK, area="history", found=f"{kind}, not contacted")
    path = Path(location)
    nearest = next(p for p in (path, *path.parents) if p.exists())
    found = f"{path.relative_to(settings.root) if path.is_relative_to(settings.root) else path}"
    if writable(nearest):
        return Check(standing=Standing.OK, area="history", found=found)
    return Check(
        standing=Standing.FAIL, area="history", found=f"{found} cannot be written", cure=f"correct rights of {nearest}"
    )


def writable(path: Path) -> bool:
    """Whether a file, or files in a folder, can be written by this user."""
    try:
        with tempfile.TemporaryFile(dir=path) if path.is_dir() else path.open("ab"):
            return True
    except OSError:
        return False


def _of_git(root: Path, question: Question) -> Iterator[Check]:
    if git_says(root, "rev-parse", "--is-inside-work-tree") != "true":
        cure = "git init, or run without --changed-since"
        yield Check(standing=Standing.WARN, area="git", found="no repository: changes cannot be told", cure=cure)
        return
    if git_says(root, "rev-parse", "--is-shallow-repository") == "true":
        cure = "git fetch --unshallow; in a workflow: fetch-depth: 0"
        yield Check(standing=Standing.WARN, area="git", found="the clone is shallow", cure=cure)
    asked = question.base or _pull_request_base(question.environ)
    base = asked or next((b for b in BASES if git_says(root, "rev-parse", "--verify", "--quiet", b)), "")
    if not base:
        cure = "git fetch origin main, or name it: evalrun doctor --base REF"
        yield Check(
            standing=Standing.WARN, area="git", found=f"none of {', '.join(BASES)} is here to compare with", cure=cure
        )
        return
    try:
        found = changes.changed_since(root, base)
    except NoMergeBase as e:
        standing = Standing.FAIL if asked else Standing.WARN
        yield Check(standing=standing, area="git", found=e.message, cure=e.remedy)
        return
    yield Check(standing=Standing.OK, area="git", found=f"{len(found.found)} files {found.line}")


def _pull_request_base(environ: Mapping[str, str]) -> str:
    branch = environ.get("GITHUB_BASE_REF", "")
    return f"origin/{branch}" if branch else ""


def of_hooks(root: Path, *, paid: bool) -> Iterator[Check]:
    """Whether a hook plays scenarios: that must cost nothing."""
    looked = list(hooks(root))
    ways = [w for name, text in looked for w in Follower(root=root).ways(name, text)]
    for way in ways:
        costs = spends(way, paid=paid)
        yield Check(
            standing=Standing.FAIL if costs else Standing.WARN,
            area="hooks",
            found=f"{way}{' may spend money' if costs else ' plays scenarios'} at every commit or push",
            cure="take it out; let a workflow play scenarios, behind the tests" if costs else "keep hooks short",
        )
    if not ways:
        yield Check(
            standing=Standing.OK, area="hooks", found=f"{_counted(len(looked), 'hook file')}, none plays scenarios"
        )


def spends(way: Way, *, paid: bool) -> bool:
    """Whether a command may spend: by the settings, or by what it says itself."""
    if "--budget 0" in f"{way.line} " and "--budget 0." not in way.line:
        return False
    own = "--model" in way.line and "=local:" not in way.line
    return paid or own or "--profile" in way.line or "EVALRUN_PAID=allow" in way.line


def of_workflows(root: Path, *, paid: bool, capped: bool) -> Iterator[Check]:
    """Whether a workflow lets strangers spend, or spends before the free tests have passed."""
    found = read_workflows(root)
    for name in found.unread:
        cure = "correct its YAML, then look again"
        yield Check(standing=Standing.WARN, area="workflows", found=f"{name} cannot be read", cure=cure)
    faults = [c for p in found.players for c in _faults_of(p, paid=paid, capped=capped)]
    yield from faults
    if not faults:
        playing = ", ".join(p.name for p in found.players) or "none"
        said = f"{_counted(len(found.files), 'file')}; scenarios are played by {playing}"
        yield Check(standing=Standing.OK, area="workflows", found=said)


def _faults_of(player: Player, *, paid: bool, capped: bool) -> Iterator[Check]:
    def check(standing: Standing, found: str, cure: str) -> Check:
        return Check(standing=standing, area="workflows", found=f"{player.name}: {found}", cure=cure)

    for trigger in player.strangers:
        said = f"{trigger} gives secrets and rights to a run that a stranger can start"
        yield check(Standing.FAIL, said, "trigger it by pull_request; forks then run without keys")
    for expression in dict.fromkeys(player.injected):
        said = f"{expression} in a script runs what a stranger writes"
        yield check(Standing.FAIL, said, 'pass it through env: and write "$NAME" in the script')
    costs = bool(player.keys) and any(spends(w, paid=paid) for w in player.ways)
    if not costs:
        return
    keys = ", ".join(player.keys)
    if not player.gated:
        yield check(
            Standing.WARN, f"spends ({keys}) before any test has passed", "add needs: with the job of the tests"
        )
    if not capped and not any("--budget" in w.line for w in player.ways):
        yield check(Standing.WARN, f"spends ({keys}) without a cap", "set budget_usd in the settings, or add --budget")
    for action in player.loose:
        yield check(
            Standing.WARN, f"{action} sees {keys} and is not pinned", "pin it by commit: uses: …@<40 hex digits>"
        )


def _tried(area: str, found: str, work: Callable[[], object]) -> Check:
    try:
        work()
    except EvalrunError as e:
        return _failed(area, e)
    except TimeoutError:
        return Check(
            standing=Standing.FAIL,
            area=area,
            found=f"no answer within {DATABASE_SECONDS:g} s",
            cure="look at its address and at what is between",
        )
    return Check(standing=Standing.OK, area=area, found=found)


def _failed(area: str, error: EvalrunError, what: str = "") -> Check:
    message = error.lines()[0] if isinstance(error, FileProblems) else str(error)
    return Check(standing=Standing.FAIL, area=area, found=f"{what}: {message}" if what else message, cure=error.remedy)


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
