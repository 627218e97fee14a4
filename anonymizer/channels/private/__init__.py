"""Channels of least distortion of which every released symbol satisfies the privacy models.

In: joint laws, a distortion, privacy models and ``Extras``. Out: an ``OptimalChannel``, verified by
the models' own measures, with a bound that rests on no solver. It may import what is next to it in
``channels``, and ``privacy``.
"""
