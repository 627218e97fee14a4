"""Figures 1 to 5 of Bkakria et al. (2021) as numbers, and what the text says of them."""

from collections.abc import Sequence

from anonymizer.papers.agreement import AS_PUBLISHED
from anonymizer.papers.bkakria2021.metrics import MIL, TABULATED, along, readings_of
from anonymizer.papers.bkakria2021.schemes import (
    ASSUMED_TABLE,
    FIGURE_1,
    FIGURE_2A,
    FIGURE_2B,
    FIGURE_3,
    FIGURE_5,
    PLANE,
    RECORDS,
    equally_skewed,
    one_skewed,
    panel,
    plane,
    surface,
)
from anonymizer.papers.bkakria2021.variation import figure_4, text_example
from anonymizer.papers.readings import Reading, read, trend, trends, within
from anonymizer.papers.row import Row, Section
from anonymizer.risk import Profile

Found = dict[str, list[float]]

SIZES = {"ITPR": "rises", "DR": "", "MI": "falls", "CP": "falls", "ELD": "rises", "MIL": "rises"}
"""What the text says of each metric as classes differ more in size; of DR only that it is low."""
EXCESS = {**dict.fromkeys(("ITPR", "DR", "MI", "CP", "ELD"), "rises"), "MIL": "falls"}
"""What it says as a disease is further ahead of the others."""
WORDS = {"rises": "increases", "falls": "decreases", "": ""}


def figures() -> list[Section]:
    """All of them."""
    return [figure_1(), figure_2(), figure_3(), text_example(), figure_4(), figure_5()]


def figure_1() -> Section:
    """Two classes: the one figure whose table the text fixes."""
    found = along(FIGURE_1.profiles(range(0, RECORDS, 2)))
    largest = max(found["DR"])
    rows = [
        FIGURE_1.row(),
        Row.number("ITPR, ε = 9998", found["ITPR"][-1], "1"),
        Row.number("ITPR, ε = 0", found["ITPR"][0], "0.07", "printed as 7*10^-2"),
        Row.claim("DR, largest", largest < 0.1, f"{largest:.6f}", "below 0.1"),
        *_trends(found, "ε", SIZES),
        read("MIL, least and largest", "between 7 and 13", [_range(found, m) for m in MIL]),
    ]
    note = "Trends are over all 5,000 even ε."
    return Section("Figure 1: re-identification, two classes", rows, note)


def figure_2() -> Section:
    """Ten classes, whose sizes the text leaves open."""
    small = along(FIGURE_2A.profiles(range(0, 1111, 10)))
    steps = along(FIGURE_2B.profiles(range(0, 1999, 18)))
    rows = [
        FIGURE_2A.row(),
        *_trends(small, "ε, a small class", SIZES),
        FIGURE_2B.row(),
        *_trends(steps, "ε, equal steps", SIZES),
    ]
    note = (
        "The text says that every metric behaves as in Figure 1, and no number. ε ends where the "
        "smallest class has one record: at 1110 with a small class, at 1998 in equal steps."
    )
    return Section("Figure 2: re-identification, ten classes", within(rows, ASSUMED_TABLE), note)


def figure_3() -> Section:
    """Five ages, ten diseases: which ages are skewed is left open."""
    excesses = range(0, 2000, 50)
    rows = [
        FIGURE_3.row(),
        *_trends(along(FIGURE_3.profiles(range(0, 2001, 50))), "λ", EXCESS),
        _ruled_out("every age skewed alike", [equally_skewed(excess) for excess in excesses]),
        _ruled_out("one age skewed", [one_skewed(excess) for excess in excesses]),
    ]
    note = "The last rows say what simpler tables would do against the text."
    return Section(
        "Figure 3: inference, by how much one disease is ahead", within(rows, ASSUMED_TABLE), note
    )


def figure_5() -> Section:
    """ITPR over the sizes of classes and the variation at once."""
    name, records, status = FIGURE_5
    risen = {
        epsilon: trend(along(plane(epsilon, n) for n in range(moves[-1] + 1))["ITPR"])
        for epsilon, moves in PLANE.items()
    }
    sizes = along(plane(epsilon, 0) for epsilon in PLANE)["ITPR"]
    rows = [
        panel(name, records, status, surface(PLANE)),
        Row.claim(
            "ITPR over θ, at each ε",
            set(risen.values()) == {"rises"},
            ", ".join(f"{epsilon}: {said}" for epsilon, said in risen.items()),
            "increases",
        ),
        read("ITPR over ε, θ = 0", "increases", trends("rises", {"": sizes})),
    ]
    note = (
        "ε goes from 0 to 1200 in the paper, θ from 0 to 0.9 bits. A small class beside nine equal "
        "ones cannot differ by more than 1110 records: hence equal steps, of multiples of 360."
    )
    return Section("Figure 5: inference, ITPR over ε and θ", within(rows, ASSUMED_TABLE), note)


def _trends(found: Found, over: str, expected: dict[str, str]) -> list[Row]:
    """Whether each metric rises or falls as the text says."""
    return [
        read(f"{short} over {over}", WORDS[way], trends(way, _series(found, short)))
        if way
        else Row(f"{short} over {over}", trends(way, _series(found, short))[0].shown)
        for short, way in expected.items()
    ]


def _series(found: Found, short: str) -> Found:
    """The readings of a metric."""
    return {reading: found[name] for reading, name in readings_of(short).items()}


def _range(found: Found, reading: str) -> Reading:
    """From where to where MIL goes, to whole bits."""
    least, largest = min(found[MIL[reading]]), max(found[MIL[reading]])
    holds = (round(least), round(largest)) == (7, 13)
    return Reading(reading, f"{least:.6f} to {largest:.6f}", AS_PUBLISHED if holds else "")


def _ruled_out(scheme: str, profiles: Sequence[Profile]) -> Row:
    """What a table does that the text says otherwise of."""
    found = along(profiles)
    said = {MIL[TABULATED] if short == "MIL" else short: way for short, way in EXCESS.items()}
    against = [f"{name} {trend(found[name])}" for name in said if trend(found[name]) != said[name]]
    return Row(f"were {scheme}", "; ".join(against), remark="against the text")
