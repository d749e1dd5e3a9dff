"""The command `dtrain`: one command, one file."""
