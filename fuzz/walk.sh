#!/bin/sh
# Fuzzes the packet walk for the given number of seconds (60 by default); needs clang with libFuzzer and its sanitizers.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
clang -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Iworkers/c/harness -o "$work/walk" fuzz/walk.c
mkdir "$work/corpus"
# A first byte for the pieces, then captures in both byte orders and both units of time: a header alone, and one packet.
zeros='\0\0\0\0\0\0\0\0'
printf "\\11\\324\\303\\262\\241\\2\\0\\4\\0$zeros\\0\\0\\4\\0\\1\\0\\0\\0" > "$work/corpus/little"
printf "\\0\\115\\074\\262\\241\\2\\0\\4\\0$zeros\\0\\0\\4\\0\\1\\0\\0\\0\\1\\0\\0\\0\\2\\0\\0\\0\\3\\0\\0\\0\\3\\0\\0\\0abc" > "$work/corpus/nano"
printf "\\3\\241\\262\\303\\324\\0\\2\\0\\4$zeros\\0\\4\\0\\0\\0\\0\\0\\1\\0\\0\\0\\1\\0\\0\\0\\2\\0\\0\\0\\3\\0\\0\\0\\3abc" > "$work/corpus/big"
mkdir -p target
"$work/walk" -artifact_prefix=target/ -max_total_time="${1:-60}" -max_len=4096 -print_final_stats=1 "$work/corpus"
