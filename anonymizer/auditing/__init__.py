"""Audits of release directories: what one tells an attacker, and what several tell together."""

from anonymizer.auditing.audit import Audit, ReleaseAudit, audit_files
from anonymizer.auditing.known import Apart, Candidates
from anonymizer.auditing.together import Intersection

__all__ = ["Apart", "Audit", "Candidates", "Intersection", "ReleaseAudit", "audit_files"]
