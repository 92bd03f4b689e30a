"""Whether a command was typed by a person."""

from __future__ import annotations

import pytest

from evalrun.cli.consent import consent_to


def test_a_typed_command_consents() -> None:
    """On a terminal, and in a CI job that runs the command."""
    assert consent_to("run", {}).given
    assert consent_to("run", {"CI": "true"}).given


@pytest.mark.parametrize("name", ["PYTEST_CURRENT_TEST", "PRE_COMMIT", "GIT_INDEX_FILE", "GIT_EXEC_PATH"])
def test_tests_and_hooks_do_not_consent_unless_told(name: str) -> None:
    """What a unit test or a hook starts cannot spend, whatever the settings say; EVALRUN_PAID=allow is on purpose."""
    found = consent_to("run", {name: "x"})
    assert (False, True) == (found.given, name in found.against)
    assert consent_to("run", {name: "x", "EVALRUN_PAID": "allow"}).given
    assert not consent_to("run", {name: "x", "EVALRUN_PAID": "1"}).given
