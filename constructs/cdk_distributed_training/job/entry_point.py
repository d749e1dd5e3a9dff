"""The container's command: it finds the launcher's zip file in its channel and becomes it."""

from __future__ import annotations

# The zip file's name is not trusted, only its folder and its ending: SageMaker names it by the last part of the
# object's key, which is a hash. `exec` makes Python process 1 of the container, so that signals reach it; "$@" keeps
# every argument whole. SAGEMAKER_BASE_DIR is another place for /opt/ml, for runs outside of SageMaker.
_FIND_AND_RUN = (
    "zip=$(find \"${SAGEMAKER_BASE_DIR:-/opt/ml}/input/data/launcher\" -name '*.zip' 2>/dev/null | head -n 1); "
    '[ -n "$zip" ] || { echo "no zip file in channel launcher" >&2; exit 1; }; '
    'exec python3 -u "$zip" "$@"'
)

ENTRY_POINT = ("sh", "-c", _FIND_AND_RUN, "launcher")
