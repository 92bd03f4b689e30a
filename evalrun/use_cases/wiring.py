"""From settings to rooms: target, providers, ledger, judges, store and database server, all by name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evalrun import plugins
from evalrun.budget import Ledger, PriceTable
from evalrun.config import EMBEDDED_MODEL, Settings
from evalrun.errors import EvalrunError, MissingKey, NotAskedFor, UsageError
from evalrun.interfaces.databases import DatabaseServer, DatabaseSetup
from evalrun.interfaces.judges import Judge, JudgeSetup
from evalrun.interfaces.models import NO_CONSENT, Consent, Provider, ProviderSetup
from evalrun.interfaces.stores import Store
from evalrun.interfaces.targets import Target, TargetSetup
from evalrun.judging import JudgeChain, akin, may_gate
from evalrun.model_calls import ModelCalls, Patience
from evalrun.results import JudgeTrust
from evalrun.rubric import Rubric
from evalrun.scenario import PersonaStep, Scenario
from evalrun.suite import Suite
from evalrun.usage import Role
from evalrun.use_cases.earned import standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Rooms:
    """Everything a run is wired to. `warm` names providers worth starting at once."""

    target: Target
    server: DatabaseServer | None
    calls: ModelCalls
    ledger: Ledger
    chain: JudgeChain
    warm: tuple[str, ...]


def make_target(settings: Settings) -> Target:
    """The target of the settings. Raises UsageError, UnknownName, MissingExtra."""
    chosen = settings.targets[settings.target]
    factory = plugins.load("adapters", chosen.adapter)
    setup = TargetSetup(
        name=chosen.name, entry=chosen.entry, options=chosen.options, root=settings.root, file=settings.file
    )
    target: Target = factory(setup)
    return target


def make_server(settings: Settings, run: str, environ: Mapping[str, str], tmp: Path) -> DatabaseServer | None:
    """The database server of the target, None when it has none."""
    location = settings.targets[settings.target].database
    if not location:
        return None
    factory = plugins.load("databases", "embedded" if location == "embedded" else "dsn")
    server: DatabaseServer = factory(DatabaseSetup(location=location, run=run, environ=environ, tmp=tmp))
    return server


def store_place(settings: Settings) -> tuple[str, str]:
    """The kind of store and where it is. The scheme of a URL names the kind; anything else is a file."""
    location = settings.store
    scheme = location.partition("://")[0] if "://" in location else ""
    kind = "postgresql" if scheme.startswith("postgres") else (scheme or "sqlite")
    if kind == "sqlite":
        location = str(
            settings.root / location.removeprefix("sqlite://").lstrip("/") if scheme else settings.root / location
        )
    return kind, location


def make_store(settings: Settings) -> Store:
    """The history. Raises UnknownName, UsageError."""
    kind, location = store_place(settings)
    store: Store = plugins.load("stores", kind)(location)
    return store


def make_chain(
    settings: Settings, suite: Suite, chosen: Sequence[Scenario]
) -> tuple[JudgeChain, tuple[JudgeTrust, ...]]:
    """The judges in order, and whether each model judge gates with the rubrics and checks of the chosen scenarios.

    Raises UsageError, UnknownName, and StoreFailed when what was measured of judges cannot be read.
    """
    if len(set(settings.judges)) < len(settings.judges):
        raise UsageError("a judge is named twice in `judges`", remedy="name each once")
    judges: list[Judge] = []
    trust = []
    gates = {}
    model = settings.models[Role.JUDGE]
    for name in settings.judges:
        factory = plugins.load("judges", name)
        plain = JudgeSetup(
            options=settings.judge.options.get(name, {}), max_output_tokens=settings.judge.max_output_tokens
        )
        judge: Judge = factory(plain)
        if not judge.deterministic:
            allowed, why = may_gate(settings.judge.gate, standing(settings, judge, str(model), _used(suite, chosen)))
            if allowed:
                # only where it can change a verdict is anything paid to doubt a judge
                judge = factory(replace(plain, confirm=settings.judge.confirm, canaries=settings.judge.canaries))
                family = akin(model, settings.models[Role.AGENT])
                why += f"; it is of the agent's own family ({family}), which a judge tends to favour" if family else ""
            gates[judge.name] = allowed
            trust.append(JudgeTrust(judge=judge.name, model=str(model), gates=allowed, line=f"judge {model} {why}"))
        judges.append(judge)
    return JudgeChain(judges=tuple(judges), gates=gates), tuple(trust)


def _used(suite: Suite, chosen: Sequence[Scenario]) -> tuple[Rubric, ...]:
    """The rubrics and checks of some scenarios, each once."""
    names = dict.fromkeys(n for s in chosen for n in (s.judge.rubric, *s.judge.checks))
    return tuple(suite.rubrics[n] for n in names if n in suite.rubrics)


def make_calls(
    settings: Settings,
    needed: frozenset[Role],
    environ: Mapping[str, str],
    tmp: Path,
    notice: Callable[[str], None],
    *,
    consent: Consent = NO_CONSENT,
) -> tuple[ModelCalls, Ledger, tuple[str, ...]]:
    """Providers, the ledger and the one way to call.

    `needed` are the roles that will surely be called (see `needed_roles`). Without `consent` no
    provider that may cost money is made. Raises MissingKey, MissingExtra, NotAskedFor, Unpriced, and
    BudgetReached for a paid model where no money may be spent, all before anything is spent.

    The agent's model is the target's business: one that cannot be made is an error only when called.
    """
    providers: dict[str, Provider] = {}
    missing: dict[str, EvalrunError] = {}
    plain = ProviderSetup(name="", options={}, environ=environ, tmp=tmp, notice=notice, consent=consent)
    for name, roles in _roles_of(settings).items():
        try:
            providers[name] = _provider(settings, name, roles, plain)
        except EvalrunError as e:
            if any(r in needed for r in roles):
                raise
            missing[name] = e
    local = frozenset(n for n, p in providers.items() if p.local)
    ledger = Ledger(
        cap=settings.budget_usd, own=settings.prices, local=local, table=_PriceTable(), strict=settings.strict_prices
    )
    for role in needed:
        if settings.models[role].provider in providers:
            ledger.check(settings.models[role])
    calls = ModelCalls(
        providers={**providers, **missing},
        models=settings.models,
        meter=ledger,
        notice=notice,
        patience=Patience(call=settings.timeouts.call, width=settings.calls_in_flight),
    )
    wanted = {settings.models[r].provider for r in needed}
    if settings.models[Role.AGENT] != EMBEDDED_MODEL:
        wanted.add(settings.models[Role.AGENT].provider)
    return calls, ledger, tuple(n for n in providers if n in wanted)


class _PriceTable:
    """The price table, loaded when the first paid model is priced."""

    def __init__(self) -> None:
        self._table: PriceTable | None = None

    def __call__(self) -> PriceTable:
        if self._table is None:
            table: PriceTable = plugins.load("prices", "genai")()
            self._table = table
        return self._table


def needed_roles(settings: Settings, suite: Suite, chosen: Sequence[Scenario]) -> frozenset[Role]:
    """The roles that will surely be called: persona when somebody is simulated, judge when something is judged.

    A project without a rubric judges nothing by a model.
    """
    roles = set()
    if any(isinstance(step, PersonaStep) for s in chosen for step in s.steps):
        roles.add(Role.PERSONA)
    if "rubric" in settings.judges and any(s.judge.rubric in suite.rubrics or s.judge.checks for s in chosen):
        roles.add(Role.JUDGE)
    return frozenset(roles)


def missing_keys(
    settings: Settings, environ: Mapping[str, str], tmp: Path, consent: Consent = NO_CONSENT
) -> Mapping[Role, MissingKey]:
    """The roles whose provider has no key, and what to say of it. Other faults are found by `make_calls`."""
    faults = provider_faults(settings, environ, tmp, consent)
    return {role: e for role, e in faults.items() if isinstance(e, MissingKey)}


def provider_faults(
    settings: Settings, environ: Mapping[str, str], tmp: Path, consent: Consent = NO_CONSENT
) -> Mapping[Role, EvalrunError]:
    """The roles whose provider cannot be made, and why; nothing is started."""
    plain = ProviderSetup(name="", options={}, environ=environ, tmp=tmp, consent=consent)
    found: dict[Role, EvalrunError] = {}
    for name, roles in _roles_of(settings).items():
        try:
            _provider(settings, name, roles, plain)
        except EvalrunError as e:
            found |= dict.fromkeys(roles, e)
    return found


def _roles_of(settings: Settings) -> Mapping[str, tuple[Role, ...]]:
    """Each provider with the roles it plays."""
    names = dict.fromkeys(m.provider for m in settings.models.values())
    return {name: tuple(r for r in Role if settings.models[r].provider == name) for name in names}


def _provider(settings: Settings, name: str, roles: tuple[Role, ...], plain: ProviderSetup) -> Provider:
    """A provider by name; `plain` holds what is the same for all. Raises EvalrunError, NotAskedFor among them."""
    options = dict(settings.providers.get(name, {}))
    kind = str(options.pop("kind", name))
    factory = plugins.load("providers", kind)
    setup = replace(
        plain,
        name=name,
        options=options,
        models=tuple(settings.models[r].model for r in roles),
        roles=roles,
        concurrency=settings.calls_in_flight,
    )
    provider: Provider = factory(setup)
    # those of the house ask for it themselves, and know which addresses cost nothing
    if not provider.local and not setup.consent.given and kind not in plugins.BUILT_IN["providers"]:
        raise NotAskedFor(
            f"provider {name} may cost money, and no command asked for it",
            remedy="run evalrun run, judge or calibrate",
        )
    return provider


def hash_of(value: object) -> str:
    """Ten hex digits over plain values."""
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:10]
