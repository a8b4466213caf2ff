#!/bin/bash
# Two builds, one hash: clones HEAD into two folders of unlike names, builds what is named (deb, rpm, tarball, wheel, sbom; by
# default tarball) in each, in another time zone, language and umask, and compares the files and every program in them.
# Where they differ, both builds stay, to be looked at. KEEP=FOLDER keeps the packages.
# packaging/reproducible.sh [PACKAGE]…, with the variables of packaging/build.sh
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- tarball
place=$(mktemp -d /var/tmp/pagewise-twice.XXXXXX)
differ= commit=$(git rev-parse HEAD)
trap '[ -n "$differ" ] || rm -rf "$place"' EXIT
build() {
    git clone --quiet --no-hardlinks . "$1"
    git -C "$1" checkout --quiet --detach "$commit"
    (umask "$2" && TZ=$3 LC_ALL=$4 "$1/packaging/build.sh" "${@:5}") > "$place/log" 2>&1 || { tail "$place/log"; exit 1; }
    mkdir -p "$place/$2/programs"
    find "$1/target/package" -maxdepth 1 -type f -name 'pagewise[-_]*' -exec cp -t "$place/$2/" {} +
    cp "$1"/target/*/release/pagewise "$1"/target/*/release/build/pagewise-workers-*/out/{worker-c-*,pagewise-helper} \
        "$place/$2/programs/"
}
build "$place/first" 022 UTC C "$@"
build "$place/a folder of another, longer name" 077 Asia/Tokyo C.UTF-8 "$@"
cd "$place"
(cd 022 && find . -type f -print0 | sort -z | xargs -0 sha256sum) | tee hashes
if ! (cd 077 && sha256sum --check --quiet ../hashes); then
    (cd 022 && find . -type f -exec cmp {} ../077/{} \;) || true
    differ=yes
    echo "the two builds differ; both are kept below $place: what was compared in 022 and 077, all of the rest in the other two"
    exit 1
fi
[ -z "${KEEP:-}" ] || cp 022/pagewise* "$KEEP/"
echo "two builds of $(wc -l < hashes) files each, one hash a file"
