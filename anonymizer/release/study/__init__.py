"""Study files: what to anonymize, under which policy, as TOML."""

from anonymizer.release.study.scheme import Scheme
from anonymizer.release.study.study import Study

__all__ = ["Scheme", "Study"]
