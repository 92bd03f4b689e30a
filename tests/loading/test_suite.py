"""Whole projects: what loads, what refers to what, and the lines users see."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from evalrun.errors import FileProblems, Problem, Where
from tests.loading.projects import SCENARIO, suite_of, told, write


def scenario(**changes: str) -> dict[str, str]:
    """The plain scenario with top-level lines replaced (`key` → its whole text) or added."""
    text = SCENARIO
    for key, value in changes.items():
        found = re.search(rf"(?ms)^{key}:.*?(?=^\w|\Z)", text)
        text = text.replace(found.group(), value) if found else text + value
    return {"scenarios/pricing.yaml": text}


def test_an_id_is_the_stem_of_the_file_by_default(tmp_path: Path) -> None:
    """A scenario, a persona and a rubric without an id are called as their file."""
    suite = suite_of(tmp_path, {"scenarios/pricing.yaml": SCENARIO.replace("id: pricing\n", "")})
    assert [s.id for s in suite.scenarios] == ["pricing"]
    assert told(tmp_path, {"scenarios/Été 1.yaml": SCENARIO.replace("id: pricing\n", "")}) == [
        (
            "scenarios/Été 1.yaml:1:1: the file's name gives the id `Été 1`, expected an id of a-z, 0-9 and -, "
            "at most 64 characters; rename it, or add id: …"
        )
    ]


def test_b50_text_fields_keep_the_source_text(tmp_path: Path) -> None:
    """Facts of a persona are text as written, and versions 1.10 and 1.1 are different."""
    facts = {
        "phone": "0612345670",
        "other": "0612345678",
        "appointment": "22:30",
        "early": "08:30",
        "version": "1.10",
        "old": "1.1",
        "since": "2026-12-01",
        "answer": "on",
        "lang": "no",
        "code": "1_000",
        "rate": "1e3",
    }
    text = "name: Léa\nbackground: on\ntraits: [no, 08:30]\nfacts:\n"
    text += "".join(f"  {k}: {v}      # as written\n" for k, v in facts.items())
    persona = suite_of(tmp_path, {"personas/lea.yaml": text}).personas["lea"]
    assert persona.facts == facts
    assert (persona.background, persona.traits) == ("on", ("no", "08:30"))


def test_b50_null_is_no_text(tmp_path: Path) -> None:
    """`name: null` is refused with the form to paste, and so is a number with quotes where a number must be."""
    text = "name: null\nbackground: x\ntraits: [a]\nmax_chars: '300'\n"
    assert told(tmp_path, {"personas/lea.yaml": text}) == [
        'personas/lea.yaml:1:7: `null` is nothing in YAML, expected text; write "null"',
        "personas/lea.yaml:4:12: `'300'`, expected a whole number from 20 to 4000; write one without quotes",
    ]


@pytest.mark.parametrize(
    ("item", "said"),
    [
        ("[NAME]", '`[NAME]` is a YAML list, expected text; write "[NAME]"'),
        ("{name}", '`{name}` is a YAML mapping, expected text; write "{name}"'),
        ("{{name}}", '`{{name}}` is a YAML mapping, expected text; write "{{name}}"'),
        ("null", '`null` is nothing in YAML, expected text; write "null"'),
        ("~", '`~` is nothing in YAML, expected text; write "~"'),
        ("?", '`?` is a YAML mapping, expected text; write "?"'),
        ("a: b", '`a: b` is a YAML mapping, expected text; write "a: b"'),
        (
            "text #2",
            '`text`, expected the whole text; write "text #2", or put the comment on its own line',
        ),
        ("", "nothing, expected text; write one"),
    ],
)
def test_b51_an_item_that_yaml_would_change_is_refused(item: str, said: str, tmp_path: Path) -> None:
    """Each is told with its line and the quoted form to paste; nothing is dropped."""
    expect = f"expect:\n  text:\n    absent:\n      - fine\n      - {item}\n"
    lines = told(tmp_path, scenario(expect=expect))
    assert [re.sub(r":\d+: ", ": ", line, count=1) for line in lines] == [f"scenarios/pricing.yaml:13: {said}"]


def test_b51_what_is_text_for_yaml_is_kept(tmp_path: Path) -> None:
    """Quoted forms and harmless signs arrive as they are; the word None is a word."""
    expect = """expect: {text: {absent: ["[NAME]", "null", <name>, None, undefined, —, "text #2", 'a: b', "%s"]}}\n"""
    loaded = suite_of(tmp_path, scenario(expect=expect)).scenarios[0]
    words = ["[NAME]", "null", "<name>", "None", "undefined", "—", "text #2", "a: b", "%s"]
    assert [t.text for t in loaded.expect.text] == words


@pytest.mark.parametrize("name", ["present", "absent"])
@pytest.mark.parametrize(
    ("item", "why"),
    [
        ("re:(a", "'(a' is not a regular expression: missing ), unterminated subpattern at position 0"),
        ("re:a*", "'a*' matches the empty text, so it says nothing about a reply"),
        ("re:(a+)+b", "'(a+)+b' repeats a repetition, '(a+)+', which may never end; repeat it once"),
        ("'**'", "'**' has nothing to look for once Markdown is taken away; write it as re:…"),
    ],
)
def test_what_cannot_be_looked_for_is_told_before_anything_runs(name: str, item: str, why: str, tmp_path: Path) -> None:
    """A bad pattern has its own place, also in a checkpoint and in `until`."""
    wrong = f"text: {{{name}: [fine, {item}]}}"
    steps = f"steps:\n  - user: a\n  - expect: {{{wrong}}}\n  - persona: {{turns: 1, until: {{{wrong}}}}}\n"
    lines = told(tmp_path, scenario(steps=steps, expect=f"expect: {{{wrong}}}\n"))
    said = f"`{item}`, expected words that can be looked for; correct it: {why}"
    assert [line.split(": ", 1)[1] for line in lines] == [said] * 3
    column = len(f"expect: {{text: {{{name}: [fine, ") + 1
    assert lines[-1].startswith(f"scenarios/pricing.yaml:11:{column}: ")


def test_a_text_cut_by_a_comment_is_refused_outside_lists_too(tmp_path: Path) -> None:
    """`chambre #2` would lose its end; a comment with a blank after its hash is a comment."""
    changed = scenario(steps="steps:\n  - user: chambre #2\n", title="title: Pricing # later\n")
    assert told(tmp_path, changed) == [
        (
            'scenarios/pricing.yaml:8:11: `chambre`, expected the whole text; write "chambre #2", '
            "or a blank after the `#` of a comment"
        )
    ]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"expect": "asserts: {tools: {called: [send_quote]}}\n"},
            ["9:1: `asserts` does not belong in `scenario`; it is called `expect`"],
        ),
        (
            {"expect": "expects: {tools: {called: [send_quote]}}\n"},
            ["9:1: unknown key `expects` in `scenario`; did you mean `expect`?"],
        ),
        (
            {"expect": "expect:\n  tools:\n  called: [send_quote]\n"},
            [
                "10:9: nothing, expected a mapping (tools); write called: …",
                "11:3: `called` does not belong in `expect`; put it under `tools`",
            ],
        ),
        (
            {"judge": "judge: {rubic: conversation}\n"},
            ["11:9: unknown key `rubic` in `judge`; did you mean `rubric`?"],
        ),
        (
            {"expect": "expect: {tools: {not_call: [a]}}\n"},
            ["9:18: unknown key `not_call` in `tools`; did you mean `not_called`?"],
        ),
        (
            {"rules": "rules: {max_question: 1}\n"},
            ["11:1: `rules` does not belong in `scenario`; style rules stand in style_rules.toml"],
        ),
        (
            {"expect": "expect: {}\n"},
            ["9:9: `expect` is empty, expected one of tools, replies, text, state, sql; add one, or remove it"],
        ),
        ({"expect": "expect: {text: {absent: []}}\n"}, ["9:25: `[]` is a YAML list, expected at least 1 item; add one"]),
        ({"tags": "id: again\n"}, ["11:1: `id` stands twice, first at line 1, column 1; remove one"]),
        ({"adapter": "adapter: 'os:system'\n"}, [
            ("11:1: `adapter` does not belong in `scenario`; "
            "adapters, entry points and commands are named only in the settings, under targets")
        ]),
        ({"steps": "steps:\n  - shell: touch pwned\n"}, [
            ("8:5: `shell` does not belong in `step`; "
            "adapters, entry points and commands are named only in the settings, under targets")
        ]),
        ({"steps": "steps:\n  - user: a\n    advance: 3d\n"}, [
            ("8:5: `user` and `advance` in one `step`, "
            "expected exactly one of user, persona, event, advance, expect; write one in each")
        ]),
        ({"steps": "steps: []\n"}, ["7:8: `[]` is a YAML list, expected at least 1 item; add one"]),
        ({"steps": "steps:\n  - advance: soon\n"}, [
            "8:14: `soon`, expected a duration such as 3d, 90m or 1w2d; use the units s, m, h, d and w"
        ]),
        ({"given": "given: {now: 2026-03-02T09:00:00}\n"}, [
            ("11:14: `2026-03-02T09:00:00`, expected a time with its zone such as 2026-03-02T09:00:00+01:00; "
            "add its zone, for example Z or +01:00")
        ]),
        ({"category": "category: stages\n"}, [
            "3:11: `stages`, expected one of stage, action, event, smoke; did you mean `stage`?"
        ]),
        ({"stage": ""}, ["3:11: `stage` is missing, expected for category stage; add stage: …"]),
        ({"persona": "persona: leo\n"}, ["5:10: there is no persona `leo`; did you mean `lea`?"]),
        ({"judge": "judge: {rubric: conversations}\n"}, [
            "11:17: there is no scored rubric `conversations`; did you mean `conversation`?"
        ]),
        ({"judge": "judge: {checks: [honest-figure]}\n"}, [
            "11:18: there is no check rubric `honest-figure`; did you mean `honest-figures`?"
        ]),
        ({"judge": "judge: {checks: [conversation]}\n"}, [
            "11:18: there is no check rubric `conversation`; known: honest-figures"
        ]),
        ({"steps": "steps:\n  - user: {text: a, from: noah}\n"}, [
            "8:5: there is no participant `noah`; known: lea"
        ]),
        ({"steps": "steps:\n  - event: {name: e, participant: nora}\n", "given": "given: {participants: [{id: noa, name: N}]}\n"}, [
            "8:5: there is no participant `nora`; did you mean `noa`?"
        ]),
        ({"given": "given: {participants: [{id: lea, name: L}]}\n"}, [
            "11:23: the participant `lea` stands twice (the persona is one too); rename one"
        ]),
        ({"expect": "expect: {sql: [{query: select 1}]}\n"}, [
            "9:16: none of them in one `sql`, expected exactly one of equals, rows; write one in each"
        ]),
        ({"expect": "expect: {replies: {min: 3, max: 2}}\n"}, ["9:19: min 3 is over max 2; correct one of them"]),
        ({"expect": "expect: {state: {a: 1e999}}\n"}, [
            '9:21: `1e999`, expected a finite number of at most 300 digits; as text write "1e999"'
        ]),
        ({"expect": "expect: {state: {<<: {a: b}}}\n"}, [
            "9:18: `<<` as a key is not read, expected a name; write the keys out"
        ]),
        ({"repeats": "repeats: 0\n"}, ["11:10: `0`, expected a whole number from 1 to 100; write one without quotes"]),
        ({"title": ""}, ["1:1: `title` is missing in `scenario`; add title: …"]),
    ],
)  # fmt: skip
def test_b52_b76_what_is_wrong_is_told_with_place_and_cure(
    changes: dict[str, str], said: list[str], tmp_path: Path
) -> None:
    """Misspelt, misplaced, missing, doubled, contradicting or foreign: one line each, and nothing is loaded."""
    assert told(tmp_path, scenario(**changes)) == [f"scenarios/pricing.yaml:{line}" for line in said]


def test_b52_a_scenario_that_checks_nothing_is_refused(tmp_path: Path) -> None:
    """Without an expectation, a hard rule or a rubric it would be green for ever."""
    said = [
        "scenarios/pricing.yaml:1:1: nothing is checked: no expectation, no hard style rule, no rubric; add `expect:`"
    ]
    bare = scenario(expect="", judge="judge: none\n")
    assert told(tmp_path, bare) == said
    no_rubrics = {"rubrics/conversation.yaml": None, "rubrics/honest-figures.yaml": None}
    for name in no_rubrics:
        (tmp_path / name).unlink()
    assert told(tmp_path, {**no_rubrics, **scenario(expect="")}) == said


@pytest.mark.parametrize(
    "changes",
    [
        {"expect": "", "steps": "steps:\n  - user: a\n  - expect: silence\n"},
        {"expect": "", "judge": "judge: {checks: [honest-figures], rubric: conversation}\n"},
        {"expect": ""},
    ],
)
def test_b52_one_thing_to_check_is_enough(changes: dict[str, str], tmp_path: Path) -> None:
    """A checkpoint or a judge will do."""
    assert told(tmp_path, scenario(**changes)) == []


def test_b52_a_hard_rule_is_enough(tmp_path: Path) -> None:
    """A hard style rule holds for every scenario."""
    hard = '[[rules]]\nid = "d"\ncheck = "no_dash"\nseverity = "hard"\nsay = "no dash"\n'
    assert told(tmp_path, {**scenario(expect="", judge="judge: none\n"), "style_rules.toml": hard}) == []


def test_b76_templates_are_text(tmp_path: Path) -> None:
    """What looks like a template is shown unchanged."""
    texts = ["{{ 7*7 }}", "{{ cycler.__init__.__globals__ }}", "{0.__class__}", "%(x)s", "${HOME}"]
    for text in texts:
        persona = f'name: L\nbackground: b\ntraits: [t]\ngoal: "{text}"\n'
        assert suite_of(tmp_path, {"personas/lea.yaml": persona}).personas["lea"].goal == text


def test_duplicate_ids_name_both_files(tmp_path: Path) -> None:
    """The second file is told, and where the first stands."""
    assert told(tmp_path, {"scenarios/z/other.yml": SCENARIO, "personas/z.yaml": "id: lea\nname: L\nbackground: b\ntraits: [t]\n"}) == [
        "personas/z.yaml:1:1: the id `lea` stands twice, first in personas/lea.yaml:1:1; give each its own",
        "scenarios/z/other.yml:1:1: the id `pricing` stands twice, first in scenarios/pricing.yaml:1:1; give each its own",
    ]  # fmt: skip


def test_who_refers_to_a_broken_file_is_not_to_blame(tmp_path: Path) -> None:
    """A persona with a problem is told once, not again by every scenario that names it."""
    assert told(tmp_path, {"personas/lea.yaml": "id: lea\nname: L\nbackground: b\n"}) == [
        "personas/lea.yaml:1:1: `traits` is missing in `persona`; add traits: …"
    ]


def test_a_project_without_scenarios_is_a_problem(tmp_path: Path) -> None:
    """An empty suite is no success."""
    said = (
        "evalrun.toml:1:1: no scenario in the folder `scenarios`, expected a file *.yaml; add one, or set `scenarios`"
    )
    assert told(tmp_path, {"scenarios/pricing.yaml": None}) == [said]


def test_a_default_rubric_that_is_not_there_is_told(tmp_path: Path) -> None:
    """With other rubrics around, a scenario that names none cannot mean one that is missing."""
    assert told(tmp_path, {"rubrics/conversation.yaml": None}) == [
        (
            "scenarios/pricing.yaml:1:1: no rubric is named and there is none called `conversation`; "
            "write judge: {rubric: …} or judge: none"
        )
    ]


def test_stages_are_those_of_the_settings(tmp_path: Path) -> None:
    """Once the settings declare stages, a scenario's must be one of them."""
    settings = 'target = "bot"\nstages.welcome.watch = ["w.py"]\nstages.prices.watch = ["p.py"]\n[targets.bot]\n'
    assert told(tmp_path, {"evalrun.toml": settings}) == [
        "scenarios/pricing.yaml:4:8: there is no stage `pricing`; did you mean `prices`?"
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """No permission is a problem with its file, never a scenario less."""
    write(tmp_path)
    (tmp_path / "scenarios/pricing.yaml").chmod(0)
    assert "cannot be read" in told(tmp_path, {"scenarios/pricing.yaml": None})[0]


def test_a_broken_link_is_told(tmp_path: Path) -> None:
    """A link to nothing is a problem, never a scenario less."""
    write(tmp_path)
    (tmp_path / "scenarios" / "gone.yaml").symlink_to(tmp_path / "nowhere")
    said = told(tmp_path, {})
    assert [s.partition(":")[0] for s in said] == ["scenarios/gone.yaml"]


def test_only_yaml_files_are_read_and_no_folder_is_forgotten(tmp_path: Path) -> None:
    """Endings in any case, in any depth; other files are left alone."""
    other = SCENARIO.replace("id: pricing", "id: deep")
    suite = suite_of(tmp_path, {"scenarios/a/b/c/deep.YML": other, "scenarios/README.md": "# hello"})
    assert [s.id for s in suite.scenarios] == ["deep", "pricing"]


def test_up_to_twenty_problems_and_how_many_more() -> None:
    """The first twenty lines, then a count, then what it means."""
    many = [Problem(where=Where(file=f"f{i % 2}.yaml", line=i, column=1), message="wrong") for i in range(1, 24)]
    lines = FileProblems(many).lines()
    assert lines[0] == "f1.yaml:1:1: wrong"
    assert lines[19:] == (
        "f1.yaml:20:1: wrong".replace("f1", "f0"),
        "and 3 more",
        "23 problems in 2 files; nothing was run, nothing was spent",
    )
    assert FileProblems(many[:1]).lines()[-1] == "1 problem in 1 file; nothing was run, nothing was spent"


def test_a_problem_is_one_line_whatever_the_file_says(tmp_path: Path) -> None:
    """Line breaks and escape sequences in a value are written out, so that a log shows one honest line."""
    lines = told(tmp_path, scenario(persona='persona: "l\\n::error::\\x1b[2J\\u202e"\n'))
    assert lines == [
        "scenarios/pricing.yaml:5:10: there is no persona `l\\u000a::error::\\u001b[2J\\u202e`; known: lea"
    ]
