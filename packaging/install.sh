#!/bin/sh
# Installs the program of this archive, its manuals and its completions: ./install.sh [PREFIX], by default ~/.local
set -eu
cd "$(dirname "$0")"
prefix=${1:-$HOME/.local}
if ! ./pagewise --version > /dev/null 2>&1; then
    libc=$(getconf GNU_LIBC_VERSION 2> /dev/null || true)
    for loader in /lib/ld-musl-*; do [ -e "$loader" ] && libc=musl; done
    echo "pagewise: this archive needs Linux on @ARCH@ with glibc @GLIBC@ or newer, and this is $(uname -sm)" \
        "with ${libc:-another C library}; a container image with glibc runs it here." >&2
    exit 1
fi
mkdir -p "$prefix/bin" "$prefix"/share/man/man1 "$prefix"/share/bash-completion/completions \
    "$prefix"/share/zsh/site-functions "$prefix"/share/fish/vendor_completions.d
# A program that runs cannot be written to; it can be replaced.
cp pagewise "$prefix/bin/pagewise.new" && mv "$prefix/bin/pagewise.new" "$prefix/bin/pagewise"
cp man/*.1.gz "$prefix/share/man/man1/"
cp completions/pagewise.bash "$prefix/share/bash-completion/completions/pagewise"
cp completions/pagewise.zsh "$prefix/share/zsh/site-functions/_pagewise"
cp completions/pagewise.fish "$prefix/share/fish/vendor_completions.d/"
echo "$("$prefix/bin/pagewise" --version) is in $prefix/bin"
case :$PATH: in *:"$prefix/bin":*) ;; *) echo "add $prefix/bin to PATH to call it by name" ;; esac
