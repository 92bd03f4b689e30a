"""The production channel: the WhatsApp Cloud API over aiohttp. Imported by whoever deploys Ori, by nothing else.

A refusal that will pass (a rate limit, a connection that was never made) is tried again here, for
seconds; what takes longer is the outbox's to retry. An answer in doubt is never tried again: better
unsaid than said twice.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import aiohttp

from evalrun.sample_orchestrator.errors import BadSettings, SendFailed

_PHONE = re.compile(r"\+?\d{6,15}")
_LONGEST = 4_096
_SLOW_DOWN = frozenset({4, 80007, 130429, 131056})
"""Codes of the API for too much at once: of the app, of the account, of the number, of this pair."""
_WINDOW_CLOSED = 131047
_FINAL = {
    100: "a parameter is wrong",
    131008: "a parameter is missing",
    131009: "a parameter has a wrong value",
    131021: "the recipient is the sender",
    131026: "this person cannot receive it",
    _WINDOW_CLOSED: "their last message is over 24 hours old: only a template may be sent",
    131050: "this person asked for no such messages",
    131051: "this kind of message is not supported",
}
"""Codes after which sending the same again is of no use, in plain words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatsAppSettings:
    """The business number's id, its token, and where the API is. Times are in seconds.

    `attempts` is how often a message is tried in one `send`; `first_wait` doubles from one to the
    next, unless the API says how long to wait. A wait over `longest_wait` is left to the outbox.
    `template` is the name of an approved template whose body is one parameter: what Ori says
    unasked goes out in it when the person has not written for 24 hours. Without one it is refused.
    """

    phone_number_id: str
    token: str = field(repr=False)
    api: str = "https://graph.facebook.com"
    version: int = 23
    timeout: float = 20.0
    attempts: int = 3
    first_wait: float = 1.0
    longest_wait: float = 8.0
    template: str = ""
    template_language: str = "fr"


class WhatsAppSender:
    """Sends text messages; use it as an async context manager."""

    def __init__(self, settings: WhatsAppSettings) -> None:
        if not (settings.phone_number_id.isdigit() and settings.token):
            raise BadSettings("WhatsApp needs a numeric phone_number_id and a token")
        if settings.attempts < 1:
            raise BadSettings("WhatsApp needs at least one attempt")
        self._settings = settings
        self._url = f"{settings.api.rstrip('/')}/v{settings.version}.0/{settings.phone_number_id}/messages"
        self._http: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        headers = {"Authorization": f"Bearer {self._settings.token}"}
        timeout = aiohttp.ClientTimeout(total=self._settings.timeout)
        self._http = aiohttp.ClientSession(headers=headers, timeout=timeout)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._http:
            await self._http.close()
        self._http = None

    async def send(self, to: str, text: str) -> str:
        """Send one text message. Raises SendFailed, certain when the API said no or was never reached."""
        if not text.strip() or len(text) > _LONGEST:
            raise SendFailed(
                f"a message has 1 to {_LONGEST} characters, this one {len(text)}", certain=True, final=True
            )
        try:
            return await self._tried(_text(to, text))
        except SendFailed as failure:
            if failure.code != _WINDOW_CLOSED or not self._settings.template:
                raise
        return await self._tried(_template(to, text, self._settings))

    async def _tried(self, payload: Mapping[str, object]) -> str:
        """Post until it is taken, or waiting is of no use. Raises SendFailed."""
        wait = self._settings.first_wait
        for left in reversed(range(self._settings.attempts)):
            try:
                return await self._post(payload)
            except _Later as later:
                pause = later.after if later.after is not None else wait
                if not left or pause > self._settings.longest_wait:
                    raise later.failure from later
            await asyncio.sleep(pause)
            wait *= 2
        raise AssertionError("the last attempt returns or raises")

    async def _post(self, payload: Mapping[str, object]) -> str:
        """One attempt. Raises SendFailed, and _Later around one that may soon succeed."""
        if self._http is None:
            raise BadSettings("use WhatsAppSender as an async context manager")
        try:
            async with self._http.post(self._url, json=payload) as response:
                answer = await _json(response)
                if response.status >= 400:
                    raise _refused(response.status, response.headers, answer)
                return _message_id(answer)
        except aiohttp.ClientConnectorError as e:
            raise _Later(SendFailed(f"WhatsApp cannot be reached: {e}", certain=True)) from e
        except (aiohttp.ClientError, TimeoutError) as e:
            raise SendFailed(f"WhatsApp gave no answer: {type(e).__name__}", certain=False) from e


class _Later(Exception):
    """A failure that may be over soon; `after` seconds when the API says so."""

    def __init__(self, failure: SendFailed, after: float | None = None) -> None:
        super().__init__(str(failure))
        self.failure = failure
        self.after = after


def _text(to: str, text: str) -> dict[str, object]:
    return {**_envelope(to), "type": "text", "text": {"body": text, "preview_url": False}}


def _template(to: str, text: str, settings: WhatsAppSettings) -> dict[str, object]:
    # A parameter of a template may hold no line break.
    parameter = {"type": "text", "text": " ".join(text.split())}
    template = {
        "name": settings.template,
        "language": {"code": settings.template_language},
        "components": [{"type": "body", "parameters": [parameter]}],
    }
    return {**_envelope(to), "type": "template", "template": template}


def _envelope(to: str) -> dict[str, object]:
    """A phone number goes into `to`; anything else is a user id of the business and goes into `recipient`."""
    whom = {"to": to.lstrip("+")} if _PHONE.fullmatch(to) else {"recipient": to}
    return {"messaging_product": "whatsapp", "recipient_type": "individual", **whom}


async def _json(response: aiohttp.ClientResponse) -> object:
    try:
        return await response.json(content_type=None)
    except ValueError:
        return None


def _refused(status: int, headers: Mapping[str, str], answer: object) -> SendFailed | _Later:
    """A refusal with the API's reason. A server error may come after the message went out; a 4xx surely did not."""
    error = answer.get("error") if isinstance(answer, dict) else None
    said = error if isinstance(error, dict) else {}
    given = said.get("code")
    code = given if isinstance(given, int) else 0
    data = said.get("error_data")
    details = data.get("details") if isinstance(data, dict) else None
    reason = _FINAL.get(code) or details or said.get("message") or "no reason given"
    failure = SendFailed(
        f"WhatsApp refused the message, HTTP {status}: {reason} (code {code or '?'})",
        certain=status < 500,
        final=code in _FINAL,
        status=status,
        code=code,
    )
    slow_down = status == 429 or (status < 500 and code in _SLOW_DOWN)
    return _Later(failure, _seconds(headers.get("Retry-After", ""))) if slow_down else failure


def _seconds(said: str) -> float | None:
    return float(said) if said.isdigit() else None


def _message_id(answer: object) -> str:
    try:
        return str(answer["messages"][0]["id"])  # type: ignore[index]
    except (KeyError, IndexError, TypeError) as e:
        raise SendFailed("WhatsApp answered without a message id", certain=False) from e
