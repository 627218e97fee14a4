"""Values that find a person whatever their column is called: e-mail addresses, IBANs and the like.

A value counts as a whole. Some kinds are certain by their form or check digits, so that one value
is enough; of others most values of a column have to be, since a number may look like one by chance.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from ipaddress import ip_address
from operator import mul
from typing import NamedTuple
from zlib import crc32

import numpy as np

MOST_VALUES = 2_000
"""Distinct values that are looked at: the same of a column, whoever counted it."""

FIRST = 100
"""Values by which kinds that need several are passed over."""

MOST = 0.5
"""Share of the values that are of a kind that needs several, for the column to be of it."""

NEARLY_ALL = 0.95
"""The same where digits alone are looked at: one number of ten has the check digit by chance."""

ENOUGH = 5
"""Values from which on such shares mean something."""

ENOUGH_DIGITS = 20
"""The same of digits alone: by chance all have their check digit once in 10^20 columns."""

LONGEST = 300
"""Characters of the longest text that is looked at: prose is not."""

EMAIL = re.compile(r"(mailto:)?[^\s@<>\",;:]+@[\w-]+(\.[\w-]+)*\.[^\W\d_]{2,}", re.IGNORECASE)
URL = re.compile(r"(https?|ftps?)://[^\s/.]+[.:][^\s]+|www\.[^\s.]+\.\S+", re.IGNORECASE)
UUID = re.compile(r"\{?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\}?", re.IGNORECASE)
IBAN = re.compile(r"[A-Z]{2}\d{2}[\dA-Z ]{11,38}", re.IGNORECASE)
NETWORK = re.compile(r"\d{1,3}(\.\d{1,3}){3}|(?=.*:)[\da-f]*(:[\da-f]*){2,7}", re.IGNORECASE)
NUMBER = re.compile(r"[+-]?([1-9]\d{,8}|0)([.,]\d*)?")
DATE = re.compile(r"\d{1,4}([-./ ])\d{1,2}\1\d{1,4}\D?.*")

TELEPHONE = re.compile(r"(\+|00[1-9]|\(?0?[1-9]|\(0\d)[\d\s()/.-]{5,20}\d")
MARKED = re.compile(r"\+.*|\(\d.*|00?[1-9](?!\d{,7}$).*|\d{3}([-. ])\d{3}\1\d{4}")
"""Telephone numbers as people write them; without such marks digits are any number."""

REGIONS = ("US", "GB", "DE", "FR", "IT", "ES", "NL", "AT", "CH", "IN", "AU")
"""Regions in which numbers without a country's code are looked for."""

PERSONAL = (
    (re.compile(r"\d{3}-\d{2}-\d{4}"), "us", "ssn"),
    (re.compile(r"\d{3}-\d{3}-\d{3}|\d{3} \d{3} \d{3}"), "ca", "sin"),
    (re.compile(r"756\.?\d{4}\.?\d{4}\.?\d{2}"), "ch", "ssn"),
    (re.compile(r"[A-Z]{6}\d\d[A-Z]\d\d[A-Z]\d{3}[A-Z]", re.IGNORECASE), "it", "codicefiscale"),
    (re.compile(r"\d{8}-?[A-Z]", re.IGNORECASE), "es", "dni"),
    (re.compile(r"[12] ?\d\d ?[01]\d ?\d[\dAB] ?\d{3} ?\d{3} ?\d{2}"), "fr", "nir"),
    (re.compile(r"\d{6}[-+A]\d{3}[\dA-Y]", re.IGNORECASE), "fi", "hetu"),
    (re.compile(r"(\d{2})?\d{6}[-+]\d{4}"), "se", "personnummer"),
    (re.compile(r"\d{6}-\d{4}"), "dk", "cpr"),
    (re.compile(r"\d{3}\.\d{3}\.\d{3}-\d{2}"), "br", "cpf"),
    (re.compile(r"\d{3} \d{3} \d{4}"), "gb", "nhs"),
)
"""Numbers of persons by how they are written, and the module that checks their digits."""

DIGITS = (("pl", "pesel", 11), ("no", "fodselsnummer", 11), ("br", "cpf", 11), ("gb", "nhs", 10))
"""The same of those that are written as digits alone, and how many."""

MAC = re.compile(r"([\da-f]{2}[:-]){5}[\da-f]{2}|([\da-f]{4}\.){2}[\da-f]{4}", re.IGNORECASE)
VIN = re.compile(r"[A-HJ-NPR-Z\d]{17}", re.IGNORECASE)
CARD = re.compile(r"([2-6]\d{15}|3[47]\d{13}|3[068]\d{12})")
DEVICE = re.compile(r"\d{15}")
DEA = re.compile(r"[ABFGMPR][A-Z9]\d{7}")
MEDICARE = re.compile(
    r"[1-9][AC-HJKMNP-RT-Y][\dAC-HJKMNP-RT-Y]\d-?[AC-HJKMNP-RT-Y][\dAC-HJKMNP-RT-Y]\d-?"
    r"[AC-HJKMNP-RT-Y]{2}\d\d"
)
"""Medicare beneficiary identifiers, which have no check digit."""

VIN_VALUES = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", "12345678123457923456789", strict=True))
VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
"""What letters of a vehicle's number are worth, and its places (49 CFR 565.15)."""

STREET = re.compile(
    r"\d+\s?\w?,?\s+([\w.'-]+\s+){1,4}(street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|"
    r"court|ct|square|sq|terrace|crescent|highway|hwy)\b\.?.*"
    r"|.*(stra(ß|ss)e|str\.|weg|platz|allee|gasse|ufer|damm|straat|laan|gata|vägen)\s+\d+.*"
    r"|\d+\s?(bis|ter)?,?\s+(rue|avenue|boulevard|chemin|place|impasse|quai|allée)\s.+"
    r"|(via|viale|piazza|corso|calle|avenida|plaza|paseo|rua|ul\.)\s+\D+\d+.*",
    re.IGNORECASE,
)


class IdentifyingKind(NamedTuple):
    """A kind of identifying values: its name, which texts are of it, and what proves a column.

    ``share`` of the values have to be of it, and at least ``least``.
    """

    name: str
    fits: Callable[[str], bool]
    share: float = 0.0
    least: int = 1


@dataclass(frozen=True)
class IdentifyingValues:
    """Count of distinct values that are of a kind, out of those that were looked at."""

    kind: str
    count: int
    of: int


def identifying(texts: Iterable[str]) -> IdentifyingValues | None:
    """Find the kind of identifying values that most of some distinct texts are of; None for none.

    >>> identifying(["kim@example.org", "none"])
    IdentifyingValues(kind='e-mail addresses', count=1, of=2)
    >>> identifying(["2024-01-31", "10115", "DE-BE"]) is None
    True
    """
    looked_at = _some(text.strip() for text in texts)
    candidates = [text for text in looked_at if _may_identify(text)]
    if not candidates:
        return None
    of = len(looked_at)
    counts = ((kind, _counted(kind, candidates)) for kind in KINDS)
    proven = [
        IdentifyingValues(kind.name, count, of)
        for kind, count in counts
        if count >= kind.least and count >= kind.share * of
    ]
    return max(proven, key=lambda found: found.count, default=None)


def _counted(kind: "IdentifyingKind", texts: Sequence[str]) -> int:
    first = sum(map(kind.fits, texts[:FIRST]))
    # Half the share: by chance the first texts may have fewer than the others.
    if first < kind.share * len(texts[:FIRST]) / 2:
        return 0
    return first + sum(map(kind.fits, texts[FIRST:]))


def makes_identifier(found: IdentifyingValues | None) -> bool:
    """Return whether most values of a column are of a kind, so that it is an identifier."""
    return found is not None and found.count >= MOST * found.of


def _some(texts: Iterable[str]) -> Sequence[str]:
    """Some of the texts that are not empty, by a digest: the same ones whoever counted them."""
    found = np.array([text for text in {*texts} if text], object)
    digests = np.array([crc32(text.encode("utf-8", "replace")) for text in found], np.uint32)
    if len(found) > MOST_VALUES:
        low = digests <= np.partition(digests, MOST_VALUES - 1)[MOST_VALUES - 1]
        found, digests = found[low], digests[low]
    return [text for _, text in sorted(zip(digests.tolist(), found, strict=True))][:MOST_VALUES]


def _may_identify(text: str) -> bool:
    if not 6 <= len(text) <= LONGEST or NUMBER.fullmatch(text):
        return False
    return any(sign in text for sign in "@/.") or any(map(str.isdecimal, text))


def _is_network(text: str) -> bool:
    if not NETWORK.fullmatch(text):
        return False
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _is_iban(text: str) -> bool:
    if not IBAN.fullmatch(text):
        return False
    from stdnum import iban  # most tables have none

    return bool(iban.is_valid(text))


def _is_personal(text: str) -> bool:
    return any(form.fullmatch(text) and _checked(cc, name, text) for form, cc, name in PERSONAL)


def _is_digits_of(cc: str, name: str, length: int, text: str) -> bool:
    return len(text) == length and text.isdecimal() and _checked(cc, name, text)


def _checked(cc: str, name: str, text: str) -> bool:
    return bool(_module(cc, name).is_valid(text))


@cache
def _module(cc: str, name: str):  # type: ignore[no-untyped-def]
    from stdnum import get_cc_module  # most tables have no such numbers

    return get_cc_module(cc, name)


def _is_telephone(text: str) -> bool:
    """Return whether a text is written as a telephone number, and possible as one somewhere."""
    digits = sum(map(str.isdecimal, text))
    written = TELEPHONE.fullmatch(text) and MARKED.fullmatch(text) and 7 <= digits <= 15
    if not written or DATE.fullmatch(text):
        return False
    if text.startswith(("+", "00")):
        return _is_number("+" + text.lstrip("+0"), None)
    return any(_is_number(text, region) for region in REGIONS)


def _is_number(text: str, region: str | None) -> bool:
    import phonenumbers  # 60 modules, and most tables have no such numbers

    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return False
    certain = text.isdecimal()  # nothing but its digits tells it from any other code
    is_one = phonenumbers.is_valid_number if certain else phonenumbers.is_possible_number
    return bool(is_one(number))


def _of_digits(form: re.Pattern[str], name: str, text: str) -> bool:
    """Return whether a text has a form, and the check digit of a kind of number."""
    plain = text.replace(" ", "").replace("-", "")
    if not form.fullmatch(plain):
        return False
    return bool(import_module(f"stdnum.{name}").is_valid(plain))  # most tables have none


def _is_vehicle(text: str) -> bool:
    if not VIN.fullmatch(text) or text.isdecimal():
        return False
    values = [int(VIN_VALUES.get(sign, sign)) for sign in text.upper()]
    rest = sum(map(mul, values, VIN_WEIGHTS)) % 11
    return text[8].upper() == ("X" if rest == 10 else str(rest))


def _is_prescriber(text: str) -> bool:
    """Return whether a text is a number of the DEA: the last digit is that of a sum of others."""
    if not DEA.fullmatch(text):
        return False
    first, second = (sum(map(int, text[begin:8:2])) for begin in (2, 3))
    return (first + 2 * second) % 10 == int(text[8])


KINDS = (
    IdentifyingKind("e-mail addresses", lambda text: EMAIL.fullmatch(text) is not None),
    IdentifyingKind("URLs", lambda text: URL.fullmatch(text) is not None),
    IdentifyingKind("UUIDs", lambda text: UUID.fullmatch(text) is not None),
    IdentifyingKind("IBANs", _is_iban),
    IdentifyingKind("IP addresses", _is_network, MOST, ENOUGH),
    IdentifyingKind("social security numbers", _is_personal, MOST, ENOUGH),
    *(
        IdentifyingKind(
            "social security numbers", partial(_is_digits_of, *form), NEARLY_ALL, ENOUGH_DIGITS
        )
        for form in DIGITS
    ),
    IdentifyingKind("telephone numbers", _is_telephone, MOST, ENOUGH),
    IdentifyingKind("addresses", lambda text: STREET.fullmatch(text) is not None, MOST, ENOUGH),
    IdentifyingKind("MAC addresses", lambda text: MAC.fullmatch(text) is not None),
    IdentifyingKind("vehicle numbers", _is_vehicle, NEARLY_ALL, ENOUGH),
    IdentifyingKind(
        "payment card numbers", partial(_of_digits, CARD, "luhn"), NEARLY_ALL, ENOUGH_DIGITS
    ),
    IdentifyingKind(
        "device numbers", partial(_of_digits, DEVICE, "imei"), NEARLY_ALL, ENOUGH_DIGITS
    ),
    IdentifyingKind("DEA numbers", _is_prescriber, MOST, ENOUGH),
    IdentifyingKind(
        "Medicare numbers", lambda text: MEDICARE.fullmatch(text) is not None, NEARLY_ALL, ENOUGH
    ),
)
"""The kinds that are looked for."""

OWNER = {
    "e-mail addresses": "person",
    "IBANs": "person",
    "UUIDs": "person",
    "social security numbers": "person",
    "telephone numbers": "person",
    "payment card numbers": "person",
    "Medicare numbers": "person",
    "addresses": "household",
}
"""What has a value of its own, by kind."""

OF_EACH_PERSON = ("e-mail addresses", "IBANs", "social security numbers")
"""Those of them that are of one person, sure enough: others are of events, or shared."""
