#include "ring.h"
#include "transfer.h"

/* Pages that both sides have mapped since before the clock: a made its block in them, b uses it there. What passes is a word
 * that says so. */
static _Atomic uint64_t *mailbox_word(struct slot *s)
{
    int descriptor;
    char *word = shared_open(s, s->page_bytes, &descriptor);
    ((volatile char *)word)[0] |= 0;
    close(descriptor);
    return (_Atomic uint64_t *)word;
}

static char *mailbox_pages(struct slot *s)
{
    int descriptor;
    char *p = shared_open(s, s->bytes, &descriptor);
    if (s->role == 'a')
        pattern_fill(p, s->bytes, s->seed);
    meet(s);
    for (size_t i = 0; i < s->bytes; i += s->page_bytes)
        ((volatile char *)p)[i] |= 0; /* mapped on this side too */
    close(descriptor);
    s->ops = s->bytes;
    return p;
}

static void run(struct slot *s)
{
    _Atomic uint64_t *word = mailbox_word(s);
    char *p = mailbox_pages(s);
    meet(s);
    PHASE(s, "send") { atomic_store_explicit(word, 1, memory_order_release); }
    transfer_sent(s, p, 0, s->page_bytes);
    munmap((void *)word, s->page_bytes);
}

static void run_b(struct slot *s)
{
    _Atomic uint64_t *word = mailbox_word(s);
    char *p = mailbox_pages(s);
    meet(s);
    PHASE(s, "receive") {
        if (atomic_load_explicit(word, memory_order_acquire) != 1)
            ring_wait(s, word, 1, 0);
    }
    transfer_received(s, p, 0, 0);
    munmap((void *)word, s->page_bytes);
}

METHOD(transfer_page_mailbox, .experiment = "transfer", .name = "page-mailbox", .group = "handover",
       .summary = "Another semantic: both sides keep the same pages mapped; a has made its block in them and says so by one word, b uses it in place.",
       .phases = TRANSFER_PHASES, .keys = TRANSFER_KEYS, .memory = "2 * bytes",
       .laws = "wrong_at == bytes; source_wrong_at == bytes; sees_later_change == 1; send.minor_faults == 0; "
               "receive.minor_faults == 0; read-through.minor_faults == 0; " PIN_LAWS,
       .calls = "receive:sched_yield?,poll?", .run = run, .run_b = run_b);
