"""The parts of the view of cut points: what it draws, its controls, and how it changes a study."""
