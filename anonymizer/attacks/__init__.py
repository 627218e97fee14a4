"""Attacks on a release, as an attacker would run them."""

from anonymizer.attacks.minimality import Minimality, minimality, obstacle

__all__ = ["Minimality", "minimality", "obstacle"]
