#!/bin/sh
# Fuzzes one of claims, settings, topics, lines, advice, laws for the given number of seconds (60 by default),
# guided by coverage. Needs a C++ compiler for libFuzzer. No nightly Rust: there is no unsafe code for a sanitizer to watch.
set -eu
cd "$(dirname "$0")"
what=${1:?claims, settings, topics, lines, advice or laws}
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
-Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing"
cargo build --release --locked --target-dir ../target/fuzz --target "$(rustc -vV | sed -n 's/^host: //p')"
program=$(ls ../target/fuzz/*/release/texts)
seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT
# What is carried is the best of beginnings; what was found before lies in corpus/.
case $what in
claims) cp ../claims/*.toml "$seeds/" ;;
settings) cp ../settings/*.toml "$seeds/" ;;
topics) cp ../advice/*.toml "$seeds/" ;;
lines) cp ../advice/environment/*.toml "$seeds/" ;;
esac
mkdir -p "../target/fuzz/found-$what" "corpus/$what"
PAGEWISE_FUZZ=$what "$program" -max_total_time="${2:-60}" -max_len=8192 -artifact_prefix="../target/fuzz/$what-" \
    -print_final_stats=1 "../target/fuzz/found-$what" "corpus/$what" "$seeds"
