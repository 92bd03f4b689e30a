"""Where a provider's key and address come from (variables named in the settings, never values), and who asked."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from evalrun.errors import MissingKey, NotAskedFor, UsageError
from evalrun.interfaces.models import ProviderSetup


def key_of(setup: ProviderSetup, variable: str) -> str:
    """The key. Raises MissingKey when the variable is unset or empty."""
    name = str(setup.options.get("api_key_env") or variable)
    key = setup.environ.get(name, "").strip()
    if not key:
        raise MissingKey(
            f"no key for provider {setup.name} (set {name}; fork pull request?)",
            remedy=f"set {name} to a key, or choose a model of another provider for {', '.join(setup.roles) or 'its role'}",
            short=f"no key for {setup.name} ({name})",
        )
    return key


def asked_for(setup: ProviderSetup, address: str) -> None:
    """Refuse a provider that may cost money where nobody asked for calls. Raises NotAskedFor.

    `address` is where calls go, "" for the vendor. One on this machine costs nothing.
    """
    if setup.consent.given or is_loopback(address):
        return
    if setup.consent.against:
        raise NotAskedFor(
            f"provider {setup.name} may cost money, and this was started by {setup.consent.against}",
            remedy="let it use the embedded model or a base_url on this machine;"
            " to spend money from there on purpose set EVALRUN_PAID=allow",
        )
    raise NotAskedFor(
        f"provider {setup.name} may cost money, and no command asked for it",
        remedy="run evalrun run, judge or calibrate; in a test give it a base_url on this machine",
    )


def is_loopback(address: str) -> bool:
    """Whether an http address is of this machine."""
    try:
        host = urlsplit(address).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def address_of(setup: ProviderSetup, variable: str) -> str:
    """The base URL from the settings or the vendor's own variable; "" for the vendor's default.

    Raises UsageError for one that is no http address, and for one that holds a password: the
    message does not repeat it.
    """
    text = str(setup.options.get("base_url") or setup.environ.get(variable, "")).strip().rstrip("/")
    if not text:
        return ""
    remedy = f'set [tool.evalrun.providers.{setup.name}] base_url = "https://host/v1"'
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable, parts = False, urlsplit("")
    if not usable:
        raise UsageError(f"the base_url of provider {setup.name} is no http address", remedy=remedy)
    if parts.username or parts.password:
        raise UsageError(
            f"the base_url of provider {setup.name} holds a password",
            remedy="leave it out, and name the variable that holds the key in api_key_env",
        )
    return text
