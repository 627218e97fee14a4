"""Section 4 of Bezzi (2010): every number and statement of the experiment on UCI Adult."""

from dataclasses import replace
from itertools import product

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.errors import AnonymizerError
from anonymizer.information.entropy import entropy, specific_information, surprise
from anonymizer.kernels.arrays import Ints
from anonymizer.objectives import Precision
from anonymizer.papers.bezzi2010.adult import INFORMATION, SENSITIVE, Experiment, L, T
from anonymizer.papers.bezzi2010.figures import TOLERANCE, figures, labels_of, range_label
from anonymizer.papers.row import Row, numbers, read
from anonymizer.privacy import EntropyLDiversity, require_possible, verdicts
from anonymizer.recoding import automatic, solve
from anonymizer.release.information import Information, chances

ENTROPY = "anonymizer.information.entropy.entropy"
DIVERSITY = "anonymizer.EntropyLDiversity"
PRINTED_LT = 2.42
STRONG = 3.0
"""Values of l above it need a strong anonymization, the paper says."""


def rows(experiment: Experiment) -> list[Row]:
    """Every figure of the experiment, compared with the published one."""
    margin = experiment.problem.counts.margins[SENSITIVE]
    return [
        *_parameters(margin),
        *_table(experiment, margin),
        refusal(experiment.problem.counts),
        sufficient(experiment),
        *_hierarchy(experiment),
        *figures(experiment),
        *_search(experiment),
        *experiment.ladder(),
        _age(experiment),
    ]


def _parameters(margin: Ints) -> list[Row]:
    """H(W), and what it makes of l and t."""
    h = float(entropy(margin))
    equivalent = 2 ** (h - T.t)
    back = EntropyLDiversity(equivalent).ceiling(margin)
    apart = {
        "1 - l_t / l": 1 - equivalent / L.l,
        "1 - l_t / l with the printed l_t": 1 - PRINTED_LT / L.l,
        "l / l_t - 1": L.l / equivalent - 1,
    }
    return [
        Row.number("records", margin.sum(), "30162", "records with ? left out", "d"),
        Row.number(
            "H(W)", h, "1.85", why="the l_max next to it, 2^H(W), needs 1.82", where=ENTROPY
        ),
        Row.number(
            "l_max = 2^H(W)",
            2**h,
            "3.53",
            "2^1.82; the printed H does not give it",
            place="Eq. 15",
            where=f"{DIVERSITY}.ceiling",
        ),
        Row.number(
            "l_t = 2^(H(W) - t)",
            equivalent,
            "2.42",
            why="3.53 / 2^0.55 is 2.41",
            place="Eq. 12",
            where=f"{DIVERSITY}.ceiling",
        ),
        Row.claim(
            "l_t has the same impact on the information as t: Eq. 12",
            abs(back - T.t) < TOLERANCE,
            f"H(W) - log l_t = {back:.6f}",
            "the same as t",
            place="Eq. 12",
            where=f"{DIVERSITY}.ceiling",
        ),
        replace(read("how far l_t is from l", "10 %", numbers("10 %", apart)), where=DIVERSITY),
    ]


def _table(experiment: Experiment, margin: Ints) -> list[Row]:
    """The information that there is, and what is left of it at most."""
    raw = experiment.problem.counts
    chance = chances(raw, lambda counts: counts, np.random.default_rng(0))
    found = Information.of(raw, raw, [T, L], chance, [SENSITIVE])
    most = EntropyLDiversity(STRONG).ceiling(margin) / found.original
    information = "anonymizer.objectives.MutualInformation"
    return [
        Row.number(
            "H(W) - log l, the ceiling of Eq. 13",
            found.ceiling,
            place="Eq. 13",
            where=f"{DIVERSITY}.ceiling",
        ),
        Row("classes of the raw quasi-identifiers", f"{len(raw)}", value=float(len(raw))),
        Row.number(
            "I(X;W)", found.original, "", "the published losses agree with it", where=information
        ),
        Row.number(
            "I(X;W) with W shuffled",
            found.shuffled,
            "",
            "what small classes pretend",
            where="anonymizer.release.information.chances",
        ),
        Row.claim(
            f"l > {STRONG:g} removes most of the information",
            most < 1 / 2,
            f"l = {STRONG:g} leaves {most:.2%} of I(X;W) at most",
            "removes most",
            where=f"{DIVERSITY}.ceiling",
        ),
    ]


def refusal(counts: Counts) -> Row:
    """Eq. 15, by the library: what it takes at both bounds of l, and what it refuses beyond."""
    most = float(2 ** entropy(counts.margins[SENSITIVE]))
    tried = {each: possible(counts, each) for each in (0.99, 1.0, L.l, most, most + 0.01)}
    taken = [each for each, fine in tried.items() if fine]
    refused = [each for each, fine in tried.items() if not fine]
    return Row.claim(
        "1 <= l <= l_max: Eq. 15",
        all((1 <= each <= most) == fine for each, fine in tried.items()),
        f"accepted: l = {_listed(taken)}; refused: l = {_listed(refused)}",
        "holds",
        f"l_max = {most:.6f}",
        place="Eq. 15",
        where="anonymizer.privacy.require_possible",
    )


def possible(counts: Counts, diversity: float) -> bool:
    """Return whether the library takes this l for a table."""
    try:
        require_possible(counts, [EntropyLDiversity(diversity)])
    except AnonymizerError:
        return False
    return True


def sufficient(experiment: Experiment) -> Row:
    """Eq. 14 against t-closeness and l-diversity as they are defined, on every node."""
    problem, differing, holding = experiment.problem, 0, 0
    for node in product(*(range(height + 1) for height in problem.lattice.heights)):
        counts = problem.at(node)
        joint, margin = counts.joint[SENSITIVE], counts.margins[SENSITIVE]
        ceiling = float(entropy(margin)) - np.log2(L.l)
        eq14 = (surprise(joint) <= T.t).all() and (specific_information(joint) <= ceiling).all()
        defined = all(verdict.satisfied for verdict in verdicts(counts, [T, L]))
        differing, holding = differing + (eq14 != defined), holding + int(eq14)
    size = problem.lattice.size
    return Row.claim(
        "necessary and sufficient: Eq. 14",
        differing == 0,
        f"{holding} of {size} nodes satisfy it, {differing} other than the models",
        "equivalent",
        place="Eq. 14",
        where="anonymizer.privacy.verdicts",
    )


def _hierarchy(experiment: Experiment) -> list[Row]:
    """Tables 4, right, and 5: the ranges of age."""
    a1, a2, a3 = (labels_of(experiment.ages(n), experiment.age_alone(n)) for n in (1, 2, 3))
    star = experiment.star(4)
    four = [range_label(label) for label in star.recoding["age"].labels]
    where = "anonymizer.Hierarchy"
    return [
        Row.claim(
            "age: classes of A1, A2 and A3",
            [len(a1), len(a2), len(a3)] == [4, 2, 1],
            "; ".join(", ".join(each) for each in (a1, a2, a3)),
            "(0,25) (25,50) (50,75) (75,100); (0,50) (50,100); (0,100)",
            "ranges include their lower end, and not their upper one",
            place="Table 4",
            where=where,
        ),
        Row(
            "age: ranges of A1*, at most 4",
            ", ".join(four),
            remark="the optimum; the text of the paper names no ends of its ranges",
            place="Table 5",
            where="anonymizer.VariableRange",
        ),
    ]


def _search(experiment: Experiment) -> list[Row]:
    """The nodes that are feasible, and what is best among them for another utility."""
    problem = experiment.problem
    nodes = problem.lattice.up_set(automatic(problem).minimal)
    feasible = [experiment.name_of(node) for node in nodes]
    other = solve(replace(problem, objective=Precision()))
    best = [
        experiment.name_of(node) for node in (experiment.best, *((other.node,) if other else ()))
    ]
    return [
        Row("nodes of the lattice", f"{problem.lattice.size}", where="anonymizer.Lattice"),
        Row.claim(
            "feasible nodes",
            "{A2}" in feasible,
            f"{len(feasible)}: {', '.join(feasible)}",
            "{A2}",
            where="anonymizer.recoding.automatic",
        ),
        Row.claim(
            "what is best depends on the measure of utility",
            len(set(best)) == 2,
            f"by I(X~;W) {best[0]}, by precision {best[-1]}",
            "utility strongly depends on the application",
            place="Footnote 3",
            where="anonymizer.objectives",
        ),
    ]


def _age(experiment: Experiment) -> Row:
    """Not recoded at all it satisfies neither t nor l, and has what is printed for A1*."""
    age = experiment.told_by_age
    return Row.number(
        "I(age;W), age not recoded at all",
        age,
        remark=f"a loss of {1 - age / INFORMATION(experiment.problem.counts):.2%}; printed for A1* "
        f"are 0.34 and 55 %, but {experiment.beyond}",
        where="anonymizer.information.entropy.mutual_information",
    )


def _listed(values: list[float]) -> str:
    return ", ".join(f"{value:.6g}" for value in values)
