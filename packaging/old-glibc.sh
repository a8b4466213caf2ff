#!/bin/bash
# The tarball for an old glibc: built in the root of an old Debian, whose libc and compiler both the laboratory and the workers
# are built against, and started in another one that has neither. As root, with debootstrap: packaging/old-glibc.sh [FOLDER]
# The toolchain and the registry's packages are the host's own; SUITE (bullseye: glibc 2.31, gcc 10) and MIRROR name the old
# one.
# What is measured is then what that gcc makes of the methods. Each transcript names it, and so does `pagewise list`.
set -eu
cd "$(dirname "$0")/.."
suite=${SUITE:-bullseye} out=$(realpath -m "${1:-target/package}")
place=$(mktemp -d /var/tmp/pagewise-old.XXXXXX)
build=$place/build clean=$place/clean
finish() {
    for mount in "$build"/{proc,source,rust,cargo} "$clean"/{proc,sys,dev}; do
        mountpoint -q "$mount" && umount --recursive "$mount"
    done
    rm -rf --one-file-system "$place"
}
trap finish EXIT
# ROOT is such a root that was made before.
if [ -n "${ROOT:-}" ]; then
    cp -a "$ROOT" "$clean"
else
    debootstrap --variant=minbase "$suite" "$clean" "${MIRROR:-http://deb.debian.org/debian}" > "$place/log" 2>&1 ||
        { tail "$place/log"; exit 1; }
fi
cp -a "$clean" "$build"

# --- built in the one
inside() { chroot "$1" /usr/bin/env -i PATH=/rust/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root PAGEWISE_LOCK=/tmp "${@:2}"; }
cp /etc/resolv.conf "$build/etc/"
mount -t proc proc "$build/proc"
inside "$build" sh -c 'apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev' > "$place/log" 2>&1 ||
    { tail "$place/log"; exit 1; }
# What is built is what was committed, in a folder of its own, so that the host's target/ stays as it is.
git archive --prefix=source/ HEAD | tar -x -C "$build"
cargo fetch --locked > /dev/null
mkdir -p "$build/rust" "$build/cargo"
mount --bind -o ro "$(rustc --print sysroot)" "$build/rust"
mount --bind -o ro "${CARGO_HOME:-$HOME/.cargo}" "$build/cargo"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
inside "$build" env SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" CARGO_HOME=/cargo CARGO_NET_OFFLINE=true \
    bash /source/packaging/build.sh tarball
mkdir -p "$out"
mapfile -t made < <(ls "$build"/source/target/package/*.tar.gz)
cp "${made[@]}" "$out/"

# --- and started in the other
mount -t proc proc "$clean/proc"
mount -t sysfs sys "$clean/sys"
mount --rbind /dev "$clean/dev" && mount --make-rslave "$clean/dev"
tar -x -z -C "$clean/opt" -f "${made[0]}"
for program in cc gcc clang cargo rustc go java; do
    ! inside "$clean" sh -c "command -v $program" || { echo "the root is not clean: it has $program"; exit 1; }
done
echo "in a root of $suite with $(inside "$clean" ldd --version | head -n 1):"
inside "$clean" sh -c "exec /opt/pagewise-*/pagewise run --budget ${BUDGET:-60s} --force"
cp packaging/debian/tests/check "$clean/check"
inside "$clean" sh -c 'ln -s /opt/pagewise-*/pagewise /usr/local/bin/pagewise && PATH=$PATH:/usr/local/bin sh /check'
echo "the tarball takes its overview in $suite: $out/${made[0]##*/}"
