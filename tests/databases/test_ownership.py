"""Names of databases, and whose they are."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from evalrun.databases import ownership

LONG = "evalrun_20261201t051500z_relance_devis_chantier_piscine_client_presse_run_"


def test_b66_long_labels_give_different_names():
    """Two labels that Postgres would cut to the same 63 bytes give two names."""
    first, second = (ownership.name_of("20261201t051500z", f"{LONG}{n}") for n in ("01", "02"))
    assert first != second
    assert max(len(first), len(second)) < 63


@given(runs=st.tuples(st.text(), st.text()), labels=st.tuples(st.text(), st.text()))
def test_names_are_short_safe_and_our_own(runs, labels):
    """Any run and label give a name of our shape under 63 bytes; different ones give different names."""
    names = {ownership.name_of(run, label) for run in runs for label in labels}
    assert len(set(runs)) * len(set(labels)) == len(names)
    assert all(re.fullmatch(r"evalrun_[a-z0-9]{8,32}_[0-9a-f]{12}", n) and len(n.encode()) < 63 for n in names)
