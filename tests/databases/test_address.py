"""Addresses: DSNs people write, in every form a driver wants, passwords of any kind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.engine import make_url

from evalrun.databases.database import Address, TrialDatabase
from evalrun.databases.server import address_of
from evalrun.errors import UsageError

WRITTEN = {
    "postgresql://u:p@db.example:6543/app": (("db.example", 6543, "u", "p"), "app"),
    "postgres://u@h": (("h", 5432, "u", ""), "postgres"),
    "postgresql+asyncpg://h/": (("h", 5432, "postgres", ""), "postgres"),
    "postgresql://u:p%40ss%2F%23@h:1/x": (("h", 1, "u", "p@ss/#"), "x"),
    "postgresql://u:p@[::1]:5433/x": (("::1", 5433, "u", "p"), "x"),
    "postgresql:///x?host=/run/pg&port=5434&user=me": (("/run/pg", 5434, "me", ""), "x"),
    "postgresql://u:p@%2Frun%2Fpg/x": (("/run/pg", 5432, "u", "p"), "x"),
}
REFUSED = ["mysql://u:secret@h/x", "postgresql://", "u:secret@h", "postgresql://u:secret@h:port/x", ""]


@pytest.mark.parametrize("dsn", WRITTEN)
def test_a_dsn_is_read(dsn):
    """Every way to write a DSN gives host, port, role, password and database."""
    address, database = address_of(dsn)
    assert WRITTEN[dsn] == ((address.host, address.port, address.user, address.password), database)


@pytest.mark.parametrize("dsn", [*REFUSED, "postgresql://u:se#cret@h/x"])
def test_a_dsn_that_is_none_is_refused_without_its_password(dsn):
    """What is no DSN is refused with the form to write, and never repeated: it may hold a password."""
    with pytest.raises(UsageError) as refused:
        address_of(dsn)
    assert "cret" not in f"{refused.value.message}{refused.value.remedy}"
    assert "postgresql://user:password@host" in refused.value.remedy


@given(
    password=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30),
    host=st.sampled_from(["localhost", "10.0.0.1", "::1", "/run/postgresql"]),
)
def test_any_password_survives_every_form(password, host):
    """Reading our own DSN gives the same address, and SQLAlchemy reads the same password, host and port."""
    address = Address(host=host, port=5433, user="an @ user", password=password)
    assert (address, "a db") == address_of(address.dsn("a db"))
    url = make_url(TrialDatabase(name="a db", address=address).url)
    assert (password, "an @ user", "a db") == (url.password or "", url.username, url.database)
    place = (url.query["host"], int(url.query["port"])) if host.startswith("/") else (url.host, url.port)
    assert (host, 5433) == place


def test_options_reach_every_driver_under_its_own_name():
    """The mode of TLS is `sslmode` for libpq, `ssl` for SQLAlchemy over asyncpg, PGSSLMODE in the environment."""
    address, _ = address_of("postgresql+asyncpg://u@h/x?ssl=require")
    database = TrialDatabase(name="x", address=address)
    expected = ("postgresql://u@h:5432/x?sslmode=require", "postgresql+asyncpg://u@h:5432/x?ssl=require", "require")
    assert expected == (database.dsn, database.url, database.environ["PGSSLMODE"])
