"""A plan as a JSON document: what was selected and why, and what each is expected to take. `plan_file` reads it back."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from evalrun.usage import Role
from evalrun.use_cases.forecast import Expected
from evalrun.use_cases.plan import Plan
from evalrun.use_cases.plan_file import VERSION

_NOT_ASCII = re.compile(r"[^\x00-\x7e]")


def document(plan: Plan) -> dict[str, Any]:
    """The whole plan as plain values."""
    selection = plan.selection
    return {
        "schema_version": VERSION,
        "target": plan.target,
        "commit": plan.commit,
        "models": dict(plan.models),
        "selection": _text(selection.line),
        "suite_size": selection.suite_size,
        "selected": [
            {
                "id": s.id,
                "reasons": [_text(r) for r in selection.reasons[s.id]],
                "title": s.title,
                "category": s.category.value,
                "stage": s.stage,
                "path": _text(s.where.file),
                "line": s.where.line,
                "objective": s.objective,
                "persona": s.persona,
                "shard": str(plan.shards[s.id]) if s.id in plan.shards else "",
                **expected(plan.each[s.id]),
            }
            for s in selection.chosen
        ],
        "idle": [_text(path) for path in selection.idle],
        "expected": expected(plan.chosen),
        "full_suite": expected(plan.whole),
        "saved": round(plan.saved, 4),
        "matrix": matrix(plan),
        "notices": [_text(n) for n in plan.notices],
    }


def _text(name: str) -> str:
    """A name of a file as text; bytes that are none are written out, since JSON has no half surrogates."""
    return name.encode("utf-8", "backslashreplace").decode()


def expected(of: Expected) -> dict[str, Any]:
    """An expectation as plain values: exact money as text, calls by role."""
    return {
        "scenarios": of.scenarios,
        "trials": of.trials,
        "calls": {r.value: round(of.calls.get(r, 0.0), 2) for r in Role},
        "cost_usd": f"{of.usd:.6f}",
        "cost_usd_by_role": {r.value: f"{of.cost.get(r, 0):.6f}" for r in Role},
        "seconds": round(of.seconds, 1),
        "elapsed_seconds": round(of.elapsed, 1),
        "basis": of.basis,
    }


def matrix(plan: Plan) -> dict[str, Any]:
    """The matrix of a dynamic job: one entry a shard, none when nothing is selected."""
    shards = sorted(set(plan.shards.values()))
    return {
        "include": [
            {
                "shard": str(shard),
                "number": shard.number,
                "scenarios": sum(own == shard for own in plan.shards.values()),
                "seconds": round(plan.seconds_of(shard)),
            }
            for shard in shards
        ]
    }


def text_of(value: object, *, indent: int = 0) -> str:
    """Plain values as JSON, in ASCII so that any terminal and any job output takes it."""
    data = msgspec.json.encode(value)
    text = (msgspec.json.format(data, indent=indent) if indent else data).decode()
    plain = _NOT_ASCII.sub(lambda m: json.dumps(m[0])[1:-1], text)
    # a CI service reads `##[command]` anywhere in a line of output; the value stays the same
    return plain.replace("##[", "##\\u005b")
