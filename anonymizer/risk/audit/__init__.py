"""Audits of release directories: what each discloses to an attacker, and what several do together.

Paths of releases, of the original tables and of studies go in. Releases are read back, the people
of the originals are placed in their classes, and every attack is run on each release and on their
intersection; an ``Audit`` comes out. This is the only part of the room that reads releases. It may
import from ``risk.attacks`` and the floors below ``risk``.
"""

from anonymizer.risk.audit.audit import Audit, ReleaseAudit, audit_files
from anonymizer.risk.audit.intersection import Candidates, Intersection, LinkedClasses

__all__ = ["Audit", "Candidates", "Intersection", "LinkedClasses", "ReleaseAudit", "audit_files"]
