"""Measures of a whole release: what its groups and classes leave open.

All are of the original records, each as the release shows it; suppressed records, left out or not,
count as fully generalized. Each stands between what it is of the original table and what it would
be with everything suppressed, and is normalized to 1 and 0 there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite

import numpy as np

from anonymizer.counts.counts import Counts
from anonymizer.counts.multidimensional import CLASS
from anonymizer.counts.pairs import row_keys
from anonymizer.hierarchy import Partition, Taxonomy
from anonymizer.information.entropy import entropy
from anonymizer.kernels.arrays import Codes, Floats, Mask
from anonymizer.objectives import (
    AverageClassSize,
    Discernibility,
    Loss,
    NonUniformEntropy,
    Precision,
)
from anonymizer.release.results import as_json
from anonymizer.utility.labels import PairedAttribute
from anonymizer.utility.numbers import numbers_of_values
from anonymizer.utility.pairing import Pairing

Costs = Callable[[Taxonomy, Partition, Floats], Floats]


@dataclass(frozen=True)
class Measure:
    """A quantity of a release, with its extremes."""

    value: float
    original: float  # that of the original table
    suppressed: float  # that with every record suppressed
    unit: str  # what it is counted in
    attributes: Mapping[str, "Measure"] = field(default_factory=dict)  # its parts, where it has any

    @property
    def normalized(self) -> float:
        """1 - (value - original) / (suppressed - original); 1 where there is nothing to lose.

        1: as the original; 0: as if everything were suppressed.
        """
        span = self.suppressed - self.original
        return 1 - (self.value - self.original) / span if span else 1.0

    def to_dict(self) -> dict[str, object]:
        """Return the measure for JSON; None for what is beyond a floating point number."""
        numbers = ("value", "original", "suppressed", "normalized")
        found = {name: getattr(self, name) for name in numbers}
        own = {name: number if isfinite(number) else None for name, number in found.items()}
        parts = {"attributes": as_json(self.attributes)} if self.attributes else {}
        return {**own, "unit": self.unit, **parts}


SPREADS = ("attribute-squared-error", "record-squared-error")

OF_PAIRS = ("changed-values", "non-uniform-entropy", *SPREADS)
"""Measures of what each record was, and is released as; the others are of counts.

Entropy is one where values were drawn: else it is what all labels leave open, less what all values
do.
"""


def measures_of(pairing: Pairing) -> dict[str, Measure | None]:
    """Return every measure by its name; None where it is not defined for this release."""
    measures: dict[str, Callable[[Pairing], Measure | None]] = {
        **({"changed-values": changed_values} if pairing.random else {}),
        "non-uniform-entropy": non_uniform_entropy,
        "granularity": granularity,
        "generalization-intensity": generalization_intensity,
        "discernibility": discernibility,
        "average-class-size": average_class_size,
        "ambiguity": ambiguity,
        "log-ambiguity": log_ambiguity,
        "attribute-squared-error": attribute_squared_error,
        "record-squared-error": record_squared_error,
    }
    lost = _lost(pairing)
    return {name: None if name in lost else of(pairing) for name, of in measures.items()}


def _lost(pairing: Pairing) -> Sequence[str]:
    if not pairing.mixed:
        return ()
    return OF_PAIRS if pairing.random else SPREADS


def why_undefined(name: str, pairing: Pairing) -> str:
    """Say why a measure is not defined for a release."""
    if name in _lost(pairing):
        return (
            "records are in random order, and values were drawn or classes overlap, so that none "
            'is known to be of its record; measure a release with order = "kept" in [output]'
        )
    if name in SPREADS:
        return "no quasi-identifier is ordered"
    if pairing.random:
        return "values were drawn at random, so that none holds of its record for certain"
    return "labels are ranges or groups of their own, which are at no level of a hierarchy"


def changed_values(pairing: Pairing) -> Measure:
    """Mean share of cells whose drawn value is not what the record's own value generalizes to.

    The realised Hamming distortion of the joint counts, 0 to 1; 0 in the original.
    """
    unit = "share of cells"
    parts = {
        name: Measure(float((a.groups != a.recoded).mean()), 0.0, 1.0, unit)
        for name, a in pairing.attributes.items()
    }
    return _together(parts, unit, len(parts))


def non_uniform_entropy(pairing: Pairing) -> Measure:
    """Sum over attributes of H(X_i | X~_i), in bits per record.

    -log2(records of the value / records of the group), both of the original table, averaged over
    records (de Waal, Willenborg 1999; Gionis, Tassa 2009). The group of a box or of merged cells is
    all values that the record's own label stands for. Of values drawn at random it is H(X_i | X~_i)
    of the joint counts of original and released values (Kooiman, Willenborg, Gouweleeuw 1997).
    """
    unit = "bits per record"
    if pairing.random:
        parts = {name: _of_joint(a, unit) for name, a in pairing.attributes.items()}
        return _together(parts, unit, 1)
    return _attribute_wise(pairing, NonUniformEntropy().costs, unit, mean=False)


def granularity(pairing: Pairing) -> Measure | None:
    """Mean over cells of the share of its domain that a cell leaves open, 0 to 1 (Iyengar 2002).

    Normalized it is the granularity, 1 - mean loss (less attributes of a single value, which have
    nothing to lose). None where values were drawn: they hold of no record for certain.
    """
    return None if pairing.random else _attribute_wise(pairing, Loss().costs, "loss per cell")


def generalization_intensity(pairing: Pairing) -> Measure | None:
    """Mean over cells of level / height of the hierarchy, 0 to 1 (Sweeney 2002).

    Normalized it is the precision, 1 - mean level / height. None where a quasi-identifier is
    released in ranges of its own, which are at no level.
    """
    if not all(attribute.level for attribute in pairing.attributes.values()):
        return None
    return _attribute_wise(pairing, Precision().costs, "level / height per cell")


def log_ambiguity(pairing: Pairing) -> Measure | None:
    """Mean over records of log2 of the tuples that a record may have been, in bits.

    The sum over attributes of log2 of the number of values in the record's group: what is open
    when every value of a group is as likely.
    """

    def bits(taxonomy: Taxonomy, level: Partition, records: Floats) -> Floats:
        sizes: Floats = np.bincount(level.groups).astype(float)[level.groups]
        return np.log2(sizes)

    if pairing.random:
        return None
    return _attribute_wise(pairing, bits, "bits per record", mean=False)


def ambiguity(pairing: Pairing) -> Measure | None:
    """Mean over records of the number of tuples of the original domain that a record may have been.

    The product over attributes of the number of values in the record's group (Goldberger, Tassa
    2010), values being those that the hierarchy lists, else those that occur. Beyond the range of
    floating point numbers only its logarithm says something. None where values were drawn.
    """
    if pairing.random:
        return None
    bits, most = np.zeros(len(pairing)), 0.0
    for attribute in pairing.attributes.values():
        most += np.log2(attribute.values)
        bits += np.log2(attribute.sizes)[attribute.groups]
    bits[pairing.suppressed] = most
    with np.errstate(over="ignore"):
        value, suppressed = float(np.exp2(bits).mean()), float(np.exp2(most))
    return Measure(value, 1.0, suppressed, "tuples per record")


def discernibility(pairing: Pairing) -> Measure:
    """Sum of n_g^2, suppressed records counting N each (Bayardo, Agrawal 2005)."""
    records, hidden = len(pairing), int(pairing.suppressed.sum())
    kept, raw = _classes(pairing)
    score = Discernibility()
    value = float(hidden * records - score(kept))
    return Measure(value, -score(raw), float(records**2), "records squared")


def average_class_size(pairing: Pairing) -> Measure:
    """Records per class, those suppressed being one (LeFevre, DeWitt, Ramakrishnan 2006)."""
    records = len(pairing)
    kept, raw = _classes(pairing)
    score = AverageClassSize()
    classes = score(kept) + bool(pairing.suppressed.any())
    value, original = (score.quantity(found, records) for found in (classes, score(raw)))
    return Measure(value, original, float(records), "records per class")


def attribute_squared_error(pairing: Pairing) -> Measure | None:
    """Mean over ordered attributes of SSE / SST, each value standing for the mean of its group.

    SSE = sum over records of (x - mean of x over the records released with the same label)^2, for
    suppressed records the mean of all; SST the same with everything suppressed. 0 to 1; parts are
    SSE / N in the attribute's own unit, squared. Missing values count in neither. None without an
    ordered attribute.
    """
    return _squared_error(pairing, {name: a.groups for name, a in pairing.attributes.items()})


def record_squared_error(pairing: Pairing) -> Measure | None:
    """Mean SSE / SST, each value standing for the mean of the record's equivalence class.

    SSE / SST as microaggregation has it (Domingo-Ferrer, Mateo-Sanz 2002), attributes standardized
    by their SST.
    """
    classes = np.unique(row_keys(pairing.cells), return_inverse=True)[1]
    return _squared_error(pairing, dict.fromkeys(pairing.attributes, classes))


def _attribute_wise(pairing: Pairing, costs: Costs, unit: str, mean: bool = True) -> Measure:
    parts = {name: _of_attribute(a, costs, unit) for name, a in pairing.attributes.items()}
    return _together(parts, unit, len(parts) if mean else 1)


def _of_attribute(attribute: PairedAttribute, costs: Costs, unit: str) -> Measure:
    levels, records = attribute.taxonomy.levels, attribute.records
    raw = costs(attribute.taxonomy, levels[0], records)
    whole = costs(attribute.taxonomy, levels[-1], records)
    value = 0.0
    for partition, own in attribute.parts:
        shown = costs(attribute.taxonomy, partition, records)
        value += float(own @ shown)
    if attribute.suppressed.any():  # of one partition alone
        hidden = np.bincount(attribute.codes[attribute.suppressed], minlength=attribute.values)
        # In this order it is exactly the whole where the recoding alone hides every value.
        value += float(hidden @ (whole - shown))
    sums = np.array([value, records @ raw, records @ whole])
    value, original, suppressed = (sums / records.sum()).tolist()
    return Measure(value, original, suppressed, unit)


def _of_joint(attribute: PairedAttribute, unit: str) -> Measure:
    """Return H(X | X~) of the joint counts of original values and labels."""
    pairs = np.column_stack([attribute.codes, attribute.groups])
    joint = np.unique(pairs, axis=0, return_counts=True)[1].astype(float)
    labels = np.bincount(attribute.groups).astype(float)
    total = float(entropy(attribute.records))
    value = float(entropy(joint) - entropy(labels))
    return Measure(min(max(value, 0.0), total), 0.0, total, unit)


def _together(parts: Mapping[str, Measure], unit: str, scale: float) -> Measure:
    extremes = zip(*((p.value, p.original, p.suppressed) for p in parts.values()), strict=True)
    value, original, suppressed = (sum(each) / scale for each in extremes)
    return Measure(value, original, suppressed, unit, parts)


def _classes(pairing: Pairing) -> tuple[Counts, Counts]:
    """Return the classes of the records not suppressed, and those of the original table."""
    values = np.column_stack([a.codes for a in pairing.attributes.values()])
    ones = np.ones(len(values), np.int64)
    shown = ~pairing.suppressed
    names = tuple(pairing.attributes)
    columns = (*names, *(() if pairing.class_of is None else (CLASS,)))
    kept = Counts.of(columns, pairing.cells[shown], ones[shown], {})
    return kept, Counts.of(names, values, ones, {})


def _squared_error(pairing: Pairing, groups: Mapping[str, Codes]) -> Measure | None:
    """Mean SSE / SST over the ordered attributes, values standing for the mean of their groups."""
    parts = {}
    for name, attribute in pairing.attributes.items():
        numbers = numbers_of_values(attribute.taxonomy)
        if numbers is not None:
            parts[name] = _spread(numbers[attribute.codes], groups[name], pairing.suppressed)
    if not parts:
        return None
    shares = {
        name: Measure(1 - part.normalized, 0.0, float(part.suppressed > 0), "SSE / SST")
        for name, part in parts.items()
    }
    return replace(_together(shares, "SSE / SST", len(shares)), attributes=parts)


def _spread(numbers: Floats, groups: Codes, suppressed: Mask) -> Measure:
    """Return SSE / N of numbers about the means of their groups, and about the mean of all."""
    known = ~np.isnan(numbers)
    x, group, hidden = numbers[known], groups[known], suppressed[known]
    about_all = (x - x.mean()) ** 2 if len(x) else x
    shown = x[~hidden]
    sizes = np.bincount(group[~hidden])
    means = np.bincount(group[~hidden], shown) / np.maximum(sizes, 1)
    error = float(((shown - means[group[~hidden]]) ** 2).sum() + about_all[hidden].sum())
    records, most = max(len(x), 1), float(about_all.sum())
    return Measure(error / records, 0.0, most / records, "squared units per record")
