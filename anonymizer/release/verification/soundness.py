"""What is built upon a release has to begin with one that holds."""

from dataclasses import replace
from pathlib import Path

from anonymizer.errors import PolicyBrokenError
from anonymizer.feedback.words import plural
from anonymizer.recoding import Watch, ignore
from anonymizer.release.manifest import home_of
from anonymizer.release.study import Study
from anonymizer.release.verification.verification import Verification, verify_release


def require_sound(path: Path, found: Verification, consequence: str) -> None:
    """Require that what was found of a release agrees, and that its policy holds.

    ``consequence``: what follows where it does not, for the message. Raises PolicyBrokenError.
    """
    if found.satisfied:
        return
    broken = sum(not verdict.satisfied for verdict in found.verdicts)
    reasons = [plural(len(found.differences), "difference")] * bool(found.differences)
    reasons += [f"{plural(broken, 'model')} of the policy that does not hold"] * bool(broken)
    raise PolicyBrokenError(
        f"the release in {path} does not hold ({' and '.join(reasons)}), so that {consequence}; "
        f"`anonymizer verify {path}` says what differs"
    )


def require_followable(
    release: Path, study: Study | None, *, key: Path | None = None, watch: Watch = ignore
) -> Verification:
    """Verify a release before its recoding is carried elsewhere, and give what was found.

    A ``study`` is for what the manifest leaves out: where it has changed since, the release is
    followed all the same. ``key``: of who has to have signed it.

    Raises PolicyBrokenError when the release does not hold, InputError when it cannot be read.
    """
    home = home_of(release)
    found = verify_release(home, study, key=key, steward=False, watch=watch)
    own = tuple(check for check in found.checks if check.how != "study")
    require_sound(home, replace(found, checks=own), "its recoding is not carried elsewhere")
    return found
