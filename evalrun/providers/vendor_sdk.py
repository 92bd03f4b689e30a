"""A vendor's SDK used in the cheapest way: its aiohttp transport, `post()` with the raw response, no retry of its own."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Mapping
from typing import Any

import aiohttp

from evalrun.providers.chat import cut, unreachable

CONNECT_SECONDS = 30.0
_NOT_CONNECTED = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)


class VendorSdk:
    """The client of one SDK. `package` names it, `client` its class, `options` what the class is made with."""

    def __init__(self, vendor: str, package: str, client: str, options: Mapping[str, object]) -> None:
        self._vendor = vendor
        self._package = package
        self._class = client
        self._options = options
        self._sdk: Any = None
        self._httpx: Any = None
        self._client: Any = None

    async def start(self) -> None:
        """Import the SDK in a thread (it takes seconds without bytecode) and make the client."""
        self._sdk = await asyncio.to_thread(importlib.import_module, self._package)
        self._httpx = importlib.import_module("httpx2")
        # 0 is no limit to the transport under it, and None would be its own limit of 100
        limits = self._httpx.Limits(max_connections=0, keepalive_expiry=60.0)
        http = self._sdk.DefaultAioHttpClient(limits=limits, timeout=None, follow_redirects=False)
        self._client = getattr(self._sdk, self._class)(max_retries=0, http_client=http, **self._options)

    async def post(self, path: str, body: dict[str, object], timeout: float) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body of an answer. Raises ModelFailed when none came whole."""
        times = self._httpx.Timeout(timeout, connect=CONNECT_SECONDS)
        try:
            async with asyncio.timeout(timeout):
                response = await self._client.post(
                    path, body=body, cast_to=self._httpx.Response, options={"timeout": times}
                )
                return response.status_code, response.headers, await response.aread()
        except self._sdk.APIStatusError as e:
            return e.status_code, e.response.headers, e.response.content
        except (TimeoutError, self._sdk.APIConnectionError, self._httpx.HTTPError) as e:
            # the transport calls a dropped connection a timeout of connecting: only its cause tells
            cause = _cause(e)
            if isinstance(cause, _NOT_CONNECTED):
                raise unreachable(self._vendor, cause) from e
            if isinstance(cause, TimeoutError):
                raise cut(self._vendor, f"no answer within {timeout:g} s") from e
            raise cut(self._vendor, f"the connection was cut ({type(cause).__name__})") from e

    async def close(self) -> None:
        """Close the client; idempotent."""
        if self._client is not None:
            await self._client.close()
            self._client = None


def _cause(error: BaseException) -> BaseException:
    """The error of the transport, or our own timeout, under what the SDK raised."""
    while error.__cause__ is not None and not isinstance(error, (aiohttp.ClientError, TimeoutError)):
        error = error.__cause__
    return error
