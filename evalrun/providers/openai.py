"""OpenAI through its SDK."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from evalrun.interfaces.models import ModelReply, ModelRequest, ProviderSetup
from evalrun.providers.answer_schemas import without
from evalrun.providers.chat import body_of, hidden, malformed, refused, refused_parameter, reply_of
from evalrun.providers.keys import address_of, asked_for, key_of
from evalrun.providers.vendor_sdk import VendorSdk

_UNSUPPORTED = ("minLength", "maxLength")
"""Keywords that strict mode refuses."""


class OpenAI:
    """OpenAI's chat completions (see `interfaces.models.Provider`). Options: `base_url`, `api_key_env`."""

    local = False

    def __init__(self, setup: ProviderSetup) -> None:
        self.name = setup.name
        self._key = key_of(setup, "OPENAI_API_KEY")
        address = address_of(setup, "OPENAI_BASE_URL")
        asked_for(setup, address)
        options = {"api_key": self._key} | ({"base_url": address} if address else {})
        self._sdk = VendorSdk(setup.name, "openai", "AsyncOpenAI", options)
        self._dropped: dict[str, frozenset[str]] = {}

    async def start(self) -> None:
        """Import the SDK and make the client."""
        await self._sdk.start()

    async def complete(self, request: ModelRequest, timeout: float) -> ModelReply:
        """One attempt. Raises ModelFailed and its kinds."""
        while True:
            body = self.body(request)
            status, headers, content = await self._sdk.post("/chat/completions", body, timeout)
            if status == 200:
                return reply_of(self._decoded(content), body, self.name)
            said = hidden(content.decode("utf-8", "replace"), self._key)
            dropped = refused_parameter(status, said, body)
            if not dropped:
                raise refused(self.name, status, said, headers)
            self._dropped[request.model.model] = self._refused(request) | {dropped}

    def body(self, request: ModelRequest) -> dict[str, object]:
        """The body to send; calls of one lane share a cache key, so that their common prefix is cached."""
        gone = self._refused(request)
        if request.schema is not None:
            request = replace(request, schema=without(request.schema, _UNSUPPORTED))
        body = body_of(request, limit_name="max_completion_tokens", dropped=gone)
        if request.lane and "prompt_cache_key" not in gone:
            body["prompt_cache_key"] = request.lane[:64]
        return body

    async def close(self) -> None:
        """Close the client; idempotent."""
        await self._sdk.close()

    def _refused(self, request: ModelRequest) -> frozenset[str]:
        """Optional parameters the model has refused before."""
        return self._dropped.get(request.model.model, frozenset())

    def _decoded(self, content: bytes) -> object:
        try:
            return msgspec.json.decode(content)
        except msgspec.DecodeError as e:
            raise malformed(self.name, hidden(content.decode("utf-8", "replace"), self._key)) from e
