#!/usr/bin/env bash
# Compiles the base's functions and keeps them, so that the change's are measured in turn with them.
set -euo pipefail
place="$RUNNER_TEMP/pagewise"
rm -rf "$place"
mkdir -p "$place/kept"
base="$BASE"
if [ -z "$base" ]; then
    base=$(git merge-base HEAD "origin/${GITHUB_BASE_REF:?neither base: is given nor is this a pull request}")
fi
git worktree prune
git worktree add --quiet --force --detach "$place/checkout" "$base"
cd "$place/checkout"
if [ -n "$BUILD" ]; then
    bash -euo pipefail -c "$BUILD"
fi
if [ ! -e "${FILE%%:*}" ]; then
    echo "the base has no ${FILE%%:*}: nothing to compare with"
    exit 0
fi
"$PAGEWISE" bench "$FILE" --save-baseline base --out "$place/kept/base" --budget 1s
