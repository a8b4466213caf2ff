#!/bin/sh
# A worker that misbehaves: it runs the real native worker ($CANARY_WORKER) and does one thing wrong ($CANARY_LIE), but only
# in launches that have a cell of the method `touch`. It shows the methods in $CANARY_METHODS only.
lie=${CANARY_LIE:-none}
tab=$(printf '\t')

if [ "$1" = --list ]; then
    "$CANARY_WORKER" --list | awk -F "$tab" -v OFS="$tab" -v lie="$lie" -v shown=" ${CANARY_METHODS:-touch null limit} " '
        $1 == "pagewise" { $3 = "canary" }
        $1 == "method" && ($2 != "fault" || index(shown, " " $3 " ") == 0) { next }
        $1 == "method" && $3 == "touch" && lie == "undeclared-call" { sub(/\tcalls=[^\t]*/, "\tcalls=") }
        $1 == "method" && $3 == "touch" && lie == "unmade-call" { sub(/\tcalls=/, "\tcalls=re-touch:madvise ") }
        $1 == "method" && $3 == "touch" && lie == "broken-law" { sub(/\tlaws=/, "\tlaws=first-touch.minor_faults == ; ") }
        { print }'
    exit
fi

request=$(cat)
case "$request" in
*method=touch*) ;;
*) lie=none ;;
esac

# Deaths. A worker may be killed, crash, hang, give up, or meet a limit.
ulimit -c 0
case "$lie" in
sigkill) kill -KILL $$ ;;
sigsegv) kill -SEGV $$ ;;
hang) exec sleep 600 ;;
give-up)
    echo "the canary cannot go on" >&2
    exit 9
    ;;
address-space) ulimit -v 400000 ;;
out-of-memory)
    echo $$ >"$CANARY_CGROUP/cgroup.procs"
    exec "$CANARY_WORKER" <<END
$request
END
    ;;
crash-in-phase)
    # The real worker is shot in the middle of a phase; it can still say where.
    printf '%s\n' "$request" >"$CANARY_PLACE/request.$$"
    "$CANARY_WORKER" <"$CANARY_PLACE/request.$$" &
    until grep -q '^columns' "/proc/$$/fd/1"; do sleep 0.05; done
    sleep 0.3
    kill -SEGV $!
    wait $!
    status=$?
    rm -f "$CANARY_PLACE/request.$$"
    exit $status
    ;;
esac

# Lies. The cells of `touch` are found in the request; `done` is corrected where the lie is not about it.
touched=$(printf '%s\n' "$request" | awk -F = '$1 == "cell" { cell = $2 } $0 == "method=touch" { printf " %s ", cell }')
answer=$(printf '%s\n' "$request" | "$CANARY_WORKER")
status=$?
[ -z "$answer" ] || printf '%s\n' "$answer" | awk -F "$tab" -v OFS="$tab" -v lie="$lie" -v touched="$touched" '
    function mine(cell) { return index(touched, " " cell " ") > 0 }
    $1 == "pagewise" { $3 = "canary" }
    $1 == "fact" && mine($3) && $4 == "digest" && lie == "digest" { $5 = "0123456789abcdef" }
    $1 == "fact" && mine($3) && $4 == "digest" && lie == "no-digest" { next }
    $1 == "sample" && mine($4) && $3 >= 0 {
        if (lie == "extra-faults" && $5 == "first-touch") $13 += 1
        if (lie == "dropped-sample" && $5 == "refault" && !dropped) { dropped = 1; added = -1; next }
        if (lie == "dropped-round" && $3 == 1) { added--; next }
        if (lie == "phase-twice" && $5 == "release" && !added) { print; added = 1 }
        if (lie == "undeclared-phase" && $5 == "map" && !added) { print; $5 = "rehearsal"; added = 1 }
    }
    $1 == "done" && lie == "no-done" { next }
    $1 == "done" && lie == "done-count" { $2 += 1 }
    $1 == "done" { $2 += added }
    { print }
    $1 == "done" && lie == "after-done" { print "about", "afterthought", "yes" }
'
[ "$lie" = status ] && exit 7
exit $status
