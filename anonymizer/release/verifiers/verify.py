"""Whether a release keeps its promises: python verify.py [FOLDER], with Python 3.9 or later alone.

FOLDER has release.json, the manifest, and its table. Each privacy model of the manifest is held
against the classes of the table, by its definition in the literature. Exit code: 0, all holds; 1,
something is broken; 3, nothing is, and something could not be examined. Take this file from
somebody you trust, not from who sent the release.
"""

import csv
import json
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from hashlib import sha256
from math import fsum, inf, isclose, log, log2
from pathlib import Path


class Unexamined(Exception):  # noqa: N818
    """Why something cannot be examined here: it is then never said to hold."""


def at_most(found, bound):
    """What was found, and whether it is within a bound. 1e-9 is forgiven: sums are rounded."""
    return found, found <= bound + 1e-9


def shares(q, p):
    """The share of each value of a class there, and in the table."""
    n = sum(q.values())
    return [(q[value] / n, p[value]) for value in q]


def entropy(q):
    """H = - sum q log2 q, in bits. Shannon (1948)."""
    return -fsum(share * log2(share) for share, _ in shares(q, q))


class OfClass:
    """Models of a class: q are its records by sensitive value, p the shares of the table."""

    def k_anonymity(q, p, k):
        """n >= k. Samarati (2001), Definition 2.3."""
        return sum(q.values()), sum(q.values()) >= k

    def highest_reidentification_risk(q, p, risk):
        """1 / n <= risk, the risk of a prosecutor. El Emam (2013)."""
        return at_most(1 / sum(q.values()), risk)

    def distinct_l_diversity(q, p, l):  # noqa: E741
        """At least l values. Machanavajjhala et al. (2007), Section 3."""
        return len(q), len(q) >= l

    def entropy_l_diversity(q, p, l, estimator="plug-in"):  # noqa: E741
        """H >= log2 l. Machanavajjhala et al. (2007), Definition 4.1."""
        if estimator != "plug-in":
            raise Unexamined("it estimates the entropy of a population")
        return 2 ** entropy(q), entropy(q) >= log2(l) - 1e-9

    def recursive_l_diversity(q, p, c, l):  # noqa: E741
        """r_1 < c (r_l + ... + r_m). Machanavajjhala et al. (2007), Definition 4.2."""
        falling = sorted(q.values(), reverse=True)
        ratio = falling[0] / tail if (tail := sum(falling[l - 1 :])) else inf
        return ratio, ratio < c

    def alpha_k_anonymity(q, p, alpha, k):
        """max q <= alpha, and n >= k. Wong et al. (2006), Definition 3, of every value."""
        return at_most(max(q.values()) / n if (n := sum(q.values())) >= k else inf, alpha)

    def t_closeness(q, p, t, distance, order=None):
        """The distance of q from p is at most t. Li et al. (2007), Definition 2, Section 3.1."""
        # kl: sum q log2 (q / p); equal: sum |q - p| / 2; ordered: sum |q - p, added up| / (m - 1)
        if distance == "kl":
            return at_most(fsum(a * log2(a / b) for a, b in shares(q, p)), t)
        if distance == "equal":
            return at_most(fsum(max(a - b, 0) for a, b in shares(q, p)), t)
        if order is None and all(map(NUMBER.fullmatch, p)):
            order = sorted(p, key=float)
        if distance != "ordered" or not {*p} <= {*order} or len({*order}) < len(order):
            raise Unexamined("the manifest has no order of the values")
        n, upto, work = sum(q.values()), 0, 0
        for value in order:
            upto += q.get(value, 0) / n - p.get(value, 0)
            work += abs(upto)
        return at_most(work / max(len(order) - 1, 1), t)

    def basic_beta_likeness(q, p, beta):
        """max (q - p) / p <= beta. Cao and Karras (2012), Definition 2."""
        return at_most(max((a - b) / b for a, b in shares(q, p)), beta)

    def enhanced_beta_likeness(q, p, beta):
        """(q - p) / p <= min(beta, -ln p) of every value. Cao and Karras (2012), Definition 3."""
        gains = [((a - b) / b, -log(b)) for a, b in shares(q, p)]
        return at_most(max(gain if at_most(gain, most)[1] else inf for gain, most in gains), beta)

    def delta_disclosure(q, p, delta):
        """|log2 q / p| <= delta of every value of the table. Brickell and Shmatikov (2008)."""
        bits = max(abs(log2(a / b)) for a, b in shares(q, p))
        return at_most(bits if len(q) == len(p) else inf, delta)

    def pointwise_maximal_leakage(q, p, epsilon):
        """max log2 q / p <= epsilon. Saeidian et al. (2022)."""
        return at_most(max(log2(a / b) for a, b in shares(q, p)), epsilon)

    def bayesian_gain(q, p, gain):
        """max q - max p <= gain, of the likeliest value. Smith (2009), of each class."""
        return at_most(max(q.values()) / sum(q.values()) - max(p.values()), gain)

    def value_gain(q, p, gain):
        """max (q - p) <= gain, of any value."""
        return at_most(max(a - b for a, b in shares(q, p)), gain)


class OfTable:
    """Models of the table as a whole: q of each class."""

    def average_reidentification_risk(groups, p, risk):
        """The mean over records of 1 / n, the risk of a marketer. El Emam (2013)."""
        return at_most(len(groups) / sum(sum(q.values()) for q in groups), risk)

    def mean_information(groups, p, bits):
        """The mean over records of sum q log2 (q / p). Bezzi (2010), Equations 1, 2 and 8."""
        each = (sum(q.values()) * OfClass.t_closeness(q, p, 0, "kl")[0] for q in groups)
        return at_most(fsum(each) / sum(sum(q.values()) for q in groups), bits)

    def itpr(groups, p, risk):
        """max 1 - T n / N H(q) / H(p), of T classes. Bkakria et al. (2021), Definition 2."""
        whole = sum(sum(q.values()) for q in groups) * entropy(p)
        left = len(groups) * min(sum(q.values()) * entropy(q) for q in groups)
        return at_most(1 - left / whole if whole else 0, risk)

    def reidentification_itpr(groups, p, risk):
        """The same where every record has a value of its own."""
        alone = [Counter(range(sum(q.values()))) for q in groups]
        return OfTable.itpr(alone, Counter(range(sum(map(len, alone)))), risk)


LEAST = ("k-anonymity", "distinct-l-diversity", "entropy-l-diversity")  # less is worse
NUMBER = re.compile("[+-]?([0-9]{1,99}[.]?[0-9]{0,99}|[.][0-9]{1,99})(e[+-]?[0-9]{1,2})?")
OTHER = re.compile(r"[+-]?[\d.].*(:|[-/. \\].*[-/. \\])|[+-]?(0[xb]|[\d.]+(e.?\d+)?$|nan\()|epoch")
WORDS = dict.fromkeys(("na", "nan", "null", "none", "<na>", "nana", "1ind", "1qnan"), "")
WORDS.update(dict.fromkeys(("true", "t", "yes", "y"), 1.0), inf=inf, infinity=inf)
WORDS.update(dict.fromkeys(("false", "f", "no", "n"), 0.0))


def spelled_apart(values):
    """Whether no two values may be one to a reader, such as 1 and 1.0, HIV and hiv, NA and none."""
    found = set()
    for value in values:
        text = " ".join(unicodedata.normalize("NFKD", value).casefold().split())
        text = "".join(c for c in text if c.isalnum() or c in "+<>=.-/:( \\")
        number, word = NUMBER.fullmatch(text), re.sub("[^a-z0-9+<>=]", "", text)
        if "&" in value or any(c > "~" for c in text) or (not number and OTHER.match(text)):
            return False  # signs of HTML, letters that look like others, dates in several forms
        found.add(float(text) if number else WORDS.get(word, word))
    return len(found) == len(values)


def judged(name, parameters, groups):
    """What a model measures of the worst class, one without a value, and whether that is fine."""
    table, function = Counter(), name.replace("-", "_")
    for q in groups.values():
        table.update(q)
    p = dict(zip(table, (share for share, _ in shares(table, table))))
    if function in vars(OfTable):
        return *vars(OfTable)[function]([*filter(None, groups.values())], p, **parameters), "any"
    model, none = vars(OfClass)[function], (0 if name in LEAST else inf, False)
    each = [(*(model(q, p, **parameters) if q else none), label) for label, q in groups.items()]
    return max(each, key=lambda of: (not of[1], -of[0] if name in LEAST else of[0]))


def promised(promise, manifest, groups):
    """Whether a promise of the manifest holds, None where that is not known, and words."""
    words = f"{promise['model']} {json.dumps(promise['parameters'])} of {promise['attribute']!a}"
    try:
        of, parameters, values = promise["attribute"], promise["parameters"], set()
        limits = [(key, n) for key, n in parameters.items() if not isinstance(n, (str, list))]
        known = all(type(n) in (int, float) and (key in "kl") <= n < inf for key, n in limits)
        of_sizes = promise["model"] == "k-anonymity" or "reidentification" in promise["model"]
        if not known or (of is None) != of_sizes or isinstance(of, list):
            raise Unexamined("it is about more than the classes of the table by one attribute")
        values.update(*groups[of].values())
        if of is not None and not spelled_apart(values):
            raise Unexamined("some of the values may be one to a reader")
        if of is not None and manifest["columns"]["missing"] == "gap" and len(values) > 1:
            groups = {of: {g: Counter({w: q[w] for w in q if w}) for g, q in groups[of].items()}}
        found, fine, worst = judged(promise["model"], parameters, groups[of])
        persons = manifest.get("person") or manifest.get("person_numbers")
        if fine and (persons or of in manifest.get("items", ())):
            raise Unexamined("it is about persons or items, which the table does not show")
        fine = fine and isclose(promise["worst"], found, rel_tol=1e-9, abs_tol=1e-9)
        return fine, f"{words}: {found:.10g}, in the manifest {promise['worst']}; class {worst!a}"
    except Exception as why:
        return None, f"{words}: {why}"


def examine(folder):
    """Yield whether each thing that is examined holds, None where that is not known, and words."""
    manifest = json.loads((folder / "release.json").read_bytes())
    about, roles, promises = manifest["table"], manifest["columns"], manifest["privacy"]
    if (folder / "release.json.sig").exists():
        yield None, "the signature, which verify.html and OpenSSL examine"
    for file in [about, *about.get("verifiers", ())]:
        content = (folder / Path(file["file"]).name).read_bytes()
        yield sha256(content).hexdigest() == file["sha256"], f"the checksum of {file['file']!a}"
    if manifest["format"] not in (1, 2) or about["file"] != "released.csv" or not promises:
        raise Unexamined("a manifest without promises or of another format, or a table not as CSV")
    names, columns = roles["quasi_identifiers"], roles["quasi_identifiers"] + roles["sensitive"]
    with (folder / "released.csv").open(newline="", encoding="utf-8") as file:
        rows = csv.reader(file, delimiter=roles["separator"], strict=True)
        header, counts, fields = next(rows), Counter(), set()
        places = [header.index(name) for name in columns]
        for row in rows:
            fields.add(len(row))
            counts[tuple([row[place].strip() for place in places])] += 1
    others = [name for name in header if name not in (*columns, manifest.get("person_numbers"))]
    fine = header == about["columns"] and others == manifest["other_columns"]
    fine = fine and {*names} - {"class"} == {*manifest["recoding"]} - {"class"}
    yield fine and fields == {len({*header})}, "the columns, their roles, a field of each a record"
    groups = {name: defaultdict(Counter) for name in (*roles["sensitive"], None)}
    for row, n in counts.items():
        for name, value in zip(groups, [*row[len(names) :], None]):
            groups[name][row[: len(names)]][value] += n
    found = [sum(counts.values()), len(groups[None])]
    fine = found == [manifest["released"], manifest["classes"]]
    yield fine, f"{found[0]} records in {found[1]} classes"
    gaps = [sum(n for row, n in counts.items() if not row[at]) for at in range(len(columns))]
    fine = gaps == [about["missing"][name] for name in columns]
    yield fine and (roles["missing"] in ("category", "gap") or not any(gaps)), "missing values"
    for promise in promises:
        yield promised(promise, manifest, groups)


def main(folder="."):
    """Print what was examined of a release, and return the exit code."""
    states = []
    try:
        for fine, words in examine(Path(folder)):
            states.append(fine)
            state = {True: "holds", False: "BROKEN", None: "not examined"}[fine]
            print(f"{state}: {re.sub('[^ -~]', '?', words)}")
    except Exception as why:
        states.append(None)
        print(re.sub("[^ -~]", "?", f"not examined: {why} ({type(why).__name__})"))
    return 1 if False in states else 3 if None in states else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
