"""Figures 1 to 5 of Bkakria et al. (2021) as numbers, and what the text says of them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from anonymizer.papers.bkakria2021 import schemes
from anonymizer.papers.bkakria2021.schemes import (
    ASSUMED_TABLE,
    EPSILONS,
    EQ_8,
    MIL,
    TABULATED,
    THETAS,
    SchemePanel,
    along,
    columns,
    example,
    furthest,
    plane,
    readings_of,
)
from anonymizer.papers.row import (
    AS_PUBLISHED,
    DIFFERS,
    IMPOSSIBLE,
    Column,
    PlottedSeries,
    PublishedSection,
    Reading,
    Row,
    numbers,
    read,
    trend,
    trends,
    within,
)

Found = dict[str, list[float]]

SIZES = {"ITPR": "rises", "DR": "", "MI": "falls", "CP": "falls", "ELD": "rises", "MIL": "rises"}
"""What the text says of each metric as classes differ more in size; of DR only that it is low."""
EXCESS = {**dict.fromkeys(("ITPR", "DR", "MI", "CP", "ELD"), "rises"), "MIL": "falls"}
"""What it says as a disease is further ahead of the others."""
WORDS = {"rises": "increases", "falls": "decreases", "": ""}


def figures() -> list[PublishedSection]:
    """All of them."""
    return [figure_1(), figure_2(), figure_3(), text_example(), figure_4(), figure_5()]


def figure_1() -> PublishedSection:
    """Two classes: the one figure whose table the text fixes."""
    found = along(schemes.FIGURE_1.profiles(range(0, schemes.RECORDS, 2)))
    largest = max(found["DR"])
    rows = [
        schemes.FIGURE_1.row(),
        Row.number("ITPR, ε = 9998", found["ITPR"][-1], "1"),
        Row.number("ITPR, ε = 0", found["ITPR"][0], "0.07", "printed as 7*10^-2"),
        Row.claim("DR, largest", largest < 0.1, f"{largest:.6f}", "below 0.1"),
        *_trends(found, "ε", SIZES),
        read("MIL, least and largest", "between 7 and 13", [_range(found, m) for m in MIL]),
    ]
    note = "Trends are over all 5,000 even ε."
    return PublishedSection(
        "Figure 1: re-identification, two classes", rows, note, "Figure 1", WHERE
    )


def figure_2() -> PublishedSection:
    """Ten classes, whose sizes the text leaves open."""
    small = along(schemes.FIGURE_2A.profiles(range(0, 1111, 10)))
    steps = along(schemes.FIGURE_2B.profiles(range(0, 1999, 18)))
    rows = [
        schemes.FIGURE_2A.row(),
        *_trends(small, "ε, a small class", SIZES),
        schemes.FIGURE_2B.row(),
        *_trends(steps, "ε, equal steps", SIZES),
    ]
    note = (
        "The text says that every metric behaves as in Figure 1, and no number. ε ends where the "
        "smallest class has one record: at 1110 with a small class, at 1998 in equal steps."
    )
    found = within(rows, ASSUMED_TABLE)
    return PublishedSection(
        "Figure 2: re-identification, ten classes", found, note, "Figure 2", WHERE
    )


def figure_3() -> PublishedSection:
    """Five ages, ten diseases: which ages are skewed is left open."""
    rows = [
        schemes.FIGURE_3.row(),
        *_trends(along(schemes.FIGURE_3.profiles(range(0, 2001, 50))), "λ", EXCESS),
        _ruled_out("every age skewed alike", [1, 1, 1, 1, 1]),
        _ruled_out("one age skewed", [0, 0, 0, 0, 1]),
    ]
    note = "The last rows say what simpler tables would do against the text."
    title = "Figure 3: inference, by how much one disease is ahead"
    return PublishedSection(title, within(rows, ASSUMED_TABLE), note, "Figure 3", WHERE)


def surface() -> PlottedSeries:
    """ITPR and theta for every epsilon, and every number of records moved."""
    places = [(epsilon, moved) for epsilon in EPSILONS for moved in schemes.moved_to(epsilon)]
    profiles = [plane(*place) for place in places]
    epsilons, moves = zip(*places, strict=True)
    theta = [profile.measures.maximum_information_leakage for profile in profiles]
    parameters = [
        Column("epsilon", "ε", epsilons, "records"),
        Column("moved", "moved", moves, "records"),
        Column("theta", "θ", theta, "bits"),
    ]
    measured = columns(profiles)[:1]
    return PlottedSeries(parameters, measured, axis="theta", by="epsilon", form="surface")


def figure_5() -> PublishedSection:
    """ITPR over the sizes of classes and the variation at once."""
    series = surface()
    shape = len(EPSILONS), len(THETAS)
    itpr = np.array(series["itpr"].values, float).reshape(shape)
    steps = max(float(np.abs(np.diff(itpr, axis=axis)).max()) for axis in (0, 1))
    rows = [
        Row(
            "Figure 5",
            f"{len(series)} points",
            "an image",
            "ten ages in equal steps, 20 diseases, one ahead in the smallest class",
            status=schemes.ASSUMED,
            series=series,
        ),
        Row.number(
            "ε, largest",
            EPSILONS[-1],
            "1200",
            "ten classes in equal steps of two records differ by multiples of 18",
            "g",
            why="1188 is the last multiple of 18 within 1200, and 1206 the first beyond",
        ),
        Row.number(
            "θ, largest",
            float(np.max(series["theta"].values)),
            "0.9",
            "reached to the nearest record",
        ),
        _rising("ITPR over θ, at each ε", itpr),
        _rising("ITPR over ε, at each θ", itpr.T),
        Row.claim(
            "ITPR, largest step",
            steps < SMOOTH,
            f"{steps:.6f}",
            "increases smoothly",
            f"between neighbours of a grid of {shape[0]} by {shape[1]}",
        ),
    ]
    note = (
        "ε goes from 0 to 1200 in the paper, θ from 0 to 0.9 bits. A small class and nine equal "
        "ones cannot differ by more than 1110 records: hence equal steps. Diseases that do not "
        "divide a class evenly differ by one record in it."
    )
    title = "Figure 5: inference, ITPR over ε and θ"
    return PublishedSection(title, within(rows, ASSUMED_TABLE), note, "Figure 5", WHERE)


SMOOTH = 0.1
"""Of a range of 1, what neighbours on the grid differ by at the most."""
WHERE = "anonymizer.risk.Profile.measures"


def _rising(name: str, lines: np.ndarray) -> Row:
    ways = [trend(line) for line in lines]
    shown = ", ".join(f"{ways.count(way)} of {len(ways)}: {way}" for way in dict.fromkeys(ways))
    return Row.claim(name, set(ways) == {"rises"}, shown, "increases")


def _trends(found: Found, over: str, expected: dict[str, str]) -> list[Row]:
    """Return whether each metric rises or falls as the text says."""
    rows = []
    for short, way in expected.items():
        series = {reading: found[name] for reading, name in readings_of(short).items()}
        name, readings = f"{short} over {over}", trends(way, series)
        rows.append(read(name, WORDS[way], readings) if way else Row(name, readings[0].shown))
    return rows


def _range(found: Found, reading: str) -> Reading:
    least, largest = min(found[MIL[reading]]), max(found[MIL[reading]])
    holds = (round(least), round(largest)) == (7, 13)
    return Reading(reading, f"{least:.6f} to {largest:.6f}", AS_PUBLISHED if holds else "")


def _ruled_out(scheme: str, ages: Sequence[int]) -> Row:
    found = along(schemes.five_ages(excess * np.array(ages)) for excess in range(0, 2000, 50))
    said = {MIL[TABULATED] if short == "MIL" else short: way for short, way in EXCESS.items()}
    against = [f"{name} {trend(found[name])}" for name in said if trend(found[name]) != said[name]]
    return Row(f"were {scheme}", "; ".join(against), remark="against the text")


EXAMPLE = (0, 1, 5, 12, 50)
"""How many of 100 have HIV."""
START, END = 10, 128
"""Records with HIV in the group: as many as in the table, and so many that theta is 0.4."""
QUOTED = {"MIL as tabulated": ("0.07", "0.09"), "MI": ("0", "0.02"), "CP": ("0", "0.01")}
"""At theta = 0 and at theta = 0.4."""


def text_example() -> PublishedSection:
    """ITPR falls as more people of a group have HIV, while DR, MI and the surprise rise."""
    found = {ill: example(ill) for ill in EXAMPLE}
    itpr = along(found.values())["ITPR"]
    more = along(found[ill] for ill in EXAMPLE[1:])
    why = {"ITPR": "the group has the largest term, which falls as H(X|y) grows with its patients"}
    rows = [
        Row.number("share of all records with HIV", 1e3 / found[5].records, "0.001 %", form=".4%"),
        Row.number(
            "share of the group with HIV, 5 of 100",
            found[5].counts[0] / found[5].sizes[0],
            "5 %",
            form=".4%",
        ),
        *(Row.number(f"ITPR, {ill} of 100", itpr[n]) for n, ill in enumerate(EXAMPLE)),
        *(Row.number(f"I1 of the group, {ill} of 100", float(p.i1[0])) for ill, p in found.items()),
        *(
            read(
                f"{short} over HIV in the group",
                "has to increase",
                trends("rises", {"": more[short]}),
                why.get(short, ""),
            )
            for short in ("ITPR", "DR", "MI", "CP", "ELD")
        ),
    ]
    note = (
        "10^8 records, 1000 of them with HIV, and a group of 100; 5 or 12 of these in the text. "
        "With none, the group is homogeneous, and ITPR 1; trends are from 1 of 100 on."
    )
    title = "The example of section 5: HIV in a group of 100"
    return PublishedSection(title, rows, note, "Section 5", WHERE)


def figure_4() -> PublishedSection:
    """Two tables that agree with some of what is quoted, and why none agrees with all of it."""
    rows = [
        *within(_quoted(schemes.FIGURE_4A), schemes.FITTED_TABLE),
        *within(_quoted(schemes.FIGURE_4B), ASSUMED_TABLE),
        *_impossible(0.4),
    ]
    note = (
        "Eq. 15 has theta = max H(X) - H_q(X), which is MIL by Eq. 8 itself. Here theta is "
        "max |H(X) - H_q(X)|: the group has more entropy than the table, which ELD does not see."
    )
    title = "Figure 4: inference, a group that differs from the table"
    return PublishedSection(title, rows, note, "Figure 4", WHERE)


def _quoted(scheme: SchemePanel) -> list[Row]:
    """Reproduce the figures that the text quotes, in a table."""
    where = scheme.name.partition("(")[2].rstrip(")")
    rising = along(scheme.profiles(range(START, END + 1)))
    rows = [
        scheme.row(),
        Row.number(f"θ, {where}", furthest(scheme.profile(END)), "0.4", f"{END} of 1,000 have HIV"),
        Row.number(f"share of the group with HIV, {where}", END / 1000, "12 %", form=".1%"),
    ]
    for short, (first, last) in QUOTED.items():
        rows += [
            Row.number(f"{short}, {where}, θ = 0", rising[short][0], first),
            Row.number(
                f"{short}, {where}, θ = 0.4", rising[short][-1], last, why="not in this table"
            ),
        ]
    why = f"groups of such sizes alone, without any information, make ITPR {rising['ITPR'][0]:.6f}"
    itpr, diversity = ({"": rising[short]} for short in ("ITPR", "ELD"))
    return [
        *rows,
        read(f"ITPR over θ, {where}", "increases", trends("rises", itpr), why),
        read(f"ELD over θ, {where}", "is constant", trends("is constant", diversity)),
    ]


def _impossible(theta: float) -> list[Row]:
    """Show what no table can do, if theta is what Eq. 15 says."""
    least = {EQ_8: theta, f"{TABULATED}, at the least,": theta / 2}
    prior = along([example(0)])["H(X)"][0]
    rows = [
        read(
            f"MIL by Eq. 15, θ = {theta}",
            "0.09",
            numbers("0.09", least),
            "Eq. 8 is θ, the other at least H(X) / 2, and H(X) at least θ",
        ),
        read("MIL by Eq. 15, θ = 0", "0.07", numbers("0.07", {EQ_8: 0.0}), "Eq. 8 is θ"),
        Row.number(
            "H(X) of a share of 0.001 %",
            prior,
            "0.07",
            "printed of MIL, which never exceeds H(X)",
            why="a share of 0.001 % has less entropy than the MIL quoted at θ = 0",
        ),
    ]
    return [replace(row, status=row.status.replace(DIFFERS, IMPOSSIBLE, 1)) for row in rows]
