"""Where a provider's key and address come from: variables named in the settings, never values."""

from __future__ import annotations

from collections.abc import Mapping

from evalrun.errors import MissingKey
from evalrun.interfaces import ProviderSetup


def key_of(setup: ProviderSetup, variable: str) -> str:
    """The key. Raises MissingKey when the variable is unset or empty."""
    name = str(setup.options.get("api_key_env") or variable)
    key = setup.environ.get(name, "").strip()
    if not key:
        raise MissingKey(
            f"no key for provider {setup.name} (fork pull request?)",
            remedy=f"set {name}, or choose a model of another provider for {', '.join(setup.roles) or 'its role'}",
        )
    return key


def address_of(options: Mapping[str, object], environ: Mapping[str, str], variable: str) -> str:
    """The base URL from the settings or the vendor's own variable; "" for the vendor's default."""
    return str(options.get("base_url") or environ.get(variable, "")).strip().rstrip("/")
