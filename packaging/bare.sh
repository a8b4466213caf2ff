#!/bin/bash
# From a package to its first answer, by a user who is not root, on systems without compiler, cargo and source. Each is
# made by debootstrap (Rocky by dnf) and removed again. As root:
# packaging/bare.sh FILE [bullseye|bookworm|trixie|rocky9|oldest|musl]…; FILE is a wheel, a tarball, a .deb or an .rpm
# oldest is busybox with the glibc that packages are linked against. musl stands for Alpine: busybox and musl of Debian. It is
# told what it lacks. Both are for tarballs.
# BUDGET is that of the overview, 30 s; SLOW=3 triples what each step may take, for a machine that others use. MIRROR names a
# mirror. ROOTS is a folder in which fresh roots are kept for the next time.
set -eu
package=$(realpath "$1") && shift
[ $# -gt 0 ] || set -- bullseye bookworm trixie
here=$(realpath "$(dirname "$0")")
place=$(mktemp -d /var/tmp/pagewise-bare.XXXXXX)
root=$place/root
leave() {
    for mount in dev/shm dev proc sys tmp; do
        if mountpoint -q "$root/$mount"; then umount --recursive "$root/$mount"; fi
    done
}
trap 'leave; rm -rf --one-file-system "$place"' EXIT
fail() { echo "bare.sh: $*" >&2; exit 1; }

# A root of this system with what installs the package, and no more.
make() {
    local system=$1 installer=$2
    case $system in
    musl | oldest)
        local packages=$place/packages file libc=
        if [ "$system" = musl ]; then libc=musl; fi
        mkdir -p "$root"/{bin,sbin,usr/bin,usr/sbin,etc,dev,proc,sys,tmp,home} "$packages"
        (cd "$packages" && apt-get download busybox-static $libc)
        for file in "$packages"/*.deb; do dpkg-deb --extract "$file" "$root"; done
        [ -n "$libc" ] || cp -a "$("$here/sysroot.sh")"/{lib,lib64} "$root/"
        chroot "$root" /bin/busybox --install
        touch "$root/etc/passwd"
        ;;
    rocky*)
        local packages=(bash coreutils-single glibc-minimal-langpack shadow-utils rocky-release)
        if [ "$installer" = pip ]; then packages+=(python3-pip); fi
        dnf --quiet --assumeyes --installroot "$root" --releasever "${system#rocky}" --setopt install_weak_deps=False \
            --repofrompath "base,${MIRROR:-https://dl.rockylinux.org/pub/rocky}/${system#rocky}/BaseOS/$(uname -m)/os" \
            --repofrompath "apps,${MIRROR:-https://dl.rockylinux.org/pub/rocky}/${system#rocky}/AppStream/$(uname -m)/os" \
            --repo base --repo apps --nogpgcheck install "${packages[@]}"
        ;;
    *)
        local include=()
        if [ "$installer" = pip ]; then include=(--include python3-venv); fi
        debootstrap --variant=minbase "${include[@]}" "$system" "$root" "${MIRROR:-http://deb.debian.org/debian}"
        ;;
    esac
}

enter() {
    mount -t proc proc "$root/proc"
    mount -t sysfs -o ro sys "$root/sys"
    mount --rbind /dev "$root/dev" && mount --make-rslave "$root/dev"
    mount -t tmpfs -o size=1g shm "$root/dev/shm"
    mount -t tmpfs -o mode=1777 tmp "$root/tmp"
    mkdir -p "$root/home/ada" && chown 1000:1000 "$root/home/ada"
    grep -q ^ada: "$root/etc/passwd" || echo "ada:x:1000:1000::/home/ada:/bin/sh" >> "$root/etc/passwd"
    cp "$package" "$here/bare-user.sh" "$root/home/ada/"
}
as_root() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }
as_ada() {
    chroot --userspec=1000:1000 "$root" /usr/bin/env -i PATH=/home/ada/bin:/usr/bin:/bin HOME=/home/ada LANG=C.UTF-8 \
        PAGEWISE_LOCK=/home/ada sh -c 'cd && exec "$@"' sh "$@"
}

try() {
    local system=$1 file=/home/ada/${package##*/} installer began took code=0
    case $package in
    *.whl) installer=pip ;;
    *) installer=none ;;
    esac
    echo "== $system, ${package##*/}"
    local kept=${ROOTS:-$place}/$system-$installer.tar
    if [ -e "$kept" ]; then
        mkdir -p "$root" && tar -x -C "$root" -f "$kept"
    else
        make "$system" "$installer" > "$place/log" 2>&1 || { tail "$place/log"; fail "there is no root of $system"; }
        [ -z "${ROOTS:-}" ] || tar -c -C "$root" -f "$kept" .
    fi
    enter
    began=$(date +%s%N)
    case $package in
    *.whl)
        as_ada sh -c "python3 -m venv venv && ln -s venv/bin bin"
        began=$(date +%s%N)
        as_ada venv/bin/pip install --quiet --no-index "$file"
        ;;
    *.tar.gz)
        as_ada tar -xzf "$file"
        as_ada sh -c "pagewise-[0-9]*-linux-gnu/install.sh /home/ada" || code=$?
        ;;
    *.deb) as_root dpkg --install "$file" ;;
    # This machine's rpm, into the root. Debian's own packages are no .rpm, so there rpm knows of no libc.
    *.rpm) rpm --root "$root" --install $([ -e "$root/etc/debian_version" ] && echo --nodeps) "$package" ;;
    esac
    took=$((($(date +%s%N) - began) / 1000000))
    if [ "$system" = musl ]; then
        [ $code = 1 ] || fail "install.sh ended with $code where there is no glibc"
    else
        [ $code = 0 ] || fail "installing ended with $code"
        [ $took -le $((5000 * ${SLOW:-1})) ] || fail "installing took $took ms"
        echo "installed in $took ms"
        as_ada env BUDGET="${BUDGET:-30}" SLOW="${SLOW:-1}" sh /home/ada/bare-user.sh
    fi
    leave
    rm -rf --one-file-system "$root"
}

for system in "$@"; do try "$system"; done
echo "${package##*/}: as expected on $*"
