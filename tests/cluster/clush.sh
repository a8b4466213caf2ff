#!/bin/bash
# Pagewise by a real ClusterShell over real ssh: three sshd's on this machine, each with a host name of its own, and the two
# commands of packaging/clush.md. Run by hand, as root, with Debian's clustershell and openssh-server:
# tests/cluster/clush.sh PAGEWISE
# Nothing is left: keys, daemons and runs are below a folder of its own, and the daemons are ended by their ids.
set -u
pagewise=$(realpath "${1:?the program}")
place=$(mktemp -d /var/tmp/pagewise-clush.XXXXXX)
NODES=3
fail() { echo "FAILED: $*"; exit 1; }
started=()
finish() {
    for pid in "${started[@]}"; do kill "$pid" 2>/dev/null; done
    wait
    rm -rf "$place"
}
trap finish EXIT
chmod 755 "$place" && mkdir -p /run/sshd "$place"/{bin,shared,own}
ssh-keygen -q -t ed25519 -N '' -f "$place/host" && ssh-keygen -q -t ed25519 -N '' -f "$place/key" || fail "ssh-keygen"
cp "$place/key.pub" "$place/authorized"
for i in $(seq $NODES); do
    # A host name is a name space's own. exec: what is ended by its id is sshd itself.
    unshare --uts bash -c "hostname n$i && exec /usr/sbin/sshd -D -e -f /dev/null -p $((2200 + i)) -h $place/host \
        -o ListenAddress=127.0.0.1 -o AuthorizedKeysFile=$place/authorized -o StrictModes=no -o UsePAM=no \
        -o PidFile=none -o PermitRootLogin=prohibit-password -o Subsystem='sftp internal-sftp'" 2> "$place/sshd-$i.log" &
    started+=($!)
    printf 'Host n%s\n HostName 127.0.0.1\n Port %s\n' "$i" $((2200 + i)) >> "$place/config"
done
printf 'Host *\n IdentityFile %s\n IdentitiesOnly yes\n StrictHostKeyChecking no\n' "$place/key" >> "$place/config"
printf ' UserKnownHostsFile /dev/null\n LogLevel ERROR\n' >> "$place/config"
# What a node has in its PATH; they take turns, because they share one machine. A shell takes the command from here.
cat > "$place/bin/pagewise" <<WRAPPER
#!/bin/bash
mkdir -p $place/locks-\$(hostname -s)
export PAGEWISE_LOCK=$place/locks-\$(hostname -s) XDG_DATA_HOME=$place/data XDG_CACHE_HOME=$place/cache
exec 9>$place/turn && flock 9
exec $pagewise "\$@"
WRAPPER
chmod +x "$place/bin/pagewise"
nodes="n[1-$NODES]"
for _ in $(seq 50); do
    clush -O "ssh_options=-F $place/config" -w "$nodes" true 2> "$place/clush.err" && break
    sleep 0.2
done
[ ! -s "$place/clush.err" ] || fail "no node answers: $(cat "$place/clush.err")"
what="fault/touch@c-O3 fault/populate@c-O3 --set bytes=4MiB --launches 3 --budget 10s"
folder="$place/shared/"'$(hostname -s)/$(date -u +%Y%m%dT%H%M%SZ)'
clush -O "ssh_options=-F $place/config" -w "$nodes" \
    "PATH=$place/bin:"'$PATH; PAGEWISE_NODE=$(hostname -s) pagewise run '"$what --out $folder" \
    > "$place/out" || fail "$(tail -n 5 "$place/out")"
ls -d "$place"/shared/*/*
"$pagewise" compare --outliers "$place/shared" || fail "compare ended with $?"
names='import json, sys; print(*sorted(n for kind in json.load(sys.stdin)["kinds"] for n in kind["nodes"]))'
found=$("$pagewise" compare --outliers "$place/shared" --json | python3 -c "$names")
[ "$found" = "n1 n2 n3" ] || fail "nodes: $found"
clush -O "ssh_options=-F $place/config" -O "scp_options=-F $place/config" -w "$nodes" --rcopy "$place/shared/n1" \
    --dest "$place/own" || fail "rcopy"
ls -d "$place"/own/*
counts='import json, sys; f = json.load(sys.stdin); print(f["runs"], len(f["unread"]))'
runs=$("$pagewise" compare --outliers "$place/own" --json | python3 -c "$counts")
[ "$runs" = "1 2" ] || fail "of three copies of one run: $runs"
echo "three nodes by clush; copies that were brought count once"
