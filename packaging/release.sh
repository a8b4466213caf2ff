#!/bin/bash
# A release: builds every package twice, compares them, packs the sources, fills in the recipes, sums all up in SHA256SUMS, and
# prints the commands that would publish. Nothing leaves this machine without --publish.
# packaging/release.sh [--publish]; TARGETS="x86_64 aarch64" for more than this machine's kind
set -eu
cd "$(dirname "$0")/.."
publish=${1:-}
[ -z "$publish" ] || [ "$publish" = --publish ] || { echo "release.sh takes --publish or nothing" >&2; exit 1; }
field() { sed -n "s/^$1 = \"\(.*\)\"/\1/p" Cargo.toml | head -n 1; }
version=$(field version) repository=$(field repository)
fail() { echo "release.sh: $*" >&2; exit 1; }
placeholders=$(grep -E '^(authors|repository) = .*\.example' Cargo.toml || true)
[ -z "$publish" ] || [ -z "$placeholders" ] || fail "nothing is published while these are placeholders in Cargo.toml:
$placeholders"
[ -z "$(git status --porcelain)" ] || fail "the work tree has changes"
grep -q "^## $version" CHANGELOG.md || fail "CHANGELOG.md has no section $version"
out=target/release-$version
rm -rf "$out" && mkdir -p "$out"

for arch in ${TARGETS:-$(uname -m)}; do
    ARCH=$arch KEEP=$PWD/$out packaging/reproducible.sh deb rpm tarball wheel sbom
    [ "$arch" = "$(uname -m)" ] || packaging/emulated.sh "$out"/pagewise-*_"$arch".whl
done
sources=$out/pagewise-$version.tar.gz
git archive --prefix "pagewise-$version/" HEAD | gzip --no-name --best > "$sources"
digest=$(sha256sum "$sources" | cut -d ' ' -f 1)
for recipe in aur/PKGBUILD conda/recipe.yaml; do
    sed -e "s|@VERSION@|$version|; s|@REPOSITORY@|$repository|; s|@SHA256@|$digest|" "packaging/$recipe" > "$out/${recipe#*/}"
done
cp packaging/nix/flake.nix "$out/"
(cd "$out" && sha256sum -- * > SHA256SUMS && cat SHA256SUMS)
alone=consumers/pagewise-bench/Cargo.toml # a package of its own
# cargo keeps what it unpacked and built for one target folder, also when sources have changed since: a new folder each time.
CARGO_TARGET_DIR=$(mktemp -d /var/tmp/pagewise-publish.XXXXXX)
export CARGO_TARGET_DIR
trap 'rm -rf "$CARGO_TARGET_DIR"' EXIT
cargo publish --workspace --dry-run --locked
cargo publish --manifest-path "$alone" --dry-run --locked

commands=(
    "git tag --sign v$version --message 'Pagewise $version'"
    "git push origin v$version"
    "gh release create v$version --verify-tag --notes-file CHANGELOG.md $out/*"
    "twine upload $out/*.whl"
    "cargo publish --workspace --locked"
    "cargo publish --manifest-path $alone --locked"
)
for command in "${commands[@]}"; do
    echo "$ $command"
    [ -z "$publish" ] || sh -c "$command"
done
[ -n "$publish" ] || echo "nothing was published; packaging/release.sh --publish runs these commands"
[ -z "$placeholders" ] || echo "--publish refuses while these are placeholders in Cargo.toml: $placeholders"
