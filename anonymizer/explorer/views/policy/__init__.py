"""The view of the policy: a card for each model, how the table is recoded, and ways out."""

from anonymizer.explorer.views.policy.policy import PolicyView

__all__ = ["PolicyView"]
