"""How long 10,000 scenario files take to load and validate, and how much memory.

Run: python benchmarks/loading.py [FILES]
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

from evalrun.use_cases.validate import validate

FILES = 10_000
SECONDS, MEGABYTES = 10, 500
SETTINGS = """\
target = "bot"
[targets.bot]
entry = "bot:answer"
"""
PERSONA = """\
id: lea
name: Léa
background: 31, vit à Lyon, cherche une relation sérieuse.
traits: [brève, curieuse, "méfiante"]
language: fr
facts: {city: Lyon, phone: 0612345670, since: 2026-12-01}
reveal: {only_if_asked: [phone]}
goal: payer moins de 50$
"""
RUBRIC = """\
id: conversation
criteria:
  - {id: character, ask: Does it stay in character?, anchors: {"1": no, "5": mostly, "10": always}}
  - {id: objective, ask: Does it reach the objective?}
pass: {mean: 6.5, min: 5}
"""
SCENARIO = """\
# yaml-language-server: $schema=../scenario.json
id: scenario-{i}
title: Pricing is not discussed before the profile is complete ({i})
category: stage
stage: pricing
persona: lea
objective: Answer that pricing comes later and go on with the profile.
given:
  now: 2026-03-02T09:00:00+01:00
  state: {{user: {{stage: profiling, number: {i}}}}}
steps:
  - user: "c'est combien ?"
  - persona: {{turns: 4, until: {{state: {{user.stage: matching}}}}}}
  - event: {{name: match_notification, data: {{match: noah, score: 0.75}}}}
  - advance: 3d
  - expect: {{tools: {{not_called: [charge_card]}}}}
expect:
  tools:
    called: [{{name: save_profile, args: {{city: Lyon}}, times: 1}}]
    not_called: [charge_card]
  replies: {{min: 1, max_bubbles: 3}}
  text: {{absent: ["49 €"]}}
  state: {{user.stage: profiling}}
  sql: [{{query: "select count(*) from payments", equals: 0}}]
judge: {{rubric: conversation}}
repeats: auto
tags: [money]
watch: ["prompts/pricing.md"]
"""


def write_project(root: Path, files: int) -> None:
    """A project with so many scenario files, a hundred in a folder."""
    (root / "evalrun.toml").write_text(SETTINGS, "utf-8")
    for folder, name, text in (("personas", "lea", PERSONA), ("rubrics", "conversation", RUBRIC)):
        (root / folder).mkdir()
        (root / folder / f"{name}.yaml").write_text(text, "utf-8")
    for i in range(files):
        folder_path = root / "scenarios" / f"group-{i // 100}"
        folder_path.mkdir(parents=True, exist_ok=True)
        (folder_path / f"scenario-{i}.yaml").write_text(SCENARIO.format(i=i), "utf-8")


def main() -> None:
    """Write the files, validate them, print seconds and peak memory."""
    files = int(sys.argv[1]) if len(sys.argv) > 1 else FILES
    with tempfile.TemporaryDirectory() as folder:
        write_project(Path(folder), files)
        wall, cpu = time.perf_counter(), time.process_time()
        report = validate(Path(folder), environ={})
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        / (1 if sys.platform == "darwin" else 1024)
        / 1024 ** (sys.platform == "darwin")
    )
    reached = wall <= SECONDS and peak <= MEGABYTES and not report.problems
    print(
        f"{report.files} files, {len(report.problems)} problems: {wall:.2f} s ({cpu:.2f} s of CPU), {peak:.0f} MB peak;"
        f" {'yes' if reached else 'NO'} ≤ {SECONDS} s, {MEGABYTES} MB"
    )


if __name__ == "__main__":
    main()
