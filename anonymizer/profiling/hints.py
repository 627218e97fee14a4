"""What a column's name suggests: the words that common columns go by, in several languages."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import digits
from typing import Literal

Role = Literal[
    "identifier", "quasi-identifier", "sensitive", "left out", "insensitive", "person", "weight"
]
"""What a column is proposed to be; what is left out stands among the identifiers of a study.

``person``: with the others of this role it tells whose each record is, of whom some have several.
``weight``: it says for how many people each record of a sample stands.
"""

CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
WORDS = re.compile(r"[^\W_]+")


SHORT = 3
"""Letters from which on a word with a number after it is that word: zip3, but not x17."""

PLURAL = 5
"""Letters from which on a last s is taken for that of a plural."""


@dataclass(frozen=True)
class Hint:
    """A meaning of names, the role that it suggests, and the words that say so.

    Hints are in the order of their weight: of two quasi-identifiers the one that comes first is
    kept, of two sensitive attributes it is the likelier one.
    """

    about: str
    role: Role
    words: str


# ruff: noqa: E501 (a list of words is no sentence)
HINTS = (
    Hint("a sampling unit", "left out", "psu ssu primarysamplingunit strata stratum stratumid"),
    Hint("a sampling weight", "left out", "fnlwgt wgt wgts perwt hhwt hhwgt hhweight householdweight householdweights pweight pweights wtfa finalweight finalwgt finalwt samplingweight samplingweights samplingwt samplingwgt sampleweight samplewt surveyweight surveywt designweight dweight pspwght pspweight anweight analysisweight expansionfactor wtssall wtssps wtfinl asecwt llcpwt gewichtung gewichtungsfaktor hochrechnungsfaktor ponderation poidssondage factorexpansion facteurexpansion"),
    Hint("an age", "quasi-identifier", "age ages alter edad eta idade leeftijd agegroup agep agecat"),
    Hint("a date or year of birth", "quasi-identifier", "birth birthday birthdate birthyear dob yob born geburt geburtsdatum geburtsjahr geburtstag naissance nacimiento nascita nascimento geboortedatum"),
    Hint("a sex or gender", "quasi-identifier", "sex gender geschlecht sexe sexo genre genero sesso geslacht female male femme"),
    Hint("a zip or postal code", "quasi-identifier", "zip zipcode zip5 postal postcode postalcode plz postleitzahl cp codepostal codigopostal cap"),
    Hint("a race or ethnicity", "quasi-identifier", "race ethnic ethnicity minority ethnie etnia raza rasse hispanic black white raceeth ethgrp"),
    Hint("a country or nationality", "quasi-identifier", "country nation nationality citizenship citizen land pays pais paese nationalitaet nationalitat staatsangehorigkeit nationalite nacionalidad nativecountry"),
    Hint("a marital status", "quasi-identifier", "marital maritalstatus maritalstat marstat married maried marr single familienstand familystatus civilstatus situationfamiliale estadocivil"),
    Hint("an education", "quasi-identifier", "education educ edu educationlevel school schooling degree bildung schule schulabschluss ausbildung studies etudes diplome educacion estudios istruzione hgc"),
    Hint("an occupation or employer", "quasi-identifier", "occupation occup occ job jobtitle profession beruf employment employed employer employ workclass industry sector branche metier emploi empleo ocupacion professione workclassification"),
    Hint("a place", "quasi-identifier", "city town borough south north urban rural smsa msa metro stadt ort wohnort ville ciudad citta gemeinde municipality commune village place residence county kreis district canton kanton state province region bundesland departement provincia neighborhood neighbourhood gps coordinates"),
    Hint("a coordinate", "quasi-identifier", "lat latitude lon lng longitude xcoord ycoord coordx coordy easting northing gpslat gpslon gpslatitude gpslongitude utmx utmy"),
    Hint("a household", "quasi-identifier", "relationship household householdsize hhsize children kids child kinder enfants hijos family familysize persons dependents nkids"),
    Hint("a date of an event", "quasi-identifier", "admission admitted discharge visit hired hiredate hiring joined enrolled enrollment arrival departure eintritt austritt"),
    Hint("a language", "quasi-identifier", "language sprache langue idioma lingua"),
    Hint("working hours", "quasi-identifier", "hours hoursperweek stunden wochenstunden heures horas"),
    Hint("a health condition", "sensitive", "disease diagnosis diagnoses diagnose diag illness krankheit icd icd10 condition symptom treatment medication drug hiv cancer diagnostic maladie enfermedad malattia diagnostico health hlth healthstatus disability chronic numchron"),
    Hint("a religion", "sensitive", "religion religious confession konfession glaube credo denomination"),
    Hint("a political opinion", "sensitive", "party vote voted political politics partei ideology"),
    Hint("a sexual orientation", "sensitive", "orientation sexualorientation"),
    Hint("a criminal record", "sensitive", "crime criminal offence offense conviction convicted arrest arrests recidivism"),
    Hint("a trade-union membership", "sensitive", "union unionmember tradeunion gewerkschaft syndicat sindicato"),
    Hint("an income", "sensitive", "income incomes salary salaries salaryclass wage wages lwage earnings earning pay payment einkommen gehalt lohn revenu salaire sueldo ingreso ingresos reddito stipendio faminc compensation"),
    Hint("a debt or wealth", "sensitive", "debt loan default credit creditscore wealth savings assets balance schulden vermogen"),
    Hint("an expense", "sensitive", "spent spending expenditure expenditures totexp expense expenses cost costs charge charges med medexp kosten ausgaben"),
    Hint("a key of a person", "identifier", "mrn medicalrecord medicalrecordnumber nhs nhsnumber patient patientid person personid case caseid subject subjectid participant respondent proband customer customerid client clientid member student studentid pupil individual childid patid patno patnr subjid usubjid dupersid employee employeeid beneficiary"),
    Hint("a key of a household", "identifier", "hh hhid hhno hhnr dwelling dwellingid dwellingno dwellingnr famid famno menage foyer hogar householdid householdno householdnr householdnumber householdkey idhousehold familyid familyno familynumber haushaltsid haushaltsnummer idhogar"),
    Hint("a person's name", "identifier", "name names fullname firstname lastname surname forename nachname vorname nom prenom nombre apellido apellidos cognome nome naam achternaam"),
    Hint("a social security or passport number", "identifier", "ssn socialsecurity sozialversicherungsnummer svnr nif dni nir nin passport codicefiscale bsn"),
    Hint("an e-mail address", "identifier", "email mail emailaddress courriel correo"),
    Hint("a telephone number", "identifier", "phone telephone phonenumber tel telefon telefonnummer mobile handy telefono"),
    Hint("an address", "identifier", "address street streetaddress adresse strasse rue direccion calle indirizzo"),
    Hint("an account or network address", "identifier", "iban account accountnumber konto kontonummer card cardnumber ip ipaddress mac url login username user"),
    Hint("a key of records", "identifier", "id ids uid uuid guid pid key rowid recordid visitid schoolid index serial serialno identifier kennung nummer"),
)  # fmt: skip
"""Hints by weight; a name of several gets the first one."""

WEIGHT = "a sampling weight"

COORDINATE, LIVING_TOGETHER = "a coordinate", "a household"

MONEY = frozenset(("an income", "an expense"))
"""Hints about sums of money, of which a number of payments is none."""

PERSON, HOUSEHOLD, NAME, ADDRESS, RECORD = (
    "a key of a person",
    "a key of a household",
    "a person's name",
    "an address",
    "a key of records",
)
"""Hints whose words have to be looked at together with the other words of a name."""

KEY_OF_HOUSEHOLDS = next(hint for hint in HINTS if hint.about == HOUSEHOLD)

OF_ONE_PERSON = frozenset(
    (
        PERSON,
        RECORD,
        "a social security or passport number",
        "an e-mail address",
        "an account or network address",
    )
)
"""Hints about keys of persons; several persons may share a name or a telephone."""

NETWORK = frozenset("ip ipaddress mac url card cardnumber".split())  # noqa: SIM905
"""Words among these for what is the key of something else."""

SEX, AGE, BIRTH = "a sex or gender", "an age", "a date or year of birth"

PERSONAL = {AGE, BIRTH, SEX}
"""Hints about what a person has all along, and what a key of persons therefore tells."""

NUMBERED = frozenset("id ids no nr num number nummer numero code key ref hash pseudonym".split())  # noqa: SIM905
"""Words that may stand with that for a person, and it is a key of persons all the same."""

COUNTS = frozenset("n nb nbr num number no count anzahl".split())  # noqa: SIM905
"""Words that make a count of what follows them: num_open_accounts."""

COUNTED = COUNTS | frozenset("total sum avg mean average max min".split())  # noqa: SIM905
"""These and words for other figures of what follows: total_income is money, but no account."""

AT_BIRTH = frozenset(
    "sex gender country place city state weight order length rank type name".split()  # noqa: SIM905
)
"""Words with which a birth is no date: sex at birth, place of birth."""

THINGS = frozenset(
    [
        "bank",
        "batch",
        "block",
        "brand",
        "building",
        "class",
        "clinic",
        "club",
        "cluster",
        "color",
        "colour",
        "column",
        "company",
        "county",
        "course",
        "department",
        "district",
        "drug",
        "event",
        "facility",
        "file",
        "firm",
        "group",
        "hospital",
        "item",
        "model",
        "organisation",
        "organization",
        "practice",
        "product",
        "project",
        "school",
        "ship",
        "shop",
        "site",
        "species",
        "station",
        "store",
        "strata",
        "stratum",
        "street",
        "team",
        "university",
        "variable",
        "ward",
    ]
)
"""Words for what has a name and is no person."""

EVENTS = frozenset(
    [
        "admission",
        "appointment",
        "booking",
        "call",
        "claim",
        "encounter",
        "episode",
        "exam",
        "invoice",
        "measurement",
        "order",
        "rank",
        "row",
        "sample",
        "session",
        "specimen",
        "stay",
        "test",
        "ticket",
        "transaction",
        "trip",
        "visit",
    ]
)
"""Words for what happens to a person, several times perhaps."""

TIMES = frozenset(
    [
        "date",
        "datetime",
        "day",
        "month",
        "occasion",
        "period",
        "quarter",
        "round",
        "semester",
        "term",
        "time",
        "timestamp",
        "visit",
        "wave",
        "week",
        "year",
        "yr",
    ]
)
"""Words for the time that a record of a person is of."""

NOT_OF_PERSONS = frozenset(("visitid", "schoolid"))
"""Words for keys that are those of events or of things."""

PARTS = frozenset("first last middle given family maiden sur fore".split())  # noqa: SIM905
"""Words for parts of names, which people share."""

CODES = {"a zip or postal code"}
"""Hints about numbers that are codes: nothing can be computed with them."""

DATES = {"a date of an event"}
"""Hints about dates alone: as numbers, visits are counted."""

BY_WORD = {
    word: place for place, hint in reversed(list(enumerate(HINTS))) for word in hint.words.split()
}


def hint_of(name: str) -> Hint | None:
    """Return the suggestion of a column's name; None where it says nothing.

    >>> hint_of("native-country").about, hint_of("PatientID").role, hint_of("Straße").about
    ('a country or nationality', 'identifier', 'an address')
    >>> hint_of("x1") is None
    True
    """
    *parts, whole = words_of(name)
    if whole in BY_WORD:
        return HINTS[BY_WORD[whole]]
    found = [BY_WORD[known] for word in parts if (known := _singular(word)) in BY_WORD]
    fitting = [place for place in found if _fits(HINTS[place], parts)]
    return HINTS[min(fitting)] if fitting else None


def _fits(hint: Hint, parts: Sequence[str]) -> bool:
    """Return whether a word keeps its meaning in a name of several words: not in clinic_name."""
    if hint.about == BIRTH:
        return AT_BIRTH.isdisjoint(parts)
    if hint.about in MONEY:
        return COUNTS.isdisjoint(parts[:1]) or len(parts) == 1
    if hint.role != "identifier":
        return True
    if parts[0] in COUNTED and len(parts) > 1:
        return False
    if hint.about == PERSON:
        return all(part in hint.words.split() or part in NUMBERED for part in parts)
    return hint.about != NAME or THINGS.isdisjoint(parts)


def unit_of(name: str) -> str | None:
    """Name the owner of each value in a column of this name: a person, a household, or None.

    >>> unit_of("patient_id"), unit_of("HHID"), unit_of("school_id"), unit_of("first_name")
    ('person', 'household', None, None)
    >>> unit_of("idcode"), unit_of("visitid")
    ('person', None)
    """
    hint = hint_of(name)
    if hint is None or hint.role != "identifier" or hint.about == ADDRESS:
        return None
    *parts, whole = words_of(name)
    if hint.about == NAME:
        full = {"name", "names", "fullname"} & {*parts, whole}
        return "person" if full and PARTS.isdisjoint(parts) else None
    known = {*hint.words.split(), "record", "row"} - NOT_OF_PERSONS
    if hint.about == RECORD and not {*parts} <= known | NUMBERED:
        return None
    return "household" if hint.about == HOUSEHOLD else "person"


def is_key_of_one(name: str) -> bool:
    """Return whether a name says nothing but that a column is the key of a person.

    >>> is_key_of_one("patient_id"), is_key_of_one("account_length"), is_key_of_one("phone")
    (True, False, False)
    """
    hint = hint_of(name)
    if hint is None or hint.about not in OF_ONE_PERSON or unit_of(name) != "person":
        return False
    *parts, whole = words_of(name)
    known = {*hint.words.split(), "record"}
    return NETWORK.isdisjoint(parts) and (whole in known or {*parts} <= known | NUMBERED)


def is_of_something(name: str) -> bool:
    """Return whether a name speaks of an event, or of a thing, of which persons have several.

    >>> is_of_something("testid"), is_of_something("ref")
    (True, False)
    """
    return any(word.startswith((*EVENTS, *THINGS)) for word in words_of(name))


def _singular(word: str) -> str:
    plural = word not in BY_WORD and len(word) >= PLURAL and word.endswith("s")
    return word[:-1] if plural else word


def words_of(name: str) -> Iterator[str]:
    """Yield the words of a name in small letters without accents, and all of them as one.

    What numbers something is a word by itself.

    >>> [*words_of("Straße_Nr")], [*words_of("userid")]
    (['strasse', 'nr', 'strassenr'], ['user', 'id', 'userid'])
    """
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    words = [word.casefold() for word in WORDS.findall(CAMEL.sub(" ", plain))]
    words = [part for word in words for part in word.split("_") if part]
    yield from (part for word in words for part in _parts_of(word))
    yield "".join(words)


def _parts_of(word: str) -> Sequence[str]:
    """A word, or those of which it is made: one and its number, as in age76 and patientid."""
    if word in BY_WORD:
        return (word,)
    stem = word.rstrip(digits)
    if len(stem) >= SHORT and stem in BY_WORD:
        return (stem, word.removeprefix(stem))
    for end in sorted(NUMBERED, key=len, reverse=True):
        stem = word.removesuffix(end)
        if stem != word and stem in BY_WORD and HINTS[BY_WORD[stem]].role == "identifier":
            return (stem, end)
    return (word,)


def weight_of(hint: Hint | None) -> int:
    """Return the place of a hint by weight; one beyond all where there is none."""
    return len(HINTS) if hint is None else HINTS.index(hint)
