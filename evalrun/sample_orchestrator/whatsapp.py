"""The production channel: the WhatsApp Cloud API over aiohttp. Imported by whoever deploys Ori, by nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import aiohttp

from evalrun.sample_orchestrator.errors import BadSettings, SendFailed

_PHONE = re.compile(r"\+?\d{6,15}")
_TOO_LONG = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatsAppSettings:
    """The business number's id, its token, and where the API is."""

    phone_number_id: str
    token: str = field(repr=False)
    api: str = "https://graph.facebook.com"
    version: int = 23
    timeout: float = 20.0


class WhatsAppSender:
    """Sends text messages; use it as an async context manager."""

    def __init__(self, settings: WhatsAppSettings) -> None:
        if not (settings.phone_number_id.isdigit() and settings.token):
            raise BadSettings("WhatsApp needs a numeric phone_number_id and a token")
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
        if self._http is None:
            raise BadSettings("use WhatsAppSender as an async context manager")
        try:
            async with self._http.post(self._url, json=_payload(to, text)) as response:
                answer = await _json(response)
                if response.status >= 400:
                    raise _refused(response.status, answer)
                return _message_id(answer)
        except aiohttp.ClientConnectorError as e:
            raise SendFailed(f"WhatsApp cannot be reached: {e}", certain=True) from e
        except (aiohttp.ClientError, TimeoutError) as e:
            raise SendFailed(f"WhatsApp gave no answer: {type(e).__name__}", certain=False) from e


def _payload(to: str, text: str) -> dict[str, object]:
    """A phone number goes into `to`; anything else is a user id of the business and goes into `recipient`."""
    whom = {"to": to.lstrip("+")} if _PHONE.fullmatch(to) else {"recipient": to}
    body = {"body": text[:_TOO_LONG], "preview_url": False}
    return {
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        **whom,
        "type": "text",
        "text": body,
    }


async def _json(response: aiohttp.ClientResponse) -> object:
    try:
        return await response.json(content_type=None)
    except ValueError:
        return None


def _refused(status: int, answer: object) -> SendFailed:
    error = answer.get("error") if isinstance(answer, dict) else None
    said = error if isinstance(error, dict) else {}
    reason = f"{said.get('message', 'no reason given')} (code {said.get('code', '?')})"
    # A server error may come after the message went out; a 4xx is a refusal.
    return SendFailed(f"WhatsApp refused the message, HTTP {status}: {reason}", certain=status < 500, status=status)


def _message_id(answer: object) -> str:
    try:
        return str(answer["messages"][0]["id"])  # type: ignore[index]
    except (KeyError, IndexError, TypeError) as e:
        raise SendFailed("WhatsApp answered without a message id", certain=False) from e
