"""What selection saves over 200 pull requests, and whether it ever leaves out a scenario that was affected.

The pull requests are drawn with a fixed seed from the mix below, over this repository and its own
suite. What a change really affects is found by another way than the one under test: the stage's
modules are imported in a process of their own, and the files that Python then holds are looked at.
Tokens and dollars are what `evalrun plan` expects; dollars at the prices below.

Run: python -m benchmarks.savings [PULL_REQUESTS]
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from statistics import mean, median

from evalrun.affected import Affected, affected
from evalrun.budget import Ledger, PriceTable
from evalrun.changes import Change
from evalrun.config import Price, Settings
from evalrun.loading.settings import Overrides, load_settings
from evalrun.loading.suite import load_suite
from evalrun.scenario import Scenario
from evalrun.suite import Suite
from evalrun.usage import Role
from evalrun.use_cases.choosing import closures_of
from evalrun.use_cases.forecast import TOKENS, Expected, Forecast

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = "evalrun/sample_orchestrator"
PULL_REQUESTS, SEED = 200, 20261201
MIX = {
    "docs": 20,
    "one prompt": 25,
    "one stage": 15,
    "scenarios": 10,
    "tests": 15,
    "shared code": 10,
    "dependencies": 5,
}
"""Pull requests of each kind in a hundred."""
PRICE = Price(input=Decimal("0.40"), output=Decimal("1.60"))
TRACE = """\
import importlib, json, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
print(json.dumps([m.__file__ for m in list(sys.modules.values()) if getattr(m, "__file__", None)]))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The project as it is. `loaded` are the files that each stage's modules really load."""

    settings: Settings
    suite: Suite
    forecast: Forecast
    files: Sequence[str]
    loaded: Mapping[str, frozenset[str]]


def no_table() -> PriceTable:
    """All models have the one price above."""
    raise AssertionError


def look() -> Ground:
    """Load the project, and import each stage's modules."""
    settings = load_settings(ROOT, Overrides(), {})
    suite = load_suite(settings)
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=True, text=True)
    own = {m.model: PRICE for m in settings.models.values()}
    ledger = Ledger(cap=None, own=own, local=frozenset(), table=no_table)
    return Ground(
        settings=settings,
        suite=suite,
        forecast=Forecast(settings, suite, {}, ledger),
        files=[f for f in listed.stdout.split("\0") if f],
        loaded={name: really_loaded(stage.modules) for name, stage in settings.stages.items() if stage.modules},
    )


def really_loaded(modules: Sequence[str]) -> frozenset[str]:
    """The project's files that Python holds once some modules are imported."""
    done = subprocess.run(
        [sys.executable, "-c", TRACE, *modules],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
        text=True,
    )
    files = [Path(f) for f in json.loads(done.stdout)]
    return frozenset(f.relative_to(ROOT).as_posix() for f in files if f.is_relative_to(ROOT))


def kinds(ground: Ground, dice: random.Random) -> Mapping[str, Callable[[], list[str]]]:
    """How the files of a pull request are drawn, by kind."""
    some = ground.files
    stages = list(ground.settings.stages)

    def any_of(prefix: str, ending: str = "") -> list[str]:
        found = [f for f in some if f.startswith(prefix) and f.endswith(ending)]
        return dice.sample(found, min(len(found), dice.randint(1, 3)))

    def of_stage() -> list[str]:
        stage = dice.choice(stages)
        more = dice.sample([f for f in some if f.startswith(f"tests/{SAMPLE[8:]}/test_")], 1)
        return [f"{SAMPLE}/stages/{stage}.py", *more, *([f"{SAMPLE}/prompts/stages/{stage}.md"] * dice.randint(0, 1))]

    def shared() -> list[str]:
        stage_files = {f for f in some if f.startswith((f"{SAMPLE}/stages/", f"{SAMPLE}/prompts/"))}
        return [dice.choice([f for f in some if f.startswith(f"{SAMPLE}/") and f not in stage_files])]

    return {
        "docs": lambda: any_of("docs/"),
        "one prompt": lambda: [f"{SAMPLE}/prompts/stages/{dice.choice(stages)}.md"],
        "one stage": of_stage,
        "scenarios": lambda: any_of("scenarios/", ".yaml"),
        "tests": lambda: any_of("tests/", ".py"),
        "shared code": shared,
        "dependencies": lambda: ["constraints.txt", "pyproject.toml"],
    }


def really_affected(ground: Ground, one: Scenario, changed: set[str]) -> bool:
    """Whether something changed that a scenario really uses, as found by running Python."""
    suite, settings = ground.suite, ground.settings
    rulers = [suite.rubrics[r] for r in (one.judge.rubric, *one.judge.checks) if r in suite.rubrics]
    used = {one.where.file, suite.personas[one.persona].where.file, *(r.where.file for r in rulers)}
    used |= {settings.style_rules, "constraints.txt", f"{SAMPLE}/orchestrator.py", f"{SAMPLE}/prompts/ori.md"}
    used |= ground.loaded.get(one.stage, frozenset()) | {f"{SAMPLE}/prompts/stages/{one.stage}.md"}
    return bool(used & changed)


def tokens(expected: Expected) -> float:
    """In and out, all roles."""
    return sum(expected.calls.get(r, 0) * (TOKENS[r].input + TOKENS[r].output) for r in Role)


def judged(ground: Ground, changed: list[str]) -> tuple[Affected, list[str]]:
    """What selection says of a change, and who it left out although it is affected."""
    found = affected(
        ground.suite,
        ground.settings,
        [Change(path=f) for f in dict.fromkeys(changed)],
        closures_of(ground.settings),
        settings_changed=False,
    )
    known = found.reasons.keys() | found.smoke.keys()
    missed = [s.id for s in ground.suite.scenarios if s.id not in known and really_affected(ground, s, set(changed))]
    return found, missed


def main() -> None:
    """Draw the pull requests; print what each kind saves, and the whole mix."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else PULL_REQUESTS
    dice = random.Random(SEED)
    ground = look()
    ground = replace(ground, files=sorted(ground.files))
    draw = kinds(ground, dice)
    whole = ground.forecast.over(ground.suite.scenarios)
    saved: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    missed: list[str] = []
    for kind in dice.choices(list(MIX), list(MIX.values()), k=count):
        changed = draw[kind]()
        found, left_out = judged(ground, changed)
        missed += [f"{kind} {changed}: {name}" for name in left_out]
        part = ground.forecast.over([s for s in ground.suite.scenarios if s.id in found.reasons])
        saved[kind].append(
            (1 - part.trials / whole.trials, 1 - tokens(part) / tokens(whole), 1 - float(part.usd / whole.usd))
        )
    print(f"{'kind':<14}{'requests':>9}{'runs':>8}{'tokens':>8}{'dollars':>9}   saved of {whole.scenarios} scenarios")
    for kind in MIX:
        if saved[kind]:
            runs, toks, usd = (mean(column) for column in zip(*saved[kind], strict=True))
            print(f"{kind:<14}{len(saved[kind]):>9}{runs:>8.1%}{toks:>8.1%}{usd:>9.1%}")
    every = [s for group in saved.values() for s in group]
    for name, take in (("mean", mean), ("median", median)):
        runs, toks, usd = (take(column) for column in zip(*every, strict=True))
        print(f"{name:<14}{len(every):>9}{runs:>8.1%}{toks:>8.1%}{usd:>9.1%}")
    print(f"left out although affected: {len(missed)}")
    for line in missed[:20]:
        print(f"  {line}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
