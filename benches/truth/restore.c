/* A snapshot until its guest's work is done, written from the question alone; see README.md. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ul
#define ROUNDS 15
static size_t bytes, pages, count;
static unsigned *set, *order;
static char *image, *buffer, *names[2];
static int snapshot, compact, uffd, pager_cpu = -1;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void fill(int file, char *to, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t got = pread(file, to + at, size - at, at);
        if (got <= 0)
            die("pread");
        at += got;
    }
}

static void stay_on(int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu < 0 ? 0 : cpu, &one);
    if (cpu >= 0 && sched_setaffinity(0, sizeof one, &one))
        die("sched_setaffinity");
}

static void *pager(void *arg)
{
    stay_on(pager_cpu);
    char *base = arg;
    struct uffd_msg m;
    while (read(uffd, &m, sizeof m) == sizeof m) {
        size_t at = (m.arg.pagefault.address - (uintptr_t)base) / PAGE * PAGE;
        struct uffdio_copy c = {.dst = (uintptr_t)base + at, .src = (uintptr_t)image + at, .len = PAGE};
        if (ioctl(uffd, UFFDIO_COPY, &c))
            die("copy");
    }
    return NULL;
}

static double life(const char *way)
{
    pthread_t thread;
    int is_uffd = !strncmp(way, "uffd", 4) || !strcmp(way, "reap");
    struct uffdio_api api = {.api = UFFD_API};
    int here = sched_getcpu(), placed = !strcmp(way, "uffd-same") || !strcmp(way, "uffd-other");
    pager_cpu = !placed ? -1 : !strcmp(way, "uffd-same") ? here : here ? 0 : 1;
    stay_on(placed ? here : -1);
    if (is_uffd) {
        uffd = syscall(SYS_userfaultfd, O_CLOEXEC | 1);
        if (ioctl(uffd, UFFDIO_API, &api))
            die("api");
    }
    double start = now();
    /* Each life opens its file: what a descriptor has learnt of earlier reads (read-ahead, misses) is not its own. */
    int is_reap = !strcmp(way, "reap");
    snapshot = open(names[0], O_RDONLY | O_CLOEXEC);
    compact = is_reap ? open(names[1], O_RDONLY | O_CLOEXEC) : -1;
    if (snapshot < 0 || (is_reap && compact < 0))
        die("open");
    int flags = MAP_PRIVATE | (!strcmp(way, "private") ? 0 : !strcmp(way, "populate") ? MAP_POPULATE : MAP_ANONYMOUS);
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, flags & MAP_ANONYMOUS ? -1 : snapshot, 0);
    if (p == MAP_FAILED)
        die("mmap");
    if (!strcmp(way, "copy"))
        fill(snapshot, p, bytes);
    if (is_uffd) {
        struct uffdio_register r = {{(uintptr_t)p, bytes}, UFFDIO_REGISTER_MODE_MISSING, 0};
        image = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, snapshot, 0);
        if (ioctl(uffd, UFFDIO_REGISTER, &r))
            die("register");
    }
    if (is_reap) {
        buffer = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        fill(compact, buffer, count * PAGE);
        for (size_t i = 0; i < count; i += 2) {
            struct uffdio_copy c = {.dst = (uintptr_t)p + set[i] * PAGE, .src = (uintptr_t)buffer + i * PAGE, .len = 2 * PAGE};
            if (ioctl(uffd, UFFDIO_COPY, &c))
                die("copy");
        }
    }
    if (is_uffd)
        pthread_create(&thread, NULL, pager, p);
    for (size_t i = 0; i < count; i++) {
        volatile long *w = (volatile long *)(p + order[i] * PAGE);
        if (i & 1)
            (void)*w;
        else
            w[1] = 3;
        for (double t = now(); now() - t < 200;)
            ;
    }
    double spent = now() - start;
    for (size_t i = 0; i < count; i++)
        if (*(size_t *)(p + set[i] * PAGE) != set[i])
            exit(printf("%s: wrong page\n", way));
    if (is_uffd) {
        pthread_cancel(thread);
        pthread_join(thread, NULL);
        close(uffd);
        munmap(image, bytes);
        if (is_reap)
            munmap(buffer, count * PAGE);
    }
    munmap(p, bytes);
    close(snapshot);
    if (is_reap)
        close(compact);
    return spent;
}

static void warm(int file, size_t size)
{
    static char to[1 << 20];
    ssize_t got = 1;
    for (size_t at = 0; at < size; at += got)
        if ((got = pread(file, to, sizeof to, at)) <= 0)
            die("pread");
}

/* A guest is a process: the second life in one finds the frames of the first still in the caches. */
static double child(const char *way)
{
    double *spent = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), result;
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        *spent = life(way);
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
        die("life");
    result = *spent;
    munmap(spent, PAGE);
    return result;
}

static int by_value(const void *a, const void *b)
{
    double x = *(double *)a, y = *(double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double ns[8][ROUNDS];
    if (argc < 6 || argc > 13)
        return 2;
    bytes = strtoul(argv[2], NULL, 10);
    pages = bytes / PAGE;
    count = pages * strtoul(argv[3], NULL, 10) / 100 / 2 * 2;
    int cold = !strcmp(argv[4], "cold"), ways = argc - 5;
    set = malloc(count * sizeof *set);
    order = malloc(count * sizeof *order);
    srand(5);
    for (size_t i = 0; i < count; i += 2) {
        size_t stretch = pages / (count / 2);
        set[i] = i / 2 * stretch + rand() % (stretch - 1);
        set[i + 1] = set[i] + 1;
    }
    memcpy(order, set, count * sizeof *set);
    for (size_t i = count - 1; i > 0; i--) {
        size_t k = rand() % (i + 1);
        unsigned t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
    names[0] = argv[1];
    names[1] = strcat(strcpy(malloc(4096), argv[1]), ".set");
    int made = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    int made_set = open(names[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    static size_t page[PAGE / 8];
    for (size_t i = 0; i < pages; i++)
        if (page[0] = i, write(made, page, PAGE) != PAGE)
            die("write");
    for (size_t i = 0; i < count; i++)
        if (page[0] = set[i], write(made_set, page, PAGE) != PAGE)
            die("write");
    fdatasync(made);
    fdatasync(made_set);
    /* Written page by page it would be cached in single pages: a hot file is one that was read in its order. */
    posix_fadvise(made, 0, 0, POSIX_FADV_DONTNEED);
    posix_fadvise(made_set, 0, 0, POSIX_FADV_DONTNEED);
    for (int round = -1; round < ROUNDS; round++)
        for (int i = 0; i < ways; i++) {
            /* Cold is what was read and put out: frames of a page cache, not those that the last life left in the caches. */
            warm(made, bytes);
            warm(made_set, count * PAGE);
            if (cold) {
                posix_fadvise(made, 0, 0, POSIX_FADV_DONTNEED);
                posix_fadvise(made_set, 0, 0, POSIX_FADV_DONTNEED);
            }
            double spent = child(argv[5 + i]);
            if (round >= 0)
                ns[i][round] = spent;
        }
    for (int i = 0; i < ways; i++) {
        qsort(ns[i], ROUNDS, sizeof(double), by_value);
        printf("%s %.0f\n", argv[5 + i], ns[i][ROUNDS / 2]);
    }
}
