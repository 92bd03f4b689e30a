"""What would run and why, what that is expected to take, and what the whole suite would: nothing is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evalrun import git, plugins
from evalrun.budget import Ledger, PriceTable
from evalrun.config import Settings
from evalrun.errors import FileProblems, StoreFailed
from evalrun.interfaces.stores import Past, PastTrials
from evalrun.loading.settings import Overrides, load_settings
from evalrun.loading.suite import load_suite
from evalrun.selection import Selection, Wanted
from evalrun.sharding import Shard, split
from evalrun.use_cases.choosing import Since, choose
from evalrun.use_cases.forecast import Expected, Forecast
from evalrun.use_cases.planning import models_key
from evalrun.use_cases.wiring import store_place

__all__ = ["Overrides", "Plan", "PlanRequest", "Since", "Wanted", "plan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """What the user asked for. `start` is the folder it was asked in; `shards` how many machines at most."""

    start: Path
    wanted: Wanted = field(default_factory=Wanted)
    since: Since | None = None
    overrides: Overrides = field(default_factory=Overrides)
    shards: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A selection with what it is expected to take, scenario by scenario and as a whole.

    `whole` is the same of the whole suite. `shards` gives the shard of each chosen scenario, and
    `seconds` what each shard is expected to take.
    """

    target: str
    commit: str
    models: Mapping[str, str]
    selection: Selection
    each: Mapping[str, Expected]
    chosen: Expected
    whole: Expected
    shards: Mapping[str, Shard]
    notices: tuple[str, ...] = ()

    @property
    def saved(self) -> float:
        """The share of the whole suite's cost that is not spent, or of its calls where it costs nothing; 0 to 1."""
        spent, all_of_it = self.chosen.usd, self.whole.usd
        if all_of_it:
            return 1 - float(spent / all_of_it)
        calls, all_calls = sum(self.chosen.calls.values()), sum(self.whole.calls.values())
        return 1 - calls / all_calls if all_calls else 0.0

    def seconds_of(self, shard: Shard) -> float:
        """What the trials of a shard take one after another."""
        return sum(self.each[name].seconds for name, own in self.shards.items() if own == shard)


async def plan(request: PlanRequest, environ: Mapping[str, str]) -> Plan:
    """Plan a run. Raises UsageError and its kinds, FileProblems; a history that cannot be read is a notice."""
    settings = settings_of(request.start, request.overrides, environ)
    suite = load_suite(settings)
    selection = choose(suite, settings, request.wanted, request.since)
    chosen = [s.id for s in selection.chosen]
    past, notices = await _past(settings, chosen)
    ledger = Ledger(cap=None, own=settings.prices, local=_local(settings), table=_prices)
    forecast = Forecast(settings, suite, past, ledger)
    each = {s.id: forecast.of(s) for s in selection.chosen}
    count = min(request.shards, len(chosen))
    parts = split({name: e.seconds for name, e in each.items()}, count) if count else {}
    return Plan(
        target=settings.target,
        commit=git.commit(settings.root),
        models={r.value: str(m) for r, m in settings.models.items()},
        selection=selection,
        each=each,
        chosen=forecast.over(selection.chosen),
        whole=forecast.over(suite.scenarios),
        shards={name: Shard(number=number, of=count) for name, number in parts.items()},
        notices=(*selection.notices, *notices, *ledger.notices),
    )


def settings_of(start: Path, overrides: Overrides, environ: Mapping[str, str]) -> Settings:
    """The settings; what plays nothing needs no connection but the history's, so an unset one does not stop it."""
    try:
        return load_settings(start, overrides, environ)
    except FileProblems:
        return load_settings(start, overrides, environ, connect=False)


async def _past(settings: Settings, chosen: list[str]) -> tuple[Mapping[str, PastTrials], tuple[str, ...]]:
    kind, location = store_place(settings)
    if kind not in plugins.known("past") or "${" in location:
        return {}, (f"the history {settings.store} is not looked into here, so nothing rests on past trials",)
    look: Past = plugins.load("past", kind)
    try:
        return await look(location, f";models={models_key(settings)};", chosen), ()
    except StoreFailed as e:
        return {}, (f"{e.message}; nothing rests on past trials ({e.remedy})",)


def _local(settings: Settings) -> frozenset[str]:
    """Providers that run here and cost nothing."""
    names = {m.provider for m in settings.models.values()}
    return frozenset(n for n in names if str(settings.providers.get(n, {}).get("kind", n)) == "local")


def _prices() -> PriceTable:
    table: PriceTable = plugins.load("prices", "genai")()
    return table
