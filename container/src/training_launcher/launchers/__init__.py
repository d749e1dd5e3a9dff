"""One class a launch kind."""
