"""A project for benchmarks: so many scenarios of so many turns, against a target that only asks its model."""

from __future__ import annotations

from pathlib import Path

BOT = '''\
"""A target of one model call a turn."""
from evalrun.interfaces.models import Message


class Bot:
    def __init__(self):
        self.past = {}

    async def handle(self, session, inbound):
        past = self.past.setdefault(session.id, [Message(role="system", content="You are a support agent.")])
        past.append(Message(role="user", content=inbound.text))
        reply = await session.model.complete(past, max_output_tokens=300)
        past.append(Message(role="assistant", content=reply.text))
        session.emit(reply.text)
'''
SETTINGS = """\
concurrency = {concurrency}
calls_in_flight = {in_flight}
[models]
agent = "{provider}:agent-1"
persona = "{provider}:persona-1"
judge = "{provider}:judge-1"
[judge]
gate = "always"
confirm = 0
canaries = false
[providers.{provider}]
base_url = "{url}"
{key}
[prices]
"agent-1" = {{input = 1, output = 2}}
"persona-1" = {{input = 1, output = 2}}
"judge-1" = {{input = 3, output = 6}}
[targets.bot]
entry = "bench_bot:Bot"
"""
PERSONA = """\
id: ana
name: Ana
background: A customer whose parcel is late.
traits: [brief]
"""
RUBRIC = """\
id: conversation
criteria:
  - {id: character, ask: In character?}
  - {id: objective, ask: On the objective?}
  - {id: responsiveness, ask: Does it answer?}
  - {id: format, ask: Short and plain?}
"""
RULES = """\
[[rules]]
id = "one-question"
check = "max_questions"
severity = "hard"
say = "One question."
max = 1
[[rules]]
id = "no-placeholders"
check = "placeholders"
severity = "hard"
say = "No placeholder."
"""
SCENARIO = """\
id: parcel-{n}
title: The parcel of customer {n} is found
category: action
persona: ana
objective: Find out where the parcel is.
steps:
  - persona: {{turns: {turns}}}
expect: {{replies: {{min: {turns}}}}}
"""


def write_project(root: Path, *, scenarios: int, turns: int, provider: str, url: str) -> None:
    """Write it. Every scenario may run at once: the machine is what is measured."""
    key = "" if provider == "compatible" else 'api_key_env = "BENCH_TOKEN"'
    base = url.removesuffix("/v1") if provider == "anthropic" else url
    settings = SETTINGS.format(concurrency=scenarios, in_flight=3 * scenarios, provider=provider, url=base, key=key)
    files = {
        "evalrun.toml": settings,
        "bench_bot.py": BOT,
        "personas/ana.yaml": PERSONA,
        "rubrics/conversation.yaml": RUBRIC,
        "style_rules.toml": RULES,
        **{f"scenarios/parcel-{n}.yaml": SCENARIO.format(n=n, turns=turns) for n in range(scenarios)},
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
