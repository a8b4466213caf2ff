#!/usr/bin/env python3
"""What `profile --pid` costs a service under load: CPU time, latency and throughput of its requests, with it and without, in
turns, ten pairs by default.

    tests/by-hand/service-cost.py PAGEWISE [PAIRS [full | PID]]

The server below has a request each 4 ms, on a schedule that does not wait for it, each of which touches 100 fresh pages and
computes; with `full` one request follows another, on one processor. After each line on its standard input it prints, since the
last one, the CPU time of a request, percentiles of latency, and requests a second.
With a process id nothing is started: the CPU time of that process is read (a server of your own, under load).
"""
import os, random, statistics, subprocess, sys, tempfile, time

SECONDS = 5
SERVER = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
enum { MOST = 1 << 20, PAGES = 100 };
static uint64_t period;
static uint64_t ns(clockid_t c) { struct timespec t; clock_gettime(c, &t); return t.tv_sec * 1000000000ull + t.tv_nsec; }
static uint64_t latency[MOST], count, cpu;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int less(const void *a, const void *b) { uint64_t x = *(uint64_t *)a, y = *(uint64_t *)b; return x < y ? -1 : x > y; }
static void request(void) {
    volatile char *p = mmap(0, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < PAGES; i++) p[i * 4096] = 1;
    for (volatile int i = 0; i < 50000; i++) ;
    munmap((void *)p, PAGES * 4096);
}
static void *serve(void *unused) {
    for (uint64_t due = ns(CLOCK_MONOTONIC);; due = period ? due + period : ns(CLOCK_MONOTONIC)) {
        struct timespec at = {due / 1000000000, due % 1000000000};
        if (period) clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, 0);
        request();
        pthread_mutex_lock(&lock);
        if (count < MOST) latency[count++] = ns(CLOCK_MONOTONIC) - due;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
int main(int count_of, char **words) {
    pthread_t t; char line[16]; static uint64_t now[MOST];
    period = count_of > 1 ? 0 : 4000000;
    uint64_t begun = ns(CLOCK_MONOTONIC);
    pthread_create(&t, 0, serve, 0);
    for (uint64_t before = ns(CLOCK_PROCESS_CPUTIME_ID); fgets(line, sizeof line, stdin); before = cpu) {
        pthread_mutex_lock(&lock);
        uint64_t n = count; for (uint64_t i = 0; i < n; i++) now[i] = latency[i];
        count = 0;
        pthread_mutex_unlock(&lock);
        cpu = ns(CLOCK_PROCESS_CPUTIME_ID);
        uint64_t ended = ns(CLOCK_MONOTONIC);
        qsort(now, n, sizeof *now, less);
        printf("%f %f %f %f\n", n ? 1e-3 * (cpu - before) / n : 0, n ? 1e-3 * now[n / 2] : 0, n ? 1e-3 * now[n * 99 / 100] : 0,
               1e9 * n / (ended - begun));
        fflush(stdout);
        begun = ended;
        cpu = ns(CLOCK_PROCESS_CPUTIME_ID);
    }
}
"""


def cpu_s(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    pagewise, pairs = os.path.realpath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10
    load = sys.argv[3] if len(sys.argv) > 3 else None
    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_DATA_HOME"] = place
        server, pid = None, int(load) if load and load != "full" else None
        if not pid:
            open(place + "/server.c", "w").write(SERVER)
            subprocess.run(["gcc", "-O1", "-pthread", "-o", place + "/server", place + "/server.c"], check=True)
            server = subprocess.Popen([place + "/server"] + ([load] if load else []), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            pid = server.pid
        followed = [pagewise, "profile", "--pid", str(pid), "--for", f"{SECONDS}s", "--json"]

        def figures():
            if not server:
                return [cpu_s(pid)]
            server.stdin.write("\n")
            server.stdin.flush()
            return [float(text) for text in server.stdout.readline().split()]

        def turn(with_it):
            before, begun = figures(), time.time()
            if with_it:
                subprocess.run(followed, check=True, capture_output=True)
            else:
                time.sleep(SECONDS + 2)
            after = figures()
            return after if server else [(after[0] - before[0]) / (time.time() - begun)]

        ratios = []
        for _ in range(pairs):
            order = random.sample([True, False], 2)
            seen = {with_it: turn(with_it) for with_it in order}
            ratios.append([a / b for a, b in zip(seen[True], seen[False])])
            print(seen, flush=True)
        for name, column in zip(["CPU time", "median latency", "p99 latency", "throughput"], zip(*ratios)):
            error = statistics.stdev(column) / len(column) ** 0.5 if len(column) > 1 else 0
            print(f"{name}: {100 * (statistics.mean(column) - 1):+.2f} % (\u00b1{200 * error:.2f})")
        if server:
            server.kill()


main()
