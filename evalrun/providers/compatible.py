"""Any endpoint that speaks chat completions, over aiohttp directly: no SDK, half a millisecond a call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import aiohttp
import msgspec

from evalrun.errors import UsageError
from evalrun.interfaces.models import ModelReply, ModelRequest, ProviderSetup
from evalrun.providers.chat import body_of, cut, hidden, malformed, refused, refused_parameter, reply_of, unreachable
from evalrun.providers.keys import address_of, asked_for, key_of

CONNECT_SECONDS = 30.0


class Compatible:
    """A chat-completions endpoint (see `interfaces.models.Provider`).

    Options: `base_url` (up to and including /v1), `api_key_env` (the name of a variable; without
    it no key is sent).
    """

    local = False

    def __init__(self, setup: ProviderSetup) -> None:
        self.name = setup.name
        self.base_url = address_of(setup, "EVALRUN_COMPATIBLE_BASE_URL")
        if not self.base_url:
            raise UsageError(
                f"provider {setup.name} has no address",
                remedy=f'set [tool.evalrun.providers.{setup.name}] base_url = "http://…/v1"',
            )
        self._key = key_of(setup, "") if setup.options.get("api_key_env") else ""
        asked_for(setup, self.base_url)
        self._http: aiohttp.ClientSession | None = None
        self._dropped: dict[str, frozenset[str]] = {}

    async def start(self) -> None:
        """Open the connection pool."""
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        self._http = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60),
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
        )

    async def complete(self, request: ModelRequest, timeout: float) -> ModelReply:
        """One attempt. Raises ModelFailed and its kinds."""
        while True:
            body = self.body(request)
            status, headers, text = await self._post(body, timeout)
            if status == 200:
                return reply_of(self._decoded(text), body, self.name)
            shown = hidden(text.decode("utf-8", "replace"), self._key)
            dropped = refused_parameter(status, shown, body)
            if not dropped:
                raise refused(self.name, status, shown, headers)
            self._dropped[request.model.model] = self._refused(request) | {dropped}

    def body(self, request: ModelRequest) -> dict[str, object]:
        """The body to send."""
        return body_of(request, limit_name="max_tokens", dropped=self._refused(request))

    async def close(self) -> None:
        """Close the connection pool; idempotent."""
        if self._http is not None:
            await self._http.close()
            self._http = None

    def _refused(self, request: ModelRequest) -> frozenset[str]:
        """Optional parameters the model has refused before."""
        return self._dropped.get(request.model.model, frozenset())

    def _decoded(self, text: bytes) -> object:
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError as e:
            raise malformed(self.name, hidden(text.decode("utf-8", "replace"), self._key)) from e

    async def _post(self, body: dict[str, object], timeout: float) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body of an answer. Raises ModelFailed when none came whole."""
        if self._http is None:
            raise RuntimeError("the provider is not started")
        sent = False
        try:
            async with (
                asyncio.timeout(timeout),
                self._http.post(
                    f"{self.base_url}/chat/completions", data=msgspec.json.encode(body), allow_redirects=False
                ) as response,
            ):
                sent = True
                return response.status, response.headers, await response.read()
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as e:
            raise unreachable(self.name, e) from e
        except TimeoutError as e:
            raise cut(self.name, f"no answer within {timeout:g} s") from e
        except aiohttp.ClientError as e:
            what = "the answer was cut" if sent else "the connection was closed without an answer"
            raise cut(self.name, f"{what} ({type(e).__name__})") from e
