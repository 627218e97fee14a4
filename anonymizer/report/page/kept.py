"""What a release keeps: information, per class and on average, and other measures of use."""

from collections.abc import Iterable, Iterator, Sequence
from math import log2

from anonymizer.feedback.words import UNKNOWN, bits, count, listed, number, share
from anonymizer.objectives import OBJECTIVES
from anonymizer.release.manifest.figures import ReportedInformation, ReportedVerdict
from anonymizer.report.page.document import (
    Block,
    Heading,
    Paragraph,
    ReportSection,
    ReportTable,
    TermList,
)
from anonymizer.report.page.evidence import Evidence, InformationDisclosed
from anonymizer.report.page.pictures import Pictures

ROWS = (
    ("retained", "Retained by the release, I(X~;W)"),
    ("miller_madow", "Retained, corrected for small classes (Miller and Madow)"),
)
"""The measures of information that a release has, in words."""

OF_STEWARD = (
    ("original", "In the original: what the quasi-identifiers say of it, I(X;W)"),
    ("ceiling", "Ceiling: the most that any release under this policy can keep"),
    ("gap", "Between what is retained and the ceiling"),
    ("shuffled", "In the original by chance alone, with W dealt out anew"),
    ("retained_above_shuffled", "Retained above what chance alone would show"),
)
"""Those that are about the original table."""

LOSSES = (
    ("loss", "Lost of the original"),
    ("loss_above_shuffled", "Lost, chance taken off on both sides"),
)


def kept_section(evidence: Evidence, pictures: Pictures) -> ReportSection:
    """Information about sensitive attributes and targets, in sentences and figures."""
    blocks: list[Block] = []
    manifest = evidence.manifest
    if manifest.information:
        about = listed(evidence.schema.sensitive)
        blocks += _about(manifest.information, about)
        blocks += pictures.information()
    for name, information in manifest.targets.items():
        blocks += _about(information, name)
    if not blocks:
        blocks.append(
            Paragraph(
                "The release has no sensitive attribute and no target, so that no information "
                "about one was measured."
            )
        )
    blocks += _classes(evidence, pictures)
    blocks += _uses(evidence)
    return ReportSection("kept", "What is kept", blocks)


def _about(information: ReportedInformation, about: str) -> list[Block]:
    """What is kept of the information about some attributes."""
    rows = [(words, bits(getattr(information, name))) for name, words in ROWS]
    if information.original is not None:
        rows += [(words, bits(getattr(information, name))) for name, words in OF_STEWARD]
        rows += [(words, share(getattr(information, name))) for name, words in LOSSES]
    return [
        Heading(f"Information about {about}"),
        *map(Paragraph, _sentences(information, about)),
        ReportTable(f"Information about {about}", ("Measure", "Value"), rows, numeric=(1,)),
    ]


def _sentences(information: ReportedInformation, about: str) -> Iterator[str]:
    """The same for readers who are no statisticians."""
    if information.original is None or information.ceiling is None:
        yield (
            f"In the release the quasi-identifiers of a person give {bits(information.retained)} "
            f"about {about}. What they gave before is known to its steward alone, since an exact "
            "figure of the original table would tell values of people."
        )
        return
    yield (
        f"Before, the quasi-identifiers of a person gave {bits(information.original)} about "
        f"{about}. In the release they give {bits(information.retained)}. No release under this "
        f"policy can give more than {bits(information.ceiling)}."
    )
    if information.loss is None:
        yield "There was no information to lose."
    else:
        yield (
            f"So {share(information.loss)} of it is lost. Small classes seem to say more than "
            "they do, which inflates what there was before: with chance taken off on both sides "
            f"the loss is {_shown_share(information.loss_above_shuffled)}."
        )


def _shown_share(value: float | None) -> str:
    """A share, or why there is none."""
    within = f"{UNKNOWN}, since what was there is within what chance alone would show"
    return within if value is None else share(value)


def _classes(evidence: Evidence, pictures: Pictures) -> Iterator[Block]:
    """I1 and I2 of the classes against t and l."""
    if not evidence.disclosures:
        return
    yield Heading("Class by class")
    yield Paragraph(
        "I1 is how far the values in a class are from those of the whole table, which t-closeness "
        "bounds. I2 is how much less doubt a class leaves than the whole table, which entropy "
        "l-diversity bounds by H(W) - log l; it is negative where a class leaves more doubt. Both "
        "have the same mean over all records. They were computed from the released table."
    )
    columns = ("Attribute", "Largest I1", "t", "Largest I2", "H(W) - log l", "Mean", "H(W)")
    rows = [_row(each, evidence.manifest.privacy) for each in evidence.disclosures]
    caption = "What the class that gives most away gives, in bits, against the policy"
    yield ReportTable(caption, columns, rows, numeric=range(1, len(columns)))
    yield from pictures.classes()


def _row(disclosure: InformationDisclosed, policy: Sequence[ReportedVerdict]) -> tuple[str, ...]:
    """An attribute in seven cells."""
    about = [verdict for verdict in policy if verdict.attribute == disclosure.attribute]
    closest = min(_parameters(about, "t-closeness", "t", "distance", "kl"), default=None)
    most = max(_parameters(about, "entropy-l-diversity", "l", "estimator", "plug-in"), default=None)
    return (
        disclosure.attribute,
        number(disclosure.largest_i1),
        "-" if closest is None else number(closest),
        number(disclosure.largest_i2),
        "-" if most is None else number(disclosure.uncertainty - log2(most)),
        number(disclosure.mean),
        number(disclosure.uncertainty),
    )


def _parameters(
    policy: Iterable[ReportedVerdict], model: str, name: str, option: str, value: str
) -> list[float]:
    """A parameter of the models of a policy that have a name, and an option."""
    alike = [each for each in policy if each.model == model]
    return [each.parameters[name] for each in alike if each.parameters.get(option) == value]


def _uses(evidence: Evidence) -> Iterator[Block]:
    """What can be measured of the use of a release from it alone."""
    search, loss = evidence.manifest.search, evidence.manifest.query_loss
    yield Heading("Other measures of use")
    items = [
        ("Average class size, records", number(evidence.average_size)),
        ("Discernibility: the sum of squared class sizes", count(evidence.discernibility)),
        (
            "What the class of a record tells about which record it is, on average",
            f"{bits(loss.average)} of {bits(loss.uncertainty)}",
        ),
    ]
    if search.value is not None and search.objective in OBJECTIVES:
        items.append((f"The objective, {search.objective}", number(search.value)))
    yield TermList(items)
