"""How a request passes the launcher its arguments where it has no place for a command."""

# what the launcher reads where the request has no arguments; container/README.md speaks of it
ARGUMENTS_VARIABLE = "TRAINING_LAUNCHER_ARGUMENTS"
