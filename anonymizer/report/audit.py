"""Tables of what attacks on releases found: counts alone, no value of anybody."""

from collections.abc import Iterator, Mapping, Sequence

from anonymizer.feedback.document import Block, Table
from anonymizer.feedback.words import plural
from anonymizer.release.files import MANIFEST
from anonymizer.report.release import verdict_table
from anonymizer.risk.attacks import Guesses, Linkage, Minimality
from anonymizer.risk.audit import Audit, Intersection, LinkedClasses, ReleaseAudit

SHOWN = 4
"""Fields of a manifest that are named."""


def audit_report(audit: Audit) -> Iterator[Block]:
    """Yield every attack on every release and on all together, and whether the policy holds."""
    for release in audit.releases:
        yield from _release(release)
    if audit.intersection is not None:
        yield from _intersection(audit.intersection, audit.releases)
    yield from _conclusion(audit)


def _conclusion(audit: Audit) -> Iterator[str]:
    """Whether the policy holds, against whom, and what is not known."""
    if not audit.holds:
        yield "The policy does NOT hold."
        return
    where = "in every release" + (" and in their intersection" if audit.intersection else "")
    who = "somebody who knows the study and that its search is exact"
    if audit.repeated:
        yield (
            "It is a policy about records: not examined is what is disclosed of people who have "
            f"several of them, by {', '.join(map(repr, audit.repeated))}."
        )
    if audit.figures:
        yield f"The policy holds {where}, but does NOT hold against {_reader(audit.figures)}"
    if audit.beyond:
        yield (
            f"The policy holds {where}, but does NOT hold against {who}: what he can infer "
            f"about {plural(audit.beyond, 'record')} is beyond it."
        )
    elif audit.unexamined:
        if not audit.figures:
            yield f"The policy holds {where} against readers of what is released."
        yield f"Not examined is what {who} can infer: {'; '.join(audit.unexamined)}."
    elif not audit.figures:
        yield f"The policy holds {where}, also against {who}."


def _reader(figures: Sequence[str]) -> str:
    """Who reads a manifest that has figures of the raw table, and how that is mended."""
    shown = ", ".join([*figures[:SHOWN], *(["..."] if len(figures) > SHOWN else [])])
    return (
        f"somebody who reads {plural(len(figures), 'figure')} of the original table in {MANIFEST} "
        f"({shown}): with a register of quasi-identifiers they tell values of people. Make the "
        "release again: these figures then go to its steward's file."
    )


def _release(release: ReleaseAudit) -> Iterator[Block]:
    yield (
        f"{release.release}: {release.records:,} records in {release.classes:,} equivalence "
        f"classes; {plural(release.people, 'record')} of the original fit them."
    )
    if release.random:
        yield (
            "Values were drawn at random: a person is found by what was drawn for them. Who knows "
            "true values and the channel may infer more of a group: see `anonymizer estimate`."
        )
    yield verdict_table(release.privacy)
    yield _linkage(release.linkage)
    if release.inference:
        tried = {name: f"{right:,} of {of:,}" for name, (right, of) in release.guessed.items()}
        yield _inference(release.inference, tried)
    yield from _minimality(release.minimality)
    loss = release.query_loss
    yield (
        f"As an answer to whose record is where it costs {loss.average:.6f} bits on average, at "
        f"the most {loss.maximum:.6f} of {loss.uncertainty:.6f}."
    )
    levels = [
        [name, found.level, found.groups, found.homogeneous_records, found.max_posterior]
        for name, similar in release.similarity.items()
        for found in similar
    ]
    if levels:
        columns = ["about", "level", "groups", "records known for sure", "max posterior"]
        yield Table("Similarity: alike values as one", columns, levels, "s s s , .4f")


def _minimality(found: Minimality) -> Iterator[str]:
    """What knowing the policy and that the search is exact reveals."""
    if found.reason:
        yield f"Minimality, {found.method}: {found.why}."
    if found.probability_below is not None:
        yield f"It holds with a probability below {found.probability_below:.4g}."
    if found.probability is None:
        return
    if not found.reveals:
        yield "Minimality: that no finer release satisfied the policy reveals nothing."
        return
    sampled = f", give or take {found.standard_error:.4f}" if found.draws else ""
    yield (
        "Minimality: no finer release satisfied the policy, which leaves a share of "
        f"{found.probability:.4g} of all ways to deal out the values of the classes. The largest "
        f"posterior is {found.largest_posterior:.4f}{sampled}, not {found.largest_share:.4f}; a "
        f"value gets {found.factor:.4g} times likelier at the most. Raised: "
        f"{found.records_raised:,} records; beyond the policy: {found.records_breached:,}."
    )


def _linkage(linkage: Linkage) -> Table:
    attackers = {"prosecutor": linkage.prosecutor, "journalist": linkage.journalist}
    rows: list[list[object]] = [
        [name, success.highest, success.average, success.expected, success.certain]
        for name, success in attackers.items()
        if success is not None
    ]
    rows.append(["marketer", "", linkage.marketer, "", ""])
    columns = ["attacker", "highest", "average", "records on average", "records for sure"]
    title = "Linkage with the original quasi-identifiers"
    return Table(title, columns, rows, "s .4f .4% ,.1f ,")


def _inference(found: Mapping[str, Guesses], tried: Mapping[str, str]) -> Table:
    rows = []
    for name, each in found.items():
        gain = f"{each.max_gain:.4g} times"
        skewed = f"{each.skewed_records:,} ({each.skew:g} times)"
        guesses = [each.accuracy, each.baseline, tried.get(name)]
        rows.append([name, each.homogeneous_records, each.max_posterior, gain, skewed, *guesses])
    title = "Inference: homogeneity, skewness, Bayes-optimal guesses"
    known = ["known for sure", "max posterior", "likelier by", "records skewed"]
    columns = ["about", *known, "guessed right", "without", "tried"]
    return Table(title, columns, rows, "s , .4f s s .2% .2% s")


def _intersection(found: Intersection, releases: Sequence[ReleaseAudit]) -> Iterator[Block]:
    if not found.membership_known:
        reach = f"{found.records_at_least:,} to {found.records_at_most:,}"
        yield (
            "Intersection: an original holds more people than its release has records, so that it "
            f"is not known which of them are in all ({reach}), and the policy cannot be proven; "
            "give each release its own table with --against and --identifier."
        )
        return
    if found.in_all is None:
        yield "Intersection: nobody is in all releases."
    else:
        yield from _linked("in all releases", found.in_all)
        yield from _attacks(found, releases)
    if found.in_some is not None:
        yield from _linked("in some releases only", found.in_some)


def _linked(who: str, linked: LinkedClasses) -> Iterator[Block]:
    same = "".join(
        f", {number:,} known for sure about {name}"
        for name, number in linked.homogeneous_records.items()
    )
    yield (
        f"Intersection, {plural(linked.records, 'record')} {who}: in {linked.classes:,} classes; "
        f"{linked.singled_out:,} singled out{same}; the policy breaks for "
        f"{linked.failing_records:,}."
    )
    yield verdict_table(linked.privacy, f"Policy of all releases, held against records {who}")


def _attacks(found: Intersection, releases: Sequence[ReleaseAudit]) -> Iterator[Block]:
    if found.linkage is not None:
        yield _linkage(found.linkage)
    if found.inference:
        yield _inference(found.inference, {})
    rows = [
        [name, left.fewest, left.one, None if left.l is None else left.fewer]
        for name, left in found.candidates.items()
    ]
    if rows:
        columns = ["about", "fewest values left", "left with one", "left with fewer than l"]
        yield Table("Composition, records not linked", columns, rows, "s s ,")
    together = found.query_loss.together
    if together is not None:
        names = [*(str(release.release) for release in releases), "together"]
        losses = zip(names, [*found.query_loss.releases, together], strict=True)
        bits = [
            [name, loss.average, loss.standard_deviation, loss.maximum] for name, loss in losses
        ]
        columns = ["release", "average", "standard deviation", "maximum"]
        title = "Query loss of those in all releases, in bits"
        yield Table(title, columns, bits, "s .6f")
