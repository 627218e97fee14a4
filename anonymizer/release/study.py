"""Study files: what to anonymize, under which policy, as TOML; and schemes, which vary a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from anonymizer.errors import InputError, did_you_mean, near_file, shown, suggestion
from anonymizer.feedback.progress import Watch
from anonymizer.hierarchy import Hierarchy
from anonymizer.privacy import PrivacyModel
from anonymizer.profiling import TableProfile
from anonymizer.profiling.profile import Raw
from anonymizer.release.anonymizer import Anonymizer
from anonymizer.release.description import Description
from anonymizer.release.document import (
    Document,
    StudyDocument,
    parse_document,
    parsed_study,
    require_study,
    validated,
)
from anonymizer.release.drafting import DraftOptions, StudyProposal
from anonymizer.release.place import STUDY_FILE
from anonymizer.release.pseudonyms import PseudonymKey
from anonymizer.tables.reading import STUDY, read_whole


class Study(Description):
    """A study file, read and checked; paths in it are relative to it.

    Raises
    ------
    InputError
        When the file cannot be read or says something it cannot; the message names the file, the
        section and the key.
    """

    @classmethod
    def parsed(cls, text: str, path: str | Path) -> Study:
        """The study of a text, as if it stood in a file: paths in it are relative to ``path``."""
        return cls(StudyDocument(Path(path), parse_document(text, Path(path))))

    def of_table(self, path: Path) -> Study:
        """The same study of another table, which lies at a path from here."""
        given = self.document.data.model_copy(update={"path": str(path.absolute())})
        return Study(StudyDocument(self.path, self.document.model_copy(update={"data": given})))

    @staticmethod
    def draft(
        table: pd.DataFrame,
        *,
        k: int | None = None,
        quasi_identifiers: Sequence[str] | None = None,
        sensitive: Sequence[str] | None = None,
        identifiers: Sequence[str] | None = None,
        insensitive: Sequence[str] | None = None,
        person: str | Sequence[str] | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> Draft:
        """Draft a study for a raw table, in memory: roles, hierarchies and a first policy.

        It runs as it stands, has the commented file as ``text``, and is written by ``write``. What
        is given is kept to, the rest is proposed. ``person`` are the columns that tell whose each
        record is, ``[]`` where each is of a person of its own. ``data`` is its ``[data]`` section:
        the ``path`` of the table, ``table.csv`` by default, and how it is read.

        Raises InputError when the table cannot be profiled: see ``profile``.

        >>> from anonymizer import load_census
        >>> study = Study.draft(load_census()[["age", "sex", "race", "salary-class"]])
        >>> list(study.hierarchies), study.schema.sensitive
        (['age', 'sex', 'race'], ('salary-class',))
        """
        wishes = DraftOptions(k, quasi_identifiers, sensitive, identifiers, person, insensitive)
        return draft(table, wishes, data)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all that is requested, as a manifest has it."""
        return self.anonymizer().fingerprint

    def anonymizer(self, n_jobs: int | None = None, progress: Watch | None = None) -> Anonymizer:
        """The estimator that the study describes."""
        search = self.document.search
        return Anonymizer(
            quasi_identifiers=self.hierarchies,
            sensitive=self.schema.sensitive,
            privacy=self.privacy,
            recoding=self.recoding,
            objective="automatic" if self.objective_left_open else self.objective,
            identifiers=self.schema.identifiers,
            missing=self.document.data.missing,
            insensitive=self.schema.insensitive,
            person=self.schema.person,
            per_person=self.schema.per_person,
            weight=self.schema.weight,
            household=self.schema.household,
            shift=self.shift,
            released_weight=self.document.output.weight,
            items=dict(self.schema.items),
            person_numbers=self.person_key or self.schema.person_numbers,
            against=search.against,
            odds=search.odds,
            seed=search.seed,
            time_limit=search.time_limit,
            n_jobs=n_jobs,
            progress=progress,
        )


class Draft(StudyProposal, Study):
    """A study in memory, drafted for a table: it runs as it stands, and is written to be edited."""

    def __init__(
        self,
        profile: TableProfile,
        wishes: DraftOptions,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        StudyProposal.__init__(self, profile, wishes, data)
        path = Path(STUDY_FILE)
        Study.__init__(self, StudyDocument(path, parse_document(self.text, path)))


def draft(
    table: pd.DataFrame | Raw,
    wishes: DraftOptions | None = None,
    data: Mapping[str, Any] | None = None,
) -> Draft:
    """Draft a study for a table; ``data`` is its ``[data]`` section, as far as it is known."""
    wishes = wishes or DraftOptions()
    return Draft(wishes.profiled(table), wishes, data)


NAME = "name"
"""The key at the top of a scheme that says what it is called."""

SEVERAL = frozenset(",;*?")
"""What the names of several files have that were written as one, or as a pattern in quotes."""

ROLES = "quasi-identifiers"

SHARED = ("data", "sensitive", "identifiers", "insensitive", "privacy")
"""Sections that are the study's: schemes are compared on one table and under one policy."""


class Scheme(Study):
    """A scheme: a file with a recoding of its own for the table and the policy of a study.

    It may hold ``[recoding]``, ``[quasi-identifiers]`` with the hierarchies that differ from those
    of the study, ``[search]`` and ``[objective]``; a section that it leaves out is the study's, but
    for the strategy of a search for another recoding. A whole study file is a scheme, too, if its
    table, roles and policy are the same. Paths in it are relative to it. ``name`` is what its first
    line says, such as ``name = "A1"``, else that of the file.

    Raises
    ------
    InputError
        When the file cannot be read, says something it cannot, or contradicts the study.
    """

    def __init__(self, path: str | Path, study: Study) -> None:
        self.path, self.study = Path(path), study
        content = _content_of(self.path)
        self.name = _name_of(content.pop(NAME, self.path.stem), self.path)
        own = content.get(ROLES, {})
        self._own: Mapping[str, Any] = own if isinstance(own, Mapping) else {}
        of_study = study.document.quasi_identifiers
        self._require_roles(of_study)
        if own is self._own:
            content[ROLES] = {**of_study, **own}
        fields = {name.replace("_", "-"): name for name in Document.model_fields}
        for name in content:
            if name not in fields:
                hint = suggestion(name, [NAME, *fields])
                raise InputError(f"{self.path}: unknown key {shown(name)}{hint}")
        sections = {name: getattr(study.document, field) for name, field in fields.items()}
        if "recoding" in content:  # a strategy is for the method that the study gives it with
            sections["search"] = study.document.search.model_copy(update={"strategy": "automatic"})
        super().__init__(StudyDocument(self.path, validated({**sections, **content}, self.path)))
        self._require_same([name for name in SHARED if name in content])
        self.populations = study.populations

    def _require_roles(self, known: Mapping[str, Any]) -> None:
        """Require that hierarchies are for quasi-identifiers of the study."""
        for name in self._own:
            if name not in known:
                hint = did_you_mean(name, known)
                raise InputError(
                    f"{self.path}: [{ROLES}] {name!r} is no quasi-identifier of "
                    f"{self.study.path}{hint}; leave it out, or add it there"
                )

    def _require_same(self, given: list[str]) -> None:
        """Require that sections which are the study's are as they stand there."""
        for name in given:
            own, other = (getattr(each.document, name) for each in (self, self.study))
            if name == "data":
                own, other = (
                    each.model_copy(update={"path": str((at.path.parent / each.path).resolve())})
                    for each, at in ((own, self), (other, self.study))
                )
            if own != other:
                section = "[[privacy]]" if name == "privacy" else f"[{name}]"
                raise InputError(
                    f"{self.path}: {section} is not that of {self.study.path}, and schemes are "
                    "compared on one table under one policy; leave the section out"
                )

    @property
    def data_path(self) -> Path:
        """Where the table of the study lies."""
        return self.study.data_path

    @property
    def person_key(self) -> PseudonymKey | None:
        """That of the study, whose paths are relative to its own file."""
        return self.study.person_key

    @cached_property
    def privacy(self) -> tuple[PrivacyModel, ...]:
        """The policy of the study."""
        return self.study.privacy

    @cached_property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """How each quasi-identifier generalizes: as the scheme says, else as the study does."""
        own = {name: self._hierarchy(name, given) for name, given in self._own.items()}
        return {**self.study.hierarchies, **own}


def _content_of(path: Path) -> dict[str, Any]:
    """The sections of a scheme, not checked."""
    require_study(path)
    hint = "; name each file by itself, with blanks between them"
    absent = f"there is no scheme {path}{hint if SEVERAL & {*path.name} else near_file(path)}"
    return parsed_study(read_whole(path, STUDY, "scheme ", absent), path)


def _name_of(given: object, path: Path) -> str:
    """What a scheme is called; InputError where that is no line of text."""
    if not isinstance(given, str) or not given.strip() or not given.isprintable():
        raise InputError(f'{path}: {NAME} must be a text in one line, such as {NAME} = "A1"')
    return given.strip()
