"""Workflows of the CI service: which play scenarios, who can start them, with what keys, and behind what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalrun.errors import FileProblems
from evalrun.loading.nodes import Node, NodeKind
from evalrun.loading.yaml_nodes import read_yaml
from evalrun.use_cases.doctor_paths import Follower, Way

FOLDER = Path(".github/workflows")
STRANGERS = ("pull_request_target", "issue_comment", "issues", "discussion", "discussion_comment", "workflow_run")
"""Triggers that hand secrets to a run which a stranger can start."""
_SECRET = re.compile(r"\bsecrets\.(\w+)")
_EXPRESSION = re.compile(r"\$\{\{[^}]*\b(github\.event\b|github\.head_ref\b|inputs\.)[^}]*\}\}")
_SHA = re.compile(r"@[0-9a-f]{40}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Player:
    """A job that plays scenarios. `keys` are names of secrets it is given, `loose` actions that are not pinned."""

    file: str
    job: str
    ways: tuple[Way, ...]
    triggers: tuple[str, ...]
    keys: tuple[str, ...]
    gated: bool
    loose: tuple[str, ...]
    injected: tuple[str, ...]

    @property
    def name(self) -> str:
        """`ci.yml: play`."""
        return f"{self.file}: {self.job}"

    @property
    def strangers(self) -> tuple[str, ...]:
        """Its triggers that are dangerous."""
        return tuple(t for t in self.triggers if t in STRANGERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflows:
    """All workflow files, the jobs that play scenarios, and files that cannot be read."""

    files: tuple[str, ...] = ()
    players: tuple[Player, ...] = ()
    unread: tuple[str, ...] = ()


def read_workflows(root: Path) -> Workflows:
    """The workflows of a project."""
    folder = root / FOLDER
    paths = sorted(p for p in folder.glob("*.y*ml") if p.suffix in (".yml", ".yaml")) if folder.is_dir() else []
    players: list[Player] = []
    unread: list[str] = []
    for path in paths:
        try:
            whole = plain(read_yaml(path.read_bytes(), path.name))
        except (FileProblems, OSError):
            unread.append(path.name)
            continue
        players += _players(root, path.name, whole if isinstance(whole, dict) else {})
    return Workflows(files=tuple(p.name for p in paths), players=tuple(players), unread=tuple(unread))


def plain(node: Node) -> Any:
    """A node as dictionaries, lists and texts."""
    if node.kind is NodeKind.MAPPING:
        return {key.text: plain(value) for key, value in node.pairs}
    return [plain(item) for item in node.items] if node.kind is NodeKind.LIST else node.text


def _players(root: Path, file: str, whole: Mapping[str, Any]) -> Iterator[Player]:
    jobs = whole.get("jobs")
    for name, job in jobs.items() if isinstance(jobs, dict) else ():
        if not isinstance(job, dict):
            continue
        steps = [s for s in job.get("steps") or () if isinstance(s, dict)]
        runs = [str(s.get("run", "")) for s in steps]
        follower = Follower(root=root)
        ways = tuple(w for run in runs for w in follower.ways(file, run))
        if not ways:
            continue
        uses = [str(s["uses"]) for s in steps if "uses" in s]
        secrets = dict.fromkeys(_SECRET.findall(f"{whole.get('env')} {job}"))
        yield Player(
            file=file,
            job=name,
            ways=ways,
            triggers=_triggers(whole.get("on")),
            keys=tuple(k for k in secrets if k != "GITHUB_TOKEN"),
            gated=bool(job.get("needs")),
            loose=tuple(u for u in uses if not u.startswith(("./", "docker://")) and not _SHA.search(u)),
            injected=tuple(found[0] for run in runs for found in _EXPRESSION.finditer(run)),
        )


def _triggers(on: object) -> tuple[str, ...]:
    if isinstance(on, str):
        return (on,)
    return tuple(str(t) for t in on) if isinstance(on, (list, dict)) else ()
