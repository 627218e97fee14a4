"""What a page rests on: a release as it was verified and recounted, and its pictures."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.counts.counting import recount
from anonymizer.counts.counts import Counts
from anonymizer.counts.persons import of_items
from anonymizer.counts.schema import Schema
from anonymizer.errors import InputError
from anonymizer.feedback.document import Drawing
from anonymizer.feedback.progress import Watch, ignore
from anonymizer.feedback.words import count, of_records, plural
from anonymizer.information.entropy import divergence, entropy
from anonymizer.information.matrices import largest
from anonymizer.kernels.arrays import Ints
from anonymizer.privacy import KAnonymity
from anonymizer.privacy.population.risks import Risk, prosecutor
from anonymizer.release.files import MANIFEST, home_of
from anonymizer.release.manifest import Manifest
from anonymizer.release.manifest.parts import steward_file
from anonymizer.release.study import Study
from anonymizer.release.verification.stored import released_at
from anonymizer.release.verification.verification import Verification, require_sound, verify_release
from anonymizer.risk.assessment import Assessment, assess_columns
from anonymizer.risk.audit import Audit, audit_files
from anonymizer.risk.downcoding import least_records
from anonymizer.risk.file import Subject
from anonymizer.tables import engine
from anonymizer.tables.engine import Tally
from anonymizer.utility.comparison import Comparison


@dataclass(frozen=True)
class InformationDisclosed:
    """What the classes of a table give away about one attribute, in bits, recounted.

    ``largest_i1`` and ``largest_i2`` are of the class that gives most away by either measure,
    ``mean`` is that over all people, which both have alike. ``values`` are the different values
    that occur, ``uncertainty`` is the doubt about them in the whole table, ``likeliest`` the share
    that the most frequent value has in the class where that is largest.
    """

    attribute: str
    values: int
    uncertainty: float
    largest_i1: float
    largest_i2: float
    mean: float
    likeliest: float


@dataclass(frozen=True)
class ReleasedAttribute:
    """What a released table has of one quasi-identifier: its labels, and records without one."""

    name: str
    labels: int
    hidden: int


@dataclass(frozen=True, eq=False)
class Evidence:
    """A release that holds: what its manifest says, and its table as it was recounted.

    ``steward``: whether the manifest is that of its steward, with the figures of the original
    table. ``original`` is then the risk of that table, and ``audit`` what attacks on the release
    found with it, where they were measured.
    """

    folder: Path
    manifest: Manifest
    table: Tally
    schema: Schema
    counts: Counts
    verification: Verification
    study: Study | None
    steward: bool = False
    original: Assessment | None = None
    audit: Audit | None = None

    @property
    def released(self) -> int:
        """The records of the released table."""
        return engine.records(self.table)

    @cached_property
    def sizes(self) -> Ints:
        """The people of each class, the smallest first."""
        return np.sort(self.counts.sizes[self.counts.sizes > 0])

    @property
    def date(self) -> str:
        """The day that the file of the manifest bears, in UTC."""
        written = (self.folder / MANIFEST).stat().st_mtime
        return datetime.fromtimestamp(written, UTC).date().isoformat()

    @property
    def average_size(self) -> float:
        """Records per class."""
        return self.released / len(self.sizes)

    @property
    def discernibility(self) -> int:
        """Records of the class of each record, itself included, summed: sum_g n_g^2."""
        return int(self.sizes @ self.sizes)

    @property
    def uniques(self) -> int:
        """People who are alone in their class."""
        return int((self.sizes == 1).sum())

    @property
    def unique_share(self) -> float:
        """The same as a share of all."""
        return self.uniques / self.released

    @property
    def least_protected(self) -> int:
        """People in classes of the smallest size."""
        return int(self.sizes[self.sizes == self.sizes[0]].sum())

    @property
    def undivided(self) -> int:
        """People in boxes that are large enough for two, where class sizes alone decide."""
        verdicts = self.manifest.privacy
        if any(each.model != KAnonymity.name for each in verdicts):
            return 0
        k = least_records(self.manifest.method, [each.privacy_model for each in verdicts])
        return 0 if k is None else int(self.sizes[self.sizes >= 2 * k].sum())

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """Those of the original, without a column that numbers classes."""
        known = self.manifest.recoding
        return tuple(name for name in self.schema.quasi_identifiers if name in known)

    @property
    def private(self) -> bool:
        """Whether it is a differentially private release, which reports no figure of the raw."""
        return self.manifest.private

    @cached_property
    def of_people(self) -> bool:
        """Whether a record may be taken for a person: none is known to have several."""
        warned = {each.code for each in self.manifest.warnings}
        return "repeated-identifier" not in warned and not self.persons

    @property
    def persons(self) -> bool:
        """Whether the policy is about persons, some of whom have several records."""
        return bool(self.manifest.person)

    @property
    def hides_persons(self) -> bool:
        """Whether it is, and the release does not show which rows are of one person."""
        return self.manifest.hides_persons

    @property
    def households(self) -> bool:
        """Whether a model of the policy is about households."""
        return any(each.by_withheld and not each.by_weights for each in self.manifest.privacy)

    @property
    def weighed(self) -> bool:
        """Whether the policy is about the people whom records stand for, by sampling weights."""
        return any(each.by_weights for each in self.manifest.privacy)

    def said(self, text: str) -> str:
        """A sentence about people; about records where people have several of them."""
        return text if self.of_people else of_records(text)

    def promised(self, text: str) -> str:
        """The same of what the policy is about: people, too, where it counts each person once."""
        return text if self.persons else self.said(text)

    @property
    def signed(self) -> bool:
        """Whether a signature lies next to the manifest."""
        return (self.folder / f"{MANIFEST}.sig").is_file()

    @cached_property
    def risk(self) -> Risk:
        """Of a person to be found by somebody who knows that they are in the table."""
        return prosecutor(self.sizes)

    @cached_property
    def disclosures(self) -> tuple[InformationDisclosed, ...]:
        """What classes give away about each sensitive attribute and target."""
        there = (name for name in self.schema.counted if self.counts.about(name).known.margin.sum())
        return tuple(map(self._disclosure, there))

    @cached_property
    def attributes(self) -> tuple[ReleasedAttribute, ...]:
        """What is released of each quasi-identifier."""
        return tuple(self._attribute(name) for name in self.quasi_identifiers)

    def labels_of(self, name: str) -> int:
        """The different labels of a quasi-identifier that occur."""
        return next(each.labels for each in self.attributes if each.name == name)

    @property
    def checks(self) -> Counter[str]:
        """How many fields of the manifest agree, by how they were checked."""
        return Counter(check.how for check in self.verification.checks if check.agrees)

    def _disclosure(self, name: str) -> InformationDisclosed:
        classes = self.counts.about(name).known
        classes = classes.select(classes.sizes > 0)
        ways = map(self.counts.about, of_items(name, self.counts.joint))
        by_item = [each.known.select(each.known.sizes > 0) for each in ways]
        uncertainty = float(entropy(classes.margin))
        first = divergence(classes.joint, classes.margin)
        second = uncertainty - entropy(classes.joint)
        return InformationDisclosed(
            name,
            int((classes.margin > 0).sum()),
            uncertainty,
            float(first.max()),
            float(second.max()),
            float(classes.sizes @ first / classes.sizes.sum()),
            max(float((largest(each.joint) / each.sizes).max()) for each in (classes, *by_item)),
        )

    def _attribute(self, name: str) -> ReleasedAttribute:
        hidden = engine.records_in(self.table, engine.all_equal(self.table, [name], "*"))
        return ReleasedAttribute(name, len(engine.distinct(self.table[name])[1]), hidden)


def _manifest(folder: Path, steward: bool) -> Manifest:
    """What a report is about: what may be given away, or what the steward has as well."""
    if not steward:
        return Manifest.read(folder / MANIFEST).public
    found = Manifest.of_steward(folder)
    if found is None:
        raise InputError(
            f"there is no {steward_file(folder)}, which has the figures of the original table; ask "
            "who made the release, or leave --steward out"
        )
    return found


def evidence_of(
    release: str | Path,
    study: Study | str | Path | None = None,
    *,
    key: str | Path | None = None,
    steward: bool = False,
    watch: Watch = ignore,
) -> Evidence:
    """Verify a release, and read and recount it for a report.

    ``release``: its directory, or the table in it. ``study``: that of the release, for what the
    manifest has a digest of alone. ``key``: the public key that has to have signed it.
    ``steward``: whether the report has the figures of the original table, from the file next to the
    release. ``watch`` is called with the progress.

    Raises
    ------
    InputError
        When table, manifest or study cannot be read, or there is no manifest about the table.
    PolicyBrokenError
        When the table is not what the manifest says, or breaks its policy.
    """
    path = Path(release)
    study = study if study is None or isinstance(study, Study) else Study(study)
    folder = home_of(path)
    if not path.exists():
        raise InputError(f"there is no {path}; give the directory that a run wrote")
    if not (folder / MANIFEST).exists():
        raise InputError(
            f"there is no {MANIFEST} in {folder}, which a report is about; give the directory that "
            "a run wrote"
        )
    manifest = _manifest(folder, steward)
    found = verify_release(folder, study, key=key, steward=steward, watch=watch)
    require_sound(path, found, "there is nothing to report")
    place = manifest.table_at(folder if path.name == MANIFEST else path)
    schema = manifest.roles
    with released_at(place, manifest, watch) as stored:
        table = stored.tally(schema.columns)
    counts = recount(table, schema)
    return Evidence(folder, manifest, table, schema, counts, found, study, steward)


def with_original(evidence: Evidence, watch: Watch = ignore) -> Evidence:
    """The same with the risk of the original table and attacks, where its steward names the study.

    Of a differentially private release none is measured: its guarantee is about every figure.
    InputError when the table cannot be read, or is not the one that the release was made of.
    """
    study, manifest = evidence.study, evidence.manifest
    if study is None or not evidence.steward or evidence.private:
        return evidence
    subject = Subject.of_study(study, study.data_path)
    with subject.measured(watch, respell=True) as measured:
        found = assess_columns(measured.table, subject.schema, watch, subject.privacy)
    records = found.reidentification.records + (manifest.dropped or 0)
    if records != manifest.records:
        raise InputError(
            f"{study.data_path} is not the table that the release was made of: it has "
            f"{plural(records, 'record')}, and the release says {count(manifest.records)}; name "
            "the study of that table, or leave --study out"
        )
    audit = audit_files([evidence.folder], [study.data_path], studies=[study], watch=watch)
    return replace(evidence, original=found, audit=audit)


def pictures_drawn() -> bool:
    """Whether pictures can be drawn: matplotlib is installed."""
    return find_spec("matplotlib") is not None


@dataclass(frozen=True, eq=False)
class Pictures:
    """Draws what a release can show, in a theme of ``report.plots``; nothing without a theme."""

    evidence: Evidence
    theme: str | None

    @classmethod
    def of(cls, evidence: Evidence, theme: str | None) -> "Pictures":
        """Pictures of a release in a theme, if one is given and matplotlib is installed."""
        return cls(evidence, theme if pictures_drawn() else None)

    def information(self) -> Iterator[Drawing]:
        """Information original, retained, ceiling."""
        yield from self._release("information_picture", "Information before and after")

    def classes(self) -> Iterator[Drawing]:
        """I1 and I2 of each class against t and l."""
        yield from self._release("classes_picture", "What each class gives away")

    def sizes(self) -> Iterator[Drawing]:
        """How large classes are."""
        yield from self._release("sizes_picture", "Sizes of classes")

    def lattice(self) -> Iterator[Drawing]:
        """The lattice with its frontier."""
        yield from self._release("lattice_picture", "The lattice of levels and its frontier")

    def attribute(self, name: str) -> Iterator[Drawing]:
        """An attribute as it is released; none where every record has the same label."""
        if self.evidence.labels_of(name) > 1:
            yield from self._release("attribute_picture", f"{name}, as it is released", name=name)

    def comparison(self, comparison: Comparison) -> Iterator[Drawing]:
        """Recodings side by side."""
        if comparison.fits:
            yield from self._drawn("comparison_picture", "Recodings compared", comparison)

    def _release(self, drawn: str, caption: str, **options: str) -> Iterator[Drawing]:
        """A picture of the release; none where it has nothing to draw."""
        parts = self.evidence.manifest, self.evidence.table
        yield from self._drawn(drawn, caption, *parts, **options)

    def _drawn(self, drawn: str, caption: str, *parts: Any, **options: str) -> Iterator[Drawing]:
        if self.theme is None:
            return
        plots = import_module("anonymizer.report.plots.release")  # needs matplotlib
        draw: Callable[..., Any] = partial(getattr(plots, drawn), *parts, **options)
        figure = draw(theme=self.theme)
        if figure is not None:
            yield Drawing(plots.svg_of(figure), caption)
