"""Study files: what to anonymize, under which policy, as TOML."""

from anonymizer.study.study import Study

__all__ = ["Study"]
