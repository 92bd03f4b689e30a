"""What has changed since a reference, asked of the real git command line.

Everything between the merge base and the files as they are now: commits, staged, unstaged and
untracked. A rename is two changes, its old name and its new one. A reference that cannot be
compared with is an error and never an empty list.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from evalrun.errors import NoMergeBase
from evalrun.path_patterns import composed

GIT_SECONDS = 120
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SUBMODULE = "160000"
_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
"""What git tells its hooks, relative to where they were started: the folder itself says it as well."""
_QUIET = ("-c", "diff.autoRefreshIndex=true", "-c", "core.quotePath=false")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Change:
    """One path that changed, relative to the project with forward slashes ("../x" above it), in composed form.

    `folder`: git knows it as one thing only (a submodule, a repository inside), so anything in it may have changed.
    """

    path: str
    folder: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What changed since `reference`. `bases` are the commits compared with; `notices` tell of a fallback."""

    reference: str
    bases: tuple[str, ...]
    found: tuple[Change, ...]
    notices: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """What it was compared with, for people."""
        return f"changed since {self.reference} (merge base {', '.join(b[:10] for b in self.bases)})"


def changed_since(root: Path, reference: str) -> Changes:
    """What changed in a project since the merge base of a reference and HEAD.

    Raises NoMergeBase when there is nothing to compare with (no repository, no such reference,
    a shallow clone, histories without a common commit), each with its cure.
    """
    git = _Git(_program(), root)
    if not reference.strip() or "\0" in reference:
        raise NoMergeBase("--changed-since is empty", remedy="name a branch, a tag or a commit, such as origin/main")
    prefix = git.text("rev-parse", "--show-prefix", or_else=_no_repository(root, git)).rstrip("\n")
    top = git.text("rev-parse", "--show-toplevel", or_else=_no_repository(root, git)).rstrip("\n")
    git.root = Path(top)
    head = git.sha("HEAD^{commit}")
    if not head:
        raise NoMergeBase("this repository has no commit yet", remedy="commit first, or run without --changed-since")
    commit, notices = _resolved(git, reference)
    bases = tuple(git.text("merge-base", "--all", commit, head, or_else="").split())
    if not bases:
        raise _apart(git, reference)
    found: set[Change] = set()
    for base in bases:
        # what is staged counts also where the working tree was changed back: in doubt, run
        found |= set(_parsed(git.data("diff", *_DIFF, base, "--")))
        found |= set(_parsed(git.data("diff", *_DIFF, "--cached", base, "--")))
    found |= set(_untracked(git.data("ls-files", "--others", "--exclude-standard", "-z", "--full-name")))
    return Changes(
        reference=reference, bases=bases, found=tuple(sorted(_inside(found, prefix.rstrip("/")))), notices=notices
    )


def file_at(root: Path, commit: str, name: str) -> bytes | None:
    """A file of the project's folder as it was in a commit; None when it was not there."""
    git = _Git(_program(), root)
    done = git.run("cat-file", "blob", f"{commit}:./{name}")
    return done.stdout if done.returncode == 0 else None


_DIFF = (
    "--raw",
    "-z",
    "--no-abbrev",
    "--no-renames",
    "--no-relative",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--ignore-submodules=none",
)


class _Git:
    """The git program in one folder."""

    def __init__(self, program: str, root: Path) -> None:
        self.program = program
        self.root = root

    def run(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        """Run it. Raises NoMergeBase when it does not end."""
        environ = {k: v for k, v in os.environ.items() if k not in _PLACES}
        environ |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
        try:
            return subprocess.run(  # noqa: S603  fixed arguments, no shell
                [self.program, "-C", str(self.root), *_QUIET, *arguments],
                capture_output=True,
                check=False,
                timeout=GIT_SECONDS,
                env=environ,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired as e:
            raise NoMergeBase(
                f"git {arguments[0]} took over {GIT_SECONDS} s", remedy="see why git is slow here, or run all"
            ) from e

    def data(self, *arguments: str) -> bytes:
        """What it printed. Raises NoMergeBase when it failed."""
        done = self.run(*arguments)
        if done.returncode:
            raise NoMergeBase(f"git {arguments[0]} failed: {_said(done)}", remedy="run that command here to see why")
        return done.stdout

    def text(self, *arguments: str, or_else: str | NoMergeBase) -> str:
        """What it printed, as names of files are decoded. When it failed: `or_else`, raised if it is an error."""
        done = self.run(*arguments)
        if done.returncode:
            if isinstance(or_else, NoMergeBase):
                raise or_else
            return or_else
        return os.fsdecode(done.stdout)

    def sha(self, name: str) -> str:
        """The object a name stands for, "" when it stands for none. What looks like an option is a name, too."""
        found = self.text("rev-parse", "--verify", "--quiet", "--end-of-options", name, or_else="").strip()
        return found if _SHA.fullmatch(found) else ""


def _program() -> str:
    program = shutil.which("git")
    if program is None:
        raise NoMergeBase("git is not installed, and --changed-since asks it", remedy="install git, or run all")
    return program


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[0] if lines else f"it ended with {done.returncode}"


def _no_repository(root: Path, git: _Git) -> NoMergeBase:
    """Why git does not answer in a folder."""
    done = git.run("rev-parse", "--is-inside-work-tree")
    if "dubious ownership" in done.stderr.decode("utf-8", "replace"):
        return NoMergeBase(
            f"git does not trust {root}: another user owns it",
            remedy=f"git config --global --add safe.directory {root}",
        )
    return NoMergeBase(
        f"{root} is not in a working tree of git", remedy="run in a clone, or run all without --changed-since"
    )


def _resolved(git: _Git, reference: str) -> tuple[str, tuple[str, ...]]:
    """The commit of a reference; of a branch that is not here, the one of origin, which is told."""
    for name, notices in (
        (reference, ()),
        (f"refs/remotes/origin/{reference}", (f"{reference} is not in this clone: compared with origin/{reference}",)),
    ):
        found = git.sha(name)
        commit = git.sha(f"{found}^{{commit}}") if found else ""
        if commit:
            return commit, notices
    if _SHA.fullmatch(reference):
        cure = "it was dropped or never fetched: compare with a branch, such as origin/main"
    else:
        branch = reference.removeprefix("origin/")
        cure = f"git fetch origin {branch}:refs/remotes/origin/{branch}; in CI check out with fetch-depth: 0"
        if not re.fullmatch(r"[A-Za-z0-9._/][A-Za-z0-9._/-]*", branch):
            cure = "name a branch, a tag or a commit, such as origin/main"
    raise NoMergeBase(f"git knows no commit {reference!r}", remedy=f"{cure}; or --on-missing-base all")


def _apart(git: _Git, reference: str) -> NoMergeBase:
    """No common commit: cut off in a shallow clone, or really none."""
    if git.text("rev-parse", "--is-shallow-repository", or_else="").strip() == "true":
        return NoMergeBase(
            f"this clone is too shallow to hold the merge base of {reference} and HEAD",
            remedy="git fetch --unshallow; in CI check out with fetch-depth: 0; or --on-missing-base all",
        )
    return NoMergeBase(
        f"{reference} and HEAD have no commit in common",
        remedy="compare with a branch that this one came from, or --on-missing-base all",
    )


def _parsed(raw: bytes) -> Iterator[Change]:
    """The paths of `git diff --raw -z`: `:mode mode sha sha status NUL path NUL`."""
    fields = raw.split(b"\0")
    for about, path in zip(fields[::2], fields[1::2], strict=False):
        modes = about.decode("ascii", "replace").lstrip(":").split(" ")[:2]
        yield Change(path=os.fsdecode(path), folder=_SUBMODULE in modes)


def _untracked(listed: bytes) -> Iterator[Change]:
    """The paths of `git ls-files -z`; a repository inside this one ends in a slash."""
    for path in listed.split(b"\0"):
        if path:
            yield Change(path=os.fsdecode(path).rstrip("/"), folder=path.endswith(b"/"))


def _inside(found: Iterable[Change], prefix: str) -> Iterator[Change]:
    """Relative to the project's folder, in composed form."""
    for change in found:
        relative = posixpath.relpath(f"/{change.path}", f"/{prefix}") if prefix else change.path
        yield Change(path=composed(relative), folder=change.folder)
