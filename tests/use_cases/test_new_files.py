"""New files in a project: they validate, and a replayed chat shows nobody's data."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from evalrun.config import Settings
from evalrun.errors import EvalrunError, UnknownName, UsageError
from evalrun.scenario import Category, UserStep
from evalrun.suite import Suite
from evalrun.use_cases import new_files
from evalrun.use_cases.new_files import Outline, Source
from evalrun.use_cases.scaffold import init

WHATSAPP = """\
02/03/2026, 09:15 - Messages and calls are end-to-end encrypted.
02/03/2026, 09:15 - Léa Martin: bonjour, je m'appelle Léa
02/03/2026, 09:16 - Ori: enchanté Léa ! tu habites où ?
02/03/2026, 09:17 - Léa Martin: 12 rue de la Paix, Lyon
mon numéro c'est 06 12 34 56 78
02/03/2026, 09:18 - Léa Martin: <Media omitted>
"""
OPENAI = [
    {"role": "system", "content": "be kind"},
    {"role": "user", "content": "a latte for sam@corp.example please"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"type": "function", "function": {"name": "place_order", "arguments": "{}"}}],
    },
    {"role": "tool", "content": "ok"},
    {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
    {"role": "user", "content": [{"type": "text", "text": "ta"}, {"type": "image_url"}]},
]
HERE = "scenarios/action/new.yaml"


@pytest.fixture
def project(tmp_path: Path) -> tuple[Settings, Suite]:
    """A project to add to."""
    init(tmp_path)
    return new_files.project(tmp_path, {})


def outline(**changes: object) -> Outline:
    """A new action scenario of the generated persona."""
    return Outline(**{"id": "new", "category": Category.ACTION, "persona": "nora", **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wanted",
    [
        outline(),
        outline(category=Category.STAGE, stage="order"),
        outline(category=Category.EVENT, event="order_ready"),
        outline(category=Category.SMOKE, title='a "title": with # signs'),
    ],
    ids=lambda o: str(o.category),
)
def test_a_new_scenario_validates(project: tuple[Settings, Suite], wanted: Outline) -> None:
    """Of each category; what it says is what was asked for."""
    settings, suite = project
    new_files.new_scenario(settings, suite, wanted)
    _, now = new_files.project(settings.root, {})
    [made] = [s for s in now.scenarios if s.id == "new"]
    assert (wanted.category, wanted.title or "New") == (made.category, made.title)


@pytest.mark.parametrize(
    ("wanted", "error", "said"),
    [
        (outline(persona="nori"), UnknownName, "did you mean `nora`"),
        (outline(id="Cancel!"), UsageError, "is no id"),
        (outline(id="cancel"), UsageError, "a scenario 'cancel' already"),
        (outline(category=Category.STAGE), UsageError, "needs its stage"),
        (outline(category=Category.STAGE, stage="ordre"), UnknownName, "did you mean `order`"),
        (outline(category=Category.EVENT), UsageError, "needs the event's name"),
    ],
)
def test_what_cannot_be_is_refused(
    project: tuple[Settings, Suite], wanted: Outline, error: type[EvalrunError], said: str
) -> None:
    """With the nearest name, and without a file."""
    settings, suite = project
    before = set(settings.root.rglob("*"))
    with pytest.raises(error, match=said):
        new_files.new_scenario(settings, suite, wanted)
    assert before == set(settings.root.rglob("*"))


def test_a_file_that_is_there_is_not_overwritten(project: tuple[Settings, Suite]) -> None:
    """Also when its id is another one."""
    settings, suite = project
    path = settings.root / HERE
    path.write_text("mine", "utf-8")
    with pytest.raises(UsageError, match="exists already"):
        new_files.new_scenario(settings, suite, outline())
    assert path.read_text("utf-8") == "mine"


@pytest.mark.parametrize(
    "write",
    [
        lambda s, u: new_files.new_persona(s, u, "zoe-loud", "fr"),
        lambda s, u: new_files.new_rubric(s, u, "promises", check=True),
        lambda s, u: new_files.new_rubric(s, u, "tone", check=False),
    ],
    ids=["persona", "check", "scored"],
)
def test_new_personas_and_rubrics_validate(
    project: tuple[Settings, Suite], write: Callable[[Settings, Suite], object]
) -> None:
    """The whole project is read with them."""
    settings, suite = project
    write(settings, suite)
    _, now = new_files.project(settings.root, {})
    assert len(suite.personas) + len(suite.rubrics) + 1 == len(now.personas) + len(now.rubrics)


def from_chat(project: tuple[Settings, Suite], text: str, **source: str) -> tuple[list[str], str]:
    """The user's lines of the scenario that an export becomes, and its file."""
    settings, suite = project
    export = settings.root / "export.txt"
    export.write_text(text, "utf-8")
    new_files.scenario_from_chat(settings, suite, outline(), Source(path=export, **source))
    _, now = new_files.project(settings.root, {})
    [made] = [s for s in now.scenarios if s.id == "new"]
    steps = [s.text for s in made.steps if isinstance(s, UserStep)]
    return steps, (settings.root / HERE).read_text("utf-8")


def test_a_whatsapp_export_becomes_a_scenario_without_its_people(project: tuple[Settings, Suite]) -> None:
    """Names, numbers and addresses are invented ones; system lines and media are no messages."""
    steps, file = from_chat(project, WHATSAPP, agent="Ori")
    expected = ["bonjour, je m'appelle Nora", "1 rue des Tilleuls, Lyon\nmon numéro c'est 00 00 00 00 01"]
    assert expected == steps
    assert not [word for word in ("Léa", "Martin", "Paix", "12 34") if word in file]


def test_messages_of_a_vendor_become_a_scenario_with_its_tools(project: tuple[Settings, Suite]) -> None:
    """What the agent called is expected again; parts without text say nothing."""
    steps, file = from_chat(project, json.dumps(OPENAI))
    assert ["a latte for someone1@example.com please", "ta"] == steps
    assert 'tools: {called: ["place_order"]}' in file


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (WHATSAPP, "does not say who the agent is"),
        ("hello", "no exported chat"),
        ("{", "is not JSON"),
        ("[1]", "message 1 is not understood"),
        ('{"a": 1}', "no exported chat"),
        ('[{"role": "assistant", "content": "hi"}]', "no message of the user"),
        ("", "no exported chat"),
    ],
)
def test_what_is_no_chat_is_refused(project: tuple[Settings, Suite], text: str, said: str) -> None:
    """In one line, and no scenario appears."""
    with pytest.raises(UsageError, match=said):
        from_chat(project, text)
    assert not (project[0].root / HERE).exists()
