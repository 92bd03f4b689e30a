"""`python -m evalrun.sample_orchestrator chat`: Ori alone, in the terminal."""

from __future__ import annotations

import os
import signal
import sys
from io import TextIOWrapper
from types import FrameType

from evalrun.sample_orchestrator.chat.command import run

BUG = 70


def _terminated(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(143)


def main() -> int:
    """Run, with the streams and the signals of the process; a bug is told in one line as well."""
    signal.signal(signal.SIGTERM, _terminated)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        return run(sys.argv[1:], os.environ, (sys.stdin, sys.stdout, sys.stderr))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as e:  # noqa: BLE001  the outermost line: nobody in a chat can read a traceback
        sys.stderr.write(f"ori: a bug of Ori's ({type(e).__name__}: {e}); please report it with what you typed\n")
        return BUG


if __name__ == "__main__":
    sys.exit(main())
