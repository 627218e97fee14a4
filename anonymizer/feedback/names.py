"""Names that are given as one text."""

import csv


def names_listed(given: str) -> list[str]:
    """Names that commas separate; one with a comma stands in double quotes.

    >>> names_listed('age, "city, country",sex')
    ['age', 'city, country', 'sex']
    """
    listed = csv.reader(given.splitlines(), skipinitialspace=True)
    return [name.strip() for each in listed for name in each if name.strip()]
