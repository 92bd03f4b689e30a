"""What git knows of the working tree; a folder outside git is no error."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

GIT_SECONDS = 20


def commit(root: Path) -> str:
    """The commit that is checked out, "" outside git or before the first one."""
    return _run(root, "rev-parse", "--verify", "--quiet", "HEAD").decode("ascii", "replace").strip()


def fingerprint(root: Path, head: str) -> str:
    """A hash of the commit `head` that is checked out and of every uncommitted change to tracked files; "" without one."""
    if not head:
        return ""
    changes = _run(root, "diff", "--no-ext-diff", "--binary", "HEAD")
    return hashlib.sha256(head.encode() + changes).hexdigest()[:16]


def resolved(root: Path, reference: str) -> str:
    """The commit that a branch, a tag or an abbreviated id names; "" when git knows none."""
    if not reference or reference.startswith("-"):
        return ""
    name = f"{reference}^{{commit}}"
    found = _run(root, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
    return found.decode("ascii", "replace").strip()


def _run(root: Path, *arguments: str) -> bytes:
    program = shutil.which("git")
    if program is None:
        return b""
    done = subprocess.run(  # noqa: S603  fixed arguments, no shell
        [program, "-C", str(root), *arguments],
        capture_output=True,
        check=False,
        timeout=GIT_SECONDS,
    )
    return done.stdout if done.returncode == 0 else b""
