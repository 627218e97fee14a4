"""The privacy-distortion function: the least leakage I(W;Y) at a distortion, with proven bounds."""
