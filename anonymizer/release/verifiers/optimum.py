"""Whether no recoding keeps more: python optimum.py [FOLDER] [TABLE.csv], with NumPy and verify.py.

FOLDER has certificate.json, and counts.csv: the raw table, counted; or TABLE.csv is that table. A
node of the lattice is a level of each attribute. Where no level is lower, its classes are merged.
The optimum satisfies the policy, and each node has to be
- at or below one that is infeasible: the class of the witness, a raw record, breaks the policy. So
  does a part of it at each node below: all models are kept when classes merge. Where records may be
  suppressed, too many are in such classes, by models that no part of a broken class satisfies;
- at or above one that is bounded: it scores no more than the optimum. No score rises when classes
  or values merge, or are suppressed; of N' of N records left, information is at most N / N' of it;
- or counted: it breaks the policy itself, or scores no more.
Exit code: 0, it is proven; 1, it is not. Hierarchies and policy are to be those of the study. Take
this file from somebody you trust.
"""

import csv
import json
import sys
from collections import Counter, defaultdict
from decimal import Decimal
from math import inf
from pathlib import Path

import numpy as np

if __package__:
    from anonymizer.release.verifiers.verify import OfClass, spelled_apart
else:
    from verify import OfClass, spelled_apart

OF_SIZES = ("k-anonymity", "highest-reidentification-risk")
STRONG = {"k-anonymity": "k", "distinct-l-diversity": "l"}
OBJECTIVES = ("mutual-information", "loss", "precision", "non-uniform-entropy")
OBJECTIVES += ("discernibility", "average-class-size")
EPS = 1e-9  # what is forgiven: sums are rounded


def require(fine, words):
    """Refuse a claim."""
    if not fine:
        raise RuntimeError(words)


def cost(name, level, levels, records, places):
    """What each value costs at a level of its hierarchy; records have each value."""
    groups, most = levels[level], len(levels[0]) - 1.0
    if name == "precision":  # Sweeney (2002)
        return np.full(len(groups), level / max(len(levels) - 1, 1))
    if name == "non-uniform-entropy":  # Gionis and Tassa (2009)
        return np.log2(np.maximum(np.bincount(groups, records)[groups], 1) / np.maximum(records, 1))
    extent = np.bincount(groups) - 1.0  # loss: how much of the domain is open. Iyengar (2002)
    if places:  # of numbers, the range that a group spans
        ends = np.full((2, len(extent)), -np.inf)
        np.maximum.at(ends, (slice(None), groups), np.array([places, np.negative(places)]))
        extent, most = ends.sum(0), np.ptp(places)
    return extent[groups] / (most or 1.0)


class RawTable:
    """The raw table as it is counted, and what is to be said of a node."""

    def __init__(self, claim, lines, counted=True):
        of, budget, self.policy = claim["attributes"], claim["suppression"], claim["policy"]
        self.name, self.weights = claim["objective"]["name"], claim["objective"]["weights"]
        falls = self.name in OBJECTIVES and all(0 <= w < inf for w in self.weights.values())
        require(falls, "the objective may rise when classes merge")
        self.geometric = claim["objective"]["aggregate"] == "geometric-mean"
        columns = [*of, *(model["attribute"] for model in self.policy), *self.weights]
        columns = [name for name in dict.fromkeys(columns) if name is not None]
        rows, found = csv.reader(lines, strict=True), Counter()
        header = next(rows)
        places = [header.index(name) for name in columns]
        for row in rows:  # the last column of counts has the records
            found[tuple([row[place] for place in places])] += int(row[-1]) if counted else 1
        require(found and min(found.values()) > 0, "a line of the counts has no records")
        self.sizes, self.groups, self.costs = np.array([*found.values()], np.int64), {}, {}
        self.codes, self.known = {None: np.zeros(len(found), int)}, {None: [None]}
        for name, column in zip(columns, zip(*found)):
            self.known[name] = [*of[name]["values"]] if name in of else sorted({*column})
            require(name in of or spelled_apart({*column}), f"some values of {name!r} read alike")
            code = {value: place for place, value in enumerate(self.known[name])}
            self.codes[name] = np.array([code[value] for value in column])
        for name, each in of.items():
            labels = [self.known[name], *zip(*each["values"].values())]
            levels = [np.unique(np.array(level), return_inverse=True)[1] for level in labels]
            nested = (len({*zip(a, b)}) == len({*a}) for a, b in zip(levels, levels[1:]))
            require(all(nested), "the levels of a hierarchy are not nested")
            rest = np.bincount(self.codes[name], self.sizes, len(labels[0])), each["places"]
            self.costs[name] = [cost(self.name, i, levels, *rest) for i in range(len(levels))]
            self.groups[name] = levels
        self.any, self.remove = budget["suppress"] == "any", budget["remove"]
        self.most = int(Decimal(str(budget["share"])) * int(self.sizes.sum()))
        strong = not self.most or all(model["model"] in STRONG for model in self.policy)
        require(strong and 0 <= self.most < self.sizes.sum(), "too much may be suppressed")

    def at(self, node, what):
        """The groups, or the costs, of each row at a node, attribute by attribute."""
        return [each[i][self.codes[name]] for (name, each), i in zip(what.items(), node)]

    def classes(self, node):
        """The class of each row at a node."""
        key = self.codes[None]
        for groups in self.at(node, self.groups):
            if key.max() >= 2**62 // (groups.max() + 1):
                key = np.unique(key, return_inverse=True)[1]
            key = key * (groups.max() + 1) + groups
        return np.unique(key, return_inverse=True)[1]

    def fine(self, class_of, rows):
        """Whether all classes of some rows satisfy the policy, by the definitions of verify.py."""
        for model in self.policy:
            of, groups = model["attribute"], defaultdict(Counter)
            require((of is None) == (model["model"] in OF_SIZES), "a model is about nothing")
            shares = np.bincount(self.codes[of], self.sizes / self.sizes.sum())
            p = dict(zip(self.known[of], shares))
            each = (class_of, self.codes[of][rows], self.sizes[rows])
            for place, code, n in zip(*(column.tolist() for column in each)):
                groups[place][self.known[of][code]] += n
            judge = vars(OfClass)[model["model"].replace("-", "_")]
            if not all(judge(q, p, **model["parameters"])[1] for q in groups.values()):
                return False
        return True

    def broken(self, class_of):
        """The rows in classes of fewer records than k, or values than l; the most of k and l."""
        sizes, broken, bounds = np.bincount(class_of, self.sizes), False, [0]
        for model in self.policy:
            bounds.append(model["parameters"][STRONG[model["model"]]])
            w, n = self.codes[model["attribute"]], sizes
            if model["attribute"] is not None:
                n = np.bincount(np.unique(class_of * len(w) + w) // len(w))
            broken = broken | (n < bounds[-1])
        return broken[class_of], sizes[class_of] < max(bounds), max(bounds)

    def score(self, node, class_of, gone, removed=False):
        """The score of a node, some rows suppressed; larger is better."""
        if self.name == "mutual-information":
            class_of, rows = np.where(gone, class_of.max() + 1, class_of), ~(gone & removed)
            return sum(b * self.informs(a, class_of[rows], rows) for a, b in self.weights.items())
        sizes = np.bincount(class_of[~gone], self.sizes[~gone])
        if self.name == "average-class-size":  # the number of classes. LeFevre et al. (2006)
            return float((sizes > 0).sum() + gone.any())
        if self.name == "discernibility":  # Bayardo and Agrawal (2005)
            return -float((sizes**2).sum() + self.sizes[gone].sum() * float(self.sizes.sum()))
        pairs = zip(self.at([-1] * len(node), self.costs), self.at(node, self.costs))
        spent = np.array([self.sizes @ np.where(gone, *pair) for pair in pairs]) / self.sizes.sum()
        weights = np.array([self.weights[name] for name in self.groups], float)
        weights /= (weights.sum() or 1.0) if self.name != "non-uniform-entropy" else 1.0
        return -float(np.expm1(weights @ np.log1p(spent)) if self.geometric else weights @ spent)

    def informs(self, attribute, class_of, rows):
        """I(X~;W) = H(X~) + H(W) - H(X~, W), in bits. Bezzi (2010)."""
        w, n = self.codes[attribute][rows], self.sizes[rows]
        both = np.unique(class_of * (w.max() + 1) + w, return_inverse=True)[1]
        counts = [np.bincount(of, n) for of in (class_of, w, both)]
        h = [-(q * np.log2(q)).sum() for q in (x[x > 0] / n.sum() for x in counts)]
        return max(float(h[0] + h[1] - h[2]), 0.0)

    def released(self, node):
        """The score of a node as it is released; None where it breaks the policy."""
        class_of, rows = self.classes(node), np.ones(len(self.sizes), bool)
        if self.fine(class_of, rows) or not self.most:
            return self.score(node, class_of, ~rows) if self.fine(class_of, rows) else None
        gone, small, least = self.broken(class_of)
        records, fine = self.sizes[gone].sum(), self.fine(class_of[gone] * 0, gone)
        tells = not small[gone].all() or not (fine or self.remove or records < least)
        if records > self.most or (tells and not self.any):
            return None  # more than may go; or who is missing tells values
        return self.score(node, class_of, gone, self.remove or not fine)

    def infeasible(self, node, witness):
        """Whether a class of a node, and a part of it at each node below, breaks the policy."""
        if self.most:
            return self.sizes[self.broken(self.classes(node))[0]].sum() > self.most
        rows = self.sizes > 0
        for (name, levels), level, value in zip(self.groups.items(), node, witness):
            group = levels[level][self.known[name].index(value)]
            rows &= (levels[level] == group)[self.codes[name]]
        return rows.any() and not self.fine(self.codes[None][rows], rows)


def prove(claim, table):
    """The highest score, and of which levels; RuntimeError where a node may have a higher one."""
    low, high = ([of[end] for of in claim["attributes"].values()] for end in ("low", "high"))
    tops = map(len, table.groups.values())
    require(all(0 <= a <= b < top for a, b, top in zip(low, high, tops)), "a level is none")
    below, above = np.zeros((2, *(b - a + 1 for a, b in zip(low, high))), bool)

    def place(node):
        inside = len(node) == len(low) and all(a <= i <= b for a, i, b in zip(low, node, high))
        require(inside, "a node is none of the lattice")
        return tuple(i - a for i, a in zip(node, low))

    best, at = table.released(claim["optimum"]), place(claim["optimum"])
    require(best is not None, f"the optimum at {at} breaks the policy")
    left = 1 - (table.most / table.sizes.sum() if table.name == "mutual-information" else 0)
    for node, witness in claim["infeasible"]:
        below[place(node)] |= table.infeasible(node, claim["witnesses"][witness])
    for node in claim["bounded"]:
        most = table.score(node, table.classes(node), table.sizes < 0) / left
        above[place(node)] |= most <= best + EPS
    for axis in range(len(low)):
        above = np.logical_or.accumulate(above, axis)
        below = np.flip(np.logical_or.accumulate(np.flip(below, axis), axis), axis)
    for node in claim["counted"]:
        score = table.released(node)
        above[place(node)] |= score is None or score <= best + EPS
    open_ = above.size - np.count_nonzero(above | below)
    require(not open_, f"{open_:,} of {above.size:,} nodes may keep more")
    return best, {name: ends for name, *ends in zip(table.groups, low, high)}


def main(folder=".", path=None):
    """Print whether a claim is proven, and return the exit code."""
    try:
        claim = json.loads((Path(folder) / "certificate.json").read_bytes())
        with open(path or Path(folder) / "counts.csv", newline="", encoding="utf-8") as lines:
            best, ends = prove(claim, RawTable(claim, lines, counted=path is None))
    except Exception as why:
        print("NOT PROVEN:", why if type(why) is RuntimeError else type(why).__name__)
        return 1
    about = {key: claim[key] for key in ("policy", "suppression", "objective")}
    print(f"proven: of {ends} no levels score more than {claim['optimum']}, {best:.10g}: {about}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
