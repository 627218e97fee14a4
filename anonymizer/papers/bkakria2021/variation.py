"""Figure 4 of Bkakria et al. (2021), and its example: a group that differs from the table."""

from anonymizer.papers.bkakria2021.metrics import EQ_8, TABULATED, along, furthest
from anonymizer.papers.bkakria2021.schemes import (
    ASSUMED_TABLE,
    FIGURE_4A,
    FIGURE_4B,
    FITTED_TABLE,
    Scheme,
    example,
)
from anonymizer.papers.readings import numbers, read, trends, within
from anonymizer.papers.row import Row, Section

EXAMPLE = (0, 1, 5, 12, 50)
"""How many of 100 have HIV."""
START, END = 10, 128
"""Records with HIV in the group: as many as in the table, and so many that theta is 0.4."""
THIS_TABLE = "not in this table"
QUOTED = {"MIL as tabulated": ("0.07", "0.09"), "MI": ("0", "0.02"), "CP": ("0", "0.01")}
"""At theta = 0 and at theta = 0.4."""


def text_example() -> Section:
    """ITPR falls as more people of a group have HIV, while DR, MI and the surprise rise."""
    found = {ill: example(ill) for ill in EXAMPLE}
    itpr = along(found.values())["ITPR"]
    more = along(found[ill] for ill in EXAMPLE[1:])
    why = {"ITPR": "the group has the largest term, which falls as H(X|y) grows with its patients"}
    rows = [
        Row.number("share of all records with HIV", 1e3 / found[5].records, "0.001 %", form=".4%"),
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
    return Section("The example of section 5: HIV in a group of 100", rows, note)


def figure_4() -> Section:
    """Two tables that agree with some of what is quoted, and why none agrees with all of it."""
    rows = [
        *within(_quoted(FIGURE_4A), FITTED_TABLE),
        *within(_quoted(FIGURE_4B), ASSUMED_TABLE),
        *_impossible(0.4),
    ]
    note = (
        "Eq. 15 has theta = max H(X) - H_q(X), which is MIL by Eq. 8 itself. Here theta is "
        "max |H(X) - H_q(X)|: the group has more entropy than the table, which ELD does not see."
    )
    return Section("Figure 4: inference, a group that differs from the table", rows, note)


def _quoted(scheme: Scheme) -> list[Row]:
    """What the text quotes, in a table."""
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
    why = f"groups of such sizes alone, nothing told, make ITPR {rising['ITPR'][0]:.6f}"
    itpr, diversity = ({"": rising[short]} for short in ("ITPR", "ELD"))
    return [
        *rows,
        read(f"ITPR over θ, {where}", "increases", trends("rises", itpr), why),
        read(f"ELD over θ, {where}", "is constant", trends("is constant", diversity)),
    ]


def _impossible(theta: float) -> list[Row]:
    """What no table can do, if theta is what Eq. 15 says."""
    least = {EQ_8: theta, f"{TABULATED}, at the least,": theta / 2}
    prior = along([example(0)])["H(X)"][0]
    return [
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
