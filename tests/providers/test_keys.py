"""Keys and addresses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evalrun import plugins
from evalrun.errors import MissingKey, UsageError
from evalrun.interfaces.models import ProviderSetup
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
