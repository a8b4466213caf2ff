#!/bin/bash
# A wheel of another kind of machine, run by qemu-user: its version, and whether methods of its workers conform.
# packaging/emulated.sh WHEEL [METHOD]…, with qemu-user-static. Times of an emulator say nothing and are not taken.
# The kernel starts programs of the other kind by binfmt_misc, registered in a user namespace only: this machine stays as it is,
# and no root is needed. Linux has that from 6.7 on.
set -eu
wheel=$(realpath "$1") && shift
[ $# -gt 0 ] || set -- {fault/touch,fault/populate,share/memfd,copy/memcpy,read/read,message/pipe}@c-O3 fault/touch@go
cd "$(dirname "$0")/.."
arch=$(sed -nE 's/.*_[0-9]+_([a-z0-9_]+)\.whl$/\1/p' <<< "$wheel")
sysroot=$(packaging/sysroot.sh "$arch")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m zipfile --extract "$wheel" "$place"
mv "$place"/pagewise-*.data/scripts/pagewise "$place/pagewise"
chmod +x "$place/pagewise"
env -i PATH="$place:/usr/bin:/bin" HOME="$place" PAGEWISE_LOCK="$place" QEMU_LD_PREFIX="$sysroot" \
    unshare --user --map-root-user --mount sh -ec '
        mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
        cat "/usr/lib/binfmt.d/qemu-$0.conf" > /proc/sys/fs/binfmt_misc/register
        pagewise --version
        pagewise check "$@"' "$arch" "$@"
