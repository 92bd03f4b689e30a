"""How well the checks of drafted persona messages do on the labelled set: `python -m benchmarks.draft_checks`.

Prints precision and recall for both halves of the set, recall by fault, and every draft they get wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.labelled_drafts import Labelled, labelled, precision, recall


def share(part: tuple[int, int]) -> str:
    """`12/13 (.92)`."""
    hit, of = part
    return f"{hit}/{of} ({hit / of:.2f})" if of else "0/0"


def line(name: str, of: Sequence[Labelled]) -> str:
    return f"{name:<20} {len(of):>4} drafts   precision {share(precision(of)):<16} recall {share(recall(of))}"


def main() -> None:
    every = labelled()
    for split in ("dev", "test"):
        print(line(split, [one for one in every if one.split == split]))
    for language in ("fr", "en"):
        print(line(language, [one for one in every if one.language == language]))
    print(line("all", every))
    for fault in sorted({one.fault for one in every} - {""}):
        of = [one for one in every if one.fault == fault]
        named = sum(one.fault in one.found for one in of)
        print(f"  {fault:<20} refused {share(recall(of)):<14} by that name {share((named, len(of)))}")
    for one in every:
        if bool(one.fault) != bool(one.found):
            print(
                f"wrong: {one.id:<22} {one.split:<5} {one.draft.message[:70]!r} found {', '.join(one.found) or 'nothing'}"
            )


if __name__ == "__main__":
    main()
