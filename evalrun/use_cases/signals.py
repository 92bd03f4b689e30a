"""Signals, and a watch over the event loop, which a target's own code runs in and may block.

SIGINT and SIGTERM: the first stops the run in order, the second ends the process at once. Python
handles them between two steps of whatever runs, also of a target that never gives the loop back;
so does the watch, which breaks such code off with an error of the target.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

from evalrun.errors import TargetFailed

BREAK = signal.SIGUSR2
BEAT_SECONDS = 0.5
HURRY_SECONDS = 1.0
"""How long a blocked loop may keep an interruption waiting."""
LOST_SECONDS = 5.0
"""After an interruption: then the process ends, whatever hangs."""


class Signals:
    """Listens from `__enter__` to `__exit__`, in the main thread. `blocked_after`: seconds of one turn."""

    def __init__(self, blocked_after: float) -> None:
        self.interrupt: Callable[[int], None] | None = None
        self.received = 0
        self._limit = blocked_after
        self._task = asyncio.current_task()
        self._loop = asyncio.get_running_loop()
        self._beat = time.monotonic()
        self._since = 0.0
        self._over = threading.Event()
        self._before: dict[int, Any] = {}
        self._main = threading.get_ident()
        self._thread = threading.Thread(target=self._watch, name="evalrun-loop-watch", daemon=True)

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._signalled)
        self._before[BREAK] = signal.signal(BREAK, self._break_off)
        self._tick()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def limit(self, seconds: float) -> None:
        """Set after how many seconds a blocked loop is broken off."""
        self._limit = seconds

    def _signalled(self, number: int, _frame: FrameType | None) -> None:
        if self.received:
            os._exit(128 + number)
        self.received = number
        self._since = time.monotonic()
        self._loop.call_soon_threadsafe(self._stop, number)

    def _stop(self, number: int) -> None:
        if self.interrupt is not None:
            self.interrupt(number)
        elif self._task is not None:
            self._task.cancel()

    def _tick(self) -> None:
        self._beat = time.monotonic()
        if not self._over.is_set():
            self._loop.call_later(BEAT_SECONDS, self._tick)

    def _watch(self) -> None:
        """In a thread of its own: break off what blocks the loop; end the process when even that does not help."""
        while not self._over.wait(BEAT_SECONDS):
            now = time.monotonic()
            stuck = now - self._beat
            if self.received and stuck > LOST_SECONDS and now - self._since > LOST_SECONDS:
                os._exit(128 + self.received)
            if stuck > (HURRY_SECONDS + BEAT_SECONDS if self.received else self._limit + BEAT_SECONDS):
                signal.pthread_kill(self._main, BREAK)
                if not self.received:
                    self._beat = now  # once for each time that it is over the limit

    def _break_off(self, _number: int, _frame: FrameType | None) -> None:
        if self._over.is_set():
            return
        said = "an interruption" if self.received else f"{self._limit:g} s"
        raise TargetFailed(
            f"the target blocked the event loop past {said}",
            remedy="await what waits, or write the method without async: it then runs in a thread",
        )
