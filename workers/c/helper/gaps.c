/* The gap probe: reads the clock over and over and counts the times it was not there to read it. It shows what takes the CPU
 * away from a busy process and in no counter: timer ticks, interrupts, the hypervisor, other processes. */
#include "core.h"
#include "verb.h"
#include <ctype.h>
#include <sched.h>
#include <stdlib.h>

/* A gap counts under every threshold that it exceeds. The first is far above what a read can cost and below what a tick
 * does. */
static const uint64_t thresholds_ns[] = {5000, 20000, 100000, 1000000, 10000000};
enum { THRESHOLDS = sizeof thresholds_ns / sizeof *thresholds_ns };

struct gaps {
    uint64_t reads, elapsed_ns, lost_ns, largest_ns, counts[THRESHOLDS];
};

static struct gaps spin(uint64_t duration_ns)
{
    struct gaps gaps = {0};
    uint64_t begun = now_ns(), last = begun, now;
    do {
        now = now_ns();
        uint64_t gap = now - last;
        gaps.reads++;
        if (gap > thresholds_ns[0]) {
            gaps.lost_ns += gap;
            if (gap > gaps.largest_ns)
                gaps.largest_ns = gap;
            for (int i = 0; i < THRESHOLDS; i++)
                gaps.counts[i] += gap > thresholds_ns[i];
        }
        last = now;
    } while (now - begun < duration_ns);
    gaps.elapsed_ns = now - begun;
    return gaps;
}

static int probe_gaps_main(int argc, char **argv)
{
    const char *milliseconds = argv[0];
    (void)argc;
    char *end;
    unsigned long long duration = strtoull(milliseconds, &end, 10);
    if (!isdigit((unsigned char)milliseconds[0]) || *end || duration == 0 || duration > 600000) {
        static const char message[] = "probe-gaps: MILLISECONDS is a whole number from 1 to 600000\n";
        (void)!write(2, message, sizeof message - 1);
        return 2;
    }
    spin(1000000); /* The first reads fault in the clock's page and wake the CPU. */
    int cpu = sched_getcpu();
    struct gaps gaps = spin(duration * 1000000);
    uint64_t busy_ns = gaps.elapsed_ns - gaps.lost_ns;
    out("{\"cpu\": %d, \"elapsed_ns\": %llu, ", cpu, (unsigned long long)gaps.elapsed_ns);
    out("\"reads\": %llu, ", (unsigned long long)gaps.reads);
    out("\"clock_read_ps\": %llu, ", (unsigned long long)(busy_ns * 1000 / gaps.reads));
    out("\"lost_ns\": %llu, ", (unsigned long long)gaps.lost_ns);
    out("\"largest_gap_ns\": %llu, \"over\": [", (unsigned long long)gaps.largest_ns);
    for (int i = 0; i < THRESHOLDS; i++)
        out("%s[%llu, %llu]", i ? ", " : "", (unsigned long long)thresholds_ns[i], (unsigned long long)gaps.counts[i]);
    out("]}\n");
    out_flush();
    return 0;
}

VERB("probe-gaps", "MILLISECONDS", probe_gaps_main);
