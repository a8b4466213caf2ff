#!/bin/bash
# Installs the .deb in a clean Debian root that has no compiler, cargo or source, and takes an overview there; then has
# Debian's autopkgtest, where it is installed, do what it does with a package. As root, with debootstrap:
# packaging/build.sh deb && packaging/test.sh [target/package/pagewise_VERSION_ARCH.deb]
set -eu
cd "$(dirname "$0")/.."
deb=$(realpath "${1:-$(ls -t target/package/pagewise_*.deb | head -n 1)}")
root=$(mktemp -d /var/tmp/pagewise-root.XXXXXX)
finish() {
    for mount in dev proc sys; do mountpoint -q "$root/$mount" && umount --recursive "$root/$mount"; done
    rm -rf --one-file-system "$root"
}
trap finish EXIT
debootstrap --variant=minbase "${SUITE:-bookworm}" "$root" "${MIRROR:-http://deb.debian.org/debian}" > "$root.log" 2>&1 ||
    { tail "$root.log"; exit 1; }
rm -f "$root.log"
mount -t proc proc "$root/proc"
mount -t sysfs sys "$root/sys"
mount --rbind /dev "$root/dev" && mount --make-rslave "$root/dev"
cp "$deb" "$root/pagewise.deb"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root PAGEWISE_LOCK=/tmp "$@"; }
inside dpkg --install /pagewise.deb
for program in cc gcc clang cargo rustc go java; do
    ! inside sh -c "command -v $program" || { echo "the root is not clean: it has $program"; exit 1; }
done
inside sh -c 'ls /usr/share/man/man1/pagewise*.gz /usr/share/bash-completion/completions/pagewise \
    /usr/share/doc/pagewise/copyright'
inside pagewise doctor > /dev/null
inside pagewise run --budget "${BUDGET:-60s}" --force
cp packaging/debian/tests/check "$root/check" && inside sh /check
inside dpkg --purge pagewise
! inside sh -c 'command -v pagewise' || { echo "it is still there after it was removed"; exit 1; }
echo "the package takes its overview in a clean root"
if command -v autopkgtest > /dev/null; then
    autopkgtest --apt-upgrade "$deb" ./packaging -- chroot "$root" > "$root.log" 2>&1 || { tail -n 40 "$root.log"; exit 1; }
    tail -n 20 "$root.log" | grep PASS
    rm -f "$root.log"
fi
