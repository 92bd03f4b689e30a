"""The labelled drafts are a fair set, and the checks of drafts do as well on them as the docs say."""

from __future__ import annotations

from collections import Counter

from evalrun.drafts import FAULTS
from tests.labelled_drafts import ROOT, labelled, precision, recall


def test_the_set_is_large_balanced_and_without_twins() -> None:
    """At least 150, good ones and bad ones alike in number, both languages, every fault, nothing twice."""
    every = labelled()
    bad = [one for one in every if one.fault]
    assert len(every) >= 150
    assert abs(len(every) - 2 * len(bad)) <= 0.1 * len(every)
    assert min(Counter(one.language for one in every).values()) >= 60
    assert {f.name for f in FAULTS} == {one.fault for one in bad}
    assert len({one.id for one in every}) == len(every)
    seen = Counter((one.draft.message, one.draft.persona.id, tuple(one.draft.heard)) for one in every)
    assert [s for s, n in seen.items() if n > 1] == []


def test_the_checks_are_precise_and_find_what_they_were_made_for() -> None:
    """A refused draft is faulty; of the faults in the part they were improved with nearly all are found."""
    every = labelled()
    hit, refused = precision(every)
    found, faulty = recall([one for one in every if one.split == "dev"])
    assert hit >= 0.97 * refused
    assert found >= 0.95 * faulty


def test_what_they_do_on_drafts_they_were_not_made_with_is_no_worse_than_documented() -> None:
    """Those nobody looked at: no good draft is refused; of subtle faults 11 of 25 are found."""
    unseen = [one for one in labelled() if one.split == "test"]
    assert precision(unseen)[0] == precision(unseen)[1]
    assert recall(unseen)[0] >= 11


def test_a_refused_draft_is_named_for_what_is_wrong_with_it() -> None:
    """The first name found is the fault that a person names."""
    wrong = [one.id for one in labelled() if one.found and one.fault and one.fault not in one.found]
    assert wrong == []


def test_the_docs_show_the_figures_as_they_are() -> None:
    """Precision and recall of both parts, and the size of the set, as measured now."""
    page = (ROOT / "docs/explanation/persona-faults.md").read_text("utf-8")
    every = labelled()
    assert f"We keep {len(every)} drafts" in page
    for split in ("dev", "test"):
        of = [one for one in every if one.split == split]
        cells = [f"{hit} of {all_}" for hit, all_ in (precision(of), recall(of))]
        assert f"| {len(of)} | {' | '.join(cells)} |" in page
