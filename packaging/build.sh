#!/bin/bash
# Packages of this commit, all of them with the same program: packaging/build.sh [deb|rpm|tarball|wheel|sbom]…, into
# target/package.
#   ARCH=aarch64   for another machine: needs gcc-aarch64-linux-gnu, qemu-user and `rustup target add`
#   GLIBC=host     against this machine's glibc, not that of packaging/sysroot.sh
#   SKIP_BUILD=1   with target/release/pagewise as it is: it carries neither a Go worker nor classes of Java
# Debian's hardening flags are not applied: the workers in it are what is measured, and flags such as -D_FORTIFY_SOURCE or
# -fcf-protection would change that.
# Two builds of one commit with one toolchain and one C compiler are the same, wherever they are made: times come from the
# commit, paths are cut, and nothing is taken from an earlier build (packaging/reproducible.sh).
set -eu
umask 022
cd "$(dirname "$0")/.."
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 1)}
export SOURCE_DATE_EPOCH CARGO_INCREMENTAL=0 CARGO_PROFILE_RELEASE_STRIP=symbols
machine=$(uname -m) arch=${ARCH:-$(uname -m)} out=target/package
triple=$arch-unknown-linux-gnu sysroot=
mkdir -p "$out/completions"

# A path may have spaces, which only the encoded form of the flags can hold.
next=$'\x1f' given=${RUSTFLAGS:-}
flags="${given:+${given// /$next}$next}--remap-path-prefix=$PWD=pagewise"
flags+="$next--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
if [ -n "${SKIP_BUILD:-}" ]; then
    program=target/release/pagewise
else
    compiler=$arch-linux-gnu-gcc cflags=${CFLAGS:-}
    if [ "${GLIBC:-old}" = old ]; then
        sysroot=$(packaging/sysroot.sh "$arch")
        # A cross compiler looks into its own folders before the sysroot's.
        libraries=$sysroot/usr/lib/$arch-linux-gnu/ headers=$sysroot/usr/include
        flags+="$next-Clink-arg=--sysroot=$sysroot$next-Clink-arg=-B$libraries"
        cflags="$cflags --sysroot=$sysroot -B$libraries -isystem $headers/$arch-linux-gnu -isystem $headers"
    fi
    packaging/prebuilt.sh "$out/prebuilt-$arch" "$arch"
    env="${triple//-/_}"
    export PAGEWISE_PREBUILT=$PWD/$out/prebuilt-$arch CARGO_ENCODED_RUSTFLAGS=$flags
    export "CC_$env=$compiler" "CFLAGS_$env=$cflags" "CARGO_TARGET_${env^^}_LINKER=$compiler"
    cargo build --release --locked --target "$triple"
    program=target/$triple/release/pagewise
fi

run=("$program")
[ "$arch" = "$machine" ] || run=("qemu-$arch" -L "$sysroot" "$program")
version=$("${run[@]}" --version | cut -d ' ' -f 2)
rm -rf "$out/man"
"${run[@]}" man --out "$out/man"
gzip --no-name --best --force "$out"/man/*.1
for shell in bash zsh fish; do "${run[@]}" completions $shell > "$out/completions/pagewise.$shell"; done
name=pagewise-$version-$arch-linux-gnu

deb() {
    cargo deb --no-build --no-strip --target "$triple" --output "$out/"
}

rpm() {
    cargo generate-rpm --target "$triple" --arch "$arch" --output "$out/"
}

tarball() {
    rm -rf "${out:?}/$name" && mkdir -p "$out/$name"
    cp -r "$program" LICENSE-APACHE LICENSE-MIT README.md "$out/man" "$out/completions" "$out/$name/"
    tar --create --file "$out/$name.tar.gz" --use-compress-program "gzip --no-name --best" --directory "$out" \
        --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" "$name"
    rm -rf "${out:?}/$name"
    ls -l "$out/$name.tar.gz"
}

wheel() {
    python3 packaging/wheel.py "$program" "$arch" "$version" "$out"
}

sbom() {
    cargo cyclonedx --quiet --format json --target "$triple" --override-filename "$name.cdx"
    mv "$name.cdx.json" "$out/"
    find . -name "$name.cdx.json" -not -path './target/*' -delete
}

for package in "${@:-deb}"; do
    case $package in
    deb | rpm | tarball | wheel | sbom) $package ;;
    *)
        echo "build.sh takes deb, rpm, tarball, wheel or sbom, not $package" >&2
        exit 1
        ;;
    esac
done
