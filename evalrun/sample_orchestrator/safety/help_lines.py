"""Who answers in an emergency, by where the user lives. Checked by hand: these numbers are read by people in danger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evalrun.sample_orchestrator.language import Language

_NO_TEXT = {Language.FR: "", Language.EN: ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class HelpLines:
    """`crisis` is a line for thoughts of suicide, `emergency` the police or ambulance; `text` how to write instead."""

    crisis: str
    emergency: str
    text: Mapping[Language, str] = field(default_factory=lambda: _NO_TEXT)


_FRANCE = HelpLines(
    crisis="3114",
    emergency="112",
    text={Language.FR: ", ou écris au 114 par sms", Language.EN: ", or text 114"},
)
_BRITAIN = HelpLines(crisis="116 123", emergency="999")
_CANADA = HelpLines(crisis="988", emergency="911")
_BELGIUM = HelpLines(crisis="0800 32 123", emergency="112")
_SWITZERLAND = HelpLines(crisis="143", emergency="112")
_ELSEWHERE = HelpLines(crisis="112", emergency="112")
_BY_ZONE = {
    "Europe/Paris": _FRANCE,
    "Europe/London": _BRITAIN,
    "America/Montreal": _CANADA,
    "America/Toronto": _CANADA,
    "Europe/Brussels": _BELGIUM,
    "Europe/Zurich": _SWITZERLAND,
}


def help_lines(time_zone: str) -> HelpLines:
    """The lines of a time zone; 112 where Ori knows no better, which most mobile networks put through."""
    return _BY_ZONE.get(time_zone, _ELSEWHERE)
