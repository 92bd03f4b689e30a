"""The table of checks, and rules made ready to be applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evalrun.style import Finding, StyleRule, StyleRules
from evalrun.style_checks import counting, wording
from evalrun.style_checks.placeholders import placeholders
from evalrun.style_checks.spec import PER, CheckSpec, Find, Kind, Parameter, Reply
from evalrun.transcript import Turn


def _limit(what: str, default: int | None = None) -> Parameter:
    return Parameter(
        name="max", kind="integer", meaning=f"how many {what} at most", required=default is None, default=default
    )


def _texts(name: str, meaning: str, *, required: bool = False) -> Parameter:
    return Parameter(name=name, kind="texts", meaning=meaning, required=required)


def _text(name: str, kind: Kind, meaning: str) -> Parameter:
    return Parameter(name=name, kind=kind, meaning=meaning)


_ALL = (
    CheckSpec(
        name="max_questions",
        summary="Counts runs of question marks outside code and addresses; a quoted question counts.",
        parameters=(_limit("questions"), PER, _text("language", "text", "`el` counts the Greek question mark")),
        ready=counting.max_questions,
    ),
    CheckSpec(
        name="forbidden",
        summary="Whole words after folding (case, accents as composed, quotes, blanks, emphasis), outside addresses.",
        parameters=(_texts("texts", "words; `prefix*` for a family, `re:…` for a pattern", required=True),),
        ready=wording.forbidden,
    ),
    CheckSpec(
        name="placeholders",
        summary="Unreplaced variables: {{x}}, {x}, [NAME], <name>, %s, undefined, None, NaN, lorem ipsum…",
        parameters=(_texts("allow", "texts that are no placeholder, such as [PDF]"),),
        ready=placeholders,
    ),
    CheckSpec(
        name="max_bubbles",
        summary="Counts the bubbles of a reply.",
        parameters=(_limit("bubbles"),),
        ready=counting.max_bubbles,
    ),
    CheckSpec(
        name="max_chars",
        summary="Counts characters.",
        parameters=(_limit("characters"), PER),
        ready=counting.max_chars,
    ),
    CheckSpec(name="max_words", summary="Counts words.", parameters=(_limit("words"), PER), ready=counting.max_words),
    CheckSpec(name="emoji", summary="Counts emoji.", parameters=(_limit("emoji", 0), PER), ready=counting.emoji),
    CheckSpec(name="no_dash", summary="No em or en dash outside code.", parameters=(), ready=wording.no_dash),
    CheckSpec(
        name="no_markdown",
        summary="No bullet, heading, bold, table or fence.",
        parameters=(_texts("allow", "names of those that are fine"),),
        ready=wording.no_markdown,
    ),
    CheckSpec(
        name="lowercase",
        summary="No capital letter outside code and addresses.",
        parameters=(_texts("except", "words that keep theirs"),),
        ready=wording.lowercase,
    ),
    CheckSpec(
        name="capitals",
        summary="No word of three letters or more all in capitals.",
        parameters=(_texts("except", "words that may"),),
        ready=wording.capitals,
    ),
    CheckSpec(
        name="regex",
        summary="A pattern that no bubble may match, or that the reply must match.",
        parameters=(
            _text("absent", "regex", "no bubble matches it"),
            _text("present", "regex", "the reply matches it"),
        ),
        ready=wording.regex,
    ),
    CheckSpec(
        name="opener",
        summary="A reply does not open with a stock phrase (bien sûr, certainly…).",
        parameters=(_texts("texts", "more openers"),),
        ready=wording.opener,
    ),
    CheckSpec(name="apology", summary="No apology, in French or English.", parameters=(), ready=wording.apology),
    CheckSpec(
        name="error_text",
        summary="No technical error said to the user (Error: 500, a traceback…).",
        parameters=(),
        ready=wording.error_text,
    ),
    CheckSpec(
        name="control_characters",
        summary="No control character, NUL or half a surrogate (as stored: U+2400, U+FFFD).",
        parameters=(),
        ready=wording.control_characters,
    ),
    CheckSpec(
        name="repeated",
        summary="No bubble said word for word in an earlier reply.",
        parameters=(
            Parameter(name="min_chars", kind="integer", meaning="shorter bubbles may be repeated", default=20),
        ),
        ready=wording.repeated,
    ),
)
CHECKS: Mapping[str, CheckSpec] = {spec.name: spec for spec in _ALL}


LONGEST_QUOTE = 400


class CompiledRules:
    """The rules of a file made ready once. Raises ValueError when a check or a parameter is wrong."""

    def __init__(self, rules: StyleRules) -> None:
        self._ready: list[tuple[StyleRule, Find]] = [(rule, _ready(rule)) for rule in rules.rules]

    def apply(self, turn: Turn, earlier: Sequence[Turn] = (), allow: Sequence[str] = ()) -> tuple[Finding, ...]:
        """The breaks in one turn, in the order of the rules; a turn in which nothing was said breaks none.

        What goes to one person is one reply: a question to each of two people is no second question.
        `allow` are texts that the scenario lets pass. Bubbles are numbered as the turn shows them.
        """
        found: list[Finding] = []
        for to in dict.fromkeys(b.to for b in turn.said):
            places = [i for i, b in enumerate(turn.said, 1) if b.to == to]
            before = [b.text for t in earlier for b in t.said if b.kind == "text" and b.to == to]
            bubbles = [b.text if b.kind == "text" else "" for b in turn.said if b.to == to]
            hits = self.check(bubbles, earlier=before, allow=allow, turn=turn.number)
            found += [replace(hit, bubble=places[hit.bubble - 1] if hit.bubble else 0) for hit in hits]
        return tuple(found)

    def check(
        self, bubbles: Sequence[str], *, earlier: Sequence[str] = (), allow: Sequence[str] = (), turn: int = 0
    ) -> tuple[Finding, ...]:
        """The breaks in one reply given as texts."""
        reply = Reply(bubbles=bubbles, earlier=earlier, allow=frozenset(allow))
        return tuple(
            Finding(
                rule=rule.id,
                severity=rule.severity,
                message=hit.message,
                quote=_cut(hit.quote),
                turn=turn,
                bubble=hit.bubble,
            )
            for rule, find in self._ready
            for hit in find(reply)
        )


def _ready(rule: StyleRule) -> Find:
    spec = CHECKS.get(rule.check)
    if spec is None:
        raise ValueError(f"rule {rule.id!r}: {rule.check!r} is no check; known: {', '.join(CHECKS)}")
    return spec.ready(rule.params)


def _cut(quote: str) -> str:
    return quote if len(quote) <= LONGEST_QUOTE else f"{quote[:LONGEST_QUOTE]}…"
