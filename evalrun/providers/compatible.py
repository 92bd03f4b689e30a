"""Any endpoint that speaks chat completions, over aiohttp directly: no SDK, half a millisecond a call."""

from __future__ import annotations

import asyncio

import aiohttp
import msgspec

from evalrun.errors import UsageError
from evalrun.interfaces import ModelReply, ModelRequest, ProviderSetup
from evalrun.providers.chat import body_of, cut, malformed, refused, refused_parameter, reply_of, unreachable
from evalrun.providers.keys import address_of, key_of


class Compatible:
    """A chat-completions endpoint (see `interfaces.Provider`).

    Options: `base_url` (up to and including /v1), `api_key_env` (the name of a variable; without
    it no key is sent).
    """

    local = False

    def __init__(self, setup: ProviderSetup) -> None:
        self.name = setup.name
        self.base_url = address_of(setup.options, setup.environ, "EVALRUN_COMPATIBLE_BASE_URL")
        if not self.base_url:
            raise UsageError(
                f"provider {setup.name} has no address",
                remedy=f'set [tool.evalrun.providers.{setup.name}] base_url = "http://…/v1"',
            )
        self._key = key_of(setup, "") if setup.options.get("api_key_env") else ""
        self._http: aiohttp.ClientSession | None = None
        self._dropped: frozenset[str] = frozenset()

    async def start(self) -> None:
        """Open the connection pool."""
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=60)
        self._http = aiohttp.ClientSession(connector=connector, headers=headers)

    async def complete(self, request: ModelRequest, timeout: float) -> ModelReply:
        """One attempt. Raises ModelFailed and its kinds."""
        while True:
            body = self.body(request)
            status, text = await self._post(body, timeout)
            if status == 200:
                return reply_of(self._decoded(text), body, self.name)
            dropped = refused_parameter(status, text.decode("utf-8", "replace"), body)
            if not dropped:
                raise AssertionError("unreachable: _post raises for any other status")
            self._dropped |= {dropped}

    def body(self, request: ModelRequest) -> dict[str, object]:
        """The body to send."""
        return body_of(request, limit_name="max_tokens", dropped=self._dropped)

    async def close(self) -> None:
        """Close the connection pool; idempotent."""
        if self._http is not None:
            await self._http.close()
            self._http = None

    def _decoded(self, text: bytes) -> object:
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError as e:
            raise malformed(self.name, text.decode("utf-8", "replace")) from e

    async def _post(self, body: dict[str, object], timeout: float) -> tuple[int, bytes]:
        """Status and body of a 200, or of a 400 about an optional parameter; raises for all else."""
        if self._http is None:
            raise RuntimeError("the provider is not started")
        sent = False
        try:
            async with (
                asyncio.timeout(timeout),
                self._http.post(f"{self.base_url}/chat/completions", data=msgspec.json.encode(body)) as response,
            ):
                sent = True
                text = await response.read()
        except TimeoutError as e:
            raise cut(self.name, f"no answer within {timeout:g} s") from e
        except aiohttp.ClientConnectorError as e:
            raise unreachable(self.name, e) from e
        except aiohttp.ClientError as e:
            what = "the answer was cut" if sent else "the connection was closed without an answer"
            raise cut(self.name, f"{what} ({type(e).__name__})") from e
        if response.status == 200:
            return 200, text
        shown = text.decode("utf-8", "replace")
        if refused_parameter(response.status, shown, body):
            return response.status, text
        raise refused(self.name, response.status, shown, dict(response.headers))
