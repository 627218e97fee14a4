"""The promises of a manifest as SQL, a statement for each: what DuckDB, PostgreSQL and SQLite run.

Nothing but what all three have is used. Definitions are those of the literature that ``verify.py``
names; a comparison forgives 1e-9. Values that may be one to a reader, such as 1 and 1.0, are not
counted as two: the statement then says that it did not examine the model.
"""

# ruff: noqa: S608  # SQL is what this makes; names and texts are quoted by hierarchy/label.py

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from string import ascii_letters, digits, punctuation
from typing import NamedTuple

from anonymizer.errors import InputError
from anonymizer.hierarchy.label import listed, literal, name
from anonymizer.release.files import MANIFEST, RELEASED
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.parts import ReportedVerdict

HEADER = """\
-- What {manifest} promises of {file}, examined by DuckDB, PostgreSQL or SQLite.
-- Take this file from somebody you trust, not from who sent the release. First load the table, all
-- columns as texts; then run this file, in the same session, which did not run it before.
--
-- DuckDB:
--   CREATE TABLE released AS SELECT * FROM read_csv({literal}, all_varchar = true,
--     header = true, delim = {separator}, quote = '"', escape = '"', encoding = 'utf-8');
--
-- PostgreSQL, from version 15, in psql:
--   CREATE TABLE released ({columns});
--   \\copy released FROM {literal} WITH (FORMAT csv, HEADER MATCH, DELIMITER {separator})
--
-- SQLite, in sqlite3, from version 3.35, where there is no table of this name yet:
--   .mode csv
--   .separator {shell}
--   .import {file} released
--
-- Each statement from the first SELECT on gives a row: what is promised, the worst value of a
-- class, empty where that is infinite, and whether it holds: yes, no, or why it is not examined.
-- Checksums and the signature are not examined by a database.
"""

PLAIN = " " + "".join(sorted({*ascii_letters, *digits, *punctuation} - {"&", "~"}))
"""Characters of values that are taken for what they look like."""

FORGIVEN = 1e-9

MARKS = " _'\"`,;:"
"""What does not tell values apart."""

LONGEST = 200
"""Characters of a value that are looked at one by one; a longer one may be anything."""

WORDS: Mapping[str, Sequence[str]] = {
    "''": ("na", "#na", "n/a", "#n/a", "#n/an/a", "<na>", "nan", "null", "none"),
    "'1'": ("true", "t", "yes", "y"),
    "'0'": ("false", "f", "no", "n"),
    "'inf'": ("infinity",),
}
"""What words stand for to some reader."""

TEXTS = ("distance", "estimator", "order")
"""Parameters that are no bounds."""

BEYOND = "it is about more than the classes of the table by one attribute"
HIDDEN = "it is about persons or items, which the table does not show"
UNCLEAR = "some of the values may be one to a reader"
ESTIMATED = "it estimates the entropy of a population"
UNORDERED = "the manifest has no order of all values"


class Promise(NamedTuple):
    """What measures each class as ``x``, NULL where it is infinite, and which values are fine.

    ``least``: whether less is worse; ``needs``: what has to be so for it to be measured.
    """

    source: str
    fine: str
    least: bool = False
    needs: str = "1 = 1"


def statements_of(manifest: Manifest) -> str:
    """The statements that examine a release in a database.

    Raises InputError where its table is no CSV file, or has names that a database cannot tell
    apart or a shell not read.
    """
    about, roles = manifest.file
    if about.file != RELEASED[0] or roles.separator is None:
        raise InputError(f"verify.sql reads {RELEASED[0]} alone, not {about.file!r}")
    first: dict[str, str] = {}
    for column in about.columns:
        other = first.setdefault(column.casefold(), column)
        if not column.isprintable() or not column or other != column:
            raise InputError(
                f"a database cannot tell the column {column!r} from others, or a shell cannot read "
                "it: rename it in the table, or leave verify.sql out"
            )
    if not (roles.separator.isprintable() or roles.separator == "\t"):
        raise InputError("a shell cannot read the separator of the table: choose another one")
    columns = ", ".join(f"{name(column)} text" for column in about.columns)
    tab = roles.separator == "\t"
    separator = {"separator": "E'\\t'" if tab else literal(roles.separator)}
    shell = '"\\t"' if tab else json.dumps(roles.separator)
    named = {"file": about.file, "literal": literal(about.file), "columns": columns, "shell": shell}
    header = HEADER.format(manifest=MANIFEST, **named, **separator)
    return "\n".join([header, *_tables(manifest), _shape(manifest), *_promises(manifest)])


def _keys(manifest: Manifest) -> list[str]:
    return [f"k{place}" for place, _ in enumerate(manifest.file[1].quasi_identifiers)]


def _tables(manifest: Manifest) -> Iterator[str]:
    """What the statements read: the records, the classes, and the values of each attribute."""
    roles, keys = manifest.file[1], _keys(manifest)
    texts = [(f"COALESCE(TRIM({name(each)}), '')", each) for each in roles.quasi_identifiers]
    read = [f"{text} AS {key}" for (text, _), key in zip(texts, keys, strict=True)]
    read += [
        f"COALESCE(TRIM({name(each)}), '') AS v{place}"
        for place, each in enumerate(roles.sensitive)
    ]
    by = ", ".join(keys)
    yield f"CREATE TEMP TABLE verify_records AS\n  SELECT {', '.join(read)} FROM released;"
    yield (
        "CREATE TEMP TABLE verify_classes AS\n"
        f"  SELECT ROW_NUMBER() OVER () AS g, CAST(COUNT(*) AS FLOAT8) AS n, {by}\n"
        f"  FROM verify_records GROUP BY {by};"
    )
    for place, _ in enumerate(roles.sensitive):
        yield from _values(place, by, roles.missing == "gap")


def _values(place: int, by: str, gap: bool) -> Iterator[str]:
    """The shares of the values of an attribute in each class, and how they are spelled."""
    counts, value = f"verify_counts_{place}", f"v{place}"
    some = (
        f"\n  WHERE {value} <> '' OR NOT EXISTS (SELECT 1 FROM verify_records WHERE {value} <> '')"
    )
    yield (
        f"CREATE TEMP TABLE {counts} AS\n"
        f"  SELECT g, {value} AS w, CAST(COUNT(*) AS FLOAT8) AS n\n"
        f"  FROM verify_records JOIN verify_classes USING ({by}){some if gap else ''}\n"
        f"  GROUP BY g, {value};"
    )
    yield (
        f"CREATE TEMP TABLE verify_shares_{place} AS\n"
        "  SELECT g, w, c.n AS n, c.n / size AS q, t.n / total AS p\n"
        f"  FROM {counts} AS c\n"
        f"  JOIN (SELECT g, SUM(n) AS size FROM {counts} GROUP BY g) AS s USING (g)\n"
        f"  JOIN (SELECT w, SUM(n) AS n FROM {counts} GROUP BY w) AS t USING (w)\n"
        f"  CROSS JOIN (SELECT SUM(n) AS total FROM {counts}) AS a;"
    )
    yield spelled(place, f"SELECT DISTINCT {value} AS w FROM verify_records")


def spelled(place: int, values: str) -> str:
    """What each value is to a reader who looks past case, blanks, marks and spellings of numbers.

    ``clear``: whether that is certain; ``number``: whether it is a number as people write it.
    """
    plain = "LOWER(w)"
    for mark in MARKS:
        plain = f"REPLACE({plain}, {literal(mark)}, '')"
    cases = " ".join(f"WHEN f IN {listed(words)} THEN {key}" for key, words in WORDS.items())
    return f"""CREATE TEMP TABLE verify_spelled_{place} AS
  WITH RECURSIVE letters(w, c, rest) AS (
    SELECT w, ' ', SUBSTR(w, 1, {LONGEST}) FROM ({values}) AS x
    UNION ALL SELECT w, SUBSTR(rest, 1, 1), SUBSTR(rest, 2) FROM letters WHERE rest <> ''
  ), seen AS (
    SELECT w, RTRIM({plain}, '.') AS f, LTRIM(w, '-') AS u,
      SUM(CASE WHEN {literal(PLAIN)} LIKE '%' || c || '%' ESCAPE '~' THEN 0 ELSE 1 END) AS odd,
      SUM(CASE WHEN c IN {listed(digits)} THEN 1 ELSE 0 END) AS digits,
      SUM(CASE WHEN c = '.' THEN 1 ELSE 0 END) AS points
    FROM letters GROUP BY w
  ), numbers AS (
    SELECT w, f, odd, CASE WHEN digits + points = LENGTH(u) AND points <= 1 AND LENGTH(u) <= 15
      AND LENGTH(w) - LENGTH(u) <= 1 AND digits > 0 AND w <> '-0' AND u NOT LIKE '.%'
      AND (u = '0' OR u LIKE '0.%' OR u NOT LIKE '0%')
      AND (points = 0 OR (u NOT LIKE '%0' AND u NOT LIKE '%.')) THEN 1 ELSE 0 END AS number
    FROM seen
  )
  SELECT w, number, CASE WHEN number = 1 THEN w {cases} ELSE f END AS plain,
    CASE WHEN odd > 0 OR LENGTH(w) > {LONGEST} OR f LIKE 'epoch%' OR f LIKE 'nan(%' THEN 0
      WHEN number = 0 AND SUBSTR(f, 1, 1) IN {listed(digits + "+-.")} THEN 0 ELSE 1 END AS clear
  FROM numbers;"""


def _shape(manifest: Manifest) -> str:
    """How many records, classes and missing values there are."""
    roles, missing = manifest.file[1], manifest.file[0].missing
    keys = zip((*_keys(manifest), *(f"v{place}" for place, _ in enumerate(roles.sensitive))),
               (*roles.quasi_identifiers, *roles.sensitive), strict=True)  # fmt: skip
    found = [
        f"(SELECT COUNT(*) FROM verify_records) = {manifest.released}",
        f"(SELECT COUNT(*) FROM verify_classes) = {manifest.classes}",
        *(
            f"(SELECT COUNT(*) FROM verify_records WHERE {key} = '') = {missing.get(column, 0)}"
            for key, column in keys
        ),
    ]
    if roles.missing not in ("category", "gap") and any(missing.values()):
        found.append("1 = 0")
    holds = f"CASE WHEN {' AND '.join(found)} THEN 'yes' ELSE 'no' END"
    return _row("records, classes, missing values", "", "NULL", holds, "")


def _row(model: str, parameter: str, worst: str, holds: str, source: str) -> str:
    return (
        f"\nSELECT {literal(model)} AS model, {literal(parameter)} AS parameter,\n"
        f"  {worst} AS worst,\n  {holds} AS holds{source};"
    )


def _promises(manifest: Manifest) -> Iterator[str]:
    for verdict in manifest.privacy:
        about = "" if verdict.about is None else f" of {verdict.about}"
        parameter = ", ".join(f"{key} = {json.dumps(v)}" for key, v in verdict.parameters.items())
        promise = _promise(manifest, verdict)
        if isinstance(promise, str):
            why = literal(f"not examined: {promise}")
            yield _row(verdict.model + about, parameter, "NULL", why, "")
            continue
        hidden = (
            bool(manifest.person or manifest.person_numbers) or verdict.attribute in manifest.items
        )
        yield _row(verdict.model + about, parameter, *_judged(manifest, verdict, promise, hidden))


def _judged(
    manifest: Manifest, verdict: ReportedVerdict, promise: Promise, hidden: bool
) -> tuple[str, str, str]:
    """The worst measure, whether all are fine, and what these are of."""
    fine = f"SUM(CASE WHEN {promise.fine} THEN 0 ELSE 1 END) = 0"
    yes = literal(f"not examined: {HIDDEN}") if hidden else "'yes'"
    cases = f"WHEN {fine} THEN {yes} ELSE 'no'"
    if isinstance(verdict.attribute, str):
        spelled = f"verify_spelled_{manifest.file[1].sensitive.index(verdict.attribute)}"
        clear = f"(SELECT MIN(clear) + COUNT(DISTINCT plain) - COUNT(*) FROM {spelled})"
        cases = (
            f"WHEN {clear} < 1 THEN {literal(f'not examined: {UNCLEAR}')}\n    "
            f"WHEN NOT ({promise.needs}) THEN {literal(f'not examined: {UNORDERED}')}\n    {cases}"
        )
    worst = "MIN(x)" if promise.least else "CASE WHEN COUNT(*) = COUNT(x) THEN MAX(x) END"
    return worst, f"CASE {cases} END", f"\nFROM (\n{promise.source}\n) AS measured"


def _promise(manifest: Manifest, verdict: ReportedVerdict) -> Promise | str:
    """How a model is measured; why it is not where that cannot be."""
    given, about, sensitive = verdict.parameters, verdict.attribute, manifest.file[1].sensitive
    limits = [(key, value) for key, value in given.items() if key not in TEXTS]
    if any(
        type(value) not in (int, float) or not (key in ("k", "l")) <= value < inf
        for key, value in limits
    ):
        return BEYOND
    try:
        if about is None and verdict.model in OF_SIZES:
            return OF_SIZES[verdict.model](**given)
        if about in sensitive and verdict.model in OF_VALUES:
            return OF_VALUES[verdict.model](sensitive.index(about), **given)
    except (TypeError, ValueError):
        return "its parameters are not known here"
    return BEYOND


def _at_most(source: str, bound: float, needs: str = "1 = 1") -> Promise:
    return Promise(source, f"x <= {bound + FORGIVEN!r}", needs=needs)


def _of_classes(place: int, measure: str, shares: str = "") -> str:
    """A measure of each class by the shares of its values; NULL of a class without any."""
    shares = shares or f"verify_shares_{place}"
    return (
        "  SELECT x FROM verify_classes LEFT JOIN\n"
        f"    (SELECT g, {measure} AS x\n    FROM {shares} GROUP BY g) AS e USING (g)"
    )


def _k_anonymity(k: int) -> Promise:
    return Promise("  SELECT n AS x FROM verify_classes", f"x >= {k!r}", least=True)


def _highest_risk(risk: float) -> Promise:
    return _at_most("  SELECT 1 / n AS x FROM verify_classes", risk)


def _average_risk(risk: float) -> Promise:
    return _at_most("  SELECT COUNT(*) / SUM(n) AS x FROM verify_classes", risk)


def _itpr_of_records(risk: float) -> Promise:
    measure = (
        "CASE WHEN SUM(n) > 1\n    THEN 1 - COUNT(*) * MIN(n * LN(n)) / (SUM(n) * LN(SUM(n))) "
        "ELSE 0 END"
    )
    return _at_most(f"  SELECT {measure} AS x FROM verify_classes", risk)


def _distinct(place: int, l: int) -> Promise:  # noqa: E741
    source = _of_classes(place, "COUNT(*)").replace("SELECT x", "SELECT COALESCE(x, 0) AS x", 1)
    return Promise(source, f"x >= {l!r}", least=True)


def _entropy(place: int, l: float, estimator: str = "plug-in") -> Promise | str:  # noqa: E741
    if estimator != "plug-in":
        return ESTIMATED
    source = _of_classes(place, "EXP(-SUM(q * LN(q)))")
    source = source.replace("SELECT x", "SELECT COALESCE(x, 0) AS x", 1)
    return Promise(source, f"x >= {l * 2**-FORGIVEN!r}", least=True)


def _recursive(place: int, c: float, l: int) -> Promise:  # noqa: E741
    tail = f"SUM(CASE WHEN place >= {l:d} THEN n END)"
    ranked = (
        "(SELECT g, n, ROW_NUMBER() OVER (PARTITION BY g ORDER BY n DESC) AS place "
        f"FROM verify_counts_{place}) AS r"
    )
    return Promise(_of_classes(place, f"MAX(n) / {tail}", ranked), f"x < {c!r}")


def _alpha(place: int, alpha: float, k: int) -> Promise:
    return _at_most(_of_classes(place, f"CASE WHEN SUM(n) >= {k!r} THEN MAX(q) END"), alpha)


def _closeness(
    place: int, t: float, distance: str, order: Sequence[str] | None = None
) -> Promise | str:
    if distance == "kl":
        return _at_most(_of_classes(place, "SUM(q * LN(q / p)) / LN(2)"), t)
    if distance == "equal":
        return _at_most(_of_classes(place, "SUM(CASE WHEN q > p THEN q - p ELSE 0 END)"), t)
    if distance != "ordered" or (order is not None and len({*order}) < len(order)):
        return UNORDERED
    counts, spelled = f"verify_counts_{place}", f"verify_spelled_{place}"
    own = f"(SELECT w FROM {counts})"
    if order is None:
        number = "CASE WHEN number = 1 THEN CAST(w AS FLOAT8) END"
        places = (
            f"SELECT w, ROW_NUMBER() OVER (ORDER BY {number}) AS place\n"
            f"        FROM {spelled} WHERE w IN {own}"
        )
        needs = f"(SELECT MIN(number) FROM {spelled} WHERE w IN {own}) = 1"
    else:
        places = " UNION ALL ".join(
            f"SELECT {literal(value)} AS w, {at} AS place" for at, value in enumerate(order)
        )
        needs = f"NOT EXISTS (SELECT 1 FROM {counts} WHERE w NOT IN {listed(order)})"
    moved = f"""(
      SELECT g, SUM(COALESCE(q, 0) - COALESCE(p, 0)) OVER (PARTITION BY g ORDER BY place) AS moved
      FROM (SELECT DISTINCT g FROM {counts}) AS c CROSS JOIN ({places}) AS o
      LEFT JOIN (SELECT g, w, q FROM verify_shares_{place}) AS s USING (g, w)
      LEFT JOIN (SELECT w, MAX(p) AS p FROM verify_shares_{place} GROUP BY w) AS t USING (w)
    ) AS d"""
    most = "CASE WHEN COUNT(*) > 1 THEN COUNT(*) - 1 ELSE 1 END"
    return _at_most(_of_classes(place, f"SUM(ABS(moved)) / ({most})", moved), t, needs)


def _basic(place: int, beta: float) -> Promise:
    return _at_most(_of_classes(place, "MAX((q - p) / p)"), beta)


def _enhanced(place: int, beta: float) -> Promise:
    many = f"SUM(CASE WHEN (q - p) / p > -LN(p) + {FORGIVEN!r} THEN 1 ELSE 0 END)"
    return _at_most(_of_classes(place, f"CASE WHEN {many} = 0 THEN MAX((q - p) / p) END"), beta)


def _delta(place: int, delta: float) -> Promise:
    values = f"(SELECT COUNT(DISTINCT w) FROM verify_counts_{place})"
    measure = f"CASE WHEN COUNT(*) = {values} THEN MAX(ABS(LN(q / p))) / LN(2) END"
    return _at_most(_of_classes(place, measure), delta)


def _leakage(place: int, epsilon: float) -> Promise:
    return _at_most(_of_classes(place, "MAX(LN(q / p)) / LN(2)"), epsilon)


def _bayesian(place: int, gain: float) -> Promise:
    before = f"(SELECT MAX(p) FROM verify_shares_{place})"
    return _at_most(_of_classes(place, f"MAX(q) - {before}"), gain)


def _value(place: int, gain: float) -> Promise:
    return _at_most(_of_classes(place, "MAX(q - p)"), gain)


def _information(place: int, bits: float) -> Promise:
    measure = "SUM(n * LN(q / p)) / SUM(n) / LN(2)"
    return _at_most(f"  SELECT {measure} AS x FROM verify_shares_{place}", bits)


def _itpr(place: int, risk: float) -> Promise:
    shares = f"verify_shares_{place}"
    whole = f"(SELECT -SUM(n * LN(p)) FROM {shares})"
    left = f"(SELECT g, -SUM(n * LN(q)) AS bits FROM {shares} GROUP BY g) AS e"
    measure = f"CASE WHEN {whole} > 0 THEN 1 - COUNT(*) * MIN(bits) / {whole} ELSE 0 END"
    return _at_most(f"  SELECT {measure} AS x FROM {left}", risk)


OF_SIZES: Mapping[str, Callable[..., Promise | str]] = {
    "k-anonymity": _k_anonymity,
    "highest-reidentification-risk": _highest_risk,
    "average-reidentification-risk": _average_risk,
    "reidentification-itpr": _itpr_of_records,
}
OF_VALUES: Mapping[str, Callable[..., Promise | str]] = {
    "distinct-l-diversity": _distinct,
    "entropy-l-diversity": _entropy,
    "recursive-l-diversity": _recursive,
    "alpha-k-anonymity": _alpha,
    "t-closeness": _closeness,
    "basic-beta-likeness": _basic,
    "enhanced-beta-likeness": _enhanced,
    "delta-disclosure": _delta,
    "pointwise-maximal-leakage": _leakage,
    "bayesian-gain": _bayesian,
    "value-gain": _value,
    "mean-information": _information,
    "itpr": _itpr,
}
"""The models that are measured, by name."""
