"""What attacks on releases found, as tables of text: counts alone, no value of anybody."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console

from anonymizer.privacy.query_loss import QueryLoss
from anonymizer.report.console import console, table_of
from anonymizer.report.verdicts import verdict_table
from anonymizer.risk.attacks import Guesses, Linkage, Minimality, Success
from anonymizer.risk.audit import Audit, Intersection, LinkedClasses, ReleaseAudit
from anonymizer.tables.values import counted

__all__ = ["print_audit"]


def print_audit(audit: Audit) -> None:
    """Print every attack on every release and on all together, and what it comes to."""
    out = console()
    for release in audit.releases:
        _print_release(out, release)
    if audit.intersection is not None:
        _print_intersection(out, audit.intersection, audit.releases)
    holds = "The policy holds" if audit.satisfied else "The policy does NOT hold"
    where = " in every release" + (" and in their intersection" if audit.intersection else "")
    out.print(f"{holds}{where if audit.satisfied else ''}.", soft_wrap=True)


def _print_release(out: Console, release: ReleaseAudit) -> None:
    out.print(
        f"{release.release}: {release.records:,} records in {release.classes:,} equivalence "
        f"classes; {counted(release.people, 'record')} of the original fit them.",
        soft_wrap=True,
    )
    out.print(verdict_table(release.privacy))
    out.print(_linkage(release.linkage))
    if release.inference:
        tried = {name: f"{right:,} of {of:,}" for name, (right, of) in release.guessed.items()}
        out.print(_inference(release.inference, tried))
    for line in _minimality(release.minimality):
        out.print(line, soft_wrap=True)
    loss = release.query_loss
    out.print(
        f"As an answer to whose record is where it costs {loss.average:.6f} bits on average, at "
        f"the most {loss.maximum:.6f} of {loss.uncertainty:.6f}.",
        soft_wrap=True,
    )
    levels = [
        [
            name,
            str(found.level),
            str(found.groups),
            f"{found.homogeneous_records:,}",
            f"{found.max_posterior:.4f}",
        ]
        for name, similar in release.similarity.items()
        for found in similar
    ]
    if levels:
        columns = ["about", "level", "groups", "records known for sure", "max posterior"]
        out.print(table_of("Similarity: alike values as one", columns, levels))


def _minimality(found: Minimality) -> Iterator[str]:
    """What knowing the policy and that the search is exact reveals."""
    if found.reason:
        yield f"Minimality, {found.method}: {found.reason.removeprefix('not applicable: ')}."
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


def _linkage(linkage: Linkage) -> object:
    rows = [_success("prosecutor", linkage.prosecutor)]
    if linkage.journalist is not None:
        rows.append(_success("journalist", linkage.journalist))
    rows.append(["marketer", "", f"{linkage.marketer:.4%}", "", ""])
    columns = ["attacker", "highest", "average", "records on average", "records for sure"]
    return table_of("Linkage with the original quasi-identifiers", columns, rows)


def _success(name: str, success: Success) -> list[str]:
    chances = [f"{success.highest:.4f}", f"{success.average:.4%}"]
    return [name, *chances, f"{success.expected:,.1f}", f"{success.certain:,}"]


def _inference(found: Mapping[str, Guesses], tried: Mapping[str, str]) -> object:
    columns = [
        "about",
        "known for sure",
        "max posterior",
        "likelier by",
        "records skewed",
        "guessed right",
        "without",
        "tried",
    ]
    rows = [
        [
            name,
            f"{each.homogeneous_records:,}",
            f"{each.max_posterior:.4f}",
            f"{each.max_gain:.4g} times",
            f"{each.skewed_records:,} ({each.skew:g} times)",
            f"{each.accuracy:.2%}",
            f"{each.baseline:.2%}",
            tried.get(name, "-"),
        ]
        for name, each in found.items()
    ]
    return table_of("Inference: homogeneity, skewness, Bayes-optimal guesses", columns, rows)


def _print_intersection(
    out: Console, found: Intersection, releases: Sequence[ReleaseAudit]
) -> None:
    if not found.membership_known:
        reach = f"{found.records_at_least:,} to {found.records_at_most:,}"
        out.print(
            "Intersection: an original holds more people than its release has records, so that it "
            f"is not known which of them are in all ({reach}), and the policy cannot be proven; "
            "give each release its own table with --against and --identifier.",
            soft_wrap=True,
        )
        return
    if found.in_all is None:
        out.print("Intersection: nobody is in all releases.")
    else:
        _print_linked(out, "in all releases", found.in_all)
        _print_attacks(out, found, releases)
    if found.in_some is not None:
        _print_linked(out, "in some releases only", found.in_some)


def _print_linked(out: Console, who: str, linked: LinkedClasses) -> None:
    same = "".join(
        f", {number:,} known for sure about {name}"
        for name, number in linked.homogeneous_records.items()
    )
    out.print(
        f"Intersection, {counted(linked.records, 'record')} {who}: in {linked.classes:,} classes; "
        f"{linked.singled_out:,} singled out{same}; the policy breaks for "
        f"{linked.failing_records:,}.",
        soft_wrap=True,
    )
    verdicts = verdict_table(linked.privacy)
    verdicts.title = f"Policy of all releases, held against records {who}"
    out.print(verdicts)


def _print_attacks(out: Console, found: Intersection, releases: Sequence[ReleaseAudit]) -> None:
    if found.linkage is not None:
        out.print(_linkage(found.linkage))
    if found.inference:
        out.print(_inference(found.inference, {}))
    rows = [
        [name, str(left.fewest), f"{left.one:,}", "-" if left.l is None else f"{left.fewer:,}"]
        for name, left in found.candidates.items()
    ]
    if rows:
        columns = ["about", "fewest values left", "left with one", "left with fewer than l"]
        out.print(table_of("Composition, records not linked", columns, rows))
    together = found.query_loss.together
    if together is not None:
        losses = zip([each.release for each in releases], found.query_loss.releases, strict=True)
        out.print(_losses([*losses, ("together", together)]))


def _losses(losses: Iterable[tuple[str, QueryLoss]]) -> object:
    rows = [
        [name, *(f"{bits:.6f}" for bits in (loss.average, loss.standard_deviation, loss.maximum))]
        for name, loss in losses
    ]
    columns = ["release", "average", "standard deviation", "maximum"]
    return table_of("Query loss of those in all releases, in bits", columns, rows)
