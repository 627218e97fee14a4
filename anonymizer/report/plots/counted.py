"""A released table counted as it stands: all that pictures of classes and attributes show."""

from anonymizer.counts.counts import Counts
from anonymizer.counts.schema import recount
from anonymizer.errors import InputError
from anonymizer.privacy import PrivacyModel
from anonymizer.release.manifest import Manifest
from anonymizer.tables import engine


def recounted(manifest: Manifest, table: engine.Table) -> tuple[Counts, list[PrivacyModel]]:
    """The counts of a released table by the roles of its manifest, and the models of its policy.

    Models that the manifest has only the digest of a population or a hierarchy of are left out.

    Raises InputError when the manifest is not about a file, so that columns have no roles.
    """
    models = []
    for verdict in manifest.privacy:
        try:
            models.append(verdict.privacy_model)
        except InputError:  # needs the study
            continue
    return recount(table, manifest.roles), models
