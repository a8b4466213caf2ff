#!/bin/bash
# A wheel of another kind of machine, run by qemu-user: its version, and whether methods of its workers conform.
# packaging/emulated.sh WHEEL [METHOD]…, with qemu-user-static. Methods that count faults or ask for huge pages are rejected
# there, and rightly: qemu has faults of its own, and keeps madvise from the kernel. Its times say nothing.
# The kernel starts programs of the other kind by binfmt_misc, registered in a user namespace only: this machine stays as it is,
# and no root is needed. Linux has that from 6.7 on.
set -eu
wheel=$(realpath "$1") && shift
[ $# -gt 0 ] || set -- {read/read,load/mmap-lazy,message/pipe,unmap/munmap,false-sharing/one-line}@c-O3
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
