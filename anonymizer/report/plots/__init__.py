"""Pictures, one module for each kind. The one room that needs matplotlib."""
