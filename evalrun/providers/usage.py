"""Usage in one meaning: vendors differ on whether input includes cached tokens and output includes reasoning."""

from __future__ import annotations

from collections.abc import Mapping

from evalrun.usage import Tokens

UNKNOWN = Tokens(reliable=False)


def from_chat(usage: object) -> Tokens:
    """Chat completions: prompt_tokens includes cached ones, completion_tokens includes reasoning."""
    if not isinstance(usage, Mapping):
        return UNKNOWN
    prompt, output = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    details = _table(usage, "prompt_tokens_details")
    cached, written = _count(details, "cached_tokens"), _count(details, "cache_write_tokens")
    reasoning = _count(_table(usage, "completion_tokens_details"), "reasoning_tokens")
    return _checked(prompt, cached, written, output, reasoning)


def from_messages(usage: object) -> Tokens:
    """Messages: input_tokens excludes cache reads and writes; output_tokens includes thinking."""
    if not isinstance(usage, Mapping):
        return UNKNOWN
    plain, output = _count(usage, "input_tokens"), _count(usage, "output_tokens")
    cached = _count(usage, "cache_read_input_tokens", 0)
    written = _count(usage, "cache_creation_input_tokens", 0)
    if plain is None:
        return UNKNOWN
    return _checked(plain + (cached or 0) + (written or 0), cached, written, output, 0)


def from_generate(usage: object) -> Tokens:
    """Generate-content: promptTokenCount includes cached ones, candidatesTokenCount excludes thoughts."""
    if not isinstance(usage, Mapping):
        return UNKNOWN
    prompt, output = _count(usage, "promptTokenCount"), _count(usage, "candidatesTokenCount")
    thoughts, cached = _count(usage, "thoughtsTokenCount", 0), _count(usage, "cachedContentTokenCount", 0)
    if output is None:
        return UNKNOWN
    return _checked(prompt, cached, 0, output + (thoughts or 0), thoughts)


def _table(usage: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = usage.get(name)
    return value if isinstance(value, Mapping) else {}


def _count(usage: Mapping[str, object], name: str, default: int | None = None) -> int | None:
    value = usage.get(name)
    if value is None:
        return default
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _checked(
    prompt: int | None, cached: int | None, written: int | None, output: int | None, reasoning: int | None
) -> Tokens:
    """The tokens, unreliable when a figure is missing or contradicts another; never a negative part."""
    if prompt is None or output is None:
        return UNKNOWN
    hit, put, thought = cached or 0, written or 0, reasoning or 0
    reliable = hit + put <= prompt and thought <= output
    return Tokens(
        input=prompt,
        cached=min(hit, prompt),
        cache_write=min(put, max(prompt - hit, 0)),
        output=output,
        reasoning=min(thought, output),
        reliable=reliable,
    )
