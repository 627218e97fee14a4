"""What queries about the people of a table cost their privacy (Longpré et al. 2017).

In go a table, or a file, and queries as texts; out comes the loss of each query, and of all
together. ``language`` reads queries, ``answers`` answers them, ``loss`` measures.
"""

from anonymizer.risk.queries.loss import QueriesLoss, Question, query_losses, query_losses_of

__all__ = ["QueriesLoss", "Question", "query_losses", "query_losses_of"]
