/* A forked copy of a slot, seen from within: it keeps its samples and facts where its parent finds them. */
#include "child.h"
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>

struct gathering *gathering;
static struct child *me;

bool in_child(void)
{
    return me != NULL;
}

void child_end(const char *line)
{
    snprintf(me->ending, sizeof me->ending, "%s", line);
    atomic_store(&gathering->broken, true);
    _exit(5);
}

void child_ended(const char *line, size_t length, int status)
{
    memcpy(me->ending, line, length < sizeof me->ending ? length : sizeof me->ending - 1);
    atomic_store(&gathering->broken, true);
    _exit(status);
}

void child_barrier(void)
{
    struct gathering *g = gathering;
    unsigned turn = atomic_load(&g->turn);
    if (atomic_fetch_add(&g->arrived, 1) + 1 == g->processes) {
        atomic_store(&g->arrived, 0);
        atomic_fetch_add(&g->turn, 1);
        return;
    }
    for (unsigned spins = 0; atomic_load(&g->turn) == turn; spins++) {
        if (atomic_load(&g->broken))
            _exit(5);
        /* With more processes than processors, spinning alone would keep the late ones from arriving. */
        if (spins % 1024 == 1023)
            sched_yield();
        else
            pause_briefly();
    }
}

void child_sample(const struct sample *sample)
{
    if (me->sample_count < MAX_PHASES)
        me->samples[me->sample_count++] = *sample;
}

void child_add_sample(const struct sample *sample)
{
    for (int i = 0; i < me->sample_count; i++)
        if (strcmp(me->samples[i].phase, sample->phase) == 0) {
            sample_into(&me->samples[i], sample);
            return;
        }
    child_sample(sample);
}

void child_fact(const char *name, uint64_t value, const char *word)
{
    if (me->fact_count == CHILD_FACTS)
        return;
    int i = me->fact_count++;
    snprintf(me->facts[i].name, sizeof me->facts[i].name, "%s", name);
    me->facts[i].value = value;
    me->facts[i].is_word = word != NULL;
    if (word)
        snprintf(me->facts[i].word, sizeof me->facts[i].word, "%s", word);
}

void child_begin(struct child *child, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(5);
    me = child;
    memset(child, 0, sizeof *child);
}
