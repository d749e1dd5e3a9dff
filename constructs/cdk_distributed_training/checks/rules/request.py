"""Rules about what CreateTrainingJob accepts (DT301 to DT309)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.request import limits


def entries(prop: str, values: Mapping[str, str], allowed: limits.Entries) -> Iterator[Finding]:
    """DT301: too many entries. DT302: a key, DT303: a value that the API refuses."""
    if len(values) > allowed.most:
        yield Finding(
            rule="DT301",
            prop=prop,
            got=f"{len(values)} entries",
            allowed=f"at most {allowed.most}",
            fix="leave some out, or bring them in a file of the source folder",
            source=limits.SOURCE,
        )
    for key, value in values.items():
        if not _fits(key, allowed.key):
            yield Finding(
                rule="DT302",
                prop=prop,
                got=f"the name {_short(key)}",
                allowed=_described(allowed.key),
                fix="rename it",
                source=limits.SOURCE,
            )
        if not _fits(value, allowed.value):
            yield Finding(
                rule="DT303",
                prop=f"{prop}[{_short(key)}]",
                got=f"{len(value)} characters",
                allowed=_described(allowed.value),
                fix="shorten it, or bring it in a file of the source folder",
                source=limits.SOURCE,
            )


def value_kind(prop: str, name: str, value: object, reason: str) -> Finding:
    """DT304: a value that has no text."""
    return Finding(
        rule="DT304",
        prop=f"{prop}[{name!r}]",
        got=f"{type(value).__name__} ({reason})",
        allowed="text, a finite number, true or false, or lists and dictionaries of these",
        fix="convert it first",
        source=limits.SOURCE,
    )


def channel_names(names: Sequence[str], reserved: Sequence[str]) -> Iterator[Finding]:
    """DT305: a name that the API refuses. DT306: a name twice, or one of the library's own. DT307: too many."""
    for name, count in Counter(names).items():
        if not _fits(name, limits.CHANNEL_NAME) or not name:
            yield Finding(
                rule="DT305",
                prop="channels",
                got=f"the name {name!r}",
                allowed=_described(limits.CHANNEL_NAME),
                fix="rename the channel",
                source=limits.SOURCE,
            )
        if name in reserved or count > 1:
            yield Finding(
                rule="DT306",
                prop="channels",
                got=f"the name {name!r}" + (f" {count} times" if count > 1 else ""),
                allowed="each name once"
                + (f", and none of {', '.join(reserved)}, which bring the code" if reserved else ""),
                fix="rename the channel",
                source=limits.SOURCE,
            )
    most = limits.CHANNELS - len(reserved)
    if len(names) > most:
        yield Finding(
            rule="DT307",
            prop="channels",
            got=f"{len(names)} channels",
            allowed=f"at most {most}" + (f", besides {' and '.join(reserved)}" if reserved else ""),
            fix="put several data sets under one prefix",
            source=limits.SOURCE,
        )


def s3_uri(prop: str, uri: str) -> Iterator[Finding]:
    """DT308: no address in S3."""
    if not re.fullmatch(r"s3://[^/]+(/.*)?", uri) or len(uri) > limits.S3_URI.longest:
        yield Finding(
            rule="DT308",
            prop=prop,
            got=_short(uri),
            allowed=f"s3://bucket/prefix, at most {limits.S3_URI.longest} characters",
            fix="give the address of an S3 prefix",
            source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_S3DataSource.html",
        )


def container_words(prop: str, words: Sequence[str]) -> Iterator[Finding]:
    """DT309: a command line that the API refuses."""
    too_long = [word for word in words if not _fits(word, limits.CONTAINER_WORD)]
    if len(words) > limits.CONTAINER_WORDS:
        yield Finding(
            rule="DT309",
            prop=prop,
            got=f"{len(words)} words with the launcher's own",
            allowed=f"at most {limits.CONTAINER_WORDS}",
            fix="use hyperparameters, which are a list of their own",
            source=limits.SOURCE,
        )
    for word in too_long:
        yield Finding(
            rule="DT309",
            prop=prop,
            got=_short(word),
            allowed=f"words of at most {limits.CONTAINER_WORD.longest} characters",
            fix="use a hyperparameter, which may be longer",
            source=limits.SOURCE,
        )


def _fits(value: str, allowed: limits.Text) -> bool:
    return len(value) <= allowed.longest and re.fullmatch(allowed.pattern, value, re.DOTALL) is not None


def _described(allowed: limits.Text) -> str:
    pattern = "" if allowed.pattern == limits.ANY else f" matching {allowed.pattern}"
    return f"at most {allowed.longest} characters{pattern}"


def _short(value: str) -> str:
    return repr(value) if len(value) <= 60 else f"{value[:60]!r}… of {len(value)} characters"
