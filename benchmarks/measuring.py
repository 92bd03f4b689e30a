"""What a command costs: seconds, processor time, the time it stood waiting for a processor, and peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Of one command. `waited` is what other load on the machine took (0 where the system does not tell)."""

    code: int
    wall: float
    cpu: float
    waited: float
    peak_mb: float
    output: str = ""

    @property
    def own(self) -> float:
        """Wall time less the wait for a processor, seconds."""
        return self.wall - self.waited


def measure(command: Sequence[str], *, cwd: Path | None = None, environ: Mapping[str, str] | None = None) -> Cost:
    """Run a command to its end."""
    began = time.perf_counter()
    with subprocess.Popen(
        command,
        cwd=cwd,
        env={**{k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}, **(environ or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        wait = _Wait(process.pid)
        output = process.stdout.read() if process.stdout else ""
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        waited = wait.stop()
    scale = 1024 * 1024 if sys.platform == "darwin" else 1024
    cpu = used.ru_utime + used.ru_stime
    return Cost(
        code=process.returncode, wall=wall, cpu=cpu, waited=waited, peak_mb=used.ru_maxrss / scale, output=output
    )


class _Wait:
    """Samples how long the main thread of a process stood runnable without a processor (Linux)."""

    def __init__(self, pid: int) -> None:
        self._file = Path(f"/proc/{pid}/schedstat")
        self._nanoseconds = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(0.05):
            try:
                self._nanoseconds = int(self._file.read_text().split()[1])
            except (OSError, IndexError, ValueError):
                return

    def stop(self) -> float:
        """Seconds waited, as far as they were seen."""
        self._ended.set()
        self._thread.join()
        return self._nanoseconds / 1e9


@contextmanager
def model_server(seconds: float) -> Iterator[str]:
    """A model server of a fixed latency; its OpenAI base URL."""
    command = [sys.executable, str(HERE / "model_server.py"), str(seconds)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait()
