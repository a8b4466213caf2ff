#!/bin/bash
# What those meet who come by cargo: packaging/cargo.sh [package|install|oldest|deny]…, all four by default. What it builds is
# removed.
#   package  packs every package of the workspace, and builds each from what was packed and nothing else
#   install  `cargo install`, and an overview by what was installed, with the sources out of sight
#   oldest   the oldest Rust that Cargo.toml names builds everything: programs, tests, benches
#   deny     cargo-deny: licenses, sources and duplicates of dependencies; known vulnerabilities if their database is in reach
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- package install oldest deny
place=$(mktemp -d /var/tmp/pagewise-cargo.XXXXXX)
trap 'rm -rf "$place"' EXIT
export CARGO_TARGET_DIR=$place/target

package() {
    cargo package --workspace --locked "${@}"
    ls -l "$CARGO_TARGET_DIR"/package/*.crate
}

# With root the sources and the toolchain are covered by empty folders; without, the program only lies and runs elsewhere.
install() {
    cargo install --locked --path . --root "$place/installed"
    rm -rf "$CARGO_TARGET_DIR"
    mkdir "$place/home" "$place/run"
    local look="cd '$place/run' && exec '$place/installed/bin/pagewise' run --budget 20s --force --out '$place/run/first'"
    local clean=(env -i PATH=/usr/bin:/bin HOME="$place/home" PAGEWISE_LOCK="$place")
    if [ "$(id -u)" = 0 ]; then
        unshare --mount sh -c 'for hidden in "$@"; do mount -t tmpfs -o size=0,mode=755 none "$hidden"; done
            '"exec ${clean[*]} sh -c \"$look\"" sh "$PWD" "$HOME/.cargo" "$HOME/.rustup"
    else
        "${clean[@]}" sh -c "$look"
    fi
    "$place/installed/bin/pagewise" report "$place/run/first" > /dev/null
    echo "what cargo installed takes its overview"
}

oldest() {
    local oldest
    oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    rustup run "$oldest" cargo --version > /dev/null 2>&1 || rustup toolchain install "$oldest" --profile minimal
    # No dependency may ask for a newer one, whatever it makes of this one today.
    cargo metadata --format-version 1 --locked --all-features | python3 -c '
import json, sys
oldest = tuple(map(int, sys.argv[1].split(".")))
packages = [p for p in json.load(sys.stdin)["packages"] if p["rust_version"]]
newer = [p["name"] + " " + p["rust_version"] for p in packages if tuple(map(int, p["rust_version"].split(".")[:2])) > oldest]
print(len(packages), "packages name their oldest Rust; newer than", sys.argv[1] + ":", ", ".join(newer) or "none")
sys.exit(bool(newer))' "$oldest"
    cargo "+$oldest" check --locked --workspace --all-targets
    echo "Rust $oldest builds everything"
}

deny() {
    cargo deny --version 2> /dev/null || { echo "skipped: there is no cargo-deny; cargo install --locked cargo-deny"; return; }
    local checks=(bans licenses sources)
    if timeout 60 cargo deny --locked fetch db > "$place/log" 2>&1; then
        checks+=(advisories)
    else
        echo "advisories: skipped, for their database is not in reach: $(sed -n 's/^fatal: //p' "$place/log")"
    fi
    cargo deny --workspace --locked check "${checks[@]}"
}

for what in "$@"; do
    "$what"
    rm -rf "$CARGO_TARGET_DIR"
done
