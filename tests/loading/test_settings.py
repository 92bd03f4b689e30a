"""Settings: where they stand, what they mean, what overrides what, and variables in connections."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import pytest

from evalrun.config import Gate, Price, Settings, StageSettings, TargetSettings
from evalrun.errors import EvalrunError, FileProblems, UnknownName, UsageError
from evalrun.loading.settings import Overrides, find_settings, load_settings, money
from evalrun.usage import ModelName, Role
from tests.loading.projects import write

LOCAL = ModelName(provider="local", model="smollm2-135m")
DESIGN = """\
[project]
name = "ori"
[tool.evalrun]
target = "ori"
budget_usd = "0.50"              # EVAL_USD_BUDGET and --budget override
source = ["evalrun/sample_orchestrator/**"]   # code of the agent
shared = ["style_rules.toml", "evalrun/sample_orchestrator/orchestrator.py"]   # selects everything
stages.welcome.watch = ["evalrun/sample_orchestrator/stages/welcome.py"]       # selects this stage's scenarios
[tool.evalrun.models]            # role -> provider:model
agent = "local:smollm2-135m"
persona = "local:smollm2-135m"
judge = "local:smollm2-135m"
[tool.evalrun.targets.ori]
adapter = "python"
entry = "evalrun.sample_orchestrator.adapter:Ori"
database = "embedded"
[tool.evalrun.profiles.ci]
budget_usd = 2
models.judge = "anthropic:claude"
targets.ori.database = "${PG_URL}"
judge.gate = "always"
"""
BOT = '[targets.bot]\nentry = "bot:answer"\n'


def load(root: Path, text: str, environ: Mapping[str, str] | None = None, **overrides: object) -> Settings:
    """The settings of an evalrun.toml."""
    (root / "evalrun.toml").write_text(text, "utf-8")
    return load_settings(root, Overrides(**overrides), environ or {})  # type: ignore[arg-type]


def told(root: Path, text: str, environ: Mapping[str, str] | None = None, **overrides: object) -> list[str]:
    """The problems of an evalrun.toml."""
    with pytest.raises(FileProblems) as caught:
        load(root, text, environ, **overrides)
    return [str(p) for p in caught.value.problems]


def test_the_settings_of_the_design_load(tmp_path: Path) -> None:
    """The example in a pyproject.toml, found from a folder below."""
    (tmp_path / "pyproject.toml").write_text(DESIGN, "utf-8")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    settings = load_settings(below, Overrides(), {})
    assert (settings.root, settings.file, settings.target) == (tmp_path, "pyproject.toml", "ori")
    assert settings.budget_usd == Decimal("0.50")
    assert settings.source == ("evalrun/sample_orchestrator/**",)
    assert settings.stages == {"welcome": StageSettings(watch=("evalrun/sample_orchestrator/stages/welcome.py",))}
    assert settings.models == dict.fromkeys(Role, LOCAL)
    entry = "evalrun.sample_orchestrator.adapter:Ori"
    assert settings.targets == {"ori": TargetSettings(name="ori", entry=entry, database="embedded")}
    assert settings.judge.gate is Gate.AUTO


def test_a_profile_is_laid_over_the_file(tmp_path: Path) -> None:
    """Tables key by key, everything else replaced."""
    (tmp_path / "pyproject.toml").write_text(DESIGN, "utf-8")
    settings = load_settings(tmp_path, Overrides(profile="ci"), {"PG_URL": "postgresql://db/x"})
    assert (settings.profile, settings.budget_usd, settings.judge.gate) == ("ci", Decimal(2), Gate.ALWAYS)
    assert settings.models[Role.JUDGE] == ModelName(provider="anthropic", model="claude")
    assert settings.models[Role.AGENT] == LOCAL
    entry = "evalrun.sample_orchestrator.adapter:Ori"
    assert settings.targets["ori"] == TargetSettings(name="ori", entry=entry, database="postgresql://db/x")
    with pytest.raises(UnknownName, match="did you mean `ci`") as found:
        load_settings(tmp_path, Overrides(profile="cii"), {})
    assert found.value.remedy == "add [tool.evalrun.profiles.cii] to it"


def test_the_cure_for_an_unknown_profile_is_for_the_file_there_is(tmp_path: Path) -> None:
    """An evalrun.toml has its tables without a prefix."""
    (tmp_path / "evalrun.toml").write_text(BOT, "utf-8")
    with pytest.raises(UnknownName, match=r"no profile 'main' in evalrun\.toml") as found:
        load_settings(tmp_path, Overrides(profile="main"), {})
    assert found.value.remedy == "add [profiles.main] to it"


def test_every_field_can_be_set(tmp_path: Path) -> None:
    """All of config.Settings, with money exact."""
    text = """
judges = ["rules", "mine"]
budget_usd = 0.1
strict_prices = true
concurrency = 3
calls_in_flight = 5
store = "h.db"
unstable = "fail"
judge = {gate = "never", max_output_tokens = 300, options = {mine = {n = 1, deep = [true]}}}
timeouts = {call = 1.5, turn = 2, trial = "3", run = 4, setup = 5}
[providers.mine]
kind = "compatible"
base_url = "http://127.0.0.1:1/v1"
api_key_env = "MY_KEY"
options = {region = "eu"}
[prices."openai:x"]
input = 0.15
output = "0.60"
cached = 0.00001
[targets.bot]
adapter = "mod:make"
options = {url = "http://x", n = 3}
[stages.a]
modules = ["bot.a"]
"""
    settings = load(tmp_path, text)
    assert settings.judges == ("rules", "mine")
    assert (settings.budget_usd, settings.strict_prices, settings.unstable) == (Decimal("0.1"), True, "fail")
    assert (settings.concurrency, settings.calls_in_flight, settings.store) == (3, 5, "h.db")
    assert (settings.judge.gate, settings.judge.max_output_tokens) == (Gate.NEVER, 300)
    assert settings.judge.options == {"mine": {"n": 1, "deep": [True]}}
    assert (settings.timeouts.call, settings.timeouts.trial, settings.timeouts.setup) == (1.5, 3.0, 5.0)
    mine = {"kind": "compatible", "base_url": "http://127.0.0.1:1/v1", "api_key_env": "MY_KEY", "region": "eu"}
    assert settings.providers == {"mine": mine}
    price = Price(input=Decimal("0.15"), output=Decimal("0.60"), cached=Decimal("0.00001"))
    assert settings.prices == {"openai:x": price}
    assert settings.target == "bot"
    assert settings.targets["bot"].options == {"url": "http://x", "n": 3}
    assert settings.stages["a"].modules == ("bot.a",)


def test_environment_beats_file_and_command_line_beats_both(tmp_path: Path) -> None:
    """EVAL_USD_BUDGET and EVAL_SUBJECT_MODEL over the file, options over them; empty is not set."""
    text = f'budget_usd = 1\nmodels.agent = "a:file"\n{BOT}'
    environ = {"EVAL_USD_BUDGET": "0.25", "EVAL_SUBJECT_MODEL": "a:env"}
    from_environment = load(tmp_path, text, environ)
    assert (from_environment.budget_usd, str(from_environment.models[Role.AGENT])) == (Decimal("0.25"), "a:env")
    typed = {"budget": "0", "models": {Role.AGENT: ModelName.parse("a:typed")}, "gate": Gate.NEVER}
    from_command = load(tmp_path, text, environ, **typed, concurrency=2, store="x.db", strict_prices=True)
    assert (from_command.budget_usd, str(from_command.models[Role.AGENT])) == (Decimal(0), "a:typed")
    assert (from_command.judge.gate, from_command.concurrency) == (Gate.NEVER, 2)
    assert (from_command.store, from_command.strict_prices) == ("x.db", True)
    empty = load(tmp_path, text, {"EVAL_USD_BUDGET": " ", "EVAL_SUBJECT_MODEL": ""})
    assert (empty.budget_usd, str(empty.models[Role.AGENT])) == (Decimal(1), "a:file")


@pytest.mark.parametrize("text", ["-1", "0,10", "NaN", "inf", "1e3", "1_000", "", "$1", "٣", "0x1", "9" * 400])
def test_b29_what_is_no_amount_of_money_is_a_usage_error(text: str, tmp_path: Path) -> None:
    """Negative, with a comma, not a number: from the command line and from the file."""
    with pytest.raises(UsageError, match="expected USD from 0"):
        load(tmp_path, BOT, budget=text)
    with pytest.raises(UsageError):
        load(tmp_path, f'budget_usd = "{text}"\n{BOT}')


@pytest.mark.parametrize("text", ["-0.5", "nan", "inf", "true", "[1]"])
def test_b29_money_in_the_file_must_be_an_amount(text: str, tmp_path: Path) -> None:
    """A TOML number that is no amount is told with its place."""
    assert told(tmp_path, f"budget_usd = {text}\n{BOT}")[0].startswith("evalrun.toml:1:14: ")


@pytest.mark.parametrize(
    ("text", "amount"), [("0.50", "0.50"), ("0", "0"), (" .5 ", "0.5"), ("12", "12"), ("+1.", "1")]
)
def test_b29_money_is_exact(text: str, amount: str) -> None:
    """Decimals as written."""
    assert money(text, "--budget") == Decimal(amount)


PG = '[targets.bot]\nentry = "b:a"\ndatabase = "{}"\n'


@pytest.mark.parametrize(
    ("written", "environ", "said"),
    [
        ("${PG_URL}", {}, "the variable PG_URL is not set, expected a connection; set it, or choose another profile"),
        ("${PG_URL}", {"PG_URL": ""}, "the variable PG_URL is empty, expected"),
        ("${PG_URL:-}", {"PG_URL": "x"}, "`${PG_URL:-}` is not read, expected a variable as ${NAME}; write ${PG_URL}"),
        ("${PG_URL:?missing}", {}, "`${PG_URL:?missing}` is not read, expected a variable as ${NAME}; write ${PG_URL}"),
        ("$PG_URL", {"PG_URL": "x"}, "`$PG_URL` is not read, expected a variable as ${NAME}; write ${PG_URL}"),
        ("${PG_URL", {"PG_URL": "x"}, "`${PG_URL` is not read, expected a variable as ${NAME}; write ${PG_URL}"),
        ("${}", {}, "`${}` is not read, expected a variable as ${NAME}; write ${NAME}"),
    ],
)
def test_b54_a_variable_that_gives_nothing_is_told(
    written: str, environ: dict[str, str], said: str, tmp_path: Path
) -> None:
    """Variable, file, line and column; other forms than ${NAME} are refused."""
    lines = told(tmp_path, PG.format(written), environ)
    assert [line.startswith(f"evalrun.toml:3:12: {said}") for line in lines] == [True], lines


def test_b54_a_variable_is_put_in_once_after_parsing(tmp_path: Path) -> None:
    """Signs of TOML or YAML in a value, and dollars in it, are only text."""
    for value in ("a: b #c", "${HOME}", '"quoted" = 1\n[x]', "$PG_URL"):
        environ = {"PG_URL": value, "HOME": "/root"}
        assert load(tmp_path, PG.format("pre ${PG_URL} post"), environ).targets["bot"].database == f"pre {value} post"


def test_b54_dollars_elsewhere_are_text(tmp_path: Path) -> None:
    """Only connections know variables."""
    text = f'source = ["${{prenom}}/**"]\n{BOT}options = {{a = "${{HOME}}", b = "10$"}}\n'
    settings = load(tmp_path, text)
    assert settings.source == ("${prenom}/**",)
    assert settings.targets["bot"].options == {"a": "${HOME}", "b": "10$"}


def test_b54_store_and_base_url_are_connections(tmp_path: Path) -> None:
    """The history and the addresses of the providers that are used."""
    text = f'store = "${{S}}"\nmodels.judge = "p:m"\n[providers.p]\nbase_url = "${{U}}/v1"\n{BOT}'
    settings = load(tmp_path, text, {"S": "postgresql://h", "U": "http://x"})
    assert (settings.store, settings.providers["p"]["base_url"]) == ("postgresql://h", "http://x/v1")
    assert told(tmp_path, text) == [
        "evalrun.toml:1:9: the variable S is not set, expected a connection; set it, or choose another profile",
        "evalrun.toml:4:12: the variable U is not set, expected a connection; set it, or choose another profile",
    ]


def test_b54_only_connections_in_use_must_be_set(tmp_path: Path) -> None:
    """Another target, another profile, a provider of no role, a store overridden: nobody asks for theirs."""
    text = f'target = "bot"\nstore = "${{S}}"\n{BOT}[targets.other]\ndatabase = "${{O}}"\n'
    text += '[providers.p]\nbase_url = "${U}"\n[profiles.ci]\nstore = "${CI}"\n'
    assert load(tmp_path, text, store="mine.db").store == "mine.db"
    assert load(tmp_path, text, {"CI": "ci.db"}, profile="ci").store == "ci.db"
    assert load_settings(tmp_path, Overrides(), {}, connect=False).target == "bot"


def test_b54_a_resolved_value_is_in_no_message(tmp_path: Path) -> None:
    """A secret in one connection does not show when another is at fault."""
    text = f'store = "${{S}} ${{T}}"\n{PG.format("${S}")}'
    assert all("hunter2" not in line for line in told(tmp_path, text, {"S": "hunter2"}))


@pytest.mark.parametrize(
    "line",
    [
        'api_key = "abc"',
        'token = "abc"',
        'base_url = "http://x/?k=sk-ant-0123456789abcdefghij"',
        'api_key_env = "sk-0123456789abcdefghij"',
        'api_key_env = "0123 abc"',
        'options = {x = "xai-0123456789abcdefghij"}',
    ],
)
def test_a_key_in_the_settings_is_refused_and_not_shown(line: str, tmp_path: Path) -> None:
    """It would end up in the repository; the message says where it belongs."""
    said = told(tmp_path, f"[providers.p]\n{line}\n{BOT}")
    assert len(said) == 1
    assert said[0].startswith("evalrun.toml:2:")
    assert "environment variable" in said[0]
    assert "0123" not in said[0]


@pytest.mark.parametrize(
    "path", ["task-management-pipeline-v2/**", "src/desk-agents-for-2026-and-more/x.py", "key-value"]
)
def test_a_path_is_no_key(path: str, tmp_path: Path) -> None:
    """Names with dashes are fine."""
    assert load(tmp_path, f'source = ["{path}"]\n{BOT}').source == (path,)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'targt = "bot"\n{BOT}', "1:1: unknown key `targt` in `tool.evalrun`; did you mean `target`?"),
        ('[targets.bot]\nentri = "x"\n', "2:1: unknown key `entri` in `target`; did you mean `entry`?"),
        (f'[models]\nuser = "a:b"\n{BOT}', "2:1: unknown key `user` in `models`; known: agent, persona, judge"),
        (f'[models]\njudge = "gpt"\n{BOT}', '2:9: `"gpt"`, expected a model such as local:smollm2-135m'),
        (f'[providers.p]\nbase_ulr = "x"\n{BOT}', "2:1: unknown key `base_ulr` in `provider`; did you mean `base_url`?"),
        (f'judge.gate = "allways"\n{BOT}', '1:14: `"allways"`, expected one of auto, always, never; did you mean `always`?'),
        (f"concurrency = 0\n{BOT}", "1:15: `0`, expected a whole number from 1 to 10000"),
        (f"target = 1\n{BOT}", '1:10: `1`, expected text; put it in quotes: "1"'),
        (f"strict_prices = 1\n{BOT}", "1:17: `1`, expected true or false"),
        (f'[profiles.ci]\nbudget = "1"\n{BOT}', "2:1: unknown key `budget` in `profile`; did you mean `budget_usd`?"),
        (f'scenarios = "scenaios"\n{BOT}', '1:13: there is no folder `"scenaios"`, expected one; correct `scenarios`'),
        (f'style_rules = "rules.toml"\n{BOT}', '1:15: there is no file `"rules.toml"`, expected one; correct `style_rules`'),
        ("", "1:1: no target is named, expected a table targets.NAME with an entry; add one"),
        ("[targets.a]\n[targets.b]\n", "1:1: no target is chosen, expected one of a, b; add target = …"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(text: str, said: str, tmp_path: Path) -> None:
    """One line each, with line and column of key or value."""
    lines = told(tmp_path, text)
    assert [line.startswith(f"evalrun.toml:{said}") for line in lines] == [True], lines


def test_unknown_targets_and_models_are_usage_errors(tmp_path: Path) -> None:
    """With the nearest name, and the variable or option that named them."""
    with pytest.raises(UnknownName, match="did you mean `bot`"):
        load(tmp_path, BOT, target="bt")
    with pytest.raises(UsageError, match="EVAL_SUBJECT_MODEL"):
        load(tmp_path, BOT, {"EVAL_SUBJECT_MODEL": "gpt"})
    with pytest.raises(UsageError, match="--concurrency"):
        load(tmp_path, BOT, concurrency=0)


def test_the_nearest_settings_are_found(tmp_path: Path) -> None:
    """A pyproject.toml without our table is passed over; two files in one folder are refused."""
    write(tmp_path)
    inner = tmp_path / "package"
    inner.mkdir()
    (inner / "pyproject.toml").write_text('[project]\ndependencies = ["evalrun-e2e"]\n', "utf-8")
    assert find_settings(inner) == tmp_path / "evalrun.toml"
    (inner / "pyproject.toml").write_text("[tool.evalrun]\n", "utf-8")
    assert find_settings(inner) == inner / "pyproject.toml"
    (inner / "evalrun.toml").write_text(BOT, "utf-8")
    with pytest.raises(UsageError, match=r"has an evalrun\.toml and a pyproject\.toml"):
        find_settings(inner)


def test_no_settings_are_a_usage_error(tmp_path: Path) -> None:
    """With the cure."""
    with pytest.raises(EvalrunError) as caught:
        load_settings(tmp_path, Overrides(), {})
    assert (caught.value.exit_code, "evalrun.toml" in caught.value.remedy) == (2, True)


def test_a_broken_settings_file_is_told_with_its_place(tmp_path: Path) -> None:
    """Syntax errors, in an evalrun.toml and in a pyproject.toml that has our table."""
    assert told(tmp_path, "a = = 1\n")[0].startswith("evalrun.toml:1:5: not readable as TOML")
    (tmp_path / "evalrun.toml").unlink()
    (tmp_path / "pyproject.toml").write_text("[tool.evalrun]\na = = 1\n", "utf-8")
    with pytest.raises(FileProblems) as caught:
        load_settings(tmp_path, Overrides(), {})
    assert str(caught.value.problems[0]).startswith("pyproject.toml:2:5: not readable as TOML")
