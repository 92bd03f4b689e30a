"""Who phrases in the terminal: a model behind an OpenAI-compatible address, or nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import aiohttp

from evalrun.sample_orchestrator.errors import ModelFailed

_LONGEST_SAID = 160


class SafeWordsOnly:
    """No model: says nothing, so that the guard has Ori's own safe wording sent."""

    async def complete(self, _messages: Sequence[Mapping[str, str]], _max_tokens: int) -> str:
        """Nothing."""
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAICompatible:
    """Chat completions at `base_url`; `key` may be empty. `timeout` in seconds."""

    base_url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 60.0

    async def complete(self, messages: Sequence[Mapping[str, str]], max_tokens: int) -> str:
        """Ask the model. Raises ModelFailed."""
        url = f"{self.base_url.rstrip('/')}/chat/completions"
        asked = {"model": self.model, "messages": [dict(m) for m in messages], "max_tokens": max_tokens}
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        timeout = aiohttp.ClientTimeout(total=self.timeout)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout, headers=headers) as http,
                http.post(url, json=asked) as response,
            ):
                body = await response.text()
                if response.status != 200:
                    raise ModelFailed(
                        f"{url} answered HTTP {response.status}: {' '.join(body.split())[:_LONGEST_SAID]}"
                    )
                return _text(await response.json(content_type=None))
        except (aiohttp.ClientError, TimeoutError, ValueError) as e:
            raise ModelFailed(f"{url} gave no answer that can be read ({type(e).__name__})") from e


def _text(answer: object) -> str:
    try:
        content = answer["choices"][0]["message"]["content"]  # type: ignore[index]
    except (KeyError, IndexError, TypeError) as e:
        raise ValueError(answer) from e
    return content if isinstance(content, str) else ""
