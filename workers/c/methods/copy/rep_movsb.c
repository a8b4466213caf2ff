#include "copy.h"

#if defined(__x86_64__)
static inline void rep_movsb(char *to, const char *from, size_t bytes)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

static void run(struct slot *s)
{
    struct copy c = copy_begin(s);
    char *from = c.from, *to = c.to;
    size_t bytes = s->bytes, stride = c.stride;
    uint64_t batch = c.batch;
    COPY_BEFORE(rep_movsb(to + i * stride, from, bytes))
    PHASE(s, "copy") {
        EACH_COPY(rep_movsb(to + i * stride, from, bytes))
        c.wrong = wrong;
    }
    copy_end(s, &c);
}
#else
static void run(struct slot *s)
{
    skip(s, "rep movsb is an instruction of x86-64 processors");
}
#endif

METHOD(copy_rep_movsb, .experiment = "copy", .name = "rep-movsb",
       .summary = "One `rep movsb` instruction for the whole block: the processor's own string copy.",
       .phases = "copy", .keys = COPY_KEYS, .memory = COPY_MEMORY, .laws = COPY_LAWS, .calls = "", .run = run);
