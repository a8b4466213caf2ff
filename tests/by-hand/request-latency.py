#!/usr/bin/env python3
"""What `profile --pid --for 10s` costs redis or nginx at 2,000 requests a second on a schedule that waits for none: CPU time of the
server, latency and requests a second, with it and without, in turns of 12 s.

    tests/by-hand/request-latency.py PAGEWISE redis|nginx [PAIRS]
"""
import os, random, statistics, subprocess, sys, tempfile, time
from pathlib import Path

PORT = 7799
TURN_S, FOLLOWED_S = 12, 10
CLIENT = r"""
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
enum { PERIOD_NS = 500000, KEYS = 200000 };
static uint64_t now_ns(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000ull + t.tv_nsec; }
static int less(const void *a, const void *b) { uint64_t x = *(uint64_t *)a, y = *(uint64_t *)b; return x < y ? -1 : x > y; }
/* Bytes of an answer, once its beginning is there; 0 before. */
static long answer_bytes(int is_http, char *text) {
    if (!is_http) return 5; /* +OK */
    char *end = strstr(text, "\r\n\r\n"), *length = strstr(text, "Content-Length: ");
    return end && length ? end + 4 - text + atol(length + 16) : 0;
}
int main(int count_of, char **words) { /* PORT KIND SECONDS */
    int is_http = words[2][0] == 'n', s = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connect(s, (void *)&server, sizeof server)) return perror("connect"), 1;
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    uint64_t begun = now_ns(), end = begun + atoi(words[3]) * 1000000000ull, *latency = malloc(8 * ((end - begun) / PERIOD_NS + 1));
    static char text[1 << 17], request[8192], value[4097];
    memset(value, 'x', 4096);
    long count = 0; unsigned key = 1;
    for (uint64_t due = begun; due < end; due += PERIOD_NS) {
        struct timespec at = {due / 1000000000, due % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, 0);
        key = key * 1103515245 + 12345;
        int bytes = is_http ? sprintf(request, "GET /f HTTP/1.1\r\nHost: a\r\n\r\n")
                            : sprintf(request, "*3\r\n$3\r\nSET\r\n$11\r\nk%010u\r\n$4096\r\n%s\r\n", (key >> 8) % KEYS, value);
        if (write(s, request, bytes) != bytes) return 2;
        for (long have = 0, wanted = 0; !wanted || have < wanted;) {
            long got = read(s, text + have, sizeof text - have - 1);
            if (got <= 0) return 3;
            text[have += got] = 0;
            wanted = wanted ? wanted : answer_bytes(is_http, text);
        }
        latency[count++] = now_ns() - due;
    }
    qsort(latency, count, sizeof *latency, less);
    printf("%f %f %f\n", 1e-3 * latency[count / 2], 1e-3 * latency[count * 99 / 100], 1e9 * count / (now_ns() - begun));
}
"""
CONFIG = """user root;
worker_processes 1;
daemon off;
pid {place}/pid;
error_log {place}/errors;
events {{}}
http {{ access_log off; keepalive_requests 10000000; server {{ listen 127.0.0.1:{port}; root {place}; }} }}
"""


def started(kind, place):
    """The server, and the process that answers."""
    if kind == "redis":
        server = subprocess.Popen(["redis-server", "--port", str(PORT), "--save", "", "--appendonly", "no"], stdout=subprocess.DEVNULL)
        time.sleep(1)
        return server, server.pid
    (place / "f").write_bytes(os.urandom(16384))
    (place / "conf").write_text(CONFIG.format(place=place, port=PORT))
    server = subprocess.Popen(["nginx", "-c", str(place / "conf")], stderr=subprocess.DEVNULL)
    time.sleep(1)
    return server, int(Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()[0])


def main(pagewise, kind, pairs):
    with tempfile.TemporaryDirectory() as text:
        place = Path(text)
        os.environ["XDG_DATA_HOME"] = text
        (place / "client.c").write_text(CLIENT)
        subprocess.run(["gcc", "-O2", "-w", "-o", place / "client", place / "client.c"], check=True)
        server, pid = started(kind, place)
        cpu_s = lambda: int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) * 1e-9

        def turn(with_it):
            begun_s = cpu_s()
            client = subprocess.Popen([place / "client", str(PORT), kind, str(TURN_S)], stdout=subprocess.PIPE, text=True)
            if with_it:
                time.sleep(0.3)
                subprocess.run([pagewise, "profile", "--pid", str(pid), "--for", f"{FOLLOWED_S}s", "--json"], check=True, capture_output=True)
            answer = client.communicate()[0].split()
            return [cpu_s() - begun_s, *map(float, answer)]

        ratios = []
        try:
            for _ in range(pairs):
                seen = {with_it: turn(with_it) for with_it in random.sample([True, False], 2)}
                ratios.append([a / b for a, b in zip(seen[True], seen[False])])
                print(seen, flush=True)
        finally:
            server.terminate()
            server.wait()
        for name, column in zip(["CPU time", "median latency", "p99 latency", "throughput"], zip(*ratios)):
            error = statistics.stdev(column) / len(column) ** 0.5 if len(column) > 1 else 0
            print(f"{name}: {100 * (statistics.mean(column) - 1):+.2f} % (\u00b1{200 * error:.2f})")


if len(sys.argv) not in (3, 4) or sys.argv[2] not in ("redis", "nginx"):
    sys.exit(__doc__)
main(str(Path(sys.argv[1]).resolve()), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 7)
