"""Write the reference pages of docs/ from the code, so that they cannot say anything else.

`python scripts/write_reference.py` writes them; with `--check` it writes nothing, names the pages
that differ and exits 1.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import typer

from evalrun import errors
from evalrun.cli.app import build
from evalrun.loading.fields import Field, ListOf, MappingOf, Table
from evalrun.loading.kinds import Amount, Integer, Kind, Text
from evalrun.loading.schemas import KINDS
from evalrun.style_checks.table import CHECKS

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "reference"
NOTE = "<!-- Written by scripts/write_reference.py from the code (`make docs`); do not edit. -->\n"
FILE_OF = {
    "scenario": ("scenarios", "`scenarios/**/*.yaml`"),
    "persona": ("personas", "`personas/**/*.yaml`"),
    "rubric": ("rubrics", "`rubrics/**/*.yaml`"),
    "style_rules": ("style_rules", "`style_rules.toml`"),
    "label": ("labels", "the file that a rubric names under `labelled`: one a line in `*.jsonl`, a list in `*.yaml`"),
    "settings": ("settings", "`[tool.evalrun]` in `pyproject.toml`, or `evalrun.toml` without that heading"),
}


def cell(text: str) -> str:
    """Text that stands in one cell of a table."""
    return re.sub(r"\s+", " ", text).replace("|", r"\|").strip()


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table in markdown."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell(c) for c in row)} |" for row in lines) + "\n"


# The command line.


def commands_page() -> str:
    """Every command with its arguments and options."""
    application = typer.main.get_command(build())
    parts = [NOTE, "# Commands\n", f"{application.help}\n"]
    for path, command in sorted(walk(application, "evalrun")):
        parts.append(f"## `{path}`\n\n{paragraphs(command.help)}\n")
        rows = [row for p in command.params if not getattr(p, "hidden", False) if (row := parameter(p))]
        if rows:
            parts.append(table(("", "meaning", "default"), rows))
    return "\n".join(parts)


def walk(command: object, path: str) -> Iterator[tuple[str, object]]:
    """The commands under one, with what is typed to reach them."""
    children: Mapping[str, object] = getattr(command, "commands", {})
    for name, child in children.items():
        yield from walk(child, f"{path} {name}")
    if not children:
        yield path, command


def paragraphs(text: str | None) -> str:
    """Help without its indents."""
    return "\n".join(line.strip() for line in (text or "").strip().splitlines()) + "\n"


def parameter(p: object) -> tuple[str, ...] | None:
    """A row: how it is written, what it means, what it is when it is not given."""
    default = getattr(p, "default", None)
    shown = (
        "" if default in (None, (), [], False, "") or callable(default) else f"`{getattr(default, 'value', default)}`"
    )
    if getattr(p, "param_type_name", "") == "argument":
        return f"`{(p.name or '').upper()}`", getattr(p, "help", "") or "", shown
    written = ", ".join(f"`{o}`" for o in [*p.opts, *p.secondary_opts])
    return None if "--help" in p.opts else (written, p.help or "", shown)


# The files people write.


def file_page(kind: str) -> str:
    """Every key of a kind of file."""
    shape = KINDS[kind]
    name, where = FILE_OF[kind]
    parts = [
        NOTE,
        f"# {name.replace('_', ' ').capitalize()}\n",
        f"{shape.meaning} Read from {where}. Its JSON Schema is printed by `evalrun schema {kind}`.\n",
    ]
    for title, one in tables(shape, kind):
        parts += [f"## {title}\n", remarks(one), table(("key", "value", "meaning"), [row(f) for f in one.fields])]
    if kind == "style_rules":
        parts += checks()
    return "\n".join(p for p in parts if p)


def tables(shape: Table, title: str) -> Iterator[tuple[str, Table]]:
    """A table and those inside it, each once, titled by the keys that lead there."""
    todo, seen = [(f"`{title}`", shape)], set()
    while todo:
        title, one = todo.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield title, one
        for f in one.fields:
            todo += [(f"`{f.name}` in {title}" if one is not shape else f"`{f.name}`", t) for t in inner(f.kind)]


def inner(kind: object) -> list[Table]:
    """The tables that a kind of value holds."""
    if isinstance(kind, Table):
        return [kind]
    if isinstance(kind, ListOf):
        return inner(kind.item)
    if isinstance(kind, MappingOf):
        return inner(kind.value)
    own = getattr(kind, "table", None)
    return [own] if isinstance(own, Table) else []


def remarks(one: Table) -> str:
    """What else holds for a table."""
    lines = []
    if one.short:
        lines.append(f"A plain text stands for `{one.short}`.")
    if one.one_of:
        lines.append(f"Exactly one of {', '.join(f'`{n}`' for n in one.one_of)} is written.")
    return " ".join(lines) + ("\n" if lines else "")


def row(f: Field) -> tuple[str, str, str]:
    """A key, what is written there, what it means."""
    return f"`{f.name}`{' (required)' if f.required else ''}", wording(f.kind), f.meaning


def wording(kind: Kind) -> str:
    """What is written for a kind of value."""
    match kind:
        case Text(choices=choices) if choices:
            return "one of " + ", ".join(f"`{c}`" for c in choices)
        case Text(what=what):
            return what
        case Integer(least=least, most=most, even=even):
            return f"{'an even' if even else 'a whole'} number from {least} to {most}"
        case Amount(what=what):
            return what
        case ListOf(item=item):
            return "a list: " + wording(item)
        case MappingOf(value=value):
            return "a mapping of names to: " + wording(value)
        case Table(name=name):
            return f"a table: {name}"
    said = (type(kind).__doc__ or "").splitlines()[0].rstrip(".")
    return said[:1].lower() + said[1:]


def checks() -> list[str]:
    """The checks that rules use."""
    parts = ["## Checks\n"]
    for spec in CHECKS.values():
        parts.append(f"### `{spec.name}`\n\n{spec.summary}\n")
        rows = [
            (
                f"`{p.name}`{' (required)' if p.required else ''}",
                ", ".join(f"`{c}`" for c in p.choices) or p.kind,
                p.meaning,
                "" if p.default is None else f"`{p.default}`",
            )
            for p in spec.parameters
        ]
        if rows:
            parts.append(table(("parameter", "value", "meaning", "default"), rows))
    return parts


# Errors.


def errors_page() -> str:
    """Every error with its exit code, its reason code, and the messages it comes with."""
    messages = raised()
    exits = [
        ("0", "the gate holds"),
        ("1", "the agent failed: a scenario failed, or an unstable one where that fails the run"),
        ("2", "the command line, a setting or a file must be changed; nothing was run or spent"),
        ("3", "nothing can be said for or against the agent: an error, nothing evaluated, something not run"),
        ("4", "the budget was reached before everything was played"),
        ("70", "a bug of evalrun: please report it with the log file it names"),
        ("130, 143", "interrupted by Ctrl-C or TERM; finished trials are stored and `--resume` goes on"),
    ]
    parts = [NOTE, "# Errors and exit codes\n", table(("exit code", "meaning"), exits)]
    parts.append("Each error is one line with its remedy. `…` stands for what differs from case to case.\n")
    for error in (c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, errors.EvalrunError)):
        about = " ".join((error.__doc__ or "").split())
        parts.append(f"## {error.__name__}\n\n{about}\n\nExit code {error.exit_code}, reason `{error.reason}`.\n")
        if found := messages.get(error.__name__):
            parts.append(table(("message", "remedy"), sorted(found)))
    return "\n".join(parts)


def raised() -> Mapping[str, set[tuple[str, str]]]:
    """The messages and remedies in the source, by class."""
    found: dict[str, set[tuple[str, str]]] = {}
    for path in sorted((ROOT / "evalrun").rglob("*.py")):
        if "sample_orchestrator" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
                remedy = next((template(k.value) for k in node.keywords if k.arg == "remedy"), "")
                message = template(node.args[0])
                if remedy and message.strip("… "):
                    found.setdefault(node.func.id, set()).add((message, remedy))
    return found


def template(node: ast.expr) -> str:
    """A text in the source, `…` where something is put in."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(v.value if isinstance(v, ast.Constant) else "…" for v in values)
    return "…"


def pages() -> Mapping[str, str]:
    """All pages by file name."""
    files = {f"{FILE_OF[kind][0]}.md": file_page(kind) for kind in KINDS}
    return {"cli.md": commands_page(), "errors.md": errors_page(), **files}


def main(arguments: list[str]) -> int:
    """Write the pages, or with `--check` say which differ."""
    PAGES.mkdir(parents=True, exist_ok=True)
    wrong = []
    for name, text in pages().items():
        path = PAGES / name
        if path.exists() and path.read_text("utf-8") == text:
            continue
        wrong.append(name)
        if "--check" not in arguments:
            path.write_text(text, "utf-8")
    if "--check" in arguments and wrong:
        sys.stdout.write(f"out of date, run `make docs`: {', '.join(wrong)}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
