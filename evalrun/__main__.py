"""The one place where an error becomes a message and an exit code.

An expected failure is one line with its cure (its own exit code); a bug of ours is a log file
and exit code 70, never a traceback on the terminal.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import traceback
from pathlib import Path

from evalrun.cli.app import build
from evalrun.errors import CannotJudge, EvalrunError, FileProblems, ModelFailed
from evalrun.redaction import Redactor


def main() -> None:
    """Run the command line and end the process with its exit code."""
    # a run makes few cycles and many values that live to its end: the default would look at them again and again
    gc.set_threshold(50_000, 50, 100)
    redactor = Redactor.from_environ(os.environ)
    try:
        build(*sys.argv[1:2])()
    except EvalrunError as e:
        _say(redactor.text(explain(e)))
        sys.exit(e.exit_code)
    except Exception:  # noqa: BLE001  the outermost handler: a bug must leave a log, not a traceback
        with tempfile.NamedTemporaryFile(
            "w", prefix="evalrun-bug-", suffix=".log", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as log:
            log.write(redactor.text(traceback.format_exc()))
        _say(f"error (bug): evalrun itself failed; its log is {Path(log.name)}\n    please report it with that file")
        sys.exit(70)
    finally:
        # the process ends: nothing is gained by looking for cycles once more
        gc.freeze()


def explain(error: EvalrunError) -> str:
    """What a user sees of an expected failure: the message, then the cure."""
    if isinstance(error, FileProblems):
        return "\n".join(error.lines())
    kind = "usage" if error.exit_code == 2 else error.reason
    if isinstance(error, CannotJudge) and isinstance(error, ModelFailed):
        kind = "model"
    return f"error ({kind}): {error}\n    {error.remedy}"


def _say(text: str) -> None:
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


if __name__ == "__main__":
    main()
