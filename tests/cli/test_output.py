"""Where reports go, and what a stream can show."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from evalrun.cli.output import ReportFile, Screen, Wish, reporters, screen_options
from evalrun.errors import StoreFailed, UsageError
from evalrun.interfaces.reports import ReportOptions
from tests.runs_samples import mixed_run


class Tty(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "cp1252"

    def isatty(self) -> bool:
        """It does."""
        return True

    def fileno(self) -> int:
        """None here."""
        raise OSError("no descriptor")


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, (80, True, True)),
        ({"COLUMNS": "200"}, (200, True, True)),
        ({"COLUMNS": "0"}, (80, True, True)),
        ({"COLUMNS": "wide"}, (80, True, True)),
        ({"NO_COLOR": "1"}, (80, False, True)),
        ({"NO_COLOR": ""}, (80, True, True)),
        ({"TERM": "dumb"}, (80, False, False)),
        ({"CI": "true"}, (80, True, False)),
    ],
)
def test_a_terminal(environ: dict[str, str], expected: tuple[int, bool, bool]) -> None:
    """Its width, colours and movement, as the surroundings allow."""
    options = screen_options(Tty(), environ, Wish(scenario="s", detail=True))
    assert (options.width, options.colour, options.animate) == expected
    assert (options.encoding, options.scenario, options.detail) == ("cp1252", "s", True)


@pytest.mark.parametrize(
    ("environ", "width", "colour"),
    [({}, 0, False), ({"COLUMNS": "40"}, 40, False), ({"FORCE_COLOR": "1"}, 0, True)],
)
def test_a_pipe(environ: dict[str, str], width: int, colour: bool) -> None:
    """No limit of width and no colour unless asked for; nothing moves."""
    options = screen_options(io.TextIOWrapper(io.BytesIO(), "utf-8"), environ, Wish())
    assert options == ReportOptions(width=width, colour=colour, animate=False, encoding="utf-8")


def test_a_file_and_the_table_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report goes to the file, the table to the terminal."""
    file = tmp_path / "report.md"
    with reporters(Wish(format="markdown", output=file), {}, beside=True) as made:
        for reporter in made:
            reporter.finished(mixed_run())
        assert not file.exists()
    assert file.read_text("utf-8").startswith("## ✗ 4 of 9 scenarios failed")
    assert "scenario  " in capsys.readouterr().out


def test_a_file_is_tried_before_anything_is_run(tmp_path: Path) -> None:
    """No money is spent for a report that cannot be written."""
    (tmp_path / "x").write_text("")
    with pytest.raises(UsageError, match="cannot be written"), reporters(Wish(output=tmp_path / "x" / "y"), {}):
        pytest.fail("must not come so far")


def test_a_full_disk_is_an_error_with_a_cure(tmp_path: Path) -> None:
    """The run is kept, so the report can be written again; nothing half written stays."""
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    file = ReportFile(tmp_path / "report")
    file._file.close()
    file._file = full.open("w", encoding="utf-8")
    file.write("x" * 10)
    with pytest.raises(StoreFailed, match="No space left") as found, file:
        file.flush()
    assert "evalrun show last --output" in found.value.remedy
    full.unlink()
    assert list(tmp_path.iterdir()) == []


class Gone(io.StringIO):
    """A stream whose reader has gone."""

    def write(self, text: str) -> int:
        """Fail as a broken pipe does."""
        raise BrokenPipeError(len(text))

    def fileno(self) -> int:
        """None here."""
        raise OSError("no descriptor")


def test_a_reader_that_has_gone() -> None:
    """What is written then goes nowhere."""
    screen = Screen(Gone())
    screen.write("a")
    screen.write("b")
    screen.flush()
