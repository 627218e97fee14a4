"""Tables to try things on: real UCI Adult on demand, and the bundled census of invented people."""

from __future__ import annotations

import os
from hashlib import file_digest
from pathlib import Path

import pandas as pd

from anonymizer.errors import InputError

DATA_DIRECTORY = "ANONYMIZER_DATA"
"""The environment variable that names where data sets already lie."""

ADULT_COLUMNS = (  # noqa: SIM905 (a list of them takes 17 lines)
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country salary-class"
).split()

ADULT_URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.data"
ADULT_HASH = "sha256:5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"


def load_adult() -> pd.DataFrame:
    """Load UCI Adult: the 32 561 records of ``adult.data``, ``?`` read as missing.

    Taken from ``adult/adult.data`` in the directory that the environment variable
    ``ANONYMIZER_DATA`` names if it lies there, downloaded from the UCI repository to the user's
    cache otherwise; its checksum is verified either way. InputError when it can be neither found
    nor downloaded, or is not the file it should be.
    """
    return pd.read_csv(
        _adult_path(),
        header=None,
        names=ADULT_COLUMNS,
        skipinitialspace=True,
        na_values="?",
        keep_default_na=False,
    )


def load_census() -> pd.DataFrame:
    """Load the bundled sample: 30 000 invented people with Adult's columns, nobody's data."""
    return pd.read_csv(shipped("data", "census.csv.gz"), keep_default_na=False)


def adult_hierarchy(attribute: str) -> Path:
    """The hierarchy file of an Adult attribute that travels with the package."""
    for ending in (".csv", ".toml"):
        path = shipped("hierarchies", "adult", attribute + ending)
        if path.exists():
            return path
    raise InputError(f"there is no bundled hierarchy for {attribute!r}")


def shipped(*parts: str) -> Path:
    """The path of a file that travels with the package.

    In an installed package these lie in ``anonymizer/shipped``, in a checkout next to the package.
    """
    package = Path(__file__).parents[1]
    root = package / "shipped"
    return (root if root.is_dir() else package.parent).joinpath(*parts)


def _adult_path() -> Path:
    directory = os.environ.get(DATA_DIRECTORY)
    path = Path(directory or "", "adult", "adult.data")
    if directory and path.exists():
        return _checked(path)
    import pooch  # loads platformdirs and requests; the sample that is bundled needs none

    pooch.get_logger().setLevel("WARNING")  # what it says of a download is no error
    try:
        cache = pooch.os_cache("anonymizer")
        return Path(pooch.retrieve(ADULT_URL, ADULT_HASH, fname="adult.data", path=cache))
    except ValueError:
        raise InputError("the downloaded UCI Adult has another checksum than it should") from None
    except OSError as error:
        raise InputError(
            f"cannot download UCI Adult ({type(error).__name__}); put it at adult/adult.data in a "
            f"directory and name that in the environment variable {DATA_DIRECTORY}"
        ) from None


def _checked(path: Path) -> Path:
    try:
        with path.open("rb") as file:
            found = file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    if f"sha256:{found}" != ADULT_HASH:
        raise InputError(f"{path} is not UCI's adult.data: its SHA-256 is {found}")
    return path
