"""The least Python that does the same work: what evalrun is compared with.

Run: python benchmarks/bare_loop.py CLIENT BASE_URL SCENARIOS TURNS. CLIENT: aiohttp, openai or
anthropic (one client of the vendor's SDK for all, as it is usually written). Each conversation
makes a persona call and an agent call a turn, and a judge call beside the next turn.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

Call = Callable[[str, list[dict[str, str]]], Awaitable[str]]


async def aiohttp_client(base: str) -> tuple[Call, Callable[[], Awaitable[None]]]:
    """Plain HTTP and JSON."""
    aiohttp: Any = importlib.import_module("aiohttp")
    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=60))

    async def call(model: str, messages: list[dict[str, str]]) -> str:
        data = json.dumps({"model": model, "messages": messages})
        async with session.post(f"{base}/chat/completions", data=data) as response:
            response.raise_for_status()
            return str(json.loads(await response.read())["choices"][0]["message"]["content"])

    return call, session.close


async def openai_client(base: str) -> tuple[Call, Callable[[], Awaitable[None]]]:
    """The vendor's SDK, one client."""
    openai: Any = importlib.import_module("openai")
    client = openai.AsyncOpenAI(base_url=base, api_key="sk-bench", timeout=60)

    async def call(model: str, messages: list[dict[str, str]]) -> str:
        reply = await client.chat.completions.create(model=model, messages=messages)
        return str(reply.choices[0].message.content)

    return call, client.close


async def anthropic_client(base: str) -> tuple[Call, Callable[[], Awaitable[None]]]:
    """The other vendor's SDK, one client."""
    anthropic: Any = importlib.import_module("anthropic")
    client = anthropic.AsyncAnthropic(base_url=base.removesuffix("/v1"), api_key="sk-bench", timeout=60)

    async def call(model: str, messages: list[dict[str, str]]) -> str:
        head, rest = messages[0]["content"], [m for m in messages if m["role"] != "system"]
        reply = await client.messages.create(model=model, max_tokens=500, system=head, messages=rest)
        return str(reply.content[0].text)

    return call, client.close


CLIENTS = {"aiohttp": aiohttp_client, "openai": openai_client, "anthropic": anthropic_client}


async def conversation(call: Call, number: int, turns: int) -> int:
    """One conversation; returns how many calls it took."""
    history = [{"role": "user", "content": f"scenario {number}: start"}]
    judges = []
    for _ in range(turns):
        turned = [{**m, "role": "assistant" if m["role"] == "user" else "user"} for m in history]
        persona = [{"role": "system", "content": "You are a customer."}, {"role": "user", "content": "go on"}, *turned]
        history.append({"role": "user", "content": await call("persona-1", persona)})
        agent = [{"role": "system", "content": "You are a support agent."}, *history]
        history.append({"role": "assistant", "content": await call("agent-1", agent)})
        asked = [{"role": "system", "content": "Judge."}, {"role": "user", "content": json.dumps(history)}]
        judges.append(asyncio.create_task(call("judge-1", asked)))  # type: ignore[arg-type]
    answers = await asyncio.gather(*judges)
    return 2 * turns + sum("score" in a for a in answers)


async def main(client: str, base: str, scenarios: int, turns: int) -> None:
    """All conversations side by side."""
    call, close = await CLIENTS[client](base)
    counts = await asyncio.gather(*(conversation(call, n, turns) for n in range(scenarios)))
    await close()
    if sum(counts) != scenarios * turns * 3:
        raise SystemExit(f"{sum(counts)} calls")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
