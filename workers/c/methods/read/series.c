/* See series.h. The fact `series` has it: MS,BYTES,MAJOR_FAULTS,MEMORY_STALL_US,IO_STALL_US for each second, joined by
 * semicolons; a stall is -1 where the kernel keeps no pressure (proc_pressure(5)). */
#include "series.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { MAX_SECONDS = 3600, ROW_TEXT = 110 };

struct notes {
    uint64_t ns, bytes, major_faults;
    int64_t memory_us, io_us;
};

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool running, ending;
    struct notes first, rows[MAX_SECONDS + 1];
    int row_count;
    uint64_t read_calls;
} series;

static ssize_t read_small(const char *path, char *text, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t got = read(fd, text, room - 1);
    series.read_calls++;
    close(fd);
    text[got > 0 ? got : 0] = 0;
    return got;
}

static int64_t stall_us(const char *path)
{
    char text[256];
    const char *total = read_small(path, text, sizeof text) > 0 ? strstr(text, "total=") : NULL;
    return total ? strtoll(total + 6, NULL, 10) : -1;
}

static struct notes take_notes(void)
{
    char text[512];
    struct rusage usage;
    const char *bytes = read_small("/proc/self/io", text, sizeof text) > 0 ? strstr(text, "\nread_bytes: ") : NULL;
    getrusage(RUSAGE_SELF, &usage);
    return (struct notes){now_ns(), bytes ? strtoull(bytes + 13, NULL, 10) : 0, (uint64_t)usage.ru_majflt,
                          stall_us("/proc/pressure/memory"), stall_us("/proc/pressure/io")};
}

static void *watch(void *unused)
{
    (void)unused;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    pthread_mutex_lock(&series.lock);
    while (!series.ending && series.row_count < MAX_SECONDS) {
        next.tv_sec++;
        int woken = 0;
        while (!series.ending && woken != ETIMEDOUT)
            woken = pthread_cond_timedwait(&series.wake, &series.lock, &next);
        if (woken == ETIMEDOUT)
            series.rows[series.row_count++] = take_notes();
    }
    pthread_mutex_unlock(&series.lock);
    return NULL;
}

void series_begin(struct slot *s)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&series.wake, &attributes);
    pthread_mutex_init(&series.lock, NULL);
    series.ending = false;
    series.row_count = 0;
    series.first = take_notes();
    series.read_calls = 0;
    if ((errno = pthread_create(&series.thread, NULL, watch, NULL)) != 0)
        fail(s, "pthread_create");
    series.running = true;
}

static int64_t since(int64_t now, int64_t before)
{
    return now < 0 ? -1 : now - before;
}

uint64_t series_end(void)
{
    if (!series.running)
        return 0;
    pthread_mutex_lock(&series.lock);
    series.ending = true;
    pthread_cond_signal(&series.wake);
    pthread_mutex_unlock(&series.lock);
    pthread_join(series.thread, NULL);
    series.running = false;
    uint64_t read_calls = series.read_calls;
    /* The last second is a part of one. */
    series.rows[series.row_count++] = take_notes();
    return read_calls;
}

void series_fact(struct slot *s)
{
    size_t room = (size_t)series.row_count * ROW_TEXT + 1, used = 0;
    char *text = malloc(room);
    if (!text)
        fail(s, "malloc");
    const struct notes *last = &series.first;
    for (int i = 0; i < series.row_count; i++) {
        const struct notes *now = &series.rows[i];
        used += (size_t)snprintf(text + used, room - used, "%s%llu,%llu,%llu,%lld,%lld", i ? ";" : "",
                                 (unsigned long long)(now->ns - last->ns) / 1000000,
                                 (unsigned long long)(now->bytes - last->bytes),
                                 (unsigned long long)(now->major_faults - last->major_faults),
                                 (long long)since(now->memory_us, last->memory_us), (long long)since(now->io_us, last->io_us));
        last = now;
    }
    /* Facts are written at the end of the launch, so the text stays. */
    fact_word(s, "series", text);
}
