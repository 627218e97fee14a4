"""The view of attacks: what is known is chosen, and what is learnt of three tables compared."""

from anonymizer.explorer.views.attack.attack import AttackView

__all__ = ["AttackView"]
