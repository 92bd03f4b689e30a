"""Style rules outside a run: the block for prompts, and rules applied to texts and exported chats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalrun.errors import FileProblems, UsageError
from evalrun.style import prompt_block
from evalrun.use_cases.rules import RulesReport, check, prompt, rules_of
from tests.loading.projects import RULES, write

HARD = RULES + '[[rules]]\nid = "no-dash"\ncheck = "no_dash"\nseverity = "hard"\nsay = "no dashes"\n'
HARD += '[[rules]]\nid = "short"\ncheck = "max_bubbles"\nseverity = "soft"\nsay = "two bubbles at most"\nmax = 2\n'


def checked(root: Path, name: str, text: str) -> RulesReport:
    """The report on one file."""
    write(root, {"style_rules.toml": HARD})
    (root / name).write_text(text, "utf-8")
    return check(rules_of(root, None, {}), [root / name])


def found(report: RulesReport) -> list[tuple[int, int, str]]:
    """Reply, bubble and rule of each finding."""
    return [(b.reply, b.finding.bubble, b.finding.rule) for b in report.found]


def test_the_prompt_block_is_the_one_a_product_reads(tmp_path: Path) -> None:
    """The command and evalrun.style.prompt_block give the same sentences, in order."""
    write(tmp_path, {"style_rules.toml": HARD})
    block = prompt(tmp_path, None, {})
    assert block == "- ask one question at most\n- no dashes\n- two bubbles at most"
    assert prompt_block(tmp_path / "style_rules.toml") == block


def test_rules_of_another_file_need_no_settings(tmp_path: Path) -> None:
    """`--rules FILE` works anywhere."""
    (tmp_path / "mine.toml").write_text(RULES, "utf-8")
    assert [r.id for r in rules_of(tmp_path, Path("mine.toml"), {}).rules] == ["one-question"]


def test_rules_need_no_connection(tmp_path: Path) -> None:
    """A database whose variable is not set does not matter here."""
    write(tmp_path, {"evalrun.toml": '[targets.bot]\ndatabase = "${PG_URL}"\n'})
    assert [r.id for r in rules_of(tmp_path, None, {}).rules] == ["one-question"]


def test_rules_that_are_not_there_are_a_usage_error(tmp_path: Path) -> None:
    """Checking without rules is no success; a broken file is told with its place."""
    write(tmp_path)
    (tmp_path / "style_rules.toml").unlink()
    with pytest.raises(UsageError, match="no file of style rules"):
        rules_of(tmp_path, None, {})
    (tmp_path / "style_rules.toml").write_text("[[rules]]\n", "utf-8")
    with pytest.raises(FileProblems):
        rules_of(tmp_path, None, {})


def test_a_text_is_one_reply(tmp_path: Path) -> None:
    """Hard and soft findings are told apart."""
    report = checked(tmp_path, "reply.txt", "ça va ? et toi ? — oui")
    assert found(report) == [(1, 1, "one-question"), (1, 1, "no-dash")]
    assert (report.replies, report.hard) == (1, 1)
    assert checked(tmp_path, "reply.txt", "ça va ?").found == ()


def test_a_chat_is_read_by_role(tmp_path: Path) -> None:
    """Messages of the agent in a row are the bubbles of one reply; what the user writes is not checked."""
    chat = [
        {"role": "system", "content": "— ? ?"},
        {"role": "user", "content": "quoi ? où ?"},
        {"role": "assistant", "content": "un"},
        {"role": "assistant", "content": "deux"},
        {"role": "assistant", "content": [{"type": "text", "text": "trois —"}, {"type": "image"}]},
        {"role": "user", "text": "—"},
        {"role": "assistant", "content": None},
        {"role": "agent", "text": "bien"},
    ]
    for value in (chat, {"messages": chat}):
        report = checked(tmp_path, "chat.json", json.dumps(value))
        assert (report.replies, found(report)) == (2, [(1, 3, "no-dash"), (1, 0, "short")])


def test_a_list_of_texts_is_a_list_of_replies(tmp_path: Path) -> None:
    """A text is a reply of one bubble, a list one of several."""
    report = checked(tmp_path, "chat.json", json.dumps(["a ?", "b ?", ["c", "d", "e"]]))
    assert (report.replies, found(report)) == (3, [(3, 0, "short")])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("empty.txt", " \n"),
        ("chat.json", "{"),
        ("chat.json", "{}"),
        ("chat.json", "[]"),
        ("chat.json", "[1]"),
        ("chat.json", '[["a", 1]]'),
        ("chat.json", '[{"role": "Ori", "content": "a"}]'),
        ("chat.json", '[{"content": "a"}]'),
        ("chat.json", '[{"role": "assistant", "content": 1}]'),
        ("chat.json", '[{"role": "user", "content": "a"}]'),
        ("chat.json", "[" * 100_000),
    ],
)
def test_what_is_not_understood_is_never_a_success(name: str, text: str, tmp_path: Path) -> None:
    """No message of the agent, an unknown role or shape: a usage error with the forms that are read."""
    with pytest.raises(UsageError) as caught:
        checked(tmp_path, name, text)
    assert '"role": "assistant"' in caught.value.remedy


def test_a_file_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    """Or not text."""
    write(tmp_path)
    (tmp_path / "x.txt").write_bytes(b"\xff\xfe")
    for name in ("gone.txt", "x.txt"):
        with pytest.raises(UsageError, match="cannot be read"):
            check(rules_of(tmp_path, None, {}), [tmp_path / name])
