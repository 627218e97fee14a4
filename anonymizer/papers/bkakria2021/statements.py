"""What the text of Bkakria et al. (2021) says of its own tables and metrics, sentence by sentence.

Sentences about Table 4 are held against its cells as printed, so that they agree or contradict it
whatever gives the cells.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from anonymizer.papers.bkakria2021.cases import CELLS, TABLE_4, WHERE, profile
from anonymizer.papers.bkakria2021.schemes import metric_of
from anonymizer.papers.row import PublishedSection, Row
from anonymizer.risk import Inference, measures

METRICS = ("DR", "MI", "CP", "MIL", "ELD")
"""The columns of Table 4."""
EDGE = 1e-9
AGES_EXPECTED = ("Age 1", "Age 3", "Age 4", "Age 5", "Age 2")
"""From the highest risk expected to the lowest; the first two are alike."""
OPPOSITE = "its own Table 4 says the opposite"
ORDERED = "its own Table 4 has the expected order"


def statements() -> list[PublishedSection]:
    """Sentences of sections 3.3, 4 and 5 that say a number, an order, or who fails."""
    return [of_table_4(), of_table_5(), of_metrics()]


def printed(metric: str, names: Sequence[str]) -> list[float]:
    """Cells of Table 4 as printed, as numbers."""
    column = METRICS.index(metric)
    return [float(TABLE_4[name][column].replace(",", ".")) for name in names]


def ages_in_order(values: Sequence[float]) -> bool:
    """Return whether two are alike and the others fall, in the order of ``AGES_EXPECTED``."""
    return abs(values[0] - values[1]) < EDGE and all(a - EDGE > b for a, b in pairwise(values[1:]))


def rising(values: Sequence[float]) -> bool:
    """Return whether each is above the one before."""
    return all(b - EDGE > a for a, b in pairwise(values))


def of_table_4() -> PublishedSection:
    """Check which metrics put the cases right by the text, and which do not."""
    rows = [
        *(_reversed(metric) for metric in ("DR", "MI", "MIL")),
        *(_extremes(metric) for metric in ("DR", "MI", "MIL")),
        *(_fails_on_ages(metric) for metric in ("DR", "MI", "MIL")),
        *_conditional_privacy(),
        *_diversity(),
        *(_fails_on_diseases(metric) for metric in METRICS),
    ]
    note = (
        "As printed. Expected are Age 1 = Age 3 > Age 4 > Age 5 > Age 2, and Disease 1 < Disease 2 "
        "< Disease 3. The text calls ELD also HLD, and says of it both that it is right in all "
        "cases and that all metrics fail on the diseases."
    )
    return PublishedSection("Table 4: what the text says of it", rows, note, "Section 3.3")


def _said(what: str, metric: str, holds: bool, values: list[float], says: str, why: str) -> Row:
    shown = ", ".join(f"{value:g}" for value in values)
    return Row.claim(f"{metric} of {what}", holds, shown, says, why=why, where=WHERE[metric])


def _reversed(metric: str) -> Row:
    values = printed(metric, ("Age 3", "Age 5"))
    what = "Age 3, Age 5, as printed"
    return _said(what, metric, values[0] < values[1], values, "lower, higher", OPPOSITE)


def _extremes(metric: str) -> Row:
    values = printed(metric, CELLS[0])
    holds = values[0] == max(values) and values[1] == min(values)
    return _said("Ages 1 to 5", metric, holds, values, "right for Cases 1 and 2", OPPOSITE)


def _fails_on_ages(metric: str) -> Row:
    values = printed(metric, AGES_EXPECTED)
    holds = not ages_in_order(values)
    return _said("Ages 1, 3, 4, 5, 2", metric, holds, values, "fails on Cases 3 to 5", ORDERED)


def _conditional_privacy() -> list[Row]:
    values = printed("CP", CELLS[0])
    rest = printed("CP", AGES_EXPECTED)
    highest = "Case 1 has its highest value, as it should"
    return [
        _said("Age 2", "CP", values[1] == min(values), [values[1]], "right: the lowest", OPPOSITE),
        _said("Age 1", "CP", values[0] < max(values), [values[0]], "fails", highest),
        _said("Ages 3, 4, 5", "CP", not ages_in_order(rest), rest[1:4], "fails", ORDERED),
    ]


def _diversity() -> list[Row]:
    ages, diseases = printed("ELD", AGES_EXPECTED), printed("ELD", CELLS[1])
    says = "right in all cases"
    return [
        _said("Ages 1, 3, 4, 5, 2", "ELD", ages_in_order(ages), ages, says, OPPOSITE),
        _said("Diseases 1, 2, 3", "ELD", rising(diseases), diseases, says, OPPOSITE),
    ]


def _fails_on_diseases(metric: str) -> Row:
    values, says = printed(metric, CELLS[1]), "fails on Cases 2 and 3"
    return _said("Diseases 1 to 3", metric, not rising(values), values, says, ORDERED)


def of_table_5() -> PublishedSection:
    """Section 4 on ITPR: right in all cases."""
    ages = [profile(name).itpr for name in AGES_EXPECTED]
    diseases = [profile(name).itpr for name in CELLS[1]]
    alone = profile("Age 2").itpr
    zips = [profile(f"Age 2, Zip Code {case}").itpr for case in (1, 2)]
    rows = [
        _right("Ages 1, 3, 4, 5, 2", ages_in_order(ages), ages, "rows 1 to 5"),
        _right("Age 2, and with Zip Codes 1, 2", rising([alone, *zips]), [alone, *zips], "6, 7"),
        _right("Diseases 1, 2, 3", rising(diseases), diseases, "rows 8 to 10"),
    ]
    return PublishedSection(
        "Table 5: what the text says of it", rows, "", "Section 4", WHERE["ITPR"]
    )


def _right(what: str, holds: bool, values: Sequence[float], remark: str) -> Row:
    shown = ", ".join(f"{value:.6f}" for value in values)
    return Row.claim(f"ITPR of {what}", holds, shown, "correctly quantified", remark, why=shown)


def of_metrics() -> PublishedSection:
    """Check claims about a metric as such: its zeros, its range, its definition."""
    rng = np.random.default_rng(5)
    independent = [np.outer(*rng.integers(1, 9, (2, 4))) for _ in range(50)]
    off = max(abs(metric_of("MI", Inference.of(joint))) for joint in independent)
    known = [Inference.of(rng.integers(0, 5, (3, 4)) + np.eye(3, 4, dtype=int)) for _ in range(500)]
    largest = [measures(np.diag([1] * classes)).unscaled_itpr for classes in (2, 3)]
    rows = [
        Row.claim(
            "MI of independent X and Y",
            off < EDGE,
            f"off by {off:.0e}",
            "equal to zero",
            "50 random tables",
            place="Section 3.3.2",
        ),
        _printed_diversity(),
        *(
            Row.number(
                f"largest of Eq. 9, {classes} classes",
                value,
                "1.0",
                "a class of one value",
                place="Section 4",
            )
            for classes, value in zip((2, 3), largest, strict=True)
        ),
        *(_ranging(metric, [metric_of(metric, each) for each in known]) for metric in BOUNDED),
    ]
    return PublishedSection("Sections 3.3 to 5: metrics as such", rows, where=WHERE["MI"])


BOUNDED = ("ITPR", "ELD")


def _printed_diversity() -> Row:
    """PELD by its formula, on the case that its table needs another for."""
    value = float(2 ** -profile("Age 3").uncertainties.max())
    return Row.number(
        "pELD of Age 3: 2^min_q sum p(q,x) log p(q,x)",
        value,
        "1,0",
        "Table 4's 1,0 is of the maximum",
        why="the minimum in the exponent takes the group that discloses least; the risk is that of "
        "the group that discloses most, the maximum, which gives every cell",
        place="Section 3.3.5",
    )


def _ranging(metric: str, values: Sequence[float]) -> Row:
    shown = f"{min(values):.6f} to {max(values):.6f}"
    return Row.claim(
        f"{metric}, its values",
        min(values) >= 0 and max(values) <= 1,
        shown,
        "always between 0 and 1",
        "500 random tables",
        place="Section 5",
        where=WHERE[metric],
    )
