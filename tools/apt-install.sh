#!/bin/sh
# Installs Debian's or Ubuntu's packages $@, as root or by sudo; without either it says what to ask for.
set -eu
sudo=""
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || {
        echo "missing: $*. You are not root here and there is no sudo; ask for: apt-get install $*" >&2
        exit 1
    }
    sudo=sudo
fi
echo "installing $*" >&2
$sudo apt-get update -qq
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
