"""Figures and schemes as a notebook shows them."""

from typing import TYPE_CHECKING

from anonymizer.feedback.display import Display, Table

if TYPE_CHECKING:
    from anonymizer.utility.schemes.comparison import SchemeComparison
    from anonymizer.utility.schemes.evaluation import Figures

HIDDEN = "fewer than 5 records"
"""What stands for the name of a class that is not shown."""


def of_figures(found: "Figures") -> Display:
    """The information about each attribute, and its classes."""
    names = [name or HIDDEN for name in found.classes]
    kept = [
        [each.attribute, *(f"{bits:.4f}" for bits in (each.original, each.ceiling, each.retained))]
        for each in found.attributes
    ]
    classes = [
        Table(
            f"What each class tells about {each.attribute}, in bits",
            ["class", "I1", "I2", "fails"],
            [
                [name, f"{one:.4f}", f"{two:.4f}", "FAILS" if fails else ""]
                for name, one, two, fails in zip(names, each.i1, each.i2, each.failing, strict=True)
            ],
        )
        for each in found.attributes
    ]
    columns = ["about", "original", "ceiling", "retained"]
    return Display(
        f"Figures of {found.name}",
        tables=[Table("Information, in bits", columns, kept), *classes],
        alerts=[f"It breaks {', '.join(found.failing)}."] if found.failing else [],
    )


def of_schemes(found: "SchemeComparison") -> Display:
    """A row for each scheme, the best marked."""
    rows = [
        [
            each.name + (" *" if each.name in found.best else ""),
            len(each.classes),
            f"{each.retained:.4f}",
            "yes" if each.satisfied else f"NO: {', '.join(each.failing)}",
        ]
        for each in found.schemes
    ]
    return Display(
        "Comparison of schemes",
        lines=[f"On all {found.records:,} records; bits about {', '.join(found.about)}."],
        tables=[Table("Schemes", ["scheme", "classes", "bits retained", "holds"], rows)],
        alerts=[f"{each.name}: {each.reason}" for each in found.unreachable[:3]],
    )
