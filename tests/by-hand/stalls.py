#!/usr/bin/env python3
"""Stalls of known length, looked for in the histogram of single operations.

    tests/by-hand/stalls.py PAGEWISE 20 [closed|open]

A worker that passes messages (`tail/message`) is stopped by SIGSTOP for 1, 5 and 50 ms and goes on by SIGCONT, so many times
each. The transcript says when each phase began and how long it took. A stop that lies within a phase is found where a bucket
of that slot's histogram lies within 3 % of it. The true length is between two brackets: from the moment in which the kernel
shows the worker stopped to SIGCONT, and from SIGSTOP to the moment in which it runs again. Run it alone: on a busy machine a
stopped worker waits for a CPU, and the brackets say so. Figures of one machine are in docs/evidence/README.md.
"""
import os, random, shutil, signal, statistics, subprocess, sys, tempfile, time

LENGTHS_MS = [1, 5, 50]
SHARE = 0.03


def text(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def children(pid):
    return [int(child) for child in text(f"/proc/{pid}/task/{pid}/children").split()]


def program(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""


def messenger(laboratory):
    """The worker that waits for its other process: both are the same program, and the laboratory is another."""
    for pid in children(laboratory):
        if program(pid) and any(program(child) == program(pid) for child in children(pid)):
            return pid
    return None


def state(pid):
    return text(f"/proc/{pid}/stat").rpartition(")")[2].split()[:1]


def until(condition, seconds=1.0):
    """The moment from which the condition holds."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        pass
    return time.monotonic_ns()


def stop(pid, length_ms):
    """Stops it for so long: (SIGSTOP, stopped, SIGCONT, running), in nanoseconds of CLOCK_MONOTONIC."""
    sent = time.monotonic_ns()
    os.kill(pid, signal.SIGSTOP)
    stopped = until(lambda: state(pid) == ["T"])
    while time.monotonic_ns() < stopped + length_ms * 1_000_000:
        pass
    resumed = time.monotonic_ns()
    os.kill(pid, signal.SIGCONT)
    return sent, stopped, resumed, until(lambda: state(pid) != ["T"])


def stops_during(run, wanted):
    stops = []
    while wanted and run.poll() is None:
        pid = messenger(run.pid)
        if pid is None:
            time.sleep(0.002)
            continue
        time.sleep(random.uniform(0.01, 0.05))
        try:
            if messenger(run.pid) == pid:
                stops.append((wanted[-1], *stop(pid, wanted[-1])))
                wanted.pop()
        except ProcessLookupError:
            pass
    return stops


def phases(out):
    """Phases of single operations: (start, end, buckets)."""
    whole = subprocess.run(["zstd", "-dc", f"{out}/transcripts.zst"], capture_output=True, text=True, check=True).stdout
    found = []
    for launch in whole.split("pagewise launch ")[1:]:
        mine = {}
        for line in launch.splitlines():
            part = line.split("\t")
            if part[0] == "sample" and part[4] == "each":
                mine[part[1]] = (int(part[7]), int(part[7]) + int(part[8]), [])
            elif part[0] == "latency" and part[1] in mine:
                mine[part[1]][2].extend([(int(part[3]), int(part[4]))] * int(part[5]))
        found += mine.values()
    return found


def main():
    pagewise, each = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    load = sys.argv[3] if len(sys.argv) > 3 else "closed"
    random.seed(1)
    place = tempfile.mkdtemp(dir=os.getcwd())
    within, stops, runs = {length: [] for length in LENGTHS_MS}, 0, 0
    while min(map(len, within.values())) < each and runs < 20:
        runs += 1
        out = f"{place}/{runs}"
        words = ["run", "tail/message@c-O3", "--set", "ops=100000", "--set", f"load={load}", "--launches", "6", "--budget", "60s",
                 "--json", "--out", out]
        run = subprocess.Popen([pagewise, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wanted = LENGTHS_MS * each
        random.shuffle(wanted)
        made = stops_during(run, wanted)
        run.wait()
        stops += len(made)
        known = phases(out)
        for length, sent, stopped, resumed, running in made:
            inside = [phase for phase in known if phase[0] <= sent and running <= phase[1]]
            if not inside or len(within[length]) >= each:
                continue
            least, most = resumed - stopped, running - sent
            near = [b for b in inside[0][2] if b[1] >= least * (1 - SHARE) and b[0] <= most * (1 + SHARE)]
            middle = [(b[0] + b[1]) / 2 for b in near]
            error = min((abs(m / ((least + most) / 2) - 1) for m in middle), default=None)
            within[length].append((error, most / least - 1))
    for length, all_of in within.items():
        near = [error for error, _ in all_of if error is not None]
        close = sum(error <= SHARE for error in near)
        brackets = statistics.median(bracket for _, bracket in all_of) if all_of else 0
        print(f"{length} ms: {len(near)} of {len(all_of)} stops within a phase are in its histogram, {close} within 3 %; "
              f"largest distance {max(near, default=0):.1%}, brackets {brackets:.1%} apart at the median")
    print(f"{stops} stops in {runs} runs; the others were before, after or between phases")
    shutil.rmtree(place)


if __name__ == "__main__":
    main()
