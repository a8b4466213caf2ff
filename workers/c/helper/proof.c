/* The proof that a setting took effect. The command is followed by ptrace, which stops each of its processes just before its
 * memory goes; where that is not permitted, its first process is looked at every few milliseconds. */
#include "proof.h"
#include "core.h"
#include "process.h"
#include "profile/mappings.h"
#include "watch.h"
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { MAX_WATCHED = 8, MAX_FOLLOWED = 64, MAX_MODULES = 256, MODULE = 64, MAX_SEGMENTS = 64, NOTES = 4096 };

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
    char modules[MAX_MODULES][MODULE]; /* names of the files of code that were mapped */
    int module_count;
    uint64_t merged;                /* the most pages of one process that were merged with others */
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

/* Takes note of a name of a file, once. */
static void add_module(const char *name, size_t length)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-[]";
    if (!length || length >= MODULE || proof.module_count == MAX_MODULES || strspn(name, allowed) < length)
        return;
    for (int i = 0; i < proof.module_count; i++)
        if (strncmp(proof.modules[i], name, length) == 0 && !proof.modules[i][length])
            return;
    memcpy(proof.modules[proof.module_count++], name, length);
}

/* Takes note of the files of code in the text of /proc/PID/maps. */
static void add_modules(const char *maps)
{
    for (const char *line = maps, *end; (end = strchr(line, '\n')); line = end + 1) {
        const char *path = memchr(line, '/', (size_t)(end - line)), *rights = memchr(line, ' ', (size_t)(end - line));
        if (!path || !rights || rights[3] != 'x')
            continue;
        const char *name = memrchr(path, '/', (size_t)(end - path));
        add_module(name + 1, (size_t)(end - name - 1));
    }
}

/* A program of Go has a note of its build (cmd/internal/buildid), and its runtime is no file of its own. */
static void add_go(pid_t pid)
{
    char path[64], notes[NOTES];
    Elf64_Ehdr head;
    Elf64_Phdr segment;
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_elf = fd >= 0 && pread(fd, &head, sizeof head, 0) == sizeof head && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
                  head.e_ident[EI_CLASS] == ELFCLASS64;
    for (int i = 0; is_elf && i < head.e_phnum && i < MAX_SEGMENTS; i++) {
        if (pread(fd, &segment, sizeof segment, (off_t)(head.e_phoff + (uint64_t)i * sizeof segment)) != sizeof segment ||
            segment.p_type != PT_NOTE)
            continue;
        ssize_t got = pread(fd, notes, segment.p_filesz < NOTES ? segment.p_filesz : NOTES, (off_t)segment.p_offset);
        if (got > 0 && memmem(notes, (size_t)got, "\4\0\0\0Go\0", 8))
            add_module("[go]", 4);
    }
    if (fd >= 0)
        close(fd);
}

void proof_look_at_modules(pid_t pid)
{
    char *maps = process_text(pid, "maps", NULL);
    if (maps)
        add_modules(maps);
    free(maps);
    add_go(pid);
    char *status = process_text(pid, "status", NULL);
    proof.thp_disabled = process_field(status, "THP_enabled:") == 0;
    free(status);
}

static void look_at_memory(pid_t pid, bool at_end)
{
    char *text = process_text(pid, "smaps_rollup", NULL);
    uint64_t huge = process_field(text, "AnonHugePages:");
    if (huge != UINT64_MAX && huge * 1024 > proof.huge_bytes)
        proof.huge_bytes = huge * 1024;
    uint64_t rss = process_field(text, "Rss:");
    if (at_end && rss != UINT64_MAX && rss * 1024 > proof.end_rss) {
        proof.end_rss = rss * 1024;
        proof.end_anonymous = process_field(text, "Anonymous:") * 1024;
        proof.end_huge = huge == UINT64_MAX ? 0 : huge * 1024;
    }
    free(text);
    text = process_text(pid, "maps", NULL);
    static const char *const allocators[] = {"libjemalloc", "libmimalloc", "libtcmalloc"};
    for (size_t i = 0; text && i < sizeof allocators / sizeof *allocators; i++)
        if (strstr(text, allocators[i]))
            proof.allocator = allocators[i];
    for (int i = 0; text && i < proof.paths; i++)
        if (strstr(text, proof.path[i])) {
            proof.seen[i] = true;
            proof.mapped[i] += at_end;
        }
    if (text)
        add_modules(text);
    free(text);
    uint64_t merged = merged_pages(pid);
    proof.merged = merged > proof.merged ? merged : proof.merged;
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
    char *status = process_text(pid, "status", NULL);
    /* A thread's end is not its process's. */
    if (!status || process_field(status, "Tgid:") != (uint64_t)pid) {
        free(status);
        return;
    }
    proof.processes++;
    proof.thp_disabled += process_field(status, "THP_enabled:") == 0;
    const char *cpus = strstr(status, "Cpus_allowed_list:");
    if (cpus && pid == proof.first)
        sscanf(cpus, "Cpus_allowed_list: %255[0-9,-]", proof.cpus);
    free(status);
    char path[64];
    struct stat program;
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    proof.setuid += stat(path, &program) == 0 && (program.st_mode & (S_ISUID | S_ISGID));
    look_at_memory(pid, true);
    add_go(pid);
    size_t bytes = 0;
    char *environment = proof.variables ? process_text(pid, "environ", &bytes) : NULL;
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

static void print_modules(void)
{
    printf(",\"modules\":[");
    for (int i = 0; i < proof.module_count; i++)
        printf("%s\"%s\"", i ? "," : "", proof.modules[i]);
    printf("]");
}

void proof_print_modules(void)
{
    printf(",\"proof\":{\"traced\":false,\"processes\":1,\"thp_disabled\":%llu", (unsigned long long)proof.thp_disabled);
    print_modules();
    printf("}");
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
    printf(",\"merged_bytes\":%llu,\"advised_bytes\":%llu", (unsigned long long)proof.merged * (uint64_t)sysconf(_SC_PAGESIZE),
           (unsigned long long)watch_advised());
    if (watch_advice_error())
        printf(",\"advice_error\":%d", watch_advice_error());
    print_modules();
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
        char *stat = process_text(pid, "stat", NULL), *at = stat ? strrchr(stat, ')') : NULL, state = 0;
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
