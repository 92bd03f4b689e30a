"""Real git repositories in temporary folders."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

SETTINGS = {
    "user.name": "Test",
    "user.email": "test@example.org",
    "init.defaultBranch": "main",
    "protocol.file.allow": "always",
    "commit.gpgSign": "false",
    "advice.detachedHead": "false",
    "gc.auto": "0",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A repository and what a person does in it."""

    root: Path

    def git(self, *arguments: str, check: bool = True) -> str:
        """Run git here, with no settings of the machine."""
        settings = [part for k, v in SETTINGS.items() for part in ("-c", f"{k}={v}")]
        environ = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        self.root.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            ["git", *settings, *arguments], cwd=self.root, env=environ, capture_output=True, check=False
        )
        assert not check or done.returncode == 0, done.stderr.decode()
        return os.fsdecode(done.stdout).strip()

    def begin(self) -> Repository:
        """An empty repository on the branch main."""
        self.git("init", "-q")
        return self

    def write(self, path: str, text: str = "x\n") -> None:
        """Write a file."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def commit(self, *paths: str, text: str = "x\n") -> str:
        """Write files and commit everything; the commit."""
        for path in paths:
            self.write(path, text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "a change")
        return self.git("rev-parse", "HEAD")

    def branch(self, name: str) -> None:
        """Begin a branch here."""
        self.git("switch", "-q", "-c", name)

    def clone(self, to: Path, *options: str) -> Repository:
        """A clone over the file protocol."""
        self.git("clone", "-q", *options, f"file://{self.root}", str(to))
        return Repository(root=to)
