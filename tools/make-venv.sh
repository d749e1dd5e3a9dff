#!/bin/sh
# Makes a virtual environment in $2 with the Python $1, also where Debian ships Python without venv's parts.
set -eu
python=$1 folder=$2
command -v "$python" >/dev/null || {
    echo "There is no $python here. Install Python 3.10 or newer, or name yours: make PYTHON=python3.12 ..." >&2
    exit 1
}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || {
    echo "Python 3.10 or newer is needed, $python is $("$python" --version 2>&1); name another one: make PYTHON=python3.12 ..." >&2
    exit 1
}
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    command -v apt-get >/dev/null || {
        echo "$python has no venv module; install it (on Debian and Ubuntu: apt-get install $package)" >&2
        exit 1
    }
    echo "$python has no venv module, which Debian and Ubuntu ship as $package" >&2
    "$(dirname "$0")/apt-install.sh" "$package"
fi
"$python" -m venv "$folder"
