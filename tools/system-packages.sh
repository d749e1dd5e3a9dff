#!/bin/sh
# Debian and Ubuntu: the programs that the tests run for real, and those named as further PROGRAM:PACKAGE arguments.
# Elsewhere nothing: the tests say what they cannot run there.
set -eu
command -v apt-get >/dev/null || exit 0
PATH=$PATH:/usr/sbin:/sbin  # an ordinary user's PATH lacks them, and iptables is there
missing=""
for pair in ip:iproute2 unshare:util-linux mpirun:openmpi-bin buildah:buildah mmdebstrap:mmdebstrap runc:runc \
    iptables:iptables "$@"; do
    command -v "${pair%%:*}" >/dev/null || missing="$missing ${pair##*:}"
done
[ -n "$missing" ] || exit 0
# shellcheck disable=SC2086  # a list of package names
"$(dirname "$0")/apt-install.sh" $missing
