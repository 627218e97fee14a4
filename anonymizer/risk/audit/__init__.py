"""Audits of release directories: what one tells an attacker, and what several tell together."""

from anonymizer.risk.audit.audit import Audit, ReleaseAudit, audit_files
from anonymizer.risk.audit.known import Apart, Candidates
from anonymizer.risk.audit.together import Intersection

__all__ = ["Apart", "Audit", "Candidates", "Intersection", "ReleaseAudit", "audit_files"]
