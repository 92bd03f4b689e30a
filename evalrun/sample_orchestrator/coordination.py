"""Coordination: what happened to a meeting on one side is passed on to the other side, and to nobody else.

Whatever changed the meeting, a stage or an action, the relay follows from what it was before the
message and what it is after it, so that no path forgets the other one.
"""

from __future__ import annotations

from evalrun.sample_orchestrator.brief import Line, Wordings
from evalrun.sample_orchestrator.dates import moment_said
from evalrun.sample_orchestrator.encounters import Meeting, MeetingStatus
from evalrun.sample_orchestrator.language import Language
from evalrun.sample_orchestrator.relay import Relay
from evalrun.sample_orchestrator.user import User

FR, EN = Language.FR, Language.EN
_PROPOSED: Wordings = {
    FR: ("{name} te propose {when}, {place}.", "proposition de {name} pour vous voir, {when}, {place}."),
    EN: ("{name} suggests {when}, {place}.", "a suggestion from {name} for you two, {when}, {place}."),
}
_COUNTERED: Wordings = {
    FR: (
        "{name} préfère un autre moment, {when}, {place}.",
        "petit changement du côté de {name}, ce serait plutôt {when}, {place}.",
    ),
    EN: (
        "{name} would rather have another time, {when}, {place}.",
        "a little change from {name}, it would rather be {when}, {place}.",
    ),
}
_SUITS: Wordings = {
    FR: ("ça te va ?", "tu es d'accord, ou tu préfères un autre moment ?", "je dis oui de ta part ?"),
    EN: ("does that suit you?", "are you fine with it, or would another time be better?", "shall i say yes for you?"),
}
_CONFIRMED: Wordings = {
    FR: (
        "{name} est d'accord. c'est confirmé, {when}, {place}.",
        "c'est bon pour {name}, rendez-vous {when}, {place}.",
    ),
    EN: ("{name} agrees. it is confirmed, {when}, {place}.", "{name} is fine with it, see you there {when}, {place}."),
}
_CALLED_OFF: Wordings = {
    FR: (
        "{name} ne sera pas disponible {when}, on cherche un autre moment.",
        "finalement {when} ne va pas pour {name}, on trouvera mieux.",
    ),
    EN: (
        "{name} will not be free on {when}, we'll look for another time.",
        "after all {when} does not suit {name}, we'll find better.",
    ),
}
_FREE: Wordings = {
    FR: ("tu aurais quel autre jour ?", "quel autre moment t'irait ?"),
    EN: ("which other day would you have?", "which other time would suit you?"),
}


def passed_on(before: User, after: User) -> tuple[Relay, ...]:
    """What the other one of the meeting must be told of this turn."""
    was, now = before.meeting, after.meeting
    if now is None:
        ahead = was is not None and was.status in (MeetingStatus.PROPOSED, MeetingStatus.CONFIRMED)
        gone = ahead and _still_known(after, was)
        return (_relay(after, was, _CALLED_OFF, _FREE),) if gone and was else ()
    if was is not None and (was.at, was.place, was.status) == (now.at, now.place, now.status):
        return ()
    if now.status is MeetingStatus.PROPOSED and now.proposed_by == after.id:
        return (_relay(after, now, _PROPOSED if was is None else _COUNTERED, _SUITS),)
    if now.status is MeetingStatus.CONFIRMED and was is not None and was.status is MeetingStatus.PROPOSED:
        return (_relay(after, now, _CONFIRMED, None),)
    return ()


def _still_known(user: User, meeting: Meeting | None) -> bool:
    """Whether the match is still there: who was reported is not written to."""
    return meeting is not None and user.match is not None and user.match.partner.id == meeting.partner.id


def _relay(user: User, meeting: Meeting, told: Wordings, asked: Wordings | None) -> Relay:
    to = meeting.partner
    someone = {FR: "l'autre personne", EN: "the other person"}[to.language]
    values = {
        "name": user.first_name or someone,
        "when": moment_said(meeting.at, to.time_zone, to.language),
        "place": meeting.place,
    }
    said = Line(task="Pass on what was decided.", wordings=tuple(w.format(**values) for w in told[to.language]))
    question = Line(task="Ask whether it suits them.", wordings=asked[to.language]) if asked else None
    return Relay(to=to, told=(said,), asked=question)
