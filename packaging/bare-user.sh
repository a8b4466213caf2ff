#!/bin/sh
# A user's first minutes with an installed Pagewise, where there is no toolchain: packaging/bare.sh runs it in its roots.
# It sets BUDGET, of the overview in seconds, and SLOW, by which limits are multiplied.
set -eu
cd
fail() { echo "bare-user.sh: $*" >&2; tail -n 20 out err >&2; exit 1; }
for program in cc gcc clang cargo rustc go javac; do
    if command -v $program; then fail "the root is not bare: it has $program"; fi
done
[ "$(id -u)" != 0 ] || fail "this is root"

# step CODES LIMIT TEXT COMMAND…: it ends with one of these codes within LIMIT seconds, and prints TEXT.
step() {
    codes=$1 limit=$(($2 * SLOW)) text=$3 began=$(date +%s) code=0
    shift 3
    "$@" > out 2> err < /dev/null || code=$?
    took=$(($(date +%s) - began))
    case " $codes " in *" $code "*) ;; *) fail "$* ended with $code" ;; esac
    cat out err | grep -q -e "$text" || fail "$* does not say: $text"
    [ $took -le "$limit" ] || fail "$* took $took s, more than $limit"
    echo "$took s, code $code: $*"
}

i=0
while [ $i -lt 20000 ]; do echo "$i $((i * 7919 % 10007)) a line of a log"; i=$((i + 1)); done > access.log
step 0 5 '^pagewise [0-9]' pagewise --version
step 0 10 'carried in this program' pagewise doctor
step 0 "$((BUDGET + 30))" 'HOW SURE' pagewise run --force --budget "${BUDGET}s"
step '0 3' 30 'thp' pagewise run fault/touch@c-O3 fault/thp@c-O3 fault/touch@go --set bytes=1MiB --force --budget 8s --full
grep -q '@go' out || fail "the Go worker that was carried is not in the table"
step 0 120 'conform' pagewise check fault/touch@c-O3 fault/thp@c-O3 fault/touch@go
step '0 3' 60 'read' pagewise advise read --file access.log --force --budget 10s
step '0 3' 60 'thp' pagewise try --with thp --force --budget 10s -- sort access.log
step '0 3' 60 'faults' pagewise profile --force --budget 8s -- sort access.log
step 0 5 'mine.c' pagewise bench --new mine.c
step 1 5 'needs a C compiler' pagewise bench mine.c
[ "$(wc -l < err)" -eq 1 ] || fail "bench says more than one line where there is no compiler"
step '0 3' 90 'mmap' pagewise claims --about mmap --force --budget 20s
step 0 30 'bundle' pagewise doctor --bundle bundle.md
