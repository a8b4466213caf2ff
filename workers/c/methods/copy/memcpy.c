#include "copy.h"
#include <stdio.h>
#include <stdlib.h>

/* glibc takes non-temporal stores from this size on, which it otherwise takes to be most of the shared cache. */
#define TUNABLE "glibc.cpu.x86_non_temporal_threshold"
#define THRESHOLD "1048576"

/* The threshold that a program started by this one has, as the loader tells; 0 where it tells none. */
static uint64_t threshold(void)
{
    unsigned long long value = 0;
    FILE *list = popen("/lib64/ld-linux-x86-64.so.2 --list-tunables 2>/dev/null", "re");
    char line[256];
    while (list && fgets(line, sizeof line, list))
        (void)!sscanf(line, TUNABLE ": %llx", &value);
    if (list)
        pclose(list);
    return value;
}

/* Skips where the program does not have the threshold. */
static uint64_t need_threshold(struct slot *s)
{
    static uint64_t known;
    if (s->bytes <= strtoull(THRESHOLD, NULL, 10))
        skip(s, "blocks up to the threshold of " THRESHOLD " bytes are copied as by memcpy");
    known = known ? known : threshold();
    if (!known)
        skip(s, "this is not glibc on x86-64, or its loader lists no tunables (glibc 2.33)");
    if (known != strtoull(THRESHOLD, NULL, 10))
        skip(s, "the C library's threshold is set when a process starts: start the worker by exec --set GLIBC_TUNABLES=" TUNABLE
                "=" THRESHOLD);
    return known;
}

static SHARED_BODY void run(struct slot *s, bool tuned)
{
    uint64_t known = tuned ? need_threshold(s) : 0;
    struct copy c = copy_begin(s);
    char *from = c.from, *to = c.to;
    size_t bytes = s->bytes, stride = c.stride;
    uint64_t batch = c.batch;
    COPY_BEFORE(memcpy(to + i * stride, from, bytes))
    PHASE(s, "copy") {
        EACH_COPY(memcpy(to + i * stride, from, bytes))
        c.wrong = wrong;
    }
    if (tuned)
        fact(s, "threshold_bytes", known);
    copy_end(s, &c);
}

static void plain(struct slot *s) { run(s, false); }
METHOD(copy_memcpy, .experiment = "copy", .name = "memcpy",
       .summary = "The C library's memcpy over the whole block.",
       .phases = "copy", .keys = COPY_KEYS, .memory = COPY_MEMORY, .laws = COPY_LAWS, .calls = "", .run = plain);

static void tuned(struct slot *s) { run(s, true); }
METHOD(copy_memcpy_tuned, .experiment = "copy", .name = "memcpy-tuned",
       .summary = "memcpy of a program started with the C library's threshold for non-temporal stores at 1 MiB (GLIBC_TUNABLES).",
       .phases = "copy", .keys = COPY_KEYS, .memory = COPY_MEMORY, .tunables = TUNABLE "=" THRESHOLD,
       .laws = COPY_LAWS "; threshold_bytes == " THRESHOLD, .calls = "", .run = tuned);
