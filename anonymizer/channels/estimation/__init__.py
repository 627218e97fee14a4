"""What an analyst does with a release and the channel it was drawn by: true counts, estimated.

In: a ``Channel`` and counts of released labels. Out: shares of true values with standard errors,
means, and likelihoods with proven gaps. It may import what is next to it in ``channels``.
"""
