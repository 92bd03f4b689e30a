"""Ori stands alone."""

import ast
import subprocess
import sys
from pathlib import Path

import evalrun.sample_orchestrator as package

HOME = Path(package.__file__).parent


def test_ori_knows_nothing_of_evalrun():
    """Only the adapter imports anything of evalrun that is not Ori."""
    strangers = {
        f"{path.name}: {name}"
        for path in HOME.rglob("*.py")
        if path.name != "adapter.py"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in _imported(node)
        if name.startswith("evalrun") and not name.startswith("evalrun.sample_orchestrator")
    }
    assert set() == strangers


def _imported(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


def test_the_channel_is_loaded_by_its_user_only():
    """Importing the orchestrator does not import the HTTP client of the production channel."""
    code = "import sys, evalrun.sample_orchestrator.orchestrator; print('aiohttp' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "False" == found.stdout.strip()
