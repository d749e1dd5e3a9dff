"""What CreateTrainingJob accepts: patterns and maxima, as data.

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingJob.html, as modelled in
botocore 1.44.8; a test compares every number with the installed botocore.
"""

from __future__ import annotations

from dataclasses import dataclass

SOURCE = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingJob.html"

ANY = ".*"

# one day to 28 days, in seconds: the service's default and its maximum for MaxRuntimeInSeconds
DEFAULT_RUNTIME_SECONDS = 24 * 60 * 60
LONGEST_RUNTIME_SECONDS = 28 * 24 * 60 * 60


@dataclass(frozen=True, kw_only=True)
class Text:
    """A text member: its longest length in characters, and the regular expression that it must match whole."""

    longest: int
    pattern: str = ANY


@dataclass(frozen=True, kw_only=True)
class Entries:
    """A map of text to text: how many entries, and the limits of each key and value."""

    most: int
    key: Text
    value: Text


JOB_NAME = Text(longest=63, pattern=r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")
IMAGE = Text(longest=255)
CONTAINER_WORD = Text(longest=256)
CONTAINER_WORDS = 100
CHANNEL_NAME = Text(longest=64, pattern=r"[A-Za-z0-9\.\-_]+")
CHANNELS = 20
S3_URI = Text(longest=1024)
HYPERPARAMETERS = Entries(most=100, key=Text(longest=256), value=Text(longest=2500))
ENVIRONMENT = Entries(most=100, key=Text(longest=512, pattern=r"[a-zA-Z_][a-zA-Z0-9_]*"), value=Text(longest=512))
# one entry is the engine's own
ENVIRONMENT_OF_JOB = Entries(most=ENVIRONMENT.most - 1, key=ENVIRONMENT.key, value=ENVIRONMENT.value)
TAGS = Entries(most=50, key=Text(longest=128), value=Text(longest=256))
