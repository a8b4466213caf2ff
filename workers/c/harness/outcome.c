/* What becomes of a slot: its facts, and how it ends where it ends early. */
#include "core.h"

sigjmp_buf slot_exit;
void (*slot_left)(void);
const char *current_phase;
volatile int current_slot = -1, current_cell = -1;
bool sides_agree;

static void end_slot(struct slot *s, const char *line)
{
    if (in_child())
        child_end(line);
    ((struct cell *)s->cell)->ended = true;
    record_end(line);
    /* A side that stopped in the middle must not leave its peer waiting: ending the process closes all it holds. */
    if (request.role && !sides_agree) {
        transcript_write(false);
        _exit(4);
    }
    sides_agree = false;
    siglongjmp(slot_exit, 1);
}

void fail_because(struct slot *s, const char *call, const char *message)
{
    int error = errno;
    end_slot(s, arena_text("fail\t%d\t%d\t%s\t%s\t%d\t%s\n", s->number, s->cell->number,
                           current_phase ? current_phase : "-", call, error, message));
    __builtin_unreachable();
}

void fail(struct slot *s, const char *call)
{
    fail_because(s, call, strerror(errno));
}

void skip(struct slot *s, const char *reason)
{
    end_slot(s, arena_text("skip\t%d\t%s\n", s->cell->number, reason));
    __builtin_unreachable();
}

void skip_alike(struct slot *s, const char *reason)
{
    sides_agree = true;
    skip(s, reason);
    __builtin_unreachable();
}

const char *refused(const char *call, const char *hint)
{
    return arena_text("%s: %s; %s", call, strerror(errno), hint);
}

void fact_word(struct slot *s, const char *name, const char *value)
{
    if (!s->proofs)
        return;
    if (in_child())
        child_fact(name, 0, value);
    else
        record_fact(s->number, s->cell->number, name, value);
}

void fact(struct slot *s, const char *name, uint64_t value)
{
    if (!s->proofs)
        return;
    if (in_child())
        child_fact(name, value, NULL);
    else
        record_fact(s->number, s->cell->number, name, arena_text("%llu", (unsigned long long)value));
}
