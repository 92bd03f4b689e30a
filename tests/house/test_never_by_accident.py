"""Nothing that gates a unit test, a push or the default CI job can reach a paid call."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import pytest

import evalrun
from evalrun.loading.settings import Overrides, load_settings
from evalrun.providers.keys import is_loopback
from evalrun.use_cases.doctor import paid_roles, spends
from evalrun.use_cases.doctor_paths import Follower, hooks, recipes
from evalrun.use_cases.doctor_workflows import read_workflows
from tests.acceptance.projects import Project

ROOT = Path(evalrun.__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["evalrun"]
PROFILES = ("", *SETTINGS.get("profiles", {}))


@pytest.mark.parametrize("profile", PROFILES)
def test_our_own_settings_name_no_model_that_costs(profile: str) -> None:
    """Whatever plays our scenarios with our settings is free, with every key at hand."""
    keys = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}
    assert paid_roles(load_settings(ROOT, Overrides(profile=profile), keys), keys) == ()


def test_what_ci_runs_plays_no_scenario() -> None:
    """The path of a submission is lint, types, floors and tests."""
    text = (ROOT / ".ci" / "run").read_text("utf-8")
    assert list(Follower(root=ROOT).ways(".ci/run", text)) == []


def test_no_target_of_the_makefile_can_spend() -> None:
    """What plays scenarios does so with our settings and nothing else."""
    ways = [w for target in recipes(ROOT) for w in Follower(root=ROOT).ways("Makefile", f"make {target}")]
    assert ways
    assert [w for w in ways if spends(w, paid=False)] == []


def test_no_workflow_has_a_key_or_lets_strangers_in() -> None:
    """Jobs that play scenarios get no secret, are not started by strangers, and are pinned."""
    found = read_workflows(ROOT)
    assert {"ci.yml", "drift.yml"} <= set(found.files)
    assert found.unread == ()
    assert {p.name for p in found.players} >= {"ci.yml: play", "drift.yml: suite"}
    wrong = [p.name for p in found.players if p.keys or p.strangers or p.loose or p.injected]
    assert wrong == []


def test_no_workflow_names_a_secret_at_all() -> None:
    """Neither in a job of tests: a key that is not there cannot be used."""
    files = [p for p in (ROOT / ".github").rglob("*.yml") if "secrets." in p.read_text("utf-8")]
    assert files == []


def test_no_hook_of_ours_plays_scenarios() -> None:
    """Files of hook runners in the repository, and what is installed in this clone."""
    assert [w for name, text in hooks(ROOT) for w in Follower(root=ROOT).ways(name, text)] == []


def test_tests_have_no_key_of_the_machine() -> None:
    """A key in the shell of a developer is taken away before the first test."""
    assert [name for name in os.environ if name.endswith(("_API_KEY", "_AUTH_TOKEN"))] == []


def test_projects_of_tests_reach_no_vendor() -> None:
    """A model of a vendor in a test's settings goes to this machine unless the test names another address."""
    environ = Project(root=ROOT)._environ()
    assert all(is_loopback(environ[name]) for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"))
    assert not any(name.endswith("_KEY") for name in environ)


def test_addresses_in_tests_are_of_this_machine_or_of_nobody() -> None:
    """No test's settings point a provider at a host that could bill."""
    pattern = re.compile(r"""base_url["']?\s*[=:]\s*f?["'](https?://[^"'{]+)""", re.IGNORECASE)
    reserved = (".example", ".invalid", ".test")
    wrong = []
    for path in (ROOT / "tests").rglob("*.py"):
        for address in pattern.findall(path.read_text("utf-8")):
            host = re.sub(r"https?://([^:/]*@)?([^:/]*).*", r"\2", address)
            if not is_loopback(address) and host and not host.endswith(reserved) and "." in host:
                wrong.append(f"{path.name}: {address}")
    assert wrong == []
