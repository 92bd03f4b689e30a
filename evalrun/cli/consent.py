"""Who typed a command that may cost money: a person, or a test or a hook that came to it by accident."""

from __future__ import annotations

from collections.abc import Mapping

from evalrun.interfaces.models import Consent

ALLOW = "EVALRUN_PAID"
_BY_ACCIDENT = {
    "PYTEST_CURRENT_TEST": "a test (PYTEST_CURRENT_TEST is set)",
    "PRE_COMMIT": "a pre-commit hook (PRE_COMMIT is set)",
    # git sets these for what it starts itself: hooks, and commands of a rebase
    "GIT_INDEX_FILE": "a hook of git (GIT_INDEX_FILE is set)",
    "GIT_EXEC_PATH": "git (GIT_EXEC_PATH is set), as its hooks are",
}


def consent_to(command: str, environ: Mapping[str, str]) -> Consent:
    """Whether a typed command allows calls that cost money; EVALRUN_PAID=allow overrides where it came from."""
    if environ.get(ALLOW) == "allow":
        return Consent(command=command)
    against = next((said for name, said in _BY_ACCIDENT.items() if environ.get(name)), "")
    return Consent(command=command, against=against)
