#!/bin/bash
# Packages of this commit, all of them with the same program: packaging/build.sh [deb|rpm|tarball|wheel|sbom]…, into
# target/package.
#   ARCH=aarch64   for another machine: needs gcc-aarch64-linux-gnu and qemu-user; rustup adds the target where it is missing
#   GLIBC=host     against this machine's glibc, not that of packaging/sysroot.sh
#   SKIP_BUILD=1   of target/release/pagewise as it stands: that carries neither a Go worker nor classes of Java
# Debian's hardening flags are not applied: the workers in it are what is measured, and flags such as -D_FORTIFY_SOURCE or
# -fcf-protection would change that.
# Two builds of one commit with one toolchain and one C compiler are the same, wherever they are made: times come from the
# commit, paths are cut, and nothing is taken from an earlier build (packaging/reproducible.sh).
set -eu
umask 022
cd "$(dirname "$0")/.."
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 1)}
export SOURCE_DATE_EPOCH CARGO_INCREMENTAL=0
machine=$(uname -m) arch=${ARCH:-$(uname -m)} out=target/package
triple=$arch-unknown-linux-gnu sysroot=
mkdir -p "$out/completions"

fail() { echo "build.sh: $*" >&2; exit 1; }
# A path may have spaces, which only the encoded form of the flags can hold.
next=$'\x1f' given=${RUSTFLAGS:-}
flags="${given:+${given// /$next}$next}--remap-path-prefix=$PWD=pagewise"
flags+="$next--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
strip=$arch-linux-gnu-strip built=target/release/pagewise program=$out/pagewise
if [ -z "${SKIP_BUILD:-}" ]; then
    compiler=$arch-linux-gnu-gcc cflags=${CFLAGS:-}
    tools=("$compiler" "$strip")
    [ "$arch" = "$machine" ] || tools+=("qemu-$arch") # it prints the version, the manuals and the completions
    for tool in "${tools[@]}"; do
        [ -n "$(command -v "$tool")" ] || fail "a package for $arch needs $tool; Debian has it in gcc-${arch//_/-}-linux-gnu or qemu-user"
    done
    if [ ! -d "$(rustc --print target-libdir --target "$triple")" ]; then
        rustup target add "$triple" || fail "a package for $arch needs Rust's standard library for $triple: rustup target add $triple"
    fi
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
    built=target/$triple/release/pagewise
fi
# Of the laboratory only: workers are in it as they were built.
"$strip" -o "$program" "$built"

run=("$program")
[ "$arch" = "$machine" ] || run=("qemu-$arch" -L "$sysroot" "$program")
version=$("${run[@]}" --version | cut -d ' ' -f 2)
rm -rf "$out/man"
"${run[@]}" man --out "$out/man"
gzip --no-name --best --force "$out"/man/*.1
for shell in bash zsh fish; do "${run[@]}" completions $shell > "$out/completions/pagewise.$shell"; done
name=pagewise-$version-$arch-linux-gnu
field() { sed -n "s/^$1 = \"\(.*\)\"/\1/p" Cargo.toml | head -n 1; }
maintainer=$(sed -n 's/^authors = \["\(.*\)"\]/\1/p' Cargo.toml)
# Workers are in the program as they are, with their tables of symbol versions.
glibc=$(grep -aoE '\bGLIBC_2\.[0-9]+\b' "$program" | sort -uV | tail -n 1 | cut -d _ -f 2)

# staged FOLDER ZSH: the files that a system's package installs, with its place for completions of zsh.
staged() {
    rm -rf "$1"
    install -D "$program" "$1/usr/bin/pagewise"
    install -D -m 644 -t "$1/usr/share/man/man1" "$out"/man/*.1.gz
    install -D -m 644 "$out/completions/pagewise.bash" "$1/usr/share/bash-completion/completions/pagewise"
    install -D -m 644 "$out/completions/pagewise.fish" "$1/usr/share/fish/vendor_completions.d/pagewise.fish"
    install -D -m 644 "$out/completions/pagewise.zsh" "$1/usr/share/zsh/$2/_pagewise"
}

deb() {
    local root=$out/deb doc
    local -A names=([x86_64]=amd64 [aarch64]=arm64)
    staged "$root" vendor-completions
    doc=$root/usr/share/doc/pagewise
    install -D -m 644 packaging/debian/copyright "$doc/copyright"
    install -D -m 644 packaging/debian/lintian-overrides "$root/usr/share/lintian/overrides/pagewise"
    gzip --no-name --best < CHANGELOG.md > "$doc/changelog.gz"
    gzip --no-name --best > "$doc/changelog.Debian.gz" <<END
pagewise ($version-1) unstable; urgency=medium

  * Release $version: /usr/share/doc/pagewise/changelog.gz

 -- $maintainer  $(LC_ALL=C date --utc --rfc-email --date "@$SOURCE_DATE_EPOCH")
END
    mkdir "$root/DEBIAN"
    (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum > DEBIAN/md5sums)
    cat > "$root/DEBIAN/control" <<END
Package: pagewise
Version: $version-1
Architecture: ${names[$arch]}
Maintainer: $maintainer
Installed-Size: $(du --apparent-size -sk "$root/usr" | cut -f 1)
Depends: libc6 (>= $glibc), libgcc-s1 (>= 4.2)
Suggests: gcc, golang-go, default-jre-headless (>= 2:1.17), python3
Section: utils
Priority: optional
Homepage: $(field repository)
Description: laboratory that measures what memory costs on this machine
 Measures side by side what it costs on this machine to map, share, pass,
 copy, read, allocate and fault memory. It proves that each method did what
 its name says, and answers which method to use, by how much, and how sure
 that is.
 .
 It is built without Debian's hardening flags, for the workers within are
 what is measured.
END
    dpkg-deb --root-owner-group -Zxz --build "$root" "$out/pagewise_$version-1_${names[$arch]}.deb"
    rm -rf "$root"
}

rpm() {
    local top package=pagewise-$version-1.$arch.rpm
    top=$(mktemp -d) # paths of rpmbuild hold no spaces
    staged "$top/files" site-functions
    install -D -m 644 -t "$top/files/usr/share/licenses/pagewise" LICENSE-*
    rpmbuild -bb --quiet --target "$arch-linux" --define "_topdir $top" --define "staged $top/files" \
        --define "release_version $version" --define "home $(field repository)" packaging/rpm/pagewise.spec
    mv "$top/RPMS/$arch/$package" "$out/"
    rm -rf "$top"
    ls -l "$out/$package"
}

tarball() {
    rm -rf "${out:?}/$name" && mkdir -p "$out/$name"
    cp -r "$program" LICENSE-APACHE LICENSE-MIT README.md "$out/man" "$out/completions" "$out/$name/"
    sed "s/@ARCH@/$arch/g; s/@GLIBC@/$glibc/g" packaging/install.sh > "$out/$name/install.sh"
    chmod 755 "$out/$name/install.sh"
    tar --create --file "$out/$name.tar.gz" --use-compress-program "gzip --no-name --best" --directory "$out" \
        --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" "$name"
    rm -rf "${out:?}/$name"
    ls -l "$out/$name.tar.gz"
}

wheel() {
    python3 packaging/wheel.py "$program" "$arch" "$version" "$out"
}

sbom() {
    python3 packaging/sbom.py "$triple" "$program" > "$out/$name.cdx.json"
    ls -l "$out/$name.cdx.json"
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
