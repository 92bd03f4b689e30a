"""`make bench`: what evalrun costs beside the bare loops that do the same work, on this machine, now.

Run: python benchmarks/run.py [--quick]. Ratios hold from machine to machine, single times do not;
everything is run side by side with its comparison. Nothing is asserted.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.measuring import HERE, Cost, measure, model_server
from benchmarks.project import write_project

LATENCY = 0.2
TURNS = 5
CRITICAL = LATENCY * (2 * TURNS + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One comparison: evalrun over a provider beside a bare loop, and what is aimed at."""

    provider: str
    bare: str
    scenarios: int
    wall_aim: float
    cpu_aim: float
    memory_aim: float = 0.0


WORKS = (
    Work(provider="compatible", bare="aiohttp", scenarios=35, wall_aim=1.5, cpu_aim=2.5),
    Work(provider="openai", bare="openai", scenarios=35, wall_aim=2.0, cpu_aim=1.0),
    Work(provider="anthropic", bare="anthropic", scenarios=35, wall_aim=0.0, cpu_aim=1.0),
    Work(provider="compatible", bare="aiohttp", scenarios=350, wall_aim=2.5, cpu_aim=0.0, memory_aim=120.0),
)


def played(work: Work, url: str) -> Cost:
    """What `evalrun run` costs. Raises SystemExit when it did not play everything."""
    with tempfile.TemporaryDirectory() as folder:
        write_project(Path(folder), scenarios=work.scenarios, turns=TURNS, provider=work.provider, url=url)
        cost = measure([sys.executable, "-m", "evalrun", "run"], cwd=Path(folder), environ={"BENCH_TOKEN": "sk-bench"})
    if f"{work.scenarios} pass" not in cost.output:
        raise SystemExit(f"evalrun did not play everything:\n{cost.output[-2000:]}")
    return cost


def bare(work: Work, url: str) -> Cost:
    """What the bare loop costs."""
    script = str(HERE / "bare_loop.py")
    cost = measure([sys.executable, script, work.bare, url, str(work.scenarios), str(TURNS)])
    if cost.code:
        raise SystemExit(f"the bare loop failed:\n{cost.output[-2000:]}")
    return cost


def best(costs: list[Cost]) -> Cost:
    """The one that other load disturbed least, with the least processor time of all."""
    return replace(min(costs, key=lambda c: c.own), cpu=min(c.cpu for c in costs))


def runs(repeats: int) -> Table:
    """Runs beside their bare loops."""
    table = Table("work", "", "wall s", "less wait", "× limit", "CPU s", "× bare", "peak MB", "aims")
    for work in WORKS:
        with model_server(LATENCY) as url:
            pairs = [(bare(work, url), played(work, url)) for _ in range(repeats)]
        floor, own = best([b for b, _ in pairs]), best([o for _, o in pairs])
        ratio = own.cpu / floor.cpu
        aims = [
            (work.wall_aim, own.own / CRITICAL, "× limit"),
            (work.cpu_aim, ratio, "× bare"),
            (work.memory_aim, own.peak_mb, "MB"),
        ]
        said = ", ".join(f"{'yes' if got <= aim else 'NO'} ≤ {aim:g} {what}" for aim, got, what in aims if aim)
        name = f"{work.scenarios} × {TURNS} turns, {work.scenarios * TURNS * 3} calls"
        table.add_row(name, f"bare {work.bare}", *figures(floor), "", f"{floor.peak_mb:.0f}", "")
        table.add_row("", f"evalrun {work.provider}:", *figures(own), f"{ratio:.2f}", f"{own.peak_mb:.0f}", said)
    return table


def figures(cost: Cost) -> tuple[str, ...]:
    """Wall, less wait, times the limit, CPU."""
    return f"{cost.wall:.2f}", f"{cost.own:.2f}", f"{cost.own / CRITICAL:.2f}", f"{cost.cpu:.2f}"


def starts(repeats: int) -> Table:
    """Starting up beside importing the command line's library."""
    table = Table("start", "CPU s", "× typer", "aim")
    with tempfile.TemporaryDirectory() as folder:
        write_project(Path(folder), scenarios=35, turns=1, provider="compatible", url="http://127.0.0.1:9/v1")
        commands = {
            'python -c "import typer"': ["-c", "import typer"],
            "evalrun --help": ["-m", "evalrun", "--help"],
            "evalrun validate (35 scenarios)": ["-m", "evalrun", "validate"],
        }
        costs = {
            name: min(measure([sys.executable, *c], cwd=Path(folder)).cpu for _ in range(repeats + 2))
            for name, c in commands.items()
        }
    base = next(iter(costs.values()))
    for name, cpu in costs.items():
        aim = f"{'yes' if cpu <= 3 * base else 'NO'} ≤ 3" if name.endswith("--help") else ""
        table.add_row(name, f"{cpu:.2f}", f"{cpu / base:.2f}", aim)
    return table


def main() -> None:
    """Print the tables."""
    repeats = 1 if "--quick" in sys.argv else 3
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(f"limit: {CRITICAL:.1f} s, {2 * TURNS + 1} calls of {LATENCY:g} s one after another")
    console.print(runs(repeats))
    console.print(starts(repeats))
    loaded = measure([sys.executable, str(HERE / "loading.py")])
    console.print(f"loading: {loaded.output.strip()}", markup=False)


if __name__ == "__main__":
    main()
