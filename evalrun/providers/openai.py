"""OpenAI through its SDK, in the cheapest way: its aiohttp transport, `post()` with a raw response."""

from __future__ import annotations

import asyncio
import importlib
from dataclasses import replace
from typing import Any

import msgspec

from evalrun.interfaces import ModelReply, ModelRequest, ProviderSetup
from evalrun.providers.answer_schemas import without
from evalrun.providers.chat import body_of, cut, hidden, malformed, refused, refused_parameter, reply_of, unreachable
from evalrun.providers.keys import address_of, key_of

CONNECT_SECONDS = 30.0
_UNSUPPORTED = ("minLength", "maxLength")
"""Keywords that strict mode refuses."""


class OpenAI:
    """OpenAI's chat completions (see `interfaces.Provider`). Options: `base_url`, `api_key_env`."""

    local = False

    def __init__(self, setup: ProviderSetup) -> None:
        self.name = setup.name
        self._key = key_of(setup, "OPENAI_API_KEY")
        self._base_url = address_of(setup, "OPENAI_BASE_URL")
        self._sdk: Any = None
        self._httpx: Any = None
        self._client: Any = None
        self._dropped: dict[str, frozenset[str]] = {}

    async def start(self) -> None:
        """Import the SDK in a thread (it takes seconds without bytecode) and make the client."""
        self._sdk = await asyncio.to_thread(importlib.import_module, "openai")
        self._httpx = importlib.import_module("httpx2")
        # 0 is no limit to the transport under it, and None would be its own limit of 100
        limits = self._httpx.Limits(max_connections=0, keepalive_expiry=60.0)
        options = {"base_url": self._base_url} if self._base_url else {}
        self._client = self._sdk.AsyncOpenAI(
            api_key=self._key,
            max_retries=0,
            http_client=self._sdk.DefaultAioHttpClient(limits=limits, timeout=None),
            **options,
        )

    async def complete(self, request: ModelRequest, timeout: float) -> ModelReply:
        """One attempt. Raises ModelFailed and its kinds."""
        plain = request
        if request.schema is not None:
            plain = replace(request, schema=without(request.schema, _UNSUPPORTED))
        while True:
            refused_before = self._dropped.get(request.model.model, frozenset())
            body = body_of(plain, limit_name="max_completion_tokens", dropped=refused_before)
            if request.lane and "prompt_cache_key" not in refused_before:
                body["prompt_cache_key"] = request.lane[:64]
            try:
                text = await self._post(body, timeout)
            except self._sdk.APIStatusError as e:
                said = hidden(e.response.text, self._key)
                dropped = refused_parameter(e.status_code, said, body)
                if not dropped:
                    raise refused(self.name, e.status_code, said, e.response.headers) from e
                self._dropped[request.model.model] = refused_before | {dropped}
                continue
            try:
                answer = msgspec.json.decode(text)
            except msgspec.DecodeError as e:
                raise malformed(self.name, hidden(text.decode("utf-8", "replace"), self._key)) from e
            return reply_of(answer, body, self.name)

    async def close(self) -> None:
        """Close the client; idempotent."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _post(self, body: dict[str, object], timeout: float) -> bytes:
        times = self._httpx.Timeout(timeout, connect=CONNECT_SECONDS)
        try:
            async with asyncio.timeout(timeout):
                response = await self._client.post(
                    "/chat/completions", body=body, cast_to=self._httpx.Response, options={"timeout": times}
                )
                return await response.aread()  # type: ignore[no-any-return]
        except self._sdk.APIConnectionError as e:
            if isinstance(e.__cause__, (self._httpx.ConnectError, self._httpx.ConnectTimeout)):
                raise unreachable(self.name, e.__cause__) from e
            if isinstance(e, self._sdk.APITimeoutError):
                raise cut(self.name, f"no answer within {timeout:g} s") from e
            raise cut(self.name, f"the connection was cut ({type(e.__cause__).__name__})") from e
        except TimeoutError as e:
            raise cut(self.name, f"no answer within {timeout:g} s") from e
        except self._httpx.HTTPError as e:
            raise cut(self.name, f"the answer was cut ({type(e).__name__})") from e
