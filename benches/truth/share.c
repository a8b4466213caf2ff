/* Stores at random places of shared memory, or another process's first ones; written from the question alone, see README.md. */
#include "truth.h"
#include <sys/ipc.h>
#include <sys/shm.h>

#define STORES 1000000
static size_t bytes;
static const char *what, *path;
static uint32_t *places;

struct region {
    int file, id;
    char *p;
};

/* A file is opened by its path, as by a process that did not inherit it. */
static char *attach(const char *way, const struct region *r)
{
    int named = is(way, "file"), file = named ? open(path, O_RDWR) : r->file;
    char *p = is(way, "sysv") ? shmat(r->id, NULL, 0)
                              : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (p == MAP_FAILED)
        die(way);
    if (named)
        close(file);
    return p;
}

static void detach(const char *way, char *p)
{
    if (is(way, "sysv"))
        shmdt(p);
    else
        munmap(p, bytes);
}

static double store_all(char *p)
{
    double start = now();
    for (int i = 0; i < STORES; i++)
        p[places[i]] = 0x55;
    return (now() - start) / STORES;
}

/* A second process attaches what is there and writes to each page, or reads it. */
static double second(const char *way, const struct region *r, double *out)
{
    pid_t child = fork();
    if (child == 0) {
        /* A process that has run for a while: a new one's first call copies pages of its parent's stack. */
        detach(way, attach(way, r));
        double start = now();
        volatile char *p = attach(way, r);
        for (size_t i = 0; i < bytes; i += 4096)
            if (is(what, "second-writes"))
                p[i] = 1;
            else
                (void)p[i];
        *out = (now() - start) / (bytes / 4096);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return *out;
}

static double once(const char *way)
{
    static double *out;
    struct region r = {-1, -1, NULL};
    if (!out)
        out = (double *)shared(4096);
    if (is(way, "sysv"))
        r.id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
    else if (is(way, "memfd"))
        r.file = memfd_create("truth", 0);
    else
        r.file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (r.file >= 0 && ftruncate(r.file, bytes))
        die("ftruncate");
    r.p = attach(way, &r);
    for (size_t i = 0; i < bytes; i += 4096)
        r.p[i] = 1;
    double spent = is(what, "stores") ? store_all(r.p) : second(way, &r, out);
    detach(way, r.p);
    if (r.id >= 0)
        shmctl(r.id, IPC_RMID, NULL);
    close(r.file);
    if (is(way, "file"))
        unlink(path);
    return spent;
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return fprintf(stderr, "usage: share FILE BYTES stores|second-reads|second-writes sysv|memfd|file…\n"), 2;
    path = argv[1];
    bytes = strtoul(argv[2], NULL, 10);
    what = argv[3];
    places = malloc(STORES * sizeof *places);
    srand(7);
    for (int i = 0; i < STORES; i++)
        places[i] = ((uint32_t)rand() << 8 ^ (uint32_t)rand()) % bytes;
    take_turns(argv + 4, argc - 4, 61, once);
}
