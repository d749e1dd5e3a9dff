"""Local mode: a synthesized training job on several hosts of this machine, without an AWS account."""
