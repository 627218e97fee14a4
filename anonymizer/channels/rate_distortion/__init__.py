"""The least rate I(X;Y) at a distortion: Blahut's problem, and closed forms for normal laws."""
