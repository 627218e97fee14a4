"""Reports of what a release is good for: quality, recodings and schemes compared, estimates."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from anonymizer.feedback.document import Block, Table
from anonymizer.feedback.words import plural, share_of
from anonymizer.hierarchy import shown_label
from anonymizer.privacy import MODELS
from anonymizer.release.information import lost
from anonymizer.utility import Quality, Score
from anonymizer.utility.comparison import Comparison, Fit
from anonymizer.utility.figures import HIDDEN, Attribute, Failure, Figures
from anonymizer.utility.quality import mean_distance
from anonymizer.utility.schemes import SchemeComparison

if TYPE_CHECKING:  # a report of anything else need not wait for what these need
    from anonymizer.channels import Estimate
    from anonymizer.utility.estimate import FileEstimate


def quality_report(quality: Quality) -> Iterator[Block]:
    """Yield every measure, the tables and statistics that are furthest off, and the classifiers."""
    yield (
        f"Compared {quality.records:,} records ({quality.dropped:,} dropped before, "
        f"{quality.suppressed:,} suppressed, {quality.left_out:,} of them left out)."
    )
    columns = ["measure", "value", "original", "all suppressed", "normalized", "unit"]
    title = "Groups and classes; 1 as the original"
    yield Table(title, columns, _measures(quality), "s .6g .6g .6g s")
    for why in dict.fromkeys(quality.undefined.values()):
        names = [name for name, reason in quality.undefined.items() if reason == why]
        yield f"Not defined for this release: {', '.join(names)}: {why}."
    if quality.random:
        yield (
            "What follows is of the released values as they stand, without correcting for the "
            "drawing, as `anonymizer estimate` does."
        )
    columns = ["quasi-identifier", "entropy", "granularity", "intensity", "squared error", "TV"]
    title = "The same by attribute, normalized; total variation"
    yield Table(title, columns, _by_attribute(quality), "s s s s s .4f")
    title, columns = "Tables of counts: total variation", ["tables", "mean", "worst"]
    yield Table(title, columns, _deviations(quality), "s .4f")
    title = f"Probabilistic information loss; a range stands for its {quality.representative}"
    columns = ["statistic", "mean", "worst"]
    yield Table(title, columns, _losses(quality), "s .4f")
    if quality.predictions is None:
        yield "Classifiers were left out: scikit-learn is not installed."
    elif quality.predictions:
        title = f"Accuracy / AUC, {quality.folds}-fold cross-validation"
        columns = ["target", "classifier", "majority", "original", "released", "gain kept"]
        rows = [
            [
                p.target,
                p.classifier,
                *map(_score, (p.majority, p.original, p.released)),
                share_of(p.kept, ".1%"),
            ]
            for p in quality.predictions
        ]
        yield Table(title, columns, rows)


def _measures(quality: Quality) -> list[list[object]]:
    return [
        [name, found.value, found.original, found.suppressed, _share(found.normalized), found.unit]
        if found
        else [name, *[None] * 5]
        for name, found in quality.measures.items()
    ]


def _share(number: float) -> str:
    """A share in four digits; what rounds to 0 has no sign."""
    return f"{round(number, 4) + 0.0:.4f}"


def _by_attribute(quality: Quality) -> list[list[object]]:
    names = ["non-uniform-entropy", "granularity", "generalization-intensity"]
    measures = [quality.measures[name] for name in [*names, "attribute-squared-error"]]
    distances = {table.columns: table.total_variation for table in quality.tables}
    rows: list[list[object]] = []
    for name in quality.quasi_identifiers:
        parts = [measure and measure.attributes.get(name) for measure in measures]
        rows.append([name, *(part and _share(part.normalized) for part in parts), distances[name,]])
    return rows


def _deviations(quality: Quality) -> list[list[object]]:
    rows: list[list[object]] = []
    by_weight = f", weighted by {quality.weight}"
    for measured, how in [(quality.tables, ""), (quality.weighted, by_weight)]:
        for ways, name in [(1, "one-way"), (2, "two-way")]:
            tables = [table for table in measured if len(table.columns) == ways]
            if tables:
                worst = max(tables, key=lambda table: table.total_variation)
                shown = _worst(worst.total_variation, worst.columns)
                mean = mean_distance(measured, ways)
                rows.append([f"{name} ({len(tables):,}){how}", mean, shown])
    return rows


def _losses(quality: Quality) -> list[list[object]]:
    rows: list[list[object]] = []
    for kind, mean in quality.pil.items():
        found = [loss for loss in quality.statistics if loss.statistic == kind]
        worst = max(found, key=lambda loss: loss.pil)
        share = "" if worst.share is None else f", {worst.share:g}"
        rows.append([f"{kind} ({len(found):,})", mean, _worst(worst.pil, worst.columns, share)])
    return rows


def _worst(value: float, columns: Sequence[str], more: str = "") -> str:
    return f"{value:.4f} ({', '.join(columns)}{more})"


def _score(score: Score) -> str:
    return f"{score.accuracy:.4f} / " + ("-" if score.auc is None else f"{score.auc:.4f}")


def comparison_report(comparison: Comparison) -> Iterator[Block]:
    """Yield what each recoding keeps on either half, the best of each policy marked."""
    yield (
        f"Fitted to a random half of {comparison.records:,} records (seed {comparison.seed}), "
        f"evaluated on the other. Information about {', '.join(comparison.about)}, in bits; in "
        "brackets corrected for what small classes pretend (Miller-Madow)."
    )
    rows = [_fit(fit, comparison.is_best(fit)) for fit in comparison.fits]
    if rows:
        measured = ["classes", "fitted", "held out", "ceiling", "loss there", "holds there"]
        columns = ["recoding", *comparison.swept, *measured]
        forms = f"s {'g ' * len(comparison.swept)}, s s .4f s s"
        title = "* keeps most, held out and corrected, of those that hold the policy there"
        yield Table(title, columns, rows, forms)
    if comparison.swept:
        columns = [*comparison.swept, "ceiling", "best"]
        points = [
            [*point.parameters.values(), point.ceiling, point.best or "none"]
            for point in comparison.points
        ]
        forms = f"{'g ' * len(comparison.swept)}.4f s"
        yield Table("The most that any recoding can keep, held out", columns, points, forms)
    for point in comparison.points:
        nearest = comparison.nearest(point)
        if point.best is None and nearest is not None:
            yield _none_holds(nearest)
    for row in comparison.unfit:
        under = "".join(f", {name} = {value:g}" for name, value in row.parameters.items())
        name = row.recoding + (under and under + ",")
        yield f"{name} cannot be fitted to the half: {row.reason}."


def _none_holds(nearest: Fit) -> str:
    """That no recoding holds a policy on the half held out, and what would change it."""
    held_out = nearest.held_out
    point = ", ".join(f"{name} = {value:g}" for name, value in nearest.parameters.items())
    share = held_out.records_broken / held_out.records
    breaks = "breaks" if held_out.broken == 1 else "break"
    none = (
        f"{f'Under {point} no' if point else 'No'} recoding holds the policy on the half held out, "
        f"so that none is best. Nearest is {nearest.recoding}"
    )
    if whole := [name for name in held_out.failing if not MODELS[name].per_class]:
        return (
            f"{none}: {' and '.join(whole)} {'fails' if len(whole) == 1 else 'fail'} there, of the "
            "table as a whole; that half would need coarser levels."
        )
    said = (
        f"{none}: {held_out.broken:,} of {held_out.classes:,} classes there {breaks} it, with "
        f"{share:.1%} of the records"
    )
    ways = {
        "min_records": "min-records = {:,} would have kept these classes from being formed",
        "suppression": "suppression = {:g} would have covered them",
    }
    found = [ways[name].format(value) for name, value in nearest.needs.items()]
    general = "a larger min-records or min-gain forms fewer and larger classes"
    return f"{said}; {' and '.join(found) or general}."


def _fit(fit: Fit, best: bool) -> list[object]:
    held_out = fit.held_out
    uncovered = f", {held_out.uncovered:,} uncovered" if held_out.uncovered else ""
    return [
        fit.recoding + (" *" if best else ""),
        *fit.parameters.values(),
        held_out.classes,
        *(f"{half.retained:.4f} ({half.miller_madow:.4f})" for half in (fit.fitted, held_out)),
        held_out.ceiling,
        share_of(held_out.loss, ".1%"),
        ("yes" if held_out.satisfied else "NO") + uncovered,
    ]


def estimates_report(found: "FileEstimate") -> Iterator[Block]:
    """Yield estimated counts and shares with their standard errors, and how to read them."""
    estimate = found.estimate
    about = found.of if found.by is None else f"{found.of} x {found.by}"
    title = f"{about}: {estimate.records:,} records before they were masked ({estimate.method})"
    if estimate.others is None:
        columns = [found.of, "records", "share", "standard error of the share"]
        errors = [None] * len(estimate.values)
        if estimate.standard_errors is not None:
            errors = estimate.standard_errors.tolist()
        texts = map(shown_label, estimate.values)
        rows = [*zip(texts, estimate.counts, estimate.shares, errors, strict=True)]
        yield Table(title, columns, rows, "s ,.1f .6f")
    else:
        columns = [found.of, *map(shown_label, estimate.others)]
        title += "" if estimate.standard_errors is None else ", +- standard error"
        yield Table(title, columns, [*_table(estimate)], "s ,.1f")
    if found.mean:
        most = " at the most" if found.mean.upper else ""
        yield (
            f"Mean of {found.of}: {found.mean.value:.6g} +- {found.mean.standard_error:.3g}{most}."
        )
    yield from _cautions(estimate)


def _table(estimate: "Estimate") -> Iterator[list[object]]:
    errors = estimate.standard_errors
    for place, value in enumerate(estimate.values):
        cells = [*estimate.counts[place]]
        if errors is not None:
            deviations = errors[place] * estimate.records
            pairs = zip(cells, deviations, strict=True)
            cells = [f"{count:,.1f} +- {deviation:,.1f}" for count, deviation in pairs]
        yield [shown_label(value), *cells]


def _cautions(estimate: "Estimate") -> Iterator[str]:
    """What has to be known to read the estimates."""
    if estimate.negative:
        yield (
            f"{estimate.negative} of {estimate.shares.size} estimates are negative: left as they "
            "are, since cut off they would be biased; their standard errors say how little they "
            "tell."
        )
    if estimate.standard_errors is not None:
        upper = ", and upper bounds" if estimate.upper else ""
        yield (
            f"Standard errors are of records masked independently of each other{upper}; they are "
            "about these records, not about a population."
        )
    fit = estimate.likelihood
    if fit is not None:
        state = "within" if fit.converged else "NOT CONVERGED: only known to be within"
        yield f"Log-likelihood {state} {fit.gap:.2g} of the largest possible."
    if not estimate.identified:
        rest = "only what is requested here can be estimated."
        if fit is not None:
            rest = "this is one of many tables that the release speaks for equally."
        yield f"The channel does not tell all values apart: {rest}"


MOST_CLASSES = 40
"""Classes that a table lists; JSON has all."""

MOST_FAILING = 8
"""Classes that are named of those that break a model."""


def figures_report(found: Figures) -> Iterator[Block]:
    """Yield what a recoding keeps about each attribute, and what each class tells."""
    gone = f", {found.suppressed:,} suppressed" if found.suppressed else ""
    holds = (
        "The policy holds."
        if found.satisfied
        else f"The policy does NOT hold: {', '.join(found.failing)}. Nothing can be released so."
    )
    yield (
        f"{found.name} ({found.recoding}): {found.records:,} records{gone} in "
        f"{plural(len(found.classes), 'class')}. {holds}"
    )
    yield _information(found.attributes)
    for about in found.attributes:
        yield _classes(found, about)
    if len(found.classes) > MOST_CLASSES:
        yield f"{len(found.classes) - MOST_CLASSES:,} classes more; --json lists all."
    yield from failure_lines(found)


def _information(attributes: Sequence[Attribute]) -> Table:
    """A row for each attribute."""
    rows = [
        [
            each.attribute,
            each.uncertainty,
            each.original,
            each.ceiling,
            each.retained,
            share_of(each.loss),
        ]
        for each in attributes
    ]
    columns = ["about W", "H(W)", "original, I(X;W)", "ceiling", "retained, I(X~;W)", "loss"]
    return Table("Information, in bits", columns, rows, "s .4f .4f .4f .4f s")


def _classes(found: Figures, about: Attribute) -> Table:
    """A row for each of the classes, in their order; of many the most telling ones.

    Where classes break the policy, a column says which.
    """
    places = range(len(found.classes))
    if len(found.classes) > MOST_CLASSES:
        telling = sorted(places, key=lambda place: -about.i1[place])[:MOST_CLASSES]
        places = sorted(telling)  # type: ignore[assignment]
    rows = [
        [
            found.classes[place] or HIDDEN,
            about.i1[place],
            about.i2[place],
            *(["FAILS" if about.failing[place] else ""] if any(about.failing) else []),
        ]
        for place in places
    ]
    title = f"What each class tells about {about.attribute}, in bits"
    one = "".join(f", {limit.name}" for limit in about.i1_limits[:1])
    two = "".join(f", {limit.name} ({limit.bits:.4f})" for limit in about.i2_limits[:1])
    columns = ["class", f"I1{one}", f"I2{two}", *(["policy"] if any(about.failing) else [])]
    return Table(title, columns, rows, "s .4f")


def failure_lines(found: Figures) -> Iterator[str]:
    """For each model that is broken: the classes, and by how much."""
    for _, alike in groupby(
        found.failures, key=lambda each: (each.model, each.required, each.attribute)
    ):
        failures = list(alike)
        first = failures[0]
        about = f" about {first.attribute}" if first.attribute else ""
        yield f"{found.name} fails {first.model} {first.required}{about}: {_listed(failures)}."


def _listed(failures: Sequence[Failure]) -> str:
    """The worst classes by name, and how many more there are."""
    named = [each for each in failures if each.group]
    hidden = [each for each in failures if not each.group]
    parts = [f"{each.group} has {_value(each)}" for each in named[:MOST_FAILING]]
    if len(named) > MOST_FAILING:
        parts.append(f"{len(named) - MOST_FAILING:,} classes more")
    if hidden:
        worst = "" if hidden[0].value is None else f", the worst with {_value(hidden[0])}"
        parts.append(f"{plural(len(hidden), 'class')} of {HIDDEN}{worst}")
    return "; ".join(parts)


def _value(failure: Failure) -> str:
    return "infinite" if failure.value is None else f"{failure.value:.4g}"


def schemes_report(found: SchemeComparison) -> Iterator[Block]:
    """Yield a row for each scheme, the best marked, and the classes that break the policy."""
    yield (
        f"Each scheme carried out on all {found.records:,} records. Information about "
        f"{', '.join(found.about)}, in bits."
    )
    if found.schemes:
        title = "* keeps most of those that satisfy the policy"
        if not found.best:
            title = "No scheme satisfies the policy"
        columns = ["scheme", "recoding", "classes", "original", "ceiling", "retained", "loss"]
        rows = [_scheme(each, each.name in found.best) for each in found.schemes]
        forms = "s s , .4f .4f .4f s s"
        yield Table(title, [*columns, "policy"], rows, forms)
    for each in found.schemes:
        yield from failure_lines(each)
    for failed in found.unreachable:
        yield f"{failed.name} ({failed.recoding}) finds nothing: {failed.reason}."


def _scheme(found: Figures, best: bool) -> list[object]:
    original = sum(each.original for each in found.attributes)
    return [
        found.name + (" *" if best else ""),
        found.recoding,
        len(found.classes),
        original,
        sum(each.ceiling for each in found.attributes),
        found.retained,
        share_of(lost(found.retained, original)),
        "holds" if found.satisfied else f"FAILS: {_broken(found)}",
    ]


def _broken(found: Figures) -> str:
    broken = [verdict for verdict in found.privacy if not verdict.satisfied]
    return ", ".join(f"{each.violating:,} on {each.model.name}" for each in broken)
