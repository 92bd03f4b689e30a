"""Reading a judge's answer: what is accepted, what is refused, and that nothing else ever happens."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalrun.json_object import Unreadable
from evalrun.judges.answers import Doubtful, ReadScores, quoted_in, read_check, read_scores

NAMES = ("tone", "relevance", "accuracy", "progress")
REST = '"relevance":8,"accuracy":8,"progress":8'
GOOD = '{"tone":8,"relevance":8,"accuracy":8,"progress":8,"reason":"ok"}'


def values(text: str, names: tuple[str, ...] = NAMES) -> list[int]:
    """The scores in the order of the criteria."""
    return [m.value for m in read_scores(text, names).marks]


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{GOOD}\n```",
        f"Voici mon évaluation :\n{GOOD}\nBonne journée",
        '{"tone":8,"relevance":8,"accuracy":8,"progress":8,"reason":"il colle ```json {\\"a\\":1}``` dans le chat"}',
        '{"reason":"cite {slot} puis } sans raison","tone":8,"relevance":8,"accuracy":8,"progress":8} merci',
        f"\ufeff{GOOD}",
        f"<think>{{slot}} or {GOOD}?</think>\n{GOOD}",
        f"so it is fine</think>{GOOD}",
        f"[note] {{slot}} {GOOD}",
        f'{{"draft":1}} {GOOD}',
    ],
)
def test_b01_a_right_answer_in_a_wrapping_is_read(text: str) -> None:
    """Fences, prose, a byte order mark and reasoning around the object change nothing."""
    assert values(text) == [8, 8, 8, 8]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{}", "missing: tone, relevance, accuracy, progress"),
        ('{"tone":9,"relevance":9,"accuracy":9,"reason":"ok"}', "missing: progress"),
        ('{"tone":null,"relevance":9,"accuracy":9,"progress":9}', "tone must be an integer from 1 to 10, got null"),
        ('{"score":9,"pass":true}', "missing: tone, relevance, accuracy, progress"),
        ('[{"tone":9,"relevance":9,"accuracy":9,"progress":9}]', "expected one JSON object, got a list"),
        ('```\n[{"tone":9,"relevance":9,"accuracy":9,"progress":9}]\n```', "no JSON object"),
        ('{"tone":"N/A","relevance":9,"accuracy":9,"progress":9}', "tone must be an integer"),
        ('{"tone":9,"relevance":9,"accuracy":9,"progress":9,"helpfulness":1}', "unexpected: helpfulness"),
        (f"{GOOD} {GOOD}", "2 objects with the expected keys"),
        (f'{{"answer":{GOOD}', "no JSON object"),
        (f"<think>perhaps {GOOD}", "only reasoning, no answer"),
        ("I can't help with evaluating this content.", "no JSON object with the keys tone"),
        ("", "no JSON object"),
        ("[" * 100_000, "no JSON object|nested too deep"),
        ('{"tone":' + "9" * 5000 + "," + REST + "}", "nested too deep or holds a number too long"),
    ],
)
def test_b04_nothing_is_filled_in(text: str, fault: str) -> None:
    """A missing criterion, a list, a foreign object or two objects are refused, and the fault is named."""
    with pytest.raises(Unreadable, match=fault):
        read_scores(text, NAMES)


@pytest.mark.parametrize("name", ["Tone", "TONE"])
def test_b04_keys_compare_after_case_folding(name: str) -> None:
    """A key that differs in case only is the same key."""
    assert values(f'{{"{name}":9,{REST}}}') == [9, 8, 8, 8]


def test_b04_keys_compare_after_nfc() -> None:
    """A decomposed accent in the answer meets the composed one of the rubric."""
    assert values('{"clarte\u0301": 7}', ("clarté",)) == [7]


def test_b04_two_spellings_of_one_key_are_a_duplicate() -> None:
    """Folding must not let the last of two spellings win."""
    with pytest.raises(Unreadable, match="duplicate key 'tone'"):
        read_scores(f'{{"Tone":2,"tone":9,{REST}}}', NAMES)


@pytest.mark.parametrize(
    ("text", "claimed"),
    [
        ('{"tone":3,"relevance":3,"accuracy":4,"progress":3,"pass":true,"verdict":"PASS","reason":"excellent"}', True),
        ('{"tone":9,"relevance":9,"accuracy":9,"progress":9,"pass":false,"verdict":"FAIL","reason":"ok"}', False),
        ('{"tone":9,"relevance":9,"accuracy":9,"progress":9,"pass":true,"verdict":"FAIL"}', None),
        (GOOD, None),
    ],
)
def test_b05_the_judges_own_verdict_is_only_reported(text: str, claimed: bool | None) -> None:
    """A pass flag beside the scores is handed on as a claim and changes no score."""
    assert read_scores(text, NAMES).claimed is claimed


@pytest.mark.parametrize(("written", "value"), [("8", 8), ("8.0", 8), ("1e1", 10), ("10", 10), ("1", 1), ("0.8e1", 8)])
def test_b06_integers_are_read(written: str, value: int) -> None:
    """Integers from 1 to 10 in any spelling JSON allows."""
    assert values(f'{{"tone":{written},{REST}}}')[0] == value


def test_b06_a_digit_as_text_is_read_with_a_warning() -> None:
    """A score given as the text "8" is 8, and the judge's carelessness is noted."""
    read = read_scores(f'{{"tone":"8",{REST}}}', NAMES)
    assert (read.marks[0].value, read.warnings) == (8, ("tone was given as text ('8')",))


@pytest.mark.parametrize(
    "written",
    [
        *('" 8 "', '"8/10"', '"7/10"', '"4/5"', '"8 sur 10"', '"0.8"', '"8,5"', "7.5", '"７"', '"huit"'),
        *('"8 (was 10)"', '"1_0"', "8,5", "0", "11", "-8", "1e400", '"8\\n"', '"٨"', "[8]", '{"value":8}'),
        *('""', '"true"', "0x8", "08"),
    ],
)
def test_b06_nothing_else_is_a_score(written: str) -> None:
    """No digit is fished from prose, no fraction rounded, nothing clamped."""
    with pytest.raises(Unreadable):
        read_scores(f'{{"tone":{written},{REST}}}', NAMES)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (f'{{"tone":NaN,{REST}}}', "NaN is not a number"),
        (f'{{"tone":Infinity,{REST}}}', "Infinity is not a number"),
        (f'{{"tone":-Infinity,{REST}}}', "-Infinity is not a number"),
        ('{"tone":true,"relevance":true,"accuracy":true,"progress":true}', "got true"),
        (f'{{"tone":2,"tone":9,{REST}}}', "duplicate key 'tone'"),
        (f'{{"tone":"nan",{REST}}}', "must be an integer"),
        (f'voilà {{"tone":2,"tone":9,{REST}}}', "duplicate key 'tone'"),
        (f'{{"tone":{{"score":9,"score":2}},{REST}}}', "duplicate key 'score'"),
    ],
)
def test_b08_what_lenient_parsers_accept_is_refused(text: str, fault: str) -> None:
    """NaN, Infinity, booleans and duplicate keys never become a score, in any wrapping."""
    with pytest.raises(Unreadable, match=fault):
        read_scores(text, NAMES)


def test_b03_a_cut_score_is_never_repaired() -> None:
    """A ten cut after its one is no object, not a one."""
    with pytest.raises(Unreadable):
        read_scores('{"tone":8,"relevance":8,"accuracy":8,"progress":1', NAMES)


def test_blocks_carry_quote_and_reason() -> None:
    """The strict form gives a quote and a reason to each score."""
    text = json.dumps({n: {"quote": f"q-{n}", "reason": f"r-{n}", "score": 7} for n in NAMES})
    marks = read_scores(text, NAMES).marks
    assert [(m.criterion, m.quote, m.reason, m.value) for m in marks] == [(n, f"q-{n}", f"r-{n}", 7) for n in NAMES]


def test_an_object_inside_a_broken_one_does_not_count() -> None:
    """An example nested in an answer that breaks off later is not the answer."""
    with pytest.raises(Unreadable):
        read_scores(f'{{"example":{GOOD},"tone":3,', NAMES)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"applies":true,"quote":"","reason":"","shown_compliant":true}', "reason is empty"),
        ('{"applies":"true","quote":"","reason":"x","shown_compliant":true}', "applies must be true or false"),
        ('{"applies":true,"reason":"x","shown_compliant":true}', "missing: quote"),
        ('{"applies":true,"quote":3,"reason":"x","shown_compliant":true}', "quote must be a text"),
        ("no violation", "no JSON object"),
    ],
)
def test_a_check_is_read_as_strictly(text: str, fault: str) -> None:
    """Not violated needs a reason, and an answer that cannot be read is never `not violated`."""
    with pytest.raises(Unreadable, match=fault):
        read_check(text, "bonjour")


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("c'est  49 €", True),
        ("C’est 49", True),
        ("est", True),
        ("es", False),
        ("", False),
        ("\u200b", False),
        ("4", False),
    ],
)
def test_a_quote_is_whole_words_after_folding(quote: str, found: bool) -> None:
    """A quote counts when its whole words were said; blanks, case and typographic signs do not matter."""
    assert quoted_in(quote, "bonjour, c’est\n49 € par mois") is found


def test_a_violation_without_its_words_is_doubtful() -> None:
    """A claimed violation counts only with words the agent used; the same claim again is not counted."""
    text = '{"applies":true,"quote":"49 €","reason":"a price","shown_compliant":false}'
    assert read_check(text, "c'est 49 € par mois").violated is True
    with pytest.raises(Doubtful) as caught:
        read_check(text, "bonjour")
    assert (caught.value.value.claimed, caught.value.value.violated) == (True, False)


PIECES = st.sampled_from(
    [
        *("{", "}", "[", "]", '"', '\\"', ",", ":", "8", "8.0", "11", "7.5", "NaN", "null", "true", "```", "```json"),
        *('"tone"', '"TONE"', '"relevance"', '"accuracy"', '"progress"', '"score"', '"reason"', "<think>", "</think>"),
        *(GOOD, GOOD[:20], GOOD[20:], '{"tone":', REST, "\ufeff", "\u200b", "\ud800", "é", " "),
    ]
)


@settings(max_examples=2500, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_any_mixture_gives_scores_or_one_named_fault(text: str) -> None:
    """Whatever a judge writes: four integers from 1 to 10, or Unreadable with a fault; nothing else."""
    _reads(text)


@settings(max_examples=2500, deadline=None)
@given(
    st.integers(0, len(GOOD)), st.integers(0, 8), st.text(max_size=6), st.sampled_from(["", "```json\n", "Voici : "])
)
def test_any_mutation_gives_scores_or_one_named_fault(at: int, cut: int, extra: str, before: str) -> None:
    """A good answer with a piece replaced is read, or refused with a fault; a refused one is never guessed."""
    _reads(before + GOOD[:at] + extra + GOOD[at + cut :])


def _reads(text: str) -> None:
    try:
        read = read_scores(text, NAMES)
    except Unreadable as e:
        fault = str(e)
    else:
        fault = ""
    if fault:
        return
    assert isinstance(read, ReadScores)
    assert [m.criterion for m in read.marks] == list(NAMES)
    assert all(type(m.value) is int and 1 <= m.value <= 10 for m in read.marks)
