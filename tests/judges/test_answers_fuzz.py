"""A hundred thousand malformed answers of a judge: scores, one more question, or an error; never anything else.

`EVALRUN_FUZZ` sets another number.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
from collections import Counter
from collections.abc import Iterator

from evalrun.interfaces.judges import JudgeSetup
from evalrun.json_object import Unreadable
from evalrun.judges.answers import Doubtful, ReadCheck, ReadScores, read_check, read_scores
from evalrun.judges.rubric import RubricJudge
from evalrun.results import JudgementStatus
from evalrun.usage import Role
from tests.cases import NAMES, case, rubric, turn
from tests.endpoints import endpoint
from tests.scripted_server import ScriptedServer

COUNT = int(os.environ.get("EVALRUN_FUZZ", "100000"))
FLAT = json.dumps(dict.fromkeys(NAMES, 8) | {"reason": "ok"})
BLOCKS = json.dumps({n: {"quote": "bonjour", "reason": "il salue {bien}", "score": 7} for n in NAMES}, indent=1)
CHECK = '{"applies": true, "quote": "49 €", "reason": "nobody gave it", "shown_compliant": false}'
WHOLE = (FLAT, BLOCKS, CHECK)
VALUES = (
    *(
        "8",
        "8.0",
        "1e1",
        '"8"',
        "11",
        "0",
        "-3",
        "7.5",
        "NaN",
        "Infinity",
        "-Infinity",
        "null",
        "true",
        "false",
        "[]",
        "{}",
    ),
    *(
        '"8/10"',
        '"huit"',
        '"７"',
        "1" * 400,
        "1e999",
        '"\\ud800"',
        '{"score": 9}',
        '{"score": {"score": 9}}',
        "8,5",
        "٨",
    ),
)
PIECES = (
    *("{", "}", "[", "]", '"', "'", "\\", ",", ":", "\n", "\x00", "\ufeff", "\u200b", "\ud800", "é", "e\u0301", "🙂"),
    *(
        "```",
        "```json\n",
        "~~~",
        "<think>",
        "</think>",
        "<reasoning>",
        "// ",
        "/* */",
        "#",
        "tone",
        '"tone":',
        '"Tone":',
    ),
    *(
        '"score":',
        '"pass":true,',
        '"overall":10,',
        "Voici mon évaluation :\n",
        "Here you are: ",
        "10/10",
        "NaN",
        "\\u0000",
    ),
)


def malformed(rng: random.Random) -> Iterator[str]:
    """Answers without end: cut, mixed, doubled, wrapped, with foreign values, deep, or of pieces alone."""
    ways = (_replaced, _cut, _mixed, _doubled, _pieces, _nested, _spliced, _renamed)
    while True:
        text = rng.choice(ways)(rng)
        yield text if rng.random() < 0.7 else _spliced(rng, text)


def _replaced(rng: random.Random) -> str:
    names = rng.sample(NAMES, rng.randint(1, 4))
    values = {n: rng.choice(VALUES) if n in names else "8" for n in NAMES}
    return "{" + ", ".join(f'"{n}": {v}' for n, v in values.items()) + "}"


def _cut(rng: random.Random) -> str:
    text = rng.choice(WHOLE)
    return text[: rng.randrange(len(text))]


def _mixed(rng: random.Random) -> str:
    text = rng.choice(WHOLE)
    first, last = sorted(rng.randrange(len(text)) for _ in range(2))
    return text[:first] + text[last:]


def _doubled(rng: random.Random) -> str:
    return rng.choice(("", "\n", " and ", ",", "```")).join(rng.choice(WHOLE) for _ in range(rng.randint(2, 4)))


def _pieces(rng: random.Random) -> str:
    return "".join(rng.choice((*PIECES, *VALUES)) for _ in range(rng.randint(0, 30)))


def _nested(rng: random.Random) -> str:
    deep = rng.choice((1, 5, 60, 2000))
    return rng.choice(("[", '{"tone":', '{"a":[')) * deep + rng.choice((*WHOLE, "", "8"))


def _spliced(rng: random.Random, text: str = "") -> str:
    text = text or rng.choice(WHOLE)
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(text))
        text = text[:at] + rng.choice(PIECES) + text[at + rng.randint(0, 3) :]
    return text


def _renamed(rng: random.Random) -> str:
    old = rng.choice((*NAMES, "score", "reason", "applies", "quote", "shown_compliant"))
    return rng.choice(WHOLE).replace(old, rng.choice((*NAMES, "ton", "SCORE", "raison", "", "score ", "pass")), 1)


def test_every_answer_is_scores_or_a_named_fault() -> None:
    """No default and no traceback: four whole numbers from 1 to 10, an answer to the check, or a fault in words."""
    made = malformed(random.Random(20261201))
    became: Counter[str] = Counter()
    for text in itertools.islice(made, COUNT):
        became[_as_scores(text)] += 1
        became[_as_check(text)] += 1
    assert set(became) == {"scores", "check", "doubtful", "fault"}
    assert became["fault"] > COUNT


def _as_scores(text: str) -> str:
    try:
        read = read_scores(text, NAMES)
    except Unreadable as e:
        return "fault" if str(e).strip() else "a fault without words"
    assert isinstance(read, ReadScores)
    assert [m.criterion for m in read.marks] == list(NAMES), text
    assert all(type(m.value) is int and 1 <= m.value <= 10 for m in read.marks), text
    return "scores"


def _as_check(text: str) -> str:
    try:
        read = read_check(text, "c'est 49 € par mois")
    except Doubtful as e:
        return "doubtful" if e.value.claimed and not e.value.violated else "no doubt at all"
    except Unreadable as e:
        return "fault" if str(e).strip() else "a fault without words"
    assert isinstance(read, ReadCheck)
    assert read.violated is False or read.quote, text
    return "check"


def test_the_judge_asks_at_most_once_more_and_then_says_error() -> None:
    """Over the wire: one or two calls, then scores in range or an error with a reason and no score."""
    made = list(itertools.islice(malformed(random.Random(5)), 300))

    async def play() -> None:
        async with ScriptedServer(lambda _, __: text.encode("utf-8", "replace").decode()) as server:
            for text in made:
                before = len(server.received)
                of = case(endpoint(server.base_url, Role.JUDGE), [turn(1, "?", "bonjour")], scored=rubric())
                judgement = await RubricJudge(JudgeSetup(options={})).judge(of)
                assert len(server.received) - before in (1, 2), text
                ok = judgement.status is JudgementStatus.OK
                assert len(judgement.scores) == (4 if ok else 0), text
                assert ok or judgement.reason, text

    asyncio.run(play())
