"""What judges have been measured to be worth, kept beside the rubrics so that it is reviewed and travels with them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evalrun.calibration import Figures
from evalrun.config import Settings
from evalrun.errors import StoreFailed
from evalrun.interfaces.judges import Judge
from evalrun.judging import Standing
from evalrun.rubric import Rubric

FILE = "calibrated.json"
VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The figures of one judge on one rubric. `prompts` and `digest` tell whether either has changed since."""

    judge: str
    prompts: str
    model: str
    digest: str
    figures: Figures


def place(settings: Settings) -> Path:
    """The file of records."""
    return settings.root / settings.rubrics / FILE


def keep(settings: Settings, records: Sequence[Record]) -> str:
    """Write records over those of the same judge, model and rubric; the file's path from the root. Raises StoreFailed."""
    path = place(settings)
    new = {(r.judge, r.model, r.figures.rubric): _plain(r) for r in records}
    old = {(r["judge"], r["model"], r["rubric"]): r for r in _read(path)}
    kept = [v for _, v in sorted((old | new).items())]
    try:
        path.write_text(json.dumps({"version": VERSION, "judges": kept}, indent=1, ensure_ascii=False) + "\n", "utf-8")
    except OSError as e:
        raise StoreFailed(f"{path} cannot be written: {e.strerror}", remedy="make its folder writable") from e
    return path.relative_to(settings.root).as_posix()


def _plain(record: Record) -> dict[str, object]:
    figures = record.figures
    shown = {k: _rounded(v) for k, v in asdict(figures).items() if k != "rubric"}
    return {
        "judge": record.judge,
        "model": record.model,
        "rubric": figures.rubric,
        "prompts": record.prompts,
        "digest": record.digest,
        "earned": not figures.why_not,
        "false_block": round(figures.false_block, 4),
        **shown,
    }


def _rounded(value: object) -> object:
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    return [_rounded(v) for v in value] if isinstance(value, (list, tuple)) else value


def standing(settings: Settings, judge: Judge, model: str, used: Sequence[Rubric]) -> Standing:
    """Whether a judge has earned its gate on every rubric and check that is used. Raises StoreFailed.

    A rubric, a prompt or a model that has changed since it was measured is one that was not.
    """
    records = {(r["judge"], r["model"], r["rubric"]): r for r in _read(place(settings))}
    shown, earned = [], True
    for rubric in used:
        record = records.get((judge.name, model, rubric.id))
        if record is None:
            return Standing(line=f"not calibrated on {rubric.id}; run: evalrun calibrate") if records else Standing()
        if (record["prompts"], record["digest"]) != (prompts_of(judge), rubric.digest):
            return Standing(line=f"{rubric.id} or the judge has changed since it was; run: evalrun calibrate")
        shown.append(f"{rubric.id}: {_numbers(record)}")
        earned = earned and record["earned"] is True
    return Standing(measured=True, earned=earned, line="; ".join(shown)) if shown else Standing()


def prompts_of(judge: Judge) -> str:
    """What stands for a judge's prompts: a fingerprint of its own, or its version."""
    return str(getattr(judge, "prompts", judge.version))


def _numbers(record: Mapping[str, Any]) -> str:
    """The four numbers of a judge."""
    kappa = record["kappa"]
    positive, negative = record["true_positive"], record["true_negative"]
    return (
        f"passes {positive['hits']}/{positive['of']} good turns, stops {negative['hits']}/{negative['of']} bad ones,"
        f" kappa {'unknown' if kappa is None else f'{kappa:.2f}'}, blocks {record['false_block']:.0%} of good ones"
    )


def _read(path: Path) -> list[dict[str, Any]]:
    """The records of a file, none when there is no file. Raises StoreFailed for one that cannot be read."""
    if not path.is_file():
        return []
    try:
        found = json.loads(path.read_text("utf-8"))
        version, records = found["version"], list(found["judges"])
        for record in records:
            _ = [record[k] for k in ("judge", "model", "rubric", "prompts", "digest", "earned", "true_positive")]
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise _unreadable(path, f"{type(e).__name__}: {e}") from e
    if version != VERSION:
        raise _unreadable(path, f"it has version {version}, this evalrun knows {VERSION}")
    return records


def _unreadable(path: Path, why: str) -> StoreFailed:
    return StoreFailed(f"{path} cannot be read: {why}", remedy="restore it, or remove it and run: evalrun calibrate")
