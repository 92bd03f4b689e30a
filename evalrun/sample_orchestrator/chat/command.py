"""The command `chat`: options, the loop over lines, and every failure as one line with what to do."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn, TextIO

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from evalrun.sample_orchestrator.chat.conversation import HELP, Conversation
from evalrun.sample_orchestrator.chat.models import OpenAICompatible, SafeWordsOnly
from evalrun.sample_orchestrator.chat.private_postgres import private_postgres
from evalrun.sample_orchestrator.errors import BadSettings, ModelFailed, OriError
from evalrun.sample_orchestrator.phrasing import Model
from evalrun.sample_orchestrator.settings import Settings

FAILED, USAGE, INTERRUPTED = 1, 2, 130
_DRIVER = "postgresql+asyncpg"


def run(arguments: Sequence[str], environ: Mapping[str, str], streams: tuple[TextIO, TextIO, TextIO]) -> int:
    """Talk until the end of the input; returns the exit code. `streams` are what is read, said, and complained on."""
    _, out, complaints = streams
    options = parser().parse_args(arguments)
    try:
        model, settings = _model(options, environ), _settings(options)
        with ExitStack() as stack:
            url = options.database_url or stack.enter_context(private_postgres())
            return _talk(options, (url, model, settings), streams)
    except KeyboardInterrupt:
        out.write("\n")
        return INTERRUPTED
    except BadSettings as e:
        complaints.write(f"ori: {e}\n")
        return USAGE
    except OriError as e:
        complaints.write(f"ori: {e}\n")
        return FAILED
    except (SQLAlchemyError, OSError) as e:
        complaints.write(f"ori: {_database_said(e, options.database_url)}\n")
        return FAILED


class OneLine(argparse.ArgumentParser):
    """A parser that complains in one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and leave."""
        self.exit(USAGE, f"ori: {message}; --help shows what there is\n")


def parser() -> argparse.ArgumentParser:
    """The options, with their help."""
    ori = OneLine(prog="python -m evalrun.sample_orchestrator", description="Ori, without evalrun.")
    chat = ori.add_subparsers(required=True, metavar="COMMAND").add_parser(
        "chat", help="talk to Ori in the terminal", description=f"Talk to Ori in the terminal. In the chat: {HELP}"
    )
    chat.add_argument(
        "--database-url",
        metavar="URL",
        help="a Postgres to keep the conversation in (default: a private one, gone at the end)",
    )
    chat.add_argument(
        "--base-url", metavar="URL", help="an OpenAI-compatible address, such as http://127.0.0.1:8080/v1"
    )
    chat.add_argument("--model", metavar="NAME", help="the model's name there; without one Ori says safe wording only")
    chat.add_argument(
        "--key-variable",
        metavar="NAME",
        default="OPENAI_API_KEY",
        help="the variable that holds the key (default: %(default)s)",
    )
    chat.add_argument(
        "--style", metavar="FILE", type=Path, help="the style block for the prompt, as `evalrun rules prompt` prints it"
    )
    chat.add_argument(
        "--address", metavar="NAME", default="you", help="who you are in the database (default: %(default)s)"
    )
    return ori


def _talk(
    options: argparse.Namespace, parts: tuple[str, Model, Settings], streams: tuple[TextIO, TextIO, TextIO]
) -> int:
    """The loop over lines, each on the same event loop; a model that fails costs a turn, not the conversation."""
    lines, out, complaints = streams
    url, model, settings = _driven(parts[0]), parts[1], parts[2]
    with asyncio.Runner() as runner:
        conversation = Conversation(url, model, settings, out=out, address=options.address)
        try:
            runner.run(conversation.open())
            out.write(f"say hello to ori. {HELP}\n")
            out.flush()
            while line := lines.readline():
                try:
                    if not runner.run(conversation.take(line)):
                        break
                except ModelFailed as e:
                    complaints.write(f"ori: {e}; check --base-url and --model, or leave them out\n")
            return 0
        finally:
            runner.run(conversation.close())


def _model(options: argparse.Namespace, environ: Mapping[str, str]) -> Model:
    if bool(options.base_url) != bool(options.model):
        raise BadSettings("--base-url and --model go together; give both, or neither for safe wording only")
    if not options.model:
        return SafeWordsOnly()
    if not options.base_url.startswith(("http://", "https://")):
        raise BadSettings(
            f"--base-url {options.base_url} is no web address; write one such as http://127.0.0.1:8080/v1"
        )
    return OpenAICompatible(base_url=options.base_url, model=options.model, key=environ.get(options.key_variable, ""))


def _settings(options: argparse.Namespace) -> Settings:
    if options.style is None:
        return Settings()
    try:
        return Settings(style_block=options.style.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as e:
        raise BadSettings(
            f"--style {options.style} cannot be read ({type(e).__name__}); write it with `evalrun rules prompt`"
        ) from e


def _driven(url: str) -> str:
    """An ordinary Postgres address, with the driver that Ori uses."""
    try:
        address = make_url(url)
    except ArgumentError as e:
        raise BadSettings("--database-url is no address; write postgresql://user:password@host/name") from e
    if address.get_backend_name() != "postgresql":
        raise BadSettings(f"--database-url names {address.get_backend_name()}; Ori needs postgresql://…")
    return address.set(drivername=_DRIVER).render_as_string(hide_password=False)


def _database_said(error: Exception, url: str | None) -> str:
    where = make_url(url).render_as_string(hide_password=True) if url else "the private Postgres"
    said = str(getattr(error, "orig", None) or error).strip().splitlines() or [type(error).__name__]
    return f"{where} fails ({said[0][:160]}); check that it runs and that --database-url is right"
