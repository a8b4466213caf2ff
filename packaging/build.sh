#!/bin/bash
# The packages: a .deb, a tarball, and what stands in both. packaging/build.sh [deb|tarball]…; they lie in target/package.
# The program is built as `cargo build --release` does. Debian's hardening flags are not applied: the workers in it are what is
# measured, and flags such as -D_FORTIFY_SOURCE or -fcf-protection would change that.
# Two builds of one commit with one toolchain and one C compiler are the same, wherever they are made: times come from the
# commit, paths are cut, and nothing is taken from an earlier build (packaging/reproducible.sh).
set -eu
umask 022
cd "$(dirname "$0")/.."
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 1)}
export SOURCE_DATE_EPOCH CARGO_INCREMENTAL=0
# A path may have spaces, which only the encoded form of the flags can hold.
next=$'\x1f' given=${RUSTFLAGS:-}
cut=(--remap-path-prefix="$PWD=pagewise" --remap-path-prefix="${CARGO_HOME:-$HOME/.cargo}=cargo")
export CARGO_ENCODED_RUSTFLAGS="${given:+${given// /$next}$next}${cut[0]}$next${cut[1]}"
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
        tar --create --file "$out/$name.tar.gz" --use-compress-program "gzip --no-name --best" --directory "$out" \
            --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" "$name"
        # It runs where glibc is as new as the newest symbol that the laboratory takes; the workers in it were built beside it.
        # For an old one packaging/old-glibc.sh runs this script in the root of an old distribution.
        newest=$(objdump -T "$program" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
        echo "$out/$name.tar.gz needs $newest"
        ;;
    *)
        echo "build.sh takes deb or tarball, not $what" >&2
        exit 1
        ;;
    esac
done
