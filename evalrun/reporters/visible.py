r"""Text of others made safe to show: no control character, nothing the encoding lacks, no forged command.

Text is shown as written; what cannot be is written out (`\x1b`, `\u202e`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# controls but for newline and tab; signs that hide, turn round or smuggle text; halves of surrogates.
# Joiners stay: emoji and several scripts are written with them
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
# a CI service reads `##[command]` anywhere in a line of output
_CI_COMMAND = re.compile(r"##(?=\[)")
_OWN: Mapping[str, str] = {"✓": "+", "✗": "x", "–": "-", "·": "-", "…": "...", "│": "|", "━": "=", "─": "-"}
TAB = "    "


def written_out(text: str) -> str:
    """Text of an agent, a user, a model or a file with nothing unseen in it; newlines stay."""
    return _UNSEEN.sub(_code, text.replace("\r\n", "\n").replace("\t", TAB))


def visible(text: str, encoding: str = "utf-8") -> str:
    """The same for a terminal or a log: also no command to a CI service, and nothing the encoding lacks."""
    return encodable(_CI_COMMAND.sub("#\\\\#", written_out(text)), encoding)


def _code(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def encodable(text: str, encoding: str) -> str:
    """The text with characters the encoding lacks written out."""
    return text.encode(encoding, "backslashreplace").decode(encoding)


def own(text: str, encoding: str) -> str:
    """A line of ours: our signs have a plain form where the encoding lacks them."""
    if encoding.lower().replace("-", "") == "utf8":
        return visible(text)
    for sign, plain in _OWN.items():
        if sign in text and sign.encode(encoding, "ignore") == b"":
            text = text.replace(sign, plain)
    return visible(text, encoding)
