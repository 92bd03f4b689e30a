"""Drafted messages with the fault that a person sees in them, and how the checks of drafts do on them.

`labels/drafts.jsonl` holds one a line: `id`, `split` (dev: what the checks were improved with;
test: what they are measured with), `language`, `persona` (a shipped one, or one of two below), `own` and
`heard` (earlier messages of the persona and of the agent), `message`, `done`, `fault` ("" for a good one).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evalrun.drafts import Draft, faults_of
from evalrun.loading.settings import Overrides, load_settings
from evalrun.loading.suite import load_suite
from evalrun.persona import Persona
from tests.cases import PERSONA

FILE = Path(__file__).with_name("labels") / "drafts.jsonl"
ROOT = Path(__file__).parents[1]
CUSTOMERS = {
    "hugo": replace(
        PERSONA,
        id="hugo",
        name="Hugo",
        language="fr",
        facts={
            "téléphone": "06 12 34 56 78",
            "mail": "hugo.m@example.org",
            "budget": "4 200 €",
            "commande": "CMD-20417",
        },
    ),
    "nora": replace(
        PERSONA,
        id="nora",
        name="Nora",
        language="en",
        facts={"phone": "+44 7700 900123", "email": "nora@example.org", "order": "ORD-88123", "paid": "59.90"},
    ),
}
"""Two customers with identifiers and amounts, which the personas of a matchmaker do not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One draft, what a person says is wrong with it, and what the checks say."""

    id: str
    split: str
    language: str
    draft: Draft
    fault: str
    found: tuple[str, ...]


def labelled() -> list[Labelled]:
    """All of them, checked."""
    settings = load_settings(ROOT, Overrides(), {}, connect=False)
    shipped = {p.id.partition("-")[0]: p for p in load_suite(settings).personas.values()}
    rows = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    return [_one(row, {**shipped, **CUSTOMERS}) for row in rows]


def _one(row: dict[str, object], people: dict[str, Persona]) -> Labelled:
    draft = Draft(
        message=str(row["message"]),
        done=bool(row.get("done", False)),
        persona=people[str(row["persona"])],
        own=row.get("own", ()),  # type: ignore[arg-type]
        heard=row.get("heard", ()),  # type: ignore[arg-type]
    )
    found = tuple(f.name for f in faults_of(draft))
    return Labelled(
        id=str(row["id"]),
        split=str(row["split"]),
        language=str(row["language"]),
        draft=draft,
        fault=str(row["fault"]),
        found=found,
    )


def precision(of: Sequence[Labelled]) -> tuple[int, int]:
    """Refused drafts that are faulty, of all refused."""
    refused = [one for one in of if one.found]
    return sum(bool(one.fault) for one in refused), len(refused)


def recall(of: Sequence[Labelled]) -> tuple[int, int]:
    """Faulty drafts that are refused, of all faulty."""
    faulty = [one for one in of if one.fault]
    return sum(bool(one.found) for one in faulty), len(faulty)
