"""Table 4 of Bezzi (2010), left, and the entropy of salary: what UCI Adult has."""

import pandas as pd

from anonymizer.information.entropy import entropy
from anonymizer.papers.row import PublishedSection, Row

COUNTS = {
    "age": "74",
    "sex": "2",
    "race": "5",
    "education": "16",
    "occupation": "14",
    "marital-status": "7",
    "salary-class": "2",
}
"""The printed numbers of values."""
SPAN = "74 is what ages from 17 to 90 would be; not every one of them occurs"


def attributes(table: pd.DataFrame) -> PublishedSection:
    """The number of values of each attribute, and H(salary), of all records and complete ones."""
    readings = {"records without a missing value": table.dropna(), "all records": table}
    counted = [_values(name, published, readings) for name, published in COUNTS.items()]
    salary = [
        Row.number(
            f"H(salary), {name}",
            float(entropy(_counts(of, "salary-class"))),
            "0.80",
            place="Section 4",
            where="anonymizer.information.entropy.entropy",
        )
        for name, of in readings.items()
    ]
    rows = [
        Row.number("records, all", len(table), "32561", form="d", place="Section 4"),
        Row.number("attributes", len(table.columns), "15", form="d", place="Section 4"),
        *counted,
    ]
    title = "Table 4, left, and the entropy of salary: the attributes of UCI Adult"
    return PublishedSection(
        title, [*rows, *salary], place="Table 4", where="anonymizer.tables.datasets.load_adult"
    )


def _values(name: str, published: str, readings: dict[str, pd.DataFrame]) -> Row:
    complete, every = (of[name].nunique() for of in readings.values())
    return Row.number(
        f"values of {name}",
        complete,
        published,
        "" if every == complete else f"{every} in all records",
        "d",
        cannot=f"there are {complete}, and {every} in all records; {SPAN}",
    )


def _counts(table: pd.DataFrame, name: str) -> list[int]:
    return table[name].value_counts().tolist()
