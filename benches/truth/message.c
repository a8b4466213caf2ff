/* Round trips of 64 bytes between two processes; written from the question alone, see README.md. */
#include "truth.h"
#include <linux/futex.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#define BYTES 64
#define TRIPS 100
#define SAMPLES 8
static int idle, spin;
static const char *where;

/* A place of a ring: the number of the message that is there, and the message. */
struct place {
    atomic_uint count;
    _Alignas(64) char message[BYTES]; /* on a cache line of its own: else it lies across two */
    _Alignas(256) char end[];
};
/* A ring there and one back; one place alone would be polled while it is written. */
enum { PLACES = 4 };
struct ring {
    struct place places[PLACES];
};
/* Each pair of processes has another page of many: a line is nearer or farther by where its frame lies. */
static struct ring *rings;
static char *pages;
enum { PAGES = 256 };

enum way { STREAM, PIPE, EVENTFD, FUTEX, RING };
static const char *const ways[] = {"stream", "pipe", "eventfd", "futex", "ring"};

struct end {
    enum way way;
    int in, out;
    struct ring *to, *from;
    unsigned sent, received;
    char message[BYTES];
};

static long futex(atomic_uint *word, int what, unsigned value)
{
    return syscall(SYS_futex, word, what, value, NULL, NULL, 0);
}

static void put(struct end *e)
{
    if (e->way == STREAM || e->way == PIPE) {
        if (write(e->out, e->message, BYTES) != BYTES)
            die("write");
        return;
    }
    struct place *to = &e->to->places[e->sent % PLACES];
    memcpy(to->message, e->message, BYTES);
    atomic_store_explicit(&to->count, ++e->sent, memory_order_release);
    if (e->way == EVENTFD && write(e->out, &(uint64_t){1}, 8) != 8)
        die("write");
    if (e->way == FUTEX)
        futex(&to->count, FUTEX_WAKE, 1);
}

static void get(struct end *e)
{
    uint64_t word;
    if (e->way == STREAM || e->way == PIPE) {
        ssize_t got;
        while ((got = read(e->in, e->message, BYTES)) < 0 && errno == EAGAIN)
            ;
        if (got != BYTES)
            die("read");
        return;
    }
    struct place *from = &e->from->places[e->received++ % PLACES];
    unsigned seen;
    if (e->way == EVENTFD)
        while (read(e->in, &word, 8) < 0 && errno == EAGAIN)
            ;
    while ((seen = atomic_load_explicit(&from->count, memory_order_acquire)) != e->received)
        if (e->way == FUTEX)
            futex(&from->count, FUTEX_WAIT, seen);
    memcpy(e->message, from->message, BYTES);
}

static void open_ends(enum way way, struct end *a, struct end *b)
{
    int pair[2], back[2];
    *a = (struct end){.way = way, .to = &rings[0], .from = &rings[1], .in = -1, .out = -1};
    *b = (struct end){.way = way, .to = &rings[1], .from = &rings[0], .in = -1, .out = -1};
    memset(rings, 0, 2 * sizeof *rings);
    if (way == STREAM) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
            die("socketpair");
        a->in = a->out = pair[0];
        b->in = b->out = pair[1];
    } else if (way == PIPE) {
        if (pipe(pair) || pipe(back))
            die("pipe");
        a->out = pair[1], b->in = pair[0];
        b->out = back[1], a->in = back[0];
    } else if (way == EVENTFD) {
        a->out = b->in = eventfd(0, 0);
        b->out = a->in = eventfd(0, 0);
    }
    int all[4] = {a->in, a->out, b->in, b->out};
    for (int i = 0; spin && i < 4; i++)
        if (all[i] >= 0)
            fcntl(all[i], F_SETFL, O_NONBLOCK);
}

static double trips(struct end *a)
{
    double paused = 0, start = now();
    for (int i = 0; i < TRIPS; i++) {
        if (idle) {
            double from = now();
            nanosleep(&(struct timespec){0, 1000000}, NULL);
            paused += now() - from;
        }
        memcpy(a->message, &i, sizeof i);
        put(a);
        get(a);
        if (memcmp(a->message, &i, sizeof i))
            exit(printf("%s: a message was lost\n", ways[a->way]));
    }
    return (now() - start - paused) / TRIPS;
}

/* A new pair of processes: the median of its samples, a trip. They have talked for some time: for about 50 ms after a fork a
 * trip is cheaper than ever after. */
static double once(const char *name)
{
    static unsigned pair;
    enum way way = 0;
    while (!is(ways[way], name))
        if (++way > RING)
            exit(printf("%s: no way\n", name));
    struct end a, b;
    double ns[SAMPLES], begun = now();
    int samples = idle ? 2 : SAMPLES;
    rings = (struct ring *)(pages + pair++ % PAGES * 4096);
    open_ends(way, &a, &b);
    if (!is(where, "none"))
        run_on(0);
    pid_t child = fork();
    if (child == 0) {
        if (is(where, "l3"))
            run_on(1);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) {
            get(&b);
            put(&b);
        }
    }
    do
        trips(&a);
    while (now() - begun < 100e6);
    for (int i = 0; i < samples; i++)
        ns[i] = trips(&a);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    int all[4] = {a.in, a.out, b.in, b.out};
    for (int i = 0; i < 4; i++)
        close(all[i]);
    return middle(ns, samples);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return fprintf(stderr, "usage: message l3|same|none block|spin no|1ms stream|pipe|eventfd|futex|ring…\n"), 2;
    where = argv[1];
    spin = is(argv[2], "spin");
    idle = is(argv[3], "1ms");
    pages = shared(PAGES * 4096);
    take_turns(argv + 4, argc - 4, idle ? 5 : 21, once);
}
