#!/bin/bash
# Health check of a node: what it costs now against what it cost when it was taken into service, with a gate. One line.
#
#   nodecheck.sh /shared/pagewise-reference
#
# Below this folder each node has three runs of its own. The first call on a node makes them; `pagewise compare --outliers`
# compares nodes by them. Remove a node's folder after an update of its kernel or firmware.
#
# Ends with 2 (ODD) where a method is slower by more than GATE and by more than chance, and else with 0. What keeps it from an
# answer (another run measures, the kernel is another one, too few launches) is named behind UNKNOWN: no other user can take
# a node out of service. What an odd check measured is kept beside the reference.
#
# In nhc.conf, a minute being enough for three runs and their workers:
#   * || check_cmd_status -t 60 -r 0 /usr/local/sbin/nodecheck.sh /shared/pagewise-reference
#
# GATE            what a node may cost more [30%]
# BUDGET          time of each of the three runs [8s]
# PAGEWISE_ARGS   what to run [fault/touch@c-O3 fault/thp@c-O3 --set bytes=16MiB --set frames=cached]
# PAGEWISE        the program [pagewise]
# PAGEWISE_NODE   what the cluster calls the node [its host name]
set -u
folder=${1:?is the shared folder with the reference of each node}
export PAGEWISE_NODE=${PAGEWISE_NODE:-${SLURMD_NODENAME:-$(hostname -s)}}
own=$folder/$PAGEWISE_NODE
say() { echo "pagewise: $1: $PAGEWISE_NODE: $2"; }
unknown() { say UNKNOWN "$1"; exit 0; }
# So that no sentence is broken.
export COLUMNS=300

# Temporary files go to a folder that nobody else can enter.
TMPDIR=$(mktemp -d -t pagewise-check.XXXXXX) || exit 1
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

mkdir -p "$own"
[ -O "$own" ] || unknown "$own belongs to another user"
into=$own
[ -e "$own/3/summary.json" ] && into=$TMPDIR/now && mkdir "$into"
for number in 1 2 3; do
    [ -e "$into/$number/summary.json" ] && continue
    rm -rf "${into:?}/$number"
    # shellcheck disable=SC2086 # the arguments are words
    "${PAGEWISE:-pagewise}" run ${PAGEWISE_ARGS:-fault/touch@c-O3 fault/thp@c-O3 --set bytes=16MiB --set frames=cached} \
        --quiet --budget "${BUDGET:-8s}" --out "$into/$number" >/dev/null 2>"$TMPDIR/words" ||
        unknown "$(tr -s ' \n' ' ' <"$TMPDIR/words" | sed 's/^pagewise: //; s/ $//')"
done
if [ "$into" = "$own" ]; then
    say OK "three runs are its reference from now on, in $own"
    exit 0
fi
"${PAGEWISE:-pagewise}" compare --gate "${GATE:-30%}" "$own"/[123] -- "$into"/[123] >"$TMPDIR/words" 2>&1
case $? in
0) say OK "as its reference" ;;
2)
    kept=$own/odd-$(date -u +%Y%m%dT%H%M%SZ)
    cp -r "$into" "$kept"
    say ODD "slower than its reference: pagewise compare --gate ${GATE:-30%} $own/[123] -- $kept/[123]"
    exit 2
    ;;
*) unknown "$(sed -n 's/^ *gate/gate/p; s/^pagewise: //p' "$TMPDIR/words" | head -n 1)" ;;
esac
