/* `state`: makes one state of the machine, holds it until its standard input ends, and tells the kernel's counters on request.
 *
 * It writes lines: facts `NAME<tab>NUMBER`, then `held`; or `lacks<tab>REASON`, and ends. To each line on its standard input it
 * answers with facts and `held`. `renew` makes good first what was used up, `look` does not. A worker asks through two FIFOs in
 * the folder SLOTS before each of its slots. */
#include "state.h"
#include "verb.h"
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

extern const struct maker *const __start_pagewise_makers[];
extern const struct maker *const __stop_pagewise_makers[];

static uint64_t renewals;

void state_fact(const char *name, uint64_t value)
{
    out("%s\t%llu\n", name, (unsigned long long)value);
}

void state_lacks(const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    out("lacks\t%s\n", text);
    out_flush();
    _exit(0);
}

static size_t read_text(const char *path, char *text, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    for (ssize_t got = 1; fd >= 0 && got > 0 && length < room - 1; length += got > 0 ? (size_t)got : 0)
        got = read(fd, text + length, room - 1 - length);
    if (fd >= 0)
        close(fd);
    text[length] = 0;
    return length;
}

uint64_t kernel_number(const char *path)
{
    char text[64];
    read_text(path, text, sizeof text);
    return strtoull(text, NULL, 10);
}

uint64_t kernel_field(const char *path, const char *name)
{
    static char text[1 << 15];
    size_t length = strlen(name);
    read_text(path, text, sizeof text);
    for (const char *line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
        if (strncmp(line, name, length) == 0 && (line[length] == ' ' || line[length] == ':'))
            return strtoull(line + length + 1, NULL, 10);
    return 0;
}

bool kernel_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool wrote = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return wrote;
}

size_t huge_block_bytes(void)
{
    uint64_t bytes = kernel_number("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
    return bytes ? bytes : 2 << 20;
}

uint64_t free_permille_in_huge_blocks(void)
{
    static char text[1 << 14];
    uint64_t all = 0, huge = 0;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    read_text("/proc/buddyinfo", text, sizeof text);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *p = strstr(line, "zone");
        p = p ? strpbrk(p + 4 + strspn(p + 4, " "), " ") : NULL;
        char *end;
        for (size_t bytes = page; p; bytes *= 2, p = end) {
            uint64_t blocks = strtoull(p, &end, 10);
            if (end == p)
                break;
            all += blocks * bytes;
            huge += bytes >= huge_block_bytes() ? blocks * bytes : 0;
        }
    }
    return all ? huge * 1000 / all : 0;
}

pid_t state_child(void)
{
    pid_t holder = getpid(), child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != holder)
            _exit(0);
        for (int fd = 0; nowhere >= 0 && fd < 2; fd++)
            dup2(nowhere, fd);
    }
    return child;
}

static void answer(const struct maker *maker)
{
    state_fact("free_bytes", kernel_field("/proc/meminfo", "MemFree") * 1024);
    state_fact("free_permille_in_huge_blocks", free_permille_in_huge_blocks());
    state_fact("renewals", renewals);
    if (maker->facts)
        maker->facts();
    out("held\n");
    out_flush();
}

static void renew(const struct maker *maker)
{
    renewals++;
    if (maker->renew)
        maker->renew();
}

/* A FIFO that this process keeps open at both ends, so that it never ends. */
static int fifo(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = mkfifo(path, 0600) == 0 || errno == EEXIST ? open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd < 0)
        state_lacks("%s: %s", path, strerror(errno));
    return fd;
}

static void serve(const struct maker *maker, const char *folder)
{
    char line[64];
    int asked = fifo(folder, "state-asked"), done = fifo(folder, "state-done");
    struct pollfd waits[] = {{.fd = 0, .events = POLLIN}, {.fd = asked, .events = POLLIN}};
    for (;;) {
        if (poll(waits, 2, -1) < 0) {
            if (errno == EINTR)
                continue;
            return;
        }
        if (waits[1].revents & POLLIN) {
            (void)!read(asked, line, 1);
            renew(maker);
            (void)!write(done, "+", 1);
        }
        if (waits[0].revents) {
            ssize_t got = read(0, line, sizeof line);
            if (got <= 0)
                return;
            if (line[0] == '\n') /* The end of a line whose word was answered. */
                continue;
            if (line[0] == 'r' && maker->prepare)
                maker->prepare();
            if (line[0] == 'r')
                renew(maker);
            answer(maker);
        }
    }
}

static int state_main(int argc, char **argv)
{
    pid_t laboratory = (pid_t)atoi(argv[0]);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != laboratory)
        return 1;
    /* Not the laboratory but this process is to go when memory runs out. */
    kernel_write("/proc/self/oom_score_adj", "900");
    /* On a busy machine it would take many times as long to make the state, and a child would not run during a short launch. */
    setpriority(PRIO_PROCESS, 0, -15);
    for (const struct maker *const *m = __start_pagewise_makers; m < __stop_pagewise_makers; m++) {
        if (strcmp((*m)->name, argv[2]) != 0)
            continue;
        (*m)->make(argc - 3, argv + 3);
        answer(*m);
        serve(*m, argv[1]);
        if ((*m)->end)
            (*m)->end();
        return 0;
    }
    dprintf(2, "state: %s: no such maker\n", argv[2]);
    return 2;
}

VERB("state", "PARENT SLOTS MAKER WORD…", state_main);
