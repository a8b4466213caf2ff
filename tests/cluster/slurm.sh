#!/bin/bash
# Many machines under a real Slurm on this one machine: eight slurmd's, an array over them; one node is odd, one task is killed
# in the midst and requeued. Run by hand, as root, with Debian's slurm-wlm and munge:
# tests/cluster/slurm.sh target/release/pagewise
# ODD_BY=quota (a fifth of a CPU; needs a quiet machine, because all nodes share it) or thp (huge pages off; the default).
# KILL=no leaves out the task that is killed and requeued, NODES=16 starts more nodes, CHECK=6s shortens the checks, and
# PAGEWISE_ARGS asks something else.
# Nothing is left: the daemons are its own, below a folder of its own, and are ended by their ids.
set -u
pagewise=$(realpath "${1:?the program}")
here=$(realpath "$(dirname "$0")/../..")
place=$(mktemp -d /var/tmp/pagewise-slurm.XXXXXX)
NODES=${NODES:-8} ODD=n5 KILLED=n3
say() { printf '%s\n' "== $*"; }
fail() { say "FAILED: $*"; exit 1; }

quota=/sys/fs/cgroup/cpu/pagewise-odd-$$
started=()
finish() {
    scancel --quiet --user=root 2>/dev/null && sleep 2
    for pid in "${started[@]}"; do kill "$pid" 2>/dev/null; done
    sleep 2
    for pid in "${started[@]}"; do kill -9 "$pid" 2>/dev/null; done
    [ -d "$quota" ] && rmdir "$quota"
    [ -n "${KEEP:-}" ] && cp -r "$place" "$KEEP"
    rm -rf "$place"
}
trap finish EXIT
mkdir -p "$place"/{munge,ctld,shared,locks} && chmod 755 "$place" && chmod 700 "$place/munge"

# --- the daemons
dd if=/dev/urandom of="$place/munge/key" bs=128 count=1 status=none && chmod 600 "$place/munge/key"
munged --foreground --force --socket="$place/munge.socket" --key-file="$place/munge/key" --pid-file="$place/munge/pid" \
    --log-file="$place/munge/log" --seed-file="$place/munge/seed" 2>"$place/munge/err" &
started+=($!)
export SLURM_CONF=$place/slurm.conf
memory=$(awk '/MemTotal/ { print int($2 / 1024 / 2) }' /proc/meminfo)
cat > "$SLURM_CONF" <<CONF
ClusterName=pagewise
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
SlurmctldPort=27817
AuthType=auth/munge
AuthInfo=socket=$place/munge.socket
CryptoType=crypto/munge
SlurmctldPidFile=$place/ctld.pid
SlurmdPidFile=$place/slurmd-%n.pid
SlurmdSpoolDir=$place/spool-%n
SlurmctldLogFile=$place/ctld.log
SlurmdLogFile=$place/slurmd-%n.log
StateSaveLocation=$place/ctld
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
ReturnToService=2
MpiDefault=none
KillWait=5
CommunicationParameters=NoAddrCache
SlurmdParameters=config_overrides
$(for i in $(seq $NODES); do echo "NodeName=n$i NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((27900 + i)) CPUs=1 RealMemory=$memory"; done)
PartitionName=all Nodes=n[1-$NODES] Default=YES MaxTime=INFINITE State=UP
CONF
# select/linear gives whole nodes, as --exclusive asks.
slurmctld -D -f "$SLURM_CONF" >"$place/ctld.out" 2>&1 &
started+=($!)
for i in $(seq $NODES); do
    mkdir -p "$place/spool-n$i"
    slurmd -D -f "$SLURM_CONF" -N "n$i" >"$place/slurmd-n$i.out" 2>&1 &
    started+=($!)
done
for _ in $(seq 60); do
    [ "$(sinfo --noheader --Node --states=idle 2>/dev/null | wc -l)" -eq $NODES ] && break
    sleep 1
done
sinfo || fail "no slurmctld: $(tail -n 3 "$place/ctld.out" "$place/ctld.log")"
[ "$(sinfo --noheader --Node --states=idle | wc -l)" -eq $NODES ] || fail "not all nodes are idle"

# --- what runs on a node: pagewise itself, but on the odd node under a quota of a fifth of a CPU. All nodes share one machine,
# so each has a lock of its own, and they take turns by another, as they would not disturb each other on machines of their own.
mkdir "$quota" && echo 5000 > "$quota/cpu.cfs_period_us" && echo 1000 > "$quota/cpu.cfs_quota_us" || fail "no quota"
cat > "$place/pagewise" <<WRAPPER
#!/bin/bash
mkdir -p $place/locks/\$SLURMD_NODENAME
export PAGEWISE_LOCK=$place/locks/\$SLURMD_NODENAME
exec 9>$place/turn
flock 9
[ "\$SLURMD_NODENAME" = $ODD ] && exec $place/odd $pagewise "\$@"
exec $pagewise "\$@"
WRAPPER
case ${ODD_BY:-thp} in
quota) printf '#!/bin/bash\necho $$ > %s/cgroup.procs\nexec "$@"\n' "$quota" > "$place/odd" ;;
thp) cat > "$place/odd" <<'PYTHON' ;;
#!/usr/bin/python3
import ctypes, os, sys
PR_SET_THP_DISABLE = 41
assert ctypes.CDLL(None, use_errno=True).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
PYTHON
*) fail "ODD_BY is quota or thp" ;;
esac
chmod +x "$place/pagewise" "$place/odd"

export PAGEWISE=$place/pagewise PAGEWISE_OUT=$place/shared XDG_DATA_HOME=$place/data XDG_CACHE_HOME=$place/cache
export PAGEWISE_ARGS=${PAGEWISE_ARGS:-fault/touch@c-O3 fault/thp@c-O3 --set bytes=16MiB --launches 6 --budget 8s}
job=$(sbatch --parsable --array=1-$NODES --output="$place/out-%a" "$here/packaging/slurm/pagewise.sbatch") || fail "sbatch"
say "array job $job over $NODES nodes; $ODD is odd by ${ODD_BY:-thp}"

# --- one is killed in the midst, and its task requeued
task="" run=""
kill_and_requeue() {
    for _ in $(seq 600); do
        run=$(ls -d "$place/shared/$KILLED"/* 2>/dev/null | head -n 1)
        if [ -n "$run" ] && [ -s "$run/launches.jsonl" ] && [ "$(wc -l < "$run/launches.jsonl")" -ge 3 ]; then
            task=${run##*/} && task=${task/-/_}
            pid=$(pgrep --full "^$pagewise run .*--out $run\$" | head -n 1)
            [ -n "$pid" ] && kill -9 "$pid" &&
                say "killed $KILLED (task $task) after $(wc -l < "$run/launches.jsonl") launches" && break
        fi
        sleep 0.1
    done
    [ -n "${pid:-}" ] || fail "$KILLED was not killed"
    "$pagewise" report "$run" --json > "$place/killed.json"
    say "what was killed is readable: report ends with $?, $(wc -c < "$place/killed.json") bytes of JSON"
    # A requeued task may go to any free node; this one is to complete what its node has.
    scontrol requeuehold "$task" || fail "requeue"
    for _ in $(seq 60); do
        scontrol update JobId="$task" ReqNodeList=$KILLED 2>/dev/null && break
        sleep 1
    done
    scontrol release "$task" || fail "release"
}
[ "${KILL:-}" = no ] || kill_and_requeue
for _ in $(seq 600); do
    [ -z "$(squeue --noheader)" ] && break
    sleep 1
done
if [ "${KILL:-}" != no ]; then
    if [ ! -e "$run/summary.json" ]; then
        fail "$run has no summary; $(cat "$place"/out-*)"
    fi
    say "the requeued run is complete: $(wc -l < "$run/launches.jsonl") launches," \
        "$(grep -c resumed "$run/decisions.jsonl") resumption"
fi
ls -d "$place"/shared/*/*

# --- the question
"$pagewise" compare --outliers "$place/shared" --strict | tee "$place/machines.txt"
code=${PIPESTATUS[0]}
[ "$code" -eq 3 ] || fail "compare --strict ended with $code"
nodes='import json, sys; print(*[n["node"] for n in json.load(sys.stdin)["odd"]])'
found=$("$pagewise" compare --outliers "$place/shared" --json | python3 -c "$nodes")
[ "$found" = "$ODD" ] || fail "odd: $found"
say "found $found and no other"

# --- the health check: a reference, this machine as it was, and where it is odd (another huge page setting or a quota)
export PAGEWISE_NODE=here PAGEWISE_LOCK=$place/locks BUDGET=${CHECK:-8s}
check() { PAGEWISE=$1 "$here/packaging/slurm/nodecheck.sh" "$place/reference"; }
for _ in reference again; do check "$pagewise" || fail "the check of this machine ended with $?"; done
printf '#!/bin/bash\nexec %s/odd %s "$@"\n' "$place" "$pagewise" > "$place/slow" && chmod +x "$place/slow"
check "$place/slow"
say "the check where it is odd ended with $?"
