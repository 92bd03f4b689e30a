"""The house style: what Ori's prompt asks for is what the tests check, and what Ori says by itself keeps to it."""

import random
from pathlib import Path

import pytest

from evalrun.loading.suite import load_style_rules
from evalrun.sample_orchestrator.funnel import decide
from evalrun.sample_orchestrator.heard import listen
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.phrasing import safe_wording
from evalrun.sample_orchestrator.user import User
from evalrun.style import Severity, prompt_block
from evalrun.style_checks.table import CompiledRules
from tests.sample_orchestrator.stage_door import NOON
from tests.sample_orchestrator.test_adapter import LEA as PERSONA
from tests.sample_orchestrator.test_adapter import Inbound, ScriptedEndpoint, play

RULES = Path(__file__).parents[2] / "style_rules.toml"
WORRYING = (
    "salut", "léa", "j'ai envie de mourir", "oui", "non", "lyon", "il me harcèle", "signale noah", "efface tout",
    "je suis au bout du rouleau", "he hit me", "i want to die", "je vais lui casser la gueule", "34", "reset", "pause",
    "reprends", "je suis en retard", "c'est combien ?", "report him", "mon père est mort", "du sérieux", "d'accord",
)  # fmt: skip


def prompt_of(fresh_database, tmp_path, rules):
    """The system prompt that reaches the model when a trial is played with a rules file."""
    model = ScriptedEndpoint()

    async def scene(target, session):
        await target.handle(session.for_turn(1, 0.0), Inbound(id="i1", text="lyon", sender=PERSONA))

    given = {"user": {"stage": "profiling", "first_name": "Léa"}}
    play(fresh_database, tmp_path, scene, given=given, model=model, rules=rules)
    return model.asked[0][0].content


def test_the_prompt_holds_the_rules_that_are_checked(fresh_database, tmp_path):
    """The block of the shipped file stands in the prompt as it is: one sentence for each rule that is checked, no other."""
    prompt = prompt_of(fresh_database, tmp_path, RULES.read_text("utf-8"))
    block = prompt_block(RULES)
    assert block in prompt
    checked = [rule.say for rule in load_style_rules(RULES, "style_rules.toml").rules]
    assert [f"- {say}" for say in checked] == block.splitlines()
    assert len(checked) == sum(line.startswith("- ") for line in prompt.splitlines())


def test_a_changed_rule_changes_both(fresh_database, tmp_path):
    """A rule that is added or taken out of the file is added to, or gone from, the prompt and the checks alike."""
    changed = RULES.read_text("utf-8").replace("Use no em or en dash.", "Never use any dash at all.")
    changed += (
        '\n[[rules]]\nid = "no-foo"\ncheck = "forbidden"\nseverity = "hard"\nsay = "Never say foo."\ntexts = ["foo"]\n'
    )
    prompt = prompt_of(fresh_database, tmp_path, changed)
    file = tmp_path / "changed.toml"
    file.write_text(changed, "utf-8")
    rules = load_style_rules(file, "style_rules.toml")
    assert (True, True, False) == tuple(
        s in prompt for s in ("Never use any dash at all.", "Never say foo.", "Use no em or en dash.")
    )
    assert {"no-foo"} == {f.rule for f in CompiledRules(rules).check(["foo."])}


@pytest.mark.parametrize("seed", range(40))
def test_what_code_says_breaks_no_hard_rule(seed):
    """Whatever users write, the safe wording of every path, safety and actions included, keeps the hard rules."""
    hard = CompiledRules(load_style_rules(RULES, "style_rules.toml"))
    dice = random.Random(seed)
    user = User(id=1, address="a", language=Language.FR if seed % 2 else Language.EN)
    earlier = []
    for _ in range(20):
        decision = decide(user, listen(dice.choice(WORRYING), first_contact=user.inbounds == 0, at=NOON))
        user, bubbles = decision.user, safe_wording(decision.brief, earlier).bubbles
        found = [f for f in hard.check(bubbles) if f.severity is Severity.HARD]
        assert [] == found, bubbles
        earlier += bubbles
