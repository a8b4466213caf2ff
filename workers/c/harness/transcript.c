/* Writes transcripts. Samples and facts are kept in memory, already faulted in, and written once at the end. */
#include "core.h"
#include "latency.h"
#include <stdio.h>

struct recorded_fact {
    int slot, cell;
    const char *name, *value;
};

static struct sample *samples;
static int sample_count, sample_limit;
static struct recorded_fact *facts;
static int fact_count, fact_limit;
static const char *endings[4096];
static int ending_count;

void transcript_open(int sample_capacity, int fact_capacity)
{
    sample_limit = sample_capacity;
    fact_limit = fact_capacity;
    samples = arena((size_t)sample_capacity * sizeof *samples);
    facts = arena((size_t)fact_capacity * sizeof *facts);
    out_warm();
}

static int extra_columns(const char *into[MAX_EXTRA])
{
    int counted = counts_columns(into);
    return counted ? counted : perf_columns(into);
}

void transcript_columns(void)
{
    out("columns\tslot\tround\tcell\tphase\tops\tbytes\tstart_ns\twall_ns\tcpu_ns\tuser_ns\tsystem_ns\tminor_faults"
        "\tmajor_faults\tvoluntary_switches\tinvoluntary_switches");
    const char *names[MAX_EXTRA];
    int extra = extra_columns(names);
    for (int i = 0; i < extra; i++)
        out("\t%s", names[i]);
    out("\n");
}

void record_sample(const struct sample *sample)
{
    if (sample_count == sample_limit) {
        dprintf(2, "a method timed more phases than it declares: %s\n", sample->phase);
        _exit(3);
    }
    samples[sample_count++] = *sample;
}

static struct sample *sample_of(int slot, const char *phase)
{
    for (int i = sample_count; i-- > 0 && samples[i].slot == slot;)
        if (strcmp(samples[i].phase, phase) == 0)
            return &samples[i];
    return NULL;
}

void sample_into(struct sample *into, const struct sample *more)
{
    uint64_t *sum = (uint64_t *)&into->spent;
    into->ops = more->ops;
    into->bytes = more->bytes;
    into->wall_ns += more->wall_ns;
    for (size_t i = 0; i < sizeof into->spent / sizeof(uint64_t); i++)
        sum[i] += ((const uint64_t *)&more->spent)[i];
}

struct series series_so_far(const struct slot *s, const char *phase)
{
    const struct sample *sums = sample_of(s->number, phase);
    return (struct series){sums->wall_ns, sums->spent.minor_faults};
}

void add_sample(const struct sample *sample)
{
    struct sample *there = sample_of(sample->slot, sample->phase);
    if (there)
        sample_into(there, sample);
    else
        record_sample(sample);
}

/* Only the latest sample can be dropped; a series has no other phase between its turns. */
void forget_sample(int slot, const char *phase)
{
    struct sample *there = sample_of(slot, phase);
    if (there && there == &samples[sample_count - 1])
        sample_count--;
}

int samples_recorded(void)
{
    return sample_count;
}

void samples_drop(int count)
{
    sample_count = count;
}

void record_fact(int slot, int cell, const char *name, const char *value)
{
    if (fact_count == fact_limit) {
        dprintf(2, "a method recorded more facts than there is room for: %s\n", name);
        _exit(3);
    }
    facts[fact_count++] = (struct recorded_fact){slot, cell, name, value};
}

void record_end(const char *line)
{
    if (ending_count < (int)(sizeof endings / sizeof *endings))
        endings[ending_count++] = line;
}

static void write_sample(const struct sample *s, int extra)
{
    const struct counters *c = &s->spent;
    typedef unsigned long long u;
    out("sample\t%d\t%d\t%d\t%s\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu", s->slot, s->round,
        s->cell, s->phase, (u)s->ops, (u)s->bytes, (u)s->start_ns, (u)s->wall_ns, (u)c->cpu_ns, (u)c->user_ns,
        (u)c->system_ns, (u)c->minor_faults, (u)c->major_faults, (u)c->voluntary_switches,
        (u)c->involuntary_switches);
    for (int i = 0; i < extra; i++)
        out("\t%llu", (u)c->extra[i]);
    out("\n");
}

/* `whole` is false where a two-sided launch ends early: then no `done` may stand there. */
void transcript_write(bool whole)
{
    const char *names[MAX_EXTRA];
    int extra = extra_columns(names);
    for (int i = 0; i < sample_count; i++)
        write_sample(&samples[i], extra);
    for (int i = 0; i < fact_count; i++)
        out("fact\t%d\t%d\t%s\t%s\n", facts[i].slot, facts[i].cell, facts[i].name, facts[i].value);
    latency_write();
    for (int i = 0; i < ending_count; i++)
        out("%s", endings[i]);
    if (whole)
        out("done\t%d\n", sample_count);
    out_flush();
}
