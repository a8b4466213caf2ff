#include "copy.h"
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>

/* Both blocks moved to the node of this CPU, to another one, or page by page to both; where each page lies is asked of the
 * kernel afterwards (move_pages(2)). */
enum { BIND = 2, INTERLEAVE = 3, MOVE = 2, MOST_NODES = 64 };

/* The first memory node besides `own` that is online; -1 where there is none. */
static int other_node(unsigned own)
{
    char path[64];
    for (int node = 0; node < MOST_NODES; node++) {
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d/meminfo", node);
        if ((unsigned)node != own && access(path, F_OK) == 0)
            return node;
    }
    return -1;
}

static void place_on(struct slot *s, char *p, size_t bytes, int policy, unsigned long nodes)
{
    size_t whole = (bytes + s->page_bytes - 1) / s->page_bytes * s->page_bytes;
    if (syscall(SYS_mbind, p, whole, policy, &nodes, MOST_NODES, MOVE) != 0)
        fail(s, "mbind");
}

/* Pages that lie on one of these nodes. */
static uint64_t pages_on(struct slot *s, char *p, size_t bytes, unsigned long nodes)
{
    uint64_t found = 0;
    for (size_t at = 0; at < bytes; at += s->page_bytes) {
        void *page = p + at;
        int node = -1;
        if (syscall(SYS_move_pages, 0, 1UL, &page, NULL, &node, 0) != 0)
            fail(s, "move_pages");
        found += node >= 0 && nodes >> node & 1;
    }
    return found;
}

static void run(struct slot *s)
{
    unsigned cpu, own;
    if (syscall(SYS_getcpu, &cpu, &own, NULL) != 0)
        fail(s, "getcpu");
    int other = other_node(own);
    if (other < 0 && !key_is(s, "node", "local"))
        skip(s, "this machine has one NUMA node, so no memory is remote");
    unsigned long mine = 1UL << own, theirs = other < 0 ? 0 : 1UL << other;
    unsigned long nodes = key_is(s, "node", "local") ? mine : key_is(s, "node", "remote") ? theirs : mine | theirs;
    int policy = key_is(s, "node", "interleave") ? INTERLEAVE : BIND;
    struct copy c = copy_begin(s);
    place_on(s, c.from, s->bytes, policy, nodes);
    place_on(s, c.to, s->bytes, policy, nodes);
    char *from = c.from, *to = c.to;
    size_t bytes = s->bytes, stride = c.stride;
    uint64_t batch = c.batch;
    COPY_BEFORE(memcpy(to + i * stride, from, bytes))
    PHASE(s, "copy") {
        EACH_COPY(memcpy(to + i * stride, from, bytes))
        c.wrong = wrong;
    }
    fact(s, "pages_in_place", pages_on(s, c.from, s->bytes, nodes) + pages_on(s, c.to, s->bytes, nodes));
    fact(s, "pages_on_own_node", pages_on(s, c.from, s->bytes, mine) + pages_on(s, c.to, s->bytes, mine));
    copy_end(s, &c);
}

METHOD(copy_memcpy_node, .experiment = "copy", .name = "memcpy-node", .group = "node",
       .summary = "memcpy between blocks of this CPU's NUMA node, of another one, or of both page by page.",
       .phases = "copy", .keys = "bytes:size destination:warm batch_bytes:size" PAGES_KEY " node:local|remote|interleave",
       .memory = COPY_MEMORY, .isolation = "own",
       .laws = COPY_WARM_LAWS "; pages_in_place == 2 * " COPY_PAGES "; node=local: pages_on_own_node == pages_in_place; "
               "node=remote: pages_on_own_node == 0; node=interleave: pages_on_own_node <= pages_in_place / 2 + 2; "
               "node=interleave: pages_on_own_node + 2 >= pages_in_place / 2",
       .calls = "", .run = run);
