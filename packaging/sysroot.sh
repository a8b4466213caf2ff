#!/bin/bash
# The C library that packages are built against, so that they run with it and with every newer one: headers and libraries of
# an old
# glibc, with the kernel's headers of Debian 12. The compiler stays this machine's. Needs apt-get, not root.
#   x86_64   2.27, of Ubuntu 18.04. Debian has no key of Ubuntu's: the packages are known by their digests
#   aarch64  2.31, of Debian 11
# packaging/sysroot.sh [ARCH] prints the folder, in this user's cache. MIRROR and UBUNTU name mirrors.
set -eu
arch=${1:-$(uname -m)}
out=${XDG_CACHE_HOME:-$HOME/.cache}/pagewise-sysroot/$arch
[[ $out != *[[:space:]]* ]] || { echo "sysroot.sh: flags of a compiler cannot hold a path with spaces: $out" >&2; exit 1; }
[ -e "$out/done" ] && echo "$out" && exit
debian=${MIRROR:-http://deb.debian.org/debian} key=signed-by=/usr/share/keyrings/debian-archive-keyring.gpg
case $arch in
x86_64)
    name=amd64 old="[trusted=yes] ${UBUNTU:-http://archive.ubuntu.com/ubuntu} bionic"
    packages=(libc6/bionic libc6-dev/bionic libgcc1/bionic)
    digests="1e1eb86fd646aa68f7144ec692b837b6b352d215880c6a2d0c92c19d36938427  libc6_2.27-3ubuntu1_amd64.deb
e426c70a940a7d0c5c95823a5fd01f26bd8bcb08d109df2f8c96c439da8dc440  libc6-dev_2.27-3ubuntu1_amd64.deb
c5a6df527fdfe0da45ff0538414535a04a6753e93a9f5902689cf1a73265423b  libgcc1_1%3a8-20180414-1ubuntu2_amd64.deb"
    ;;
aarch64)
    name=arm64 old="[$key] $debian bullseye" digests=
    packages=(libc6/bullseye libc6-dev/bullseye libgcc-s1/bullseye)
    ;;
*) echo "sysroot.sh knows x86_64 and aarch64, not $arch" >&2 && exit 1 ;;
esac
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place"/{state/lists/partial,cache/archives/partial,packages}
touch "$place/status"
printf 'deb %s main\n' "$old" "[$key] $debian bookworm" > "$place/sources"
cat > "$place/config" <<END
APT::Architecture "$name";
APT::Architectures { "$name"; };
APT::Sandbox::User "root";
Acquire::Languages "none";
Dir::State "$place/state";
Dir::State::status "$place/status";
Dir::Cache "$place/cache";
Dir::Etc::sourcelist "$place/sources";
Dir::Etc::sourceparts "-";
END
export APT_CONFIG=$place/config
apt-get -qq update >&2
cd "$place/packages"
apt-get -qq download "${packages[@]}" linux-libc-dev/bookworm >&2
[ -z "$digests" ] || sha256sum --quiet --check <<< "$digests" >&2
rm -rf "$out" && mkdir -p "$out"
for package in *.deb; do dpkg-deb --extract "$package" "$out"; done
# System calls since then have their names from the kernel's headers.
headers=$out/usr/include
grep -rhoE '\b__NR_[a-z0-9_]+' "$headers/$arch-linux-gnu/asm" "$headers/asm-generic/unistd.h" | sort -u |
    sed 's/__NR_\(.*\)/#ifdef __NR_\1\n#define SYS_\1 __NR_\1\n#endif/' > "$headers/$arch-linux-gnu/bits/syscall.h"
# A link to /lib/… would lead to this machine's library.
find "$out" -type l -lname '/*' -print0 | while IFS= read -r -d '' link; do
    ln -sfnr "$out$(readlink "$link")" "$link"
done
# The compiler looks for this one in its own folders first, and its own needs a newer libc.
ln -srf "$out/lib/$arch-linux-gnu/libgcc_s.so.1" "$out/usr/lib/$arch-linux-gnu/"
touch "$out/done"
echo "$out"
