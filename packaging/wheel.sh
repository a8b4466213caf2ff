#!/bin/bash
# A wheel for pip, pipx and uvx, moved to a folder: packaging/wheel.sh DIR, with the variables of packaging/build.sh
set -eu
out=$(realpath -m "$1")
cd "$(dirname "$0")/.."
rm -f target/package/pagewise-*.whl
packaging/build.sh wheel
mkdir -p "$out"
mv target/package/pagewise-*.whl "$out/"
ls -l "$out"/pagewise-*.whl
