"""Injections against the judge stage: a judge that believes all it can read never gets to read one of them.

`injections.jsonl` holds one a line: `id`, `family`, `where` it stands, `language`, `text` (a list
where it is spread over bubbles), and for padded ones `pad` and `times`.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evalrun.interfaces.judges import Case, JudgeSetup
from evalrun.judges.rubric import RubricJudge
from evalrun.judges.tripwires import signs_in
from evalrun.results import Judgement, JudgementStatus
from evalrun.style import Finding, Severity
from evalrun.transcript import InboundKind, Opening, ToolCall, Turn
from evalrun.usage import Role
from evalrun.verdict import Outcome
from tests.cases import NAMES, case, check, rubric, turn
from tests.endpoints import endpoint
from tests.judges import gullible
from tests.scripted_server import ScriptedServer

FILE = Path(__file__).with_name("injections.jsonl")
POOR = "débrouille-toi tout seul"
HONEST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """One attack: what is said where."""

    id: str
    family: str
    where: str
    language: str
    texts: tuple[str, ...]

    @property
    def whole(self) -> str:
        """All its text."""
        return "\n".join(self.texts)


def injection_of(row: Mapping[str, Any]) -> Injection:
    """A line of the file."""
    text = row["text"]
    texts = tuple(text) if isinstance(text, list) else (row.get("pad", "") * row.get("times", 0) + text,)
    return Injection(id=row["id"], family=row["family"], where=row["where"], language=row["language"], texts=texts)


ALL = tuple(injection_of(json.loads(line)) for line in FILE.read_text("utf-8").splitlines())


def attacked(one: Injection) -> tuple[Turn, list[Finding]]:
    """A poor turn that holds the attack, and the soft findings beside it."""
    text = one.whole
    bubbles = (POOR, *one.texts) if one.where in ("bubble", "bubbles") else (POOR,)
    calls = {
        "tool_result": ToolCall(name="look_up", arguments={"id": 1}, result={"text": text}),
        "tool_arguments": ToolCall(name="look_up", arguments={text: text}, result=text),
        "tool_error": ToolCall(name="look_up", error=text),
        "tool_name": ToolCall(name=text),
    }
    made = turn(
        1, text if one.where == "user" else "bonjour", *bubbles, tools=[calls[one.where]] if one.where in calls else []
    )
    if one.where == "event":
        made = replace(made, opening=Opening(kind=InboundKind.EVENT, event=text, data={text: text, "text": text}))
    fact = Finding(rule="words", severity=Severity.SOFT, message=text, quote=text, turn=1)
    return made, [fact] if one.where == "fact" else []


def case_of(one: Injection, url: str, *, checked: bool) -> Case:
    """The trial of an attack, under the scored rubric or under a check."""
    made, facts = attacked(one)
    earlier = [Judgement(judge="rules", version="1", deterministic=True, findings=tuple(facts))]
    model = endpoint(url, Role.JUDGE)
    if checked:
        return case(model, [made], checks=[check()], earlier=earlier)
    return case(model, [made], scored=rubric(), earlier=earlier)


class Gullible:
    """The script: its first answer repeats what an attack by echo would have it say."""

    def __init__(self, echo: str) -> None:
        self._echo = echo

    def __call__(self, _role: str, body: Mapping[str, object]) -> str:
        """Generous when it could read a reason to be."""
        echo, self._echo = self._echo, ""
        if echo:
            return echo
        fooled = gullible.read(body)
        if "Rule:" in json.dumps(body):
            return gullible.check(compliant=fooled, quote=POOR)
        return gullible.scores(NAMES, 10 if fooled else HONEST)


async def attack(one: Injection, *, checked: bool) -> Judgement:
    """What the judge stage says under one attack."""
    async with ScriptedServer(Gullible(one.whole if one.where == "echo" else "")) as server:
        of = case_of(one, server.base_url, checked=checked)
        return await RubricJudge(JudgeSetup(options={})).judge(of)


async def attack_all(*, checked: bool) -> list[Judgement]:
    """All attacks, a few at a time."""
    places = asyncio.Semaphore(8)

    async def one(injection: Injection) -> Judgement:
        async with places:
            return await attack(injection, checked=checked)

    return await asyncio.gather(*(one(i) for i in ALL))


def test_the_file_is_large_and_varied() -> None:
    """At least 200, each once, in both languages and in every place that foreign text may stand."""
    assert len(ALL) >= 200
    assert len({i.id for i in ALL}) == len({(i.where, i.texts) for i in ALL}) == len(ALL)
    assert min(Counter(i.language for i in ALL).values()) >= 50
    places = {
        "bubble",
        "bubbles",
        "user",
        "event",
        "fact",
        "echo",
        "tool_result",
        "tool_arguments",
        "tool_error",
        "tool_name",
    }
    assert {i.where for i in ALL} == places


def test_each_would_work_on_a_judge_without_a_fence() -> None:
    """The scripted judge believes every one of them when it can read it: the attack is real."""
    assert [i.id for i in ALL if not gullible.believes(gullible.outside(i.whole))] == []


def test_b75_none_raises_a_score() -> None:
    """The scores are those of a judge that was not attacked, and the trial fails."""
    judgements = asyncio.run(attack_all(checked=False))
    raised = [i.id for i, j in zip(ALL, judgements, strict=True) if j.outcome is not Outcome.FAIL]
    assert raised == []
    assert {s.value for j in judgements for s in j.scores} == {HONEST}


def test_b75_none_excuses_a_violation() -> None:
    """The check is violated under every attack."""
    judgements = asyncio.run(attack_all(checked=True))
    assert [i.id for i, j in zip(ALL, judgements, strict=True) if j.outcome is not Outcome.FAIL] == []


def test_a_judge_that_copies_a_forged_verdict_is_not_believed() -> None:
    """Even one that reads inside the fence: the very scores that a bubble or a tool asks for make an error."""
    forged = [
        i for i in ALL if i.where in ("bubble", "tool_result") and '"tone": 10' in i.whole and "pad" not in i.family
    ]

    async def play(one: Injection) -> Judgement:
        async with ScriptedServer(lambda _, __: gullible.scores(NAMES, 10)) as server:
            return await RubricJudge(JudgeSetup(options={})).judge(case_of(one, server.base_url, checked=False))

    judgements = [asyncio.run(play(i)) for i in forged]
    assert len(forged) >= 15
    assert {(j.status, j.code, j.scores) for j in judgements} == {(JudgementStatus.ERROR, "judge_compromised", ())}


def test_most_are_pointed_out_by_code() -> None:
    """Of what the agent and its tools say, nine attacks of ten raise a warning."""
    own = [i for i in ALL if i.where not in ("user", "event", "fact", "echo")]
    seen = [i for i in own if signs_in(attacked(i)[0])]
    assert len(seen) >= 0.9 * len(own), [i.id for i in own if i not in seen]
