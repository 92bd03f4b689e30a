"""Keys and addresses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalrun import plugins
from evalrun.errors import MissingKey, NotAskedFor, UsageError
from evalrun.interfaces.models import Consent, ProviderSetup
from evalrun.usage import Role


def setup(name: str, environ: Any = None, **options: Any) -> Any:
    """What a provider is made from."""
    return ProviderSetup(name=name, options=options, environ=environ or {}, roles=(Role.JUDGE,), tmp=Path())


@pytest.mark.parametrize(("name", "variable"), [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")])
@pytest.mark.parametrize("value", [None, "", "  "])
def test_b79_an_empty_key_is_no_key(name: str, variable: str, value: str | None) -> None:
    """Without a key the provider is refused when it is made, naming the variable: nothing is spent."""
    environ = {} if value is None else {variable: value}
    with pytest.raises(MissingKey) as error:
        plugins.load("providers", name)(setup(name, environ))
    assert str(error.value) == f"no key for provider {name} (set {variable}; fork pull request?)"
    assert "judge" in error.value.remedy
    assert error.value.short == f"no key for {name} ({variable})"


def test_the_named_variable_is_the_one_that_counts() -> None:
    """`api_key_env` names another variable, which then must be set; `compatible` needs none unless it is named."""
    make = plugins.load("providers", "compatible")
    make(setup("compatible", base_url="http://127.0.0.1:1/v1"))
    with pytest.raises(MissingKey, match="set MY_KEY"):
        make(setup("compatible", base_url="http://127.0.0.1:1/v1", api_key_env="MY_KEY"))


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("", "has no address"),
        ("localhost:8000", "no http address"),
        ("ftp://host/v1", "no http address"),
        ("http://", "no http address"),
        ("http://host:99999/v1", "no http address"),
        ("http://me:s3cret@host/v1", "holds a password"),
    ],
)
def test_a_wrong_address_is_refused_when_the_provider_is_made(address: str, message: str) -> None:
    """An address that cannot work is a usage error at once; a password in it is not repeated."""
    with pytest.raises(UsageError, match=message) as error:
        plugins.load("providers", "compatible")(setup("compatible", base_url=address))
    assert "s3cret" not in f"{error.value} {error.value.remedy}"


KEYS = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}
ELSEWHERE = {"openai": {}, "anthropic": {}, "compatible": {"base_url": "https://models.example/v1"}}
GIVEN = Consent(command="run")


@pytest.mark.parametrize("name", ELSEWHERE)
@pytest.mark.parametrize(
    ("consent", "said"),
    [(Consent(), "no command asked for it"), (Consent(command="run", against="a test"), "started by a test")],
)
def test_a_provider_that_may_cost_is_not_made_unless_somebody_asked(name: str, consent: Consent, said: str) -> None:
    """With a key at hand nothing paid can be reached by making a provider in a test, a hook or a script."""
    plain = setup(name, KEYS, **ELSEWHERE[name])
    with pytest.raises(NotAskedFor, match=said):
        plugins.load("providers", name)(replace(plain, consent=consent))
    plugins.load("providers", name)(replace(plain, consent=GIVEN))


@pytest.mark.parametrize("name", ELSEWHERE)
@pytest.mark.parametrize("host", ["127.0.0.1:9", "localhost:9", "[::1]:9"])
def test_an_address_on_this_machine_needs_no_consent(name: str, host: str) -> None:
    """A scripted server of a test costs nothing."""
    plugins.load("providers", name)(setup(name, KEYS, base_url=f"http://{host}/v1"))


@pytest.mark.parametrize("host", ["127.0.0.1.example", "localhost.example", "10.0.0.1", "0.0.0.0"])
def test_an_address_that_only_looks_like_this_machine_needs_it(host: str) -> None:
    """A name that begins like a loopback address is somebody else's."""
    with pytest.raises(NotAskedFor):
        plugins.load("providers", "openai")(setup("openai", KEYS, base_url=f"http://{host}/v1"))


def test_the_vendors_variable_for_its_address_counts() -> None:
    """OPENAI_BASE_URL on this machine needs no consent either; elsewhere it does."""
    make = plugins.load("providers", "openai")
    make(setup("openai", KEYS | {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}))
    with pytest.raises(NotAskedFor):
        make(setup("openai", KEYS | {"OPENAI_BASE_URL": "https://proxy.example/v1"}))
