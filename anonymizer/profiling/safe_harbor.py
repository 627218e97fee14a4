"""What HIPAA's Safe Harbor wants removed, 45 CFR 164.514(b)(2)(i), in a raw or a released table.

In goes the profile of a table, out come the columns that have one of the eighteen identifiers, by
their names or by their values, and what could not be examined. A label of a release is a value.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from itertools import pairwise
from typing import Any, ClassVar, Literal, NamedTuple

from anonymizer.errors import InputError
from anonymizer.hierarchy.calendar import partial_unit
from anonymizer.hierarchy.codes import FEWEST, ZIP3
from anonymizer.hierarchy.label import MASKS
from anonymizer.profiling.columns import FEW, ProfiledColumn
from anonymizer.profiling.hints import AGE, BIRTH, NAME, WEIGHT, hint_of, words_of
from anonymizer.profiling.identifying import EMAIL, KINDS, URL, IdentifyingKind
from anonymizer.profiling.ladders import Ladder
from anonymizer.profiling.profile import Raw
from anonymizer.tables.values import number_of

OLDEST = 89
"""Ages above have to be one group: 90 or older."""

SHARED = 20
"""Records that have a value on average, from which on a name alone makes no identifier."""

EARLIEST = 1850
"""The first year that a birth is of."""

PROPER = re.compile(r"[^\W\d_a-z][\w.'-]*(,? [^\W\d_][\w.'-]*){1,3}")
PICTURE = re.compile(r"\S.*\.(jpe?g|png|gif|bmp|tiff?|heic|webp|dcm)|data:image/.*", re.IGNORECASE)
TEMPLATE = re.compile(r"(Rk1S|RklS|RkFD|SUlS)A[\w+/=]+|(464D52|464952|464143|494952)00[\dA-F]+")
"""Biometric records of ISO/IEC 19794 (FMR, FIR, FAC, IIR), in base 64 or hexadecimal digits."""
CHART = re.compile(r"mrn\W{0,3}\d{3,}", re.IGNORECASE)
FAX = re.compile(r"(tele)?fax\W{0,3}[\d+(].{5,}|[\d+(].{5,}\(?(tele)?fax\)?", re.IGNORECASE)
FAX_WITHIN = re.compile(r"fax\W{0,3}[\d+(][\d() .+/-]{5,}", re.IGNORECASE)
ZIP = re.compile(r"\d{5}-\d{4}|[A-Z]{2},? \d{5}(-\d{4})?")
FIVE = re.compile(r"\d{5}")
POINT = re.compile(r"\(?-?\d{1,2}\.\d{3,}, ?-?\d{1,3}\.\d{3,}\)?")
SMALL = r"(?:0?[1-9]|[12]\d|3[01])"
"""The number of a day or of a month."""

MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    "sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
DAY = re.compile(
    rf"\b(?:\d{{4}}([-./]){SMALL}\1{SMALL}|{SMALL}([-./]){SMALL}\2(?:\d{{4}}|\d{{2}})"
    rf"|{SMALL}[. -]*(?:{MONTH})[., -]*(?:\d{{2}}|\d{{4}})|(?:{MONTH})\.?[ -](?:\d{{1,2}},? )?\d{{4}})"
    r"(?![.\d])\b",
    re.IGNORECASE,
)
"""A day, or a month, of some year."""
NEW_YEAR = re.compile(r"\b\d{4}-01-01\b(?! \d)")
WITHIN_YEAR = re.compile(r"\d{4}[- ]?(q[1-4]|w\d\d|h[12])|\d{1,2}/\d{4}", re.IGNORECASE)
"""Quarters, weeks, halves and months of years: elements of dates, too."""

WITHIN: Mapping[str, re.Pattern[str]] = {
    "F": re.compile(EMAIL.pattern, re.IGNORECASE),
    "N": re.compile(URL.pattern, re.IGNORECASE),
    "G": re.compile(r"\b\d{3}-\d{2}-\d{4}\b"),
    "D": re.compile(r"(\(\d{3}\) ?|\b\d{3}[-.])\d{3}[-.]\d{4}\b|\+\d{1,3}[ -]\d[\d -]{6,}"),
    "E": FAX_WITHIN,
    "H": CHART,
    "A": re.compile(r"\b(Mr|Mrs|Ms|Miss|Dr|Prof)\.? [A-Z]\w+"),
}
"""What is looked for within texts, those of several words above all."""

SEVERAL = re.compile(r"[\s;,|]")
"""What stands between words, or between entries of a list."""

NUMBER = re.compile(r"\d+(?:\.\d+)?")

By = Literal["name", "values"]


class Identifier(NamedTuple):
    """One of the eighteen: its letter in the rule, what it is, words of names, kinds of values."""

    letter: str
    title: str
    words: str
    remedy: str = "leave the column out"
    kinds: tuple[str, ...] = ()
    forms: tuple[IdentifyingKind, ...] = ()


def _form(pattern: re.Pattern[str], share: float = 0.5, least: int = 1) -> IdentifyingKind:
    return IdentifyingKind("", lambda text: pattern.fullmatch(text) is not None, share, least)


# ruff: noqa: E501 (a list of words is no sentence)
IDENTIFIERS = (
    Identifier("A", "names", "", forms=(_form(PROPER, 0.9, FEW),)),
    Identifier("B", "places smaller than a state", "address street streetaddress city town county precinct parish zip zipcode zip5 postal postcode postalcode plz tract censustract blockgroup geocode geohash fips municipality village commune neighborhood neighbourhood district lat latitude lon lng longitude coordinates gps", "leave it out; of a zip code keep three digits where more than 20,000 people live, else 000", ("addresses",), (_form(ZIP), _form(POINT))),
    Identifier("C", "dates, and ages over 89", "", "keep the year alone, and make one group of all ages over 89"),
    Identifier("D", "telephone numbers", "phone telephone phonenumber tel telefon telefonnummer mobile cell cellphone mobilephone handy", kinds=("telephone numbers",)),
    Identifier("E", "fax numbers", "fax faxnumber telefax facsimile", forms=(_form(FAX),)),
    Identifier("F", "e-mail addresses", "email mail emailaddress", kinds=("e-mail addresses",)),
    Identifier("G", "social security numbers", "ssn socialsecurity socialsecuritynumber sin nin", kinds=("social security numbers",)),
    Identifier("H", "medical record numbers", "mrn medicalrecord medicalrecordnumber chart chartnumber chartno", forms=(_form(CHART),)),
    Identifier("I", "health plan beneficiary numbers", "beneficiary beneficiaryid bene beneid memberid membernumber subscriber subscriberid insuranceid insurancenumber policynumber policyid hicn mbi medicareid medicaidid", kinds=("Medicare numbers",)),
    Identifier("J", "account numbers", "account accountnumber acct acctno iban konto kontonummer card cardnumber creditcard", kinds=("IBANs", "payment card numbers")),
    Identifier("K", "certificate and license numbers", "license licence licensenumber licencenumber driverslicense certificate certificatenumber npi dea passport passportnumber", kinds=("DEA numbers",)),
    Identifier("L", "vehicle identifiers and license plates", "vin vehicle vehicleid plate plates licenseplate licenceplate numberplate", kinds=("vehicle numbers",)),
    Identifier("M", "device identifiers and serial numbers", "device deviceid imei mac macaddress serial serialnumber serialno udi implant implantid", kinds=("device numbers", "MAC addresses")),
    Identifier("N", "URLs", "url website webaddress homepage", kinds=("URLs",)),
    Identifier("O", "IP addresses", "ip ipaddress ipaddr", kinds=("IP addresses",)),
    Identifier("P", "biometric identifiers", "fingerprint fingerprints voiceprint biometric biometrics retina retinal iris irisscan faceprint dna", forms=(_form(TEMPLATE),)),
    Identifier("Q", "photographs", "photo photograph picture portrait headshot mugshot image", forms=(_form(PICTURE),)),
    Identifier("R", "any other unique number, characteristic or code", "", kinds=("UUIDs",)),
)  # fmt: skip
"""The eighteen identifiers, in the order and by the letters of the rule."""

BY_LETTER = {each.letter: each for each in IDENTIFIERS}

LETTER_OF = {word: each.letter for each in IDENTIFIERS for word in each.words.split()}

OTHERS = (
    "a key of a person",
    "a key of a household",
    "a key of records",
    "an account or network address",
)
"""What names say of keys that no letter but the last is about."""


@dataclass(frozen=True)
class FoundIdentifier:
    """A column that has an identifier: by its ``name``, or by so many distinct ``values``.

    ``count``: the distinct values that are of it, None by the name; ``of``: those that there are.
    """

    letter: str
    column: str
    by: By
    why: str
    count: int | None = None
    of: int = 0

    @property
    def identifier(self) -> str:
        """What it is, in the words of the rule."""
        return BY_LETTER[self.letter].title

    @property
    def remedy(self) -> str:
        """What to do."""
        return BY_LETTER[self.letter].remedy


@dataclass(frozen=True)
class SafeHarbor:
    """What of the eighteen identifiers a table has, and what could not be examined.

    ``unexamined``: columns and, each in one sentence, why nobody knows.
    """

    records: int
    columns: int
    findings: tuple[FoundIdentifier, ...]
    unexamined: tuple[tuple[str, str], ...]

    def to_dict(self) -> dict[str, Any]:
        """The findings as JSON has them; no value of any record."""
        return {
            "rule": "45 CFR 164.514(b)(2)(i)",
            "records": self.records,
            "columns": self.columns,
            "findings": [
                {**asdict(each), "identifier": each.identifier, "remedy": each.remedy}
                for each in self.findings
            ],
            "unexamined": [{"column": name, "why": why} for name, why in self.unexamined],
        }


def safe_harbor(raw: Raw, people: Mapping[str, int] | None = None) -> SafeHarbor:
    """Look for the eighteen identifiers in every column of a table.

    ``people``: how many live where zip codes have the same first three digits, by these; None:
    nobody knows, so that three digits are not examined.

    Nothing found is not all that Safe Harbor wants: no one may know, either, that what is left
    could identify somebody (164.514(b)(2)(ii)). InputError where there are no records.
    """
    if not raw.records:
        raise InputError("the table has no records")
    findings: list[FoundIdentifier] = []
    unexamined: list[tuple[str, str]] = []
    for name, column in raw.columns.items():
        if column is None:
            unexamined.append((name, "its values cannot be told apart, as those of lists"))
            continue
        found = _Column(column, people)
        findings += found.findings()
        unexamined += [(name, why) for why in found.unexamined()]
    order = {letter: place for place, letter in enumerate(BY_LETTER)}
    findings.sort(key=lambda each: order[each.letter])
    return SafeHarbor(raw.records, len(raw.columns), tuple(findings), tuple(unexamined))


class _Column:
    """A column that is held against the rule: all its values, whatever they were taken for."""

    def __init__(self, column: ProfiledColumn, people: Mapping[str, int] | None) -> None:
        self.column, self.people = column, people
        self.texts = [*column.texts, *_set_apart(column)]
        self.number = len(self.texts)
        *self.words, self.whole = words_of(column.name)
        hint = hint_of(column.name)
        self.about = "" if hint is None else hint.about
        self.postal = self.about == "a zip or postal code"
        # By the look of a few; the value of a long one is not said whole by any form.
        self.prose = column.kind == "text" and any(
            text.count(" ") > 3 for text in column.some_texts
        )

    def findings(self) -> Iterator[FoundIdentifier]:
        """One for each letter, by values where they tell, else by the name."""
        known = dict(self._by_values())
        found = {letter: self._finding(letter, "values", *each) for letter, each in known.items()}
        if letter := self._by_name():
            found.setdefault(letter, self._finding(letter, "name", "the column's name says so"))
        if set(found) > {"R"}:
            del found["R"]  # it is a code because it is something else
        yield from found.values()

    def _finding(self, letter: str, by: By, why: str, count: int | None = None) -> FoundIdentifier:
        return FoundIdentifier(letter, self.column.name, by, why, count, self.number)

    def _by_name(self) -> str | None:
        """The letter of an identifier that the name says; None where values are shared by many."""
        column = self.column
        postal = self.postal and not self._long_codes
        shared = column.records >= SHARED * max(1, self.number)
        if not self.number or column.kind == "boolean" or postal:
            return None
        pairs = map("".join, pairwise(self.words))
        for word in (self.whole, *pairs, *self.words):  # ip address is no address
            letter = LETTER_OF.get(word)
            if letter is not None and (letter == "B" or not shared):
                return letter
        if shared:
            return None
        return "A" if self.about == NAME else "R" if self.about in OTHERS else None

    def _by_values(self) -> Iterator[tuple[str, tuple[str, int]]]:
        """Yield letters, why, and how many distinct values are of it."""
        few = f"three digits of zip codes where {FEWEST:,} people or fewer live"
        counts = (
            *((letter, "values are written so", count) for letter, count in self._of_kinds()),
            ("C", "ages over 89 are several groups", self._ages()),
            ("C", "values say more than a year", self._dates()),
            ("C", "years of birth tell ages over 89", self._births()),
            ("B", "zip codes have more than three characters", self._long_codes),
            ("B", few, self._few_people()),
            *((letter, "it stands within values", count) for letter, count in self._within()),
            ("R", "nearly every record has a value of its own", self._unique()),
        )
        yield from ((letter, (why, count)) for letter, why, count in counts if count)

    def _of_kinds(self) -> Iterator[tuple[str, int]]:
        for each in IDENTIFIERS:
            forms = (*(kind for kind in KINDS if kind.name in each.kinds), *each.forms)
            counts = [_number_of(form, self.texts) for form in forms]
            if count := max(counts, default=0):
                yield each.letter, count

    def _within(self) -> Iterator[tuple[str, int]]:
        """What is found within values, a few of which may be notes where all others are not."""
        several = [text for text in self.texts if SEVERAL.search(text)]
        # A number of a fax is none of a telephone.
        others = [FAX_WITHIN.sub(" ", text) for text in several]
        for letter, pattern in WITHIN.items():
            texts = several if letter == "E" else others
            yield letter, sum(1 for text in texts if pattern.search(text))

    def _ages(self) -> int:
        """Different ages over 89, of which one is allowed, and ranges that go beyond."""
        if self.about != AGE:
            return 0
        ends = [each for text in self.texts if (each := _ends(text))]
        above = [each for each in ends if each[-1] > OLDEST]
        across = [each for each in above if each[0] < OLDEST]  # 89 in what reads "> 89"
        return len(above) if len(above) > 1 or across else 0

    def _dates(self) -> int:
        """Values that have a day, a month or a part of a year."""
        if self.column.moments is not None:
            return self.number
        return sum(1 for text in self.texts if _is_dated(text))

    def _births(self) -> int:
        """Different years of birth of people over 89, of which one group is allowed."""
        if self.about != BIRTH:
            return 0
        last = date.today().year - OLDEST - 1
        old = {text for text in self.texts if (e := _ends(text)) and EARLIEST <= e[0] <= last}
        return len(old) if len(old) > 1 else 0

    @property
    def _long_codes(self) -> int:
        """Zip codes of which more than three characters are there."""
        return sum(1 for text in self.texts if len(_shown(text)) > ZIP3) if self.postal else 0

    def _few_people(self) -> int:
        """Zip codes of three digits where too few people live, 000 being none."""
        if not self.postal or self.people is None:
            return 0
        return sum(1 for zip3 in self._zip3 if self.people.get(zip3, FEWEST + 1) <= FEWEST)

    @property
    def _zip3(self) -> list[str]:
        found = {_shown(text) for text in self.texts} if self.postal else set()
        return sorted(each for each in found if len(each) == ZIP3 and each != "000")

    def _unique(self) -> int:
        one_each = self.column.kind == "identifier" and self.about != WEIGHT
        return self.number if one_each else 0

    def unexamined(self) -> Iterator[str]:
        """What could not be examined, each in a sentence without its subject and full stop."""
        if any(isinstance(value, bytes | bytearray | memoryview) for value in self.column.values):
            yield "it has binary values, such as pictures and prints, which are not read"
        if self.prose:
            yield "it has free text, in which names and places cannot be found by their form"
        if not self.postal and self.column.kind == "code" and all(map(FIVE.fullmatch, self.texts)):
            yield "it has codes of five digits; if they are zip codes, call the column zip"
        if self._zip3 and self.people is None:
            yield (
                "whether more than 20,000 people live where zip codes have these three digits is "
                "not known; --census names a file that says it"
            )
        elif unknown := [zip3 for zip3 in self._zip3 if zip3 not in (self.people or {})]:
            yield f"the census says nothing of {len(unknown)} of its zip codes of three digits"


def _set_apart(column: ProfiledColumn) -> Sequence[str]:
    """Texts among numbers or dates, which a profile puts aside; 90+ is where it begins."""
    among = column.among
    return () if among is None else (*among.others, *among.codes)


def _number_of(kind: IdentifyingKind, texts: Sequence[str]) -> int:
    """How many texts are of a kind; 0 where too few are to prove anything."""
    count = sum(map(kind.fits, texts))
    return count if count >= max(1, kind.least, kind.share * len(texts)) else 0


def _ends(text: str) -> list[float]:
    """Return the numbers that a value or a label has, in their order; the last that it holds.

    >>> _ends("[85, 90)"), _ends("90 and over"), _ends("*")
    ([85.0, 89.0], [90.0], [])
    """
    found = [float(each) for each in NUMBER.findall(text)]
    return [found[0], found[-1] - 1] if len(found) > 1 and text.endswith(")") else found


def _shown(text: str) -> str:
    """The letters and digits of a code without what masks it."""
    return "".join(sign for sign in text if sign.isalnum() and sign not in MASKS)


def _is_dated(text: str) -> bool:
    """Return whether a value or label, or an end of it, says more than a year."""
    if number_of(text) is not None:
        return False
    if text.startswith(("[", "(")):  # a range that ends with years says no more than these
        text = NEW_YEAR.sub("", text)
    unit = partial_unit(text)
    if unit is not None:
        return not str(unit[2]).isdecimal()
    return bool(WITHIN_YEAR.fullmatch(text) or DAY.search(text))


@dataclass(frozen=True)
class SafeHarborPreset:
    """What Safe Harbor wants of a study that is drafted.

    ``census``: the path of a file with the people who live where zip codes are, as a study has it.
    """

    census: str | None = None
    key: ClassVar[str] = "safe-harbor"
    name: ClassVar[str] = "Safe Harbor"

    def ladder(self, column: ProfiledColumn) -> Ladder | None:
        """Return the rule by which Safe Harbor lets a column stand; None where none is known.

        Years are left of dates, all ages over 89 are one group, and three digits of zip codes stand
        where the file of a census counts enough people; without it they do not stand.
        """
        hint, last = column.hint, _last_birth(date.today().year)
        about = "" if hint is None else hint.about
        if column.moments is not None and column.clock is not None:
            form = {"format": column.clock.format} if column.clock.format else {}
            oldest = {"bottom": last} if about == BIRTH else {}
            rule = {"calendar": ["5 years", "decade"], "ground": "year", **form, **oldest}
            why = "Safe Harbor: of dates no more than the year"
            return Ladder(rule, f"{why}; {_until(last)}" if oldest else why)
        if about == AGE and column.numbers is not None:
            rule = {"widths": [5, 10, 20], "top": OLDEST + 1}
            return Ladder(_exact(rule, column), "Safe Harbor: all ages over 89 are one group")
        if about == BIRTH and column.numbers is not None:
            rule = {"widths": [5, 10], "bottom": last + 1}
            why = f"Safe Harbor: all who are over 89 are one group; {_until(last)}"
            return Ladder(_exact(rule, column), why)
        if column.postal and self.census is not None:
            why = f"Safe Harbor: three digits where more than {FEWEST:,} people live, else 000"
            return Ladder({"census": self.census}, why)
        return None

    def removed(self, raw: Raw, standing: Collection[str]) -> dict[str, str]:
        """Return the columns that it wants removed, and why, but for some that may stand."""
        found = safe_harbor(raw)
        removed = {name: f"{self.name}: {why}" for name, why in found.unexamined}
        removed |= {
            each.column: f"{self.name} wants {each.identifier} removed" for each in found.findings
        }
        return {name: why for name, why in removed.items() if name not in standing}


def _last_birth(year: int) -> int:
    """Return the last birth of the oldest group: next year's rule holds, too, and most of five.

    >>> [_last_birth(year) for year in (2026, 2028, 2029)]
    [1939, 1939, 1944]
    """
    next_one = year + 1 - OLDEST - 1
    return next_one + (4 - next_one) % 5


def _until(last: int) -> str:
    return f"the oldest group has all who are 90 by the end of {last + OLDEST + 1}"


def _exact(rule: dict[str, Any], column: ProfiledColumn) -> dict[str, Any]:
    """Let whole numbers stand as they are between the ends."""
    return {**rule, **({"exact": True} if column.whole else {"min-level": 1})}
