#!/bin/bash
# The packages: a .deb, a tarball, and what stands in both. packaging/build.sh [deb|tarball]…; they lie in target/package.
# The program is built as `cargo build --release` does. Debian's hardening flags are not applied: the workers in it are what is
# measured, and flags such as -D_FORTIFY_SOURCE or -fcf-protection would change that.
# Two builds of one commit, in one place with one toolchain, are the same: times come from the commit, paths are cut.
set -eu
cd "$(dirname "$0")/.."
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 1)
export SOURCE_DATE_EPOCH
export RUSTFLAGS="${RUSTFLAGS:-} --remap-path-prefix=$PWD=pagewise --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
[ -n "${SKIP_BUILD:-}" ] || cargo build --release --locked
program=target/release/pagewise out=target/package
version=$("$program" --version | cut -d ' ' -f 2)

rm -rf "$out/man" "$out/completions"
mkdir -p "$out/completions"
"$program" man --out "$out/man"
gzip --no-name --best --force "$out"/man/*.1
for shell in bash zsh fish; do "$program" completions $shell > "$out/completions/pagewise.$shell"; done

for what in "${@:-deb}"; do
    case $what in
    deb)
        cargo deb --no-build --strip --output "$out/" --locked
        ;;
    tarball)
        name=pagewise-$version-$(uname -m)-linux-gnu
        rm -rf "${out:?}/$name" && mkdir -p "$out/$name"
        cp -r "$program" LICENSE-APACHE LICENSE-MIT README.md "$out/man" "$out/completions" "$out/$name/"
        tar --create --gzip --file "$out/$name.tar.gz" --directory "$out" --sort=name --owner=0 --group=0 --numeric-owner \
            --mtime="@$SOURCE_DATE_EPOCH" "$name"
        # It runs where glibc is as new as the newest symbol that it takes. For an old one, run this script in a root of an
        # old distribution: there is no other honest way to measure an old glibc than to be built against it.
        newest=$(objdump -T "$program" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
        echo "$out/$name.tar.gz needs $newest"
        ;;
    *)
        echo "build.sh takes deb or tarball, not $what" >&2
        exit 1
        ;;
    esac
done
