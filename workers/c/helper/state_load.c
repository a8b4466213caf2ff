/* States in which something else uses the machine: its memory bandwidth, or its disk. */
#include "state.h"
#include "streaming.h"
#include "verb.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

/* Bytes that the other process has moved. */
static volatile uint64_t *moved;
static pid_t other;

static void share_counter(void)
{
    moved = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (moved == MAP_FAILED)
        state_lacks("no shared page: %s", strerror(errno));
}

/* Waits until the other process has done something, at most 10 s. */
static void await_first(void)
{
    struct timespec pause = {0, 1000000};
    for (int i = 0; i < 10000 && !*moved; i++)
        nanosleep(&pause, NULL);
    if (!*moved)
        state_lacks("the other process has not begun within 10 s");
}

static void end_other(void)
{
    if (other > 0 && kill(other, SIGKILL) == 0)
        waitpid(other, NULL, 0);
}

static void facts_of_other(void)
{
    state_fact("neighbor_bytes", *moved);
}

/* ---- a neighbor that writes 256 MiB over and over on the last CPU ---- */

static void stream(void)
{
    size_t bytes = 256 << 20;
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (p == MAP_FAILED)
        _exit(1);
    for (;;)
        for (size_t piece = 1 << 20; piece < bytes; piece += 1 << 20) {
            stream_copy(p + piece, p, 1 << 20);
            *moved += 1 << 20;
        }
}

static void make_stream(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    char last[24];
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (cpus < 2)
        state_lacks("a neighbor needs a second CPU");
    share_counter();
    if ((other = state_child()) == 0) {
        snprintf(last, sizeof last, "%ld", cpus - 1);
        set_affinity(0, last);
        stream();
    }
    await_first();
}

MAKER(stream, .make = make_stream, .facts = facts_of_other, .end = end_other);

/* ---- a writer that keeps the disk busy with 1 GiB ---- */

static void write_over(int fd)
{
    static char buffer[1 << 20];
    for (uint64_t turn = 1;; turn++)
        for (off_t at = 0; at < (off_t)1 << 30; at += (off_t)sizeof buffer) {
            memset(buffer, (int)turn, sizeof buffer);
            if (pwrite(fd, buffer, sizeof buffer, at) <= 0)
                _exit(1);
            *moved += sizeof buffer;
        }
}

static const uint64_t BUSY_BYTES = 32 << 20, FULL_BYTES = 64 << 20;

static uint64_t unwritten_bytes(void)
{
    uint64_t pages = kernel_field("/proc/vmstat", "nr_dirty") + kernel_field("/proc/vmstat", "nr_writeback");
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* A sync(2) of the measured program leaves nothing unwritten for a moment, so no single moment proves the state. */
static void watch(void)
{
    struct timespec pause = {0, 5000000};
    for (;; nanosleep(&pause, NULL)) {
        moved[1]++;
        moved[2] += unwritten_bytes() >= BUSY_BYTES;
    }
}

/* Of the moments since these facts were told last, the share in which so much was unwritten. */
static uint64_t busy_permille(void)
{
    static uint64_t seen_before, busy_before;
    uint64_t seen = moved[1] - seen_before, busy = moved[2] - busy_before;
    seen_before += seen;
    busy_before += busy;
    return seen ? busy * 1000 / seen : unwritten_bytes() >= BUSY_BYTES ? 1000 : 0;
}

static void await_full(void)
{
    struct timespec pause = {0, 10000000};
    for (int i = 0; i < 800 && unwritten_bytes() < FULL_BYTES; i++)
        nanosleep(&pause, NULL);
}

static void make_writer(int argc, char **argv)
{
    char path[4096];
    if (argc < 1)
        state_lacks("no folder for a file");
    snprintf(path, sizeof path, "%s/written", argv[0]);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || unlink(path) != 0)
        state_lacks("%s: %s", path, strerror(errno));
    share_counter();
    if ((other = state_child()) == 0)
        write_over(fd);
    close(fd);
    if (state_child() == 0)
        watch();
    await_first();
    await_full();
}

static void facts_of_writer(void)
{
    facts_of_other();
    state_fact("unwritten_bytes", unwritten_bytes());
    state_fact("busy_permille", busy_permille());
}

MAKER(writer, .make = make_writer, .prepare = await_full, .facts = facts_of_writer, .end = end_other);
