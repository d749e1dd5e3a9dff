"""Reads anyone's files: CloudFormation, state machines, pipelines and requests, as far as literals go."""
