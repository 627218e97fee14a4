"""Study files: what to anonymize, under which policy, as TOML."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from anonymizer.feedback.progress import Watch
from anonymizer.profiling import TableProfile
from anonymizer.profiling.raw import Raw
from anonymizer.release.anonymizer import Anonymizer
from anonymizer.release.description.description import Description
from anonymizer.release.description.document import StudyDocument, parse_document
from anonymizer.release.study.drafting import STUDY, DraftOptions, StudyProposal


class Study(Description):
    """A study file, read and checked; paths in it are relative to it.

    Raises
    ------
    InputError
        When the file cannot be read or says something it cannot; the message names the file, the
        section and the key.
    """

    @classmethod
    def parsed(cls, text: str, path: str | Path) -> "Study":
        """The study of a text, as if it stood in a file: paths in it are relative to ``path``."""
        return cls(StudyDocument(Path(path), parse_document(text, Path(path))))

    @staticmethod
    def draft(
        table: pd.DataFrame,
        *,
        k: int | None = None,
        quasi_identifiers: Sequence[str] | None = None,
        sensitive: Sequence[str] | None = None,
        identifiers: Sequence[str] | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> "Draft":
        """Draft a study for a raw table, in memory: roles, hierarchies and a first policy.

        It runs as it stands, has the commented file as ``text``, and is written by ``write``. What
        is given is kept to, the rest is proposed. ``data`` is its ``[data]`` section: the ``path``
        of the table, ``table.csv`` by default, and how it is read.

        Raises InputError when the table cannot be profiled: see ``profile``.

        >>> from anonymizer import load_census
        >>> study = Study.draft(load_census()[["age", "sex", "race", "salary-class"]])
        >>> list(study.hierarchies), study.schema.sensitive
        (['age', 'sex', 'race'], ('salary-class',))
        """
        return draft(table, DraftOptions(k, quasi_identifiers, sensitive, identifiers), data)

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
        k: int | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        StudyProposal.__init__(self, profile, k, data)
        path = Path(STUDY)
        Study.__init__(self, StudyDocument(path, parse_document(self.text, path)))


def draft(
    table: pd.DataFrame | Raw,
    wishes: DraftOptions | None = None,
    data: Mapping[str, Any] | None = None,
) -> Draft:
    """Draft a study for a table; ``data`` is its ``[data]`` section, as far as it is known."""
    wishes = wishes or DraftOptions()
    return Draft(wishes.profiled(table), wishes.k, data)
