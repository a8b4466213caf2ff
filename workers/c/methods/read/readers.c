/* See readers.h. */
#include "readers.h"
#include "o_direct.h"
#include "read_call.h"

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        ;
}

static void note_flight(struct readers *all, unsigned now)
{
    unsigned most = atomic_load(&all->most_in_flight);
    while (now > most && !atomic_compare_exchange_weak(&all->most_in_flight, &most, now))
        ;
}

/* One step of the input into the reader's own buffer: 0, or an errno. */
static int read_step(struct reader *me, size_t step)
{
    struct readers *all = me->all;
    struct input own = *all->in;
    size_t offset = step_offset(&own, step), want = bytes_at(&own, offset), have = 0;
    char *buffer = own.buffer + me->number * own.step_bytes;
    own.error = 0;
    note_flight(all, atomic_fetch_add(&all->in_flight, 1) + 1);
    READ_STEP(&own, want, have, pread(all->descriptor, buffer + have, whole_blocks(want - have), (off_t)(offset + have)));
    atomic_fetch_sub(&all->in_flight, 1);
    return own.error;
}

static void *work(void *argument)
{
    struct reader *me = argument;
    struct readers *all = me->all;
    size_t step = me->number, steps = all->in->steps;
    /* A thread that has no more to read waits for the end, so that nothing of its ending lies within the phase. */
    for (wait_for(&me->wanted); !all->ending; wait_for(&me->wanted)) {
        if (step >= steps)
            continue;
        me->error = read_step(me, step);
        step += all->count;
        sem_post(&me->done);
    }
    return NULL;
}

void readers_begin(struct slot *s, struct readers *all, struct input *in, unsigned count)
{
    if (count < 1 || count > MOST_READERS)
        skip(s, "readers is a number from 1 to 256");
    all->in = in;
    all->count = count;
    all->ending = false;
    all->in_flight = all->most_in_flight = 0;
    for (unsigned i = 0; i < count; i++) {
        struct reader *one = &all->one[i];
        one->all = all;
        one->number = i;
        one->error = 0;
        sem_init(&one->wanted, 0, 0);
        sem_init(&one->done, 0, 0);
        if ((errno = pthread_create(&one->thread, NULL, work, one)) != 0)
            fail(s, "pthread_create");
    }
}

void readers_pass(struct readers *all, int descriptor)
{
    struct input *in = all->in;
    all->descriptor = descriptor;
    for (unsigned i = 0; i < all->count; i++)
        sem_post(&all->one[i].wanted);
    for (size_t step = 0; step < in->steps && !in->error; step++) {
        struct reader *one = &all->one[step % all->count];
        wait_for(&one->done);
        in->error = one->error;
        if (!in->error)
            consume(&in->sink, in->buffer + one->number * in->step_bytes, bytes_at(in, step_offset(in, step)));
        sem_post(&one->wanted);
    }
}

void readers_end(struct slot *s, struct readers *all)
{
    all->ending = true;
    for (unsigned i = 0; i < all->count; i++)
        sem_post(&all->one[i].wanted);
    for (unsigned i = 0; i < all->count; i++)
        pthread_join(all->one[i].thread, NULL);
    fact(s, "most_in_flight", all->most_in_flight);
}
