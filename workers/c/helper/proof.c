/* The proof that a setting took effect. The command is followed by ptrace, which stops each of its processes just before its
 * memory goes; where that is not permitted, its first process is looked at every few milliseconds. */
#include "proof.h"
#include "core.h"
#include "profile/mappings.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { MAX_WATCHED = 8, MAX_FOLLOWED = 64 };

static struct {
    const char *path[MAX_WATCHED], *variable[MAX_WATCHED];
    int paths, variables;
    pid_t first, followed[MAX_FOLLOWED];
    int count;                      /* of `followed` */
    bool traced;
    uint64_t processes;             /* looked at when they ended */
    uint64_t mapped[MAX_WATCHED], expected[MAX_WATCHED], thp_disabled;
    bool seen[MAX_WATCHED];         /* mapped at any look */
    uint64_t huge_bytes;            /* the most that one process had */
    uint64_t end_rss, end_anonymous, end_huge; /* of the process that ended with the most memory, in bytes */
    uint64_t setuid;                /* processes whose program is to run with its owner's rights */
    char cpus[256];
    const char *allocator;          /* the library of the last process that has one */
} proof;

void proof_watch(const char *path)
{
    if (proof.paths < MAX_WATCHED)
        proof.path[proof.paths++] = path;
}

void proof_expect(const char *variable)
{
    if (proof.variables < MAX_WATCHED)
        proof.variable[proof.variables++] = variable;
}

/* The whole of a file below /proc/PID, with a final NUL; NULL where it cannot be read. The caller frees it. */
static char *read_of(pid_t pid, const char *name, size_t *bytes)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    size_t have = 0, room = 1 << 16;
    char *text = malloc(room);
    ssize_t got = 0;
    while (text && (got = read(fd, text + have, room - have - 1)) > 0) {
        have += (size_t)got;
        if (room - have < 4096) {
            char *more = realloc(text, room *= 2);
            if (!more)
                break;
            text = more;
        }
    }
    close(fd);
    if (text)
        text[have] = 0;
    if (bytes)
        *bytes = have;
    return text;
}

static uint64_t field(const char *text, const char *name)
{
    const char *at = text ? strstr(text, name) : NULL;
    return at ? strtoull(at + strlen(name), NULL, 10) : UINT64_MAX;
}

static void look_at_memory(pid_t pid, bool at_end)
{
    char *text = read_of(pid, "smaps_rollup", NULL);
    uint64_t huge = field(text, "AnonHugePages:");
    if (huge != UINT64_MAX && huge * 1024 > proof.huge_bytes)
        proof.huge_bytes = huge * 1024;
    uint64_t rss = field(text, "Rss:");
    if (at_end && rss != UINT64_MAX && rss * 1024 > proof.end_rss) {
        proof.end_rss = rss * 1024;
        proof.end_anonymous = field(text, "Anonymous:") * 1024;
        proof.end_huge = huge == UINT64_MAX ? 0 : huge * 1024;
    }
    free(text);
    text = read_of(pid, "maps", NULL);
    static const char *const allocators[] = {"libjemalloc", "libmimalloc", "libtcmalloc"};
    for (size_t i = 0; text && i < sizeof allocators / sizeof *allocators; i++)
        if (strstr(text, allocators[i]))
            proof.allocator = allocators[i];
    for (int i = 0; text && i < proof.paths; i++)
        if (strstr(text, proof.path[i])) {
            proof.seen[i] = true;
            proof.mapped[i] += at_end;
        }
    free(text);
}

/* Whether VAR=VALUE stands at this place of an environment. glibc ends each of its tunables in place, over the colon. */
static bool is_variable(const char *at, const char *end, const char *variable)
{
    bool tunables = strncmp(variable, "GLIBC_TUNABLES=", 15) == 0;
    size_t length = strlen(variable);
    if ((size_t)(end - at) <= length || at[length])
        return false;
    for (size_t i = 0; i < length; i++)
        if (at[i] != variable[i] && !(tunables && variable[i] == ':' && !at[i]))
            return false;
    return true;
}

static void look_at_end(pid_t pid)
{
    char *status = read_of(pid, "status", NULL);
    /* A thread's end is not its process's. */
    if (!status || field(status, "Tgid:") != (uint64_t)pid) {
        free(status);
        return;
    }
    proof.processes++;
    proof.thp_disabled += field(status, "THP_enabled:") == 0;
    const char *cpus = strstr(status, "Cpus_allowed_list:");
    if (cpus && pid == proof.first)
        sscanf(cpus, "Cpus_allowed_list: %255[0-9,-]", proof.cpus);
    free(status);
    char path[64];
    struct stat program;
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    proof.setuid += stat(path, &program) == 0 && (program.st_mode & (S_ISUID | S_ISGID));
    look_at_memory(pid, true);
    size_t bytes = 0;
    char *environment = proof.variables ? read_of(pid, "environ", &bytes) : NULL;
    for (int i = 0; environment && i < proof.variables; i++)
        for (const char *at = environment; at < environment + bytes; at += strlen(at) + 1)
            if (is_variable(at, environment + bytes, proof.variable[i])) {
                proof.expected[i]++;
                break;
            }
    free(environment);
}

bool proof_begin(pid_t pid)
{
    long options = PTRACE_O_EXITKILL | PTRACE_O_TRACEEXIT | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                   PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD;
    proof.first = pid;
    proof.followed[proof.count++] = pid;
    proof.traced = ptrace(PTRACE_SEIZE, pid, NULL, (void *)options) == 0;
    return proof.traced;
}

static void follow(pid_t pid)
{
    for (int i = 0; i < proof.count; i++)
        if (proof.followed[i] == pid)
            return;
    char path[64];
    /* Threads are followed because they may start processes; only processes are looked at. */
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
    if (proof.count < MAX_FOLLOWED && access(path, R_OK) == 0)
        proof.followed[proof.count++] = pid;
}

void proof_stopped(pid_t pid, int status)
{
    int event = status >> 16, number = WSTOPSIG(status);
    if (event == PTRACE_EVENT_SECCOMP || number == (SIGTRAP | 0x80)) {
        ptrace(mappings_stopped(pid, event == 0), pid, NULL, NULL);
    } else if (event == PTRACE_EVENT_EXIT) {
        look_at_end(pid);
        for (int i = 0; i < proof.count; i++)
            if (proof.followed[i] == pid)
                proof.followed[i] = proof.followed[--proof.count];
        ptrace(PTRACE_CONT, pid, NULL, NULL);
    } else if (event == PTRACE_EVENT_STOP) {
        bool group = number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
        follow(pid);
        ptrace(group ? PTRACE_LISTEN : PTRACE_CONT, pid, NULL, NULL);
    } else {
        ptrace(PTRACE_CONT, pid, NULL, event ? NULL : (void *)(long)number);
    }
}

void proof_look_at_all(void)
{
    for (int i = 0; i < proof.count; i++)
        look_at_memory(proof.followed[i], false);
}

static void print_counts(const char *name, const uint64_t *counts, int count)
{
    printf(",\"%s\":[", name);
    for (int i = 0; i < count; i++)
        printf("%s%llu", i ? "," : "", (unsigned long long)counts[i]);
    printf("]");
}

void proof_print(void)
{
    for (int i = 0; i < proof.paths; i++)
        if (!proof.mapped[i] && proof.seen[i])
            proof.mapped[i] = 1;
    printf(",\"proof\":{\"traced\":%s,\"processes\":%llu,\"huge_bytes\":%llu,\"thp_disabled\":%llu,\"cpus\":\"%s\",\"allocator\":\"%s\"",
           proof.traced ? "true" : "false", (unsigned long long)proof.processes, (unsigned long long)proof.huge_bytes,
           (unsigned long long)proof.thp_disabled, proof.cpus, proof.allocator ? proof.allocator : "");
    printf(",\"end_rss_bytes\":%llu,\"end_anonymous_bytes\":%llu,\"end_huge_bytes\":%llu,\"setuid\":%llu",
           (unsigned long long)proof.end_rss, (unsigned long long)proof.end_anonymous, (unsigned long long)proof.end_huge,
           (unsigned long long)proof.setuid);
    print_counts("mapped", proof.mapped, proof.paths);
    print_counts("expected", proof.expected, proof.variables);
    printf("}");
}

int for_each_child(int number)
{
    DIR *all = opendir("/proc");
    struct dirent *entry;
    int count = 0;
    while (all && (entry = readdir(all))) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        if (pid <= 0)
            continue;
        char *stat = read_of(pid, "stat", NULL), *at = stat ? strrchr(stat, ')') : NULL, state = 0;
        int parent = 0;
        if (at && sscanf(at, ") %c %d", &state, &parent) == 2 && parent == getpid() && state != 'Z') {
            count++;
            if (number)
                kill(pid, number);
        }
        free(stat);
    }
    if (all)
        closedir(all);
    return count;
}
