"""The same scenarios through the vendors' own SDKs: what the table, the store and the server count is one sum."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import pytest

from evalrun.config import Price
from tests.acceptance.projects import Project, Ran, judge_says
from tests.scripted_server import Answer, Script, ScriptedServer, Usage

BOT = """\
from evalrun.interfaces.models import Message

async def reply(session, inbound):
    asked = [Message(role="system", content="be kind"), Message(role="user", content=inbound.text)]
    answer = await session.model.complete(asked, max_output_tokens=100)
    return answer.text
"""
TALK = """\
title: A talk of three turns
category: action
persona: ana
objective: Greet.
steps:
  - persona: {turns: 3}
"""
PRICES = {
    "agent": Price(input=Decimal(1), output=Decimal(2), cached=Decimal("0.1")),
    "persona": Price(input=Decimal("0.3"), output=Decimal("1.1"), cached=Decimal("0.03")),
    "judge": Price(input=Decimal(3), output=Decimal(15), cached=Decimal("0.3"), cache_write=Decimal("3.75")),
}
USED = {
    "agent": Usage(input=130, cached=50, output=17),
    "persona": Usage(input=311, output=23, reasoning=9),
    "judge": Usage(input=977, cached=512, output=61),
}


def metered() -> Script:
    """Good answers with tokens of every kind, different for each role; the persona never says the same twice."""
    words = judge_says(8, 8, 8, 8)
    count = iter(range(1000))

    def script(role: str, body: Mapping[str, object]) -> Answer:
        text = words(role, body)
        assert isinstance(text, str)
        if role == "persona":
            text = json.dumps({"message": f"tell me about point {next(count)}", "done": False})
        return Answer(text=text, usage=USED[role])

    return script


def play(project: Project, provider: str, url: str) -> Ran:
    """Run both scenarios over a provider, with prices of our own."""
    project.write("scenarios/talk.yaml", TALK)
    lines = [
        "[judge]",
        "confirm = 0",
        "canaries = false",
        "[models]",
        *(f'{role} = "{provider}:{role}-1"' for role in PRICES),
        f"[providers.{provider}]",
    ]
    lines += [f'base_url = "{url}"', 'api_key_env = "VENDOR_TOKEN"', "[prices]"]
    for role, price in PRICES.items():
        figures = {
            "input": price.input,
            "output": price.output,
            "cached": price.cached,
            "cache_write": price.cache_write,
        }
        shown = ", ".join(f'{k} = "{v}"' for k, v in figures.items() if v is not None)
        lines.append(f'"{role}-1" = {{{shown}}}')
    project.write("evalrun.toml", "\n".join([*lines, "[targets.bot]", 'entry = "my_bot:reply"', ""]))
    project.environ["VENDOR_TOKEN"] = "sk-test-of-nobody"
    return project.run("run", "--judge-gate", "always", "--format", "json")


@pytest.mark.parametrize("provider", ["openai", "anthropic", "compatible"])
def test_the_cost_is_one_sum_for_every_vendor(tmp_path: Path, provider: str) -> None:
    """Table, JSON, store and server agree by role, cached tokens and reasoning included, exactly."""
    with ScriptedServer(metered()) as server:
        project = Project(root=tmp_path).fill(BOT)
        url = server.anthropic_url if provider == "anthropic" else server.base_url
        done = play(project, provider, url)
        owed = {role: server.cost({role: price}) for role, price in PRICES.items()}
        calls = dict(server.calls_by_role)
        table = project.run("show", "last")
    assert (0, "") == (done.code, done.err)
    # one turn of hello and three of talk: an agent call and a judge call each, a persona call for the latter
    assert {"agent": 4, "persona": 3, "judge": 4} == calls
    trials = [t for s in done.report["scenarios"] for t in s["trials"]]
    told = {role: sum((Decimal(t["spending"][role]["cost"]) for t in trials), Decimal(0)) for role in PRICES}
    assert owed == told
    assert owed == kept(project.root)
    assert shown_total(table.out) == sum(owed.values()).quantize(Decimal("0.001"))


def shown_total(table: str) -> Decimal:
    """The total under the table, in USD."""
    found = re.search(r"judged · \$([0-9.]+)", table)
    assert found, table
    return Decimal(found[1])


def kept(root: Path) -> dict[str, Decimal]:
    """What the store holds of each single call, added up by role."""
    connection = sqlite3.connect(root / ".evalrun" / "history.db")
    rows = connection.execute("select role, cost_usd from evalrun_exchanges").fetchall()
    connection.close()
    return {role: sum((Decimal(c) for r, c in rows if r == role), Decimal(0)) for role in PRICES}
