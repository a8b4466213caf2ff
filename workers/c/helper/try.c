/* `try OPTION VALUE … -- CMD …`: runs somebody's command once, waits for everything that it started, and prints what
 * it cost as one line of JSON. It adopts what the command leaves behind (it is a subreaper), so nothing is left running. */
#include "core.h"
#include "process.h"
#include "profile/faults.h"
#include "profile/mappings.h"
#include "proof.h"
#include "split.h"
#include "verb.h"
#include "watch.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
    TAIL = 2000,       /* bytes of its messages that are kept */
    LEAVE_MS = 300,    /* for what the command left behind to end by itself */
    TERM_MS = 1000,    /* between SIGTERM and SIGKILL at the time limit */
    END_MS = 10000,    /* for killed processes to go */
    LOOK_MS = 5,       /* between two looks at a command whose proof is wanted */
    RINGS_MS = 10,     /* between two readings of the records of its page faults */
    SPLIT_MS = 500,    /* between two readings of the samples of its CPU time */
    MAX_EVICT = 16,
    MERGE = 67,        /* PR_SET_MEMORY_MERGE, since Linux 6.4 */
    WITH_CALLS = 'c',  /* the word by which the command begins: it is to be stopped at calls that change mappings */
};

static struct {
    const char *input, *cpus, *cgroup, *stacks, *evict[MAX_EVICT];
    int evicts;
    uint64_t limit_ms, window_ms, watch_ms, split_us, stack_period, kernel_ns;
    bool proof, faults, wide, no_thp, merge, discard;
    char **command;
} asked;

static struct {
    pid_t pid;
    int out, err, signals, status;
    bool ended, stopped, late, over; /* `over`: its window is */
    int error;              /* errno of a command that could not be started */
    uint64_t start_ns, wall_ns;
    uint64_t out_bytes, err_bytes, hash;
    size_t held;            /* bytes in `words` that are not hashed yet */
    char words[1 << 16], tail[TAIL];
    uint64_t not_evicted;
    int left;
} job;

static void give_up(const char *what, const char *why)
{
    dprintf(2, "try: %s: %s\n", what, why);
    _exit(3);
}

/* A time limit whose nanoseconds fit into 64 bits. */
static uint64_t limit_of(const char *value)
{
    uint64_t ms = strtoull(value, NULL, 10), most = UINT64_MAX / 4000000;
    return ms < most ? ms : most;
}

static void try_option(const char *name, char *value)
{
    if (strcmp(name, "--parent") == 0) {
        /* Its end is to end the command too, which SIGKILL would leave to itself. */
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != (pid_t)atoi(value))
            give_up("parent", "it has ended already");
    } else if (strcmp(name, "--limit-ms") == 0)
        asked.limit_ms = limit_of(value);
    else if (strcmp(name, "--directory") == 0) {
        if (chdir(value) != 0)
            give_up(value, strerror(errno));
    }
    else if (strcmp(name, "--input") == 0)
        asked.input = value;
    else if (strcmp(name, "--cpus") == 0)
        asked.cpus = value;
    else if (strcmp(name, "--set") == 0)
        set_variable(value);
    else if (strcmp(name, "--watch") == 0)
        proof_watch(value);
    else if (strcmp(name, "--expect") == 0)
        proof_expect(value);
    else if (strcmp(name, "--evict") == 0 && asked.evicts < MAX_EVICT)
        asked.evict[asked.evicts++] = value;
    else if (strcmp(name, "--proof") == 0)
        asked.proof = true;
    else if (strcmp(name, "--faults") == 0)
        asked.faults = true;
    else if (strcmp(name, "--stacks") == 0)
        asked.stacks = value;
    else if (strcmp(name, "--stack-period") == 0)
        asked.stack_period = strtoull(value, NULL, 10);
    else if (strcmp(name, "--kernel-ns") == 0) {
        asked.kernel_ns = strtoull(value, NULL, 10);
        asked.faults = true;
    } else if (strcmp(name, "--wide") == 0)
        asked.wide = true;
    else if (strcmp(name, "--split-us") == 0)
        asked.split_us = strtoull(value, NULL, 10);
    else if (strcmp(name, "--no-thp") == 0)
        asked.no_thp = true;
    else if (strcmp(name, "--merge") == 0)
        asked.merge = true;
    else if (strcmp(name, "--cgroup") == 0)
        asked.cgroup = value;
    else if (strcmp(name, "--watch-ms") == 0)
        asked.watch_ms = strtoull(value, NULL, 10);
    else if (strcmp(name, "--window-ms") == 0)
        asked.window_ms = limit_of(value);
    else if (strcmp(name, "--advise") == 0)
        watch_advise(value);
    else if (strcmp(name, "--discard") == 0)
        asked.discard = true;
    else
        give_up(name, "unknown option");
}

/* Whether the command waits, before it begins, until it is followed. */
static bool is_followed(void)
{
    return asked.proof || asked.faults || asked.split_us;
}

/* Has the kernel forget the file's pages; what stays all the same is counted in bytes. */
static void evict(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (fd < 0 || fstat(fd, &about) != 0)
        give_up(path, strerror(errno));
    fdatasync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (size_t)about.st_size, pages = (bytes + page - 1) / page;
    void *p = pages ? mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    unsigned char *resident = malloc(pages + 1);
    if (p != MAP_FAILED && resident && mincore(p, bytes, resident) == 0)
        for (size_t i = 0; i < pages; i++)
            job.not_evicted += (resident[i] & 1) * page;
    if (p != MAP_FAILED)
        munmap(p, bytes);
    free(resident);
    close(fd);
}

/* ---- what it writes ---- */

static void hash_words(void)
{
    for (size_t i = 0; i + 8 <= job.held; i += 8) {
        uint64_t word;
        memcpy(&word, job.words + i, 8);
        job.hash = (job.hash ^ word) * 0x9E3779B97F4A7C15u;
        job.hash ^= job.hash >> 29;
    }
    job.held = 0;
}

/* Reads what is there; whether more may come. */
static bool drain_out(void)
{
    ssize_t got = read(job.out, job.words + job.held, sizeof job.words - job.held);
    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    job.out_bytes += (uint64_t)got;
    job.held += (size_t)got;
    if (job.held == sizeof job.words)
        hash_words();
    return true;
}

static bool drain_err(void)
{
    char text[4096];
    ssize_t got = read(job.err, text, sizeof text);
    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    size_t have = job.err_bytes < TAIL ? (size_t)job.err_bytes : TAIL, more = (size_t)got;
    const char *from = text;
    job.err_bytes += more;
    if (more > TAIL) {
        from += more - TAIL;
        more = TAIL;
    }
    size_t keep = have + more > TAIL ? TAIL - more : have;
    memmove(job.tail, job.tail + have - keep, keep);
    memcpy(job.tail + keep, from, more);
    return true;
}

static void drain_rest(void)
{
    uint64_t before;
    do {
        before = job.out_bytes + job.err_bytes;
        if (job.out >= 0)
            drain_out();
        if (job.err >= 0)
            drain_err();
    } while (job.out_bytes + job.err_bytes != before);
    memset(job.words + job.held, 0, sizeof job.words - job.held);
    job.held = (job.held + 7) / 8 * 8;
    hash_words();
    job.hash ^= job.out_bytes;
}

/* ---- start ---- */

struct pipes {
    int in, out[2], err[2], failed[2], go[2];
};

/* Ends the child, whose parent reads the error. */
__attribute__((noreturn)) static void end_child(const struct pipes *p)
{
    int error = errno;
    if (write(p->failed[1], &error, sizeof error) < 0)
        _exit(126);
    _exit(127);
}

/* In the child, which may share its parent's memory: nothing but system calls. */
__attribute__((noreturn)) static void become(const struct pipes *p, char **command)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* A session of its own: it has no terminal to wait at, and its process group can be ended as a whole. */
    setsid();
    dup2(p->in, 0);
    dup2(p->out[1], 1);
    dup2(p->err[1], 2);
    char word = 0;
    if (is_followed() && read(p->go[0], &word, 1) < 0)
        _exit(127);
    if (is_followed() && word == WITH_CALLS)
        mappings_filter();
    int group = asked.cgroup ? open(asked.cgroup, O_WRONLY | O_CLOEXEC) : -1;
    if (asked.cgroup && (group < 0 || write(group, "0", 1) != 1))
        end_child(p);
    execvp(command[0], command);
    end_child(p);
}

static void start(void)
{
    struct pipes p;
    p.in = open(asked.input ? asked.input : "/dev/null", O_RDONLY | O_CLOEXEC);
    if (p.in < 0)
        give_up(asked.input, strerror(errno));
    if (pipe2(p.out, O_CLOEXEC) || pipe2(p.err, O_CLOEXEC) || pipe2(p.failed, O_CLOEXEC) || pipe2(p.go, O_CLOEXEC))
        give_up("pipe", strerror(errno));
    if (asked.discard && (p.out[1] = open("/dev/null", O_WRONLY | O_CLOEXEC)) < 0)
        give_up("/dev/null", strerror(errno));
    fcntl(p.out[0], F_SETPIPE_SZ, 1 << 20);
    fcntl(p.out[0], F_SETFL, O_NONBLOCK);
    fcntl(p.err[0], F_SETFL, O_NONBLOCK);
    job.out = p.out[0];
    job.err = p.err[0];
    if (asked.cpus)
        set_affinity(0, asked.cpus);
    if (asked.no_thp && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0)
        give_up("prctl(PR_SET_THP_DISABLE)", strerror(errno));
    if (asked.merge)
        prctl(MERGE, 1, 0, 0, 0); /* where it may not, no page is merged, and the proof says so */
    job.start_ns = now_ns();
    if (asked.watch_ms)
        watch_begin(asked.watch_ms);
    /* Its first process shares this one's memory until it is another program, so that this one's size costs it nothing. */
    job.pid = is_followed() ? fork() : vfork();
    if (job.pid == 0)
        become(&p, asked.command);
    if (job.pid < 0)
        give_up("fork", strerror(errno));
    close(p.in);
    close(p.out[1]);
    close(p.err[1]);
    close(p.failed[1]);
    if (is_followed()) {
        bool traced = asked.proof && proof_begin(job.pid);
        if (asked.kernel_ns)
            faults_sample(job.pid, asked.stacks, asked.kernel_ns, asked.wide);
        else if (asked.faults)
            faults_begin(job.pid, asked.stacks, asked.stack_period);
        if (asked.split_us)
            split_begin(job.pid, asked.split_us);
        char word = traced && asked.faults && !faults_reason()[0] ? (char)WITH_CALLS : 0;
        if (write(p.go[1], &word, 1) != 1)
            give_up("pipe", strerror(errno));
    }
    if (read(p.failed[0], &job.error, sizeof job.error) != sizeof job.error)
        job.error = 0;
}

/* ---- wait ---- */

/* Takes note of everything that has ended or stopped; whether there is any child left. */
static bool reap(void)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
        if (WIFSTOPPED(status)) {
            proof_stopped(pid, status);
        } else if (pid == job.pid) {
            if (!job.over)
                job.wall_ns = now_ns() - job.start_ns;
            job.status = status;
            job.ended = true;
        }
    }
    return pid == 0;
}

static void signal_all(int number)
{
    kill(-job.pid, number);
    for_each_child(number);
}

/* Sleeps until something happens, `ms` have passed, or it is time for another look. */
static void sleep_ms(uint64_t ms)
{
    if (asked.proof && ms > LOOK_MS)
        ms = LOOK_MS;
    int rings = asked.faults ? faults_descriptor() : -1;
    if (asked.faults && ms > RINGS_MS)
        ms = RINGS_MS;
    if (asked.split_us && ms > SPLIT_MS)
        ms = SPLIT_MS;
    uint64_t wait_ms = watch_wait_ms();
    ms = ms < wait_ms ? ms : wait_ms;
    struct pollfd watched[4] = {{job.signals, POLLIN, 0}, {job.out, POLLIN, 0}, {job.err, POLLIN, 0}, {rings, POLLIN, 0}};
    poll(watched, 4, (int)(ms > 60000 ? 60000 : ms));
    /* A traced command stops often: neither is done at every stop. */
    static uint64_t looked_ns;
    bool is_due = now_ns() - looked_ns >= LOOK_MS * 1000000ull;
    looked_ns = is_due ? now_ns() : looked_ns;
    if (asked.faults && (is_due || watched[3].revents))
        faults_read();
    if (asked.split_us)
        split_read();
    if (!job.over)
        watch_read();
    if (watched[0].revents) {
        struct signalfd_siginfo seen;
        while (read(job.signals, &seen, sizeof seen) == sizeof seen)
            job.stopped |= seen.ssi_signo != SIGCHLD;
    }
    if (watched[1].revents && !drain_out()) {
        close(job.out);
        job.out = -1;
    }
    if (watched[2].revents && !drain_err()) {
        close(job.err);
        job.err = -1;
    }
    if (asked.proof && is_due)
        proof_look_at_all();
}

/* Sleeps and reaps until there is no child left or the time is over; whether one is left. */
static bool wait_for_all(uint64_t ms)
{
    uint64_t until = now_ns() + ms * 1000000;
    bool any = reap();
    while (any && now_ns() < until && !job.stopped) {
        sleep_ms(5);
        any = reap();
    }
    return any;
}

static void wait_for_command(void)
{
    bool is_window = asked.window_ms && (!asked.limit_ms || asked.window_ms <= asked.limit_ms);
    uint64_t limit_ms = is_window ? asked.window_ms : asked.limit_ms, limit = job.start_ns + limit_ms * 1000000;
    for (reap(); !job.ended && !job.stopped; reap()) {
        uint64_t now = now_ns();
        if (limit_ms && now >= limit) {
            if (job.late || job.over)
                break;
            if (is_window) {
                watch_end();
                job.wall_ns = now_ns() - job.start_ns;
            }
            job.over = is_window;
            job.late = !is_window;
            signal_all(SIGTERM);
            limit = now + TERM_MS * 1000000ull;
        }
        sleep_ms(limit_ms ? (limit - now) / 1000000 + 1 : 60000);
    }
}

/* Ends whatever is left. Each round kills the children there are; theirs become ours and go in the next. */
static void end_all(void)
{
    bool by_itself = job.ended && !job.late && !job.over;
    bool any = by_itself ? wait_for_all(LEAVE_MS) : reap();
    if (any && by_itself)
        job.left = for_each_child(0);
    uint64_t until = now_ns() + END_MS * 1000000ull;
    while (any && now_ns() < until) {
        signal_all(SIGKILL);
        sleep_ms(2);
        any = reap();
    }
    if (any)
        job.left += for_each_child(0);
}

/* What the command's processes read and wrote: that of all children that were waited for, which the kernel adds to this
 * process's own, without the one thread of this process. */
static void print_calls(void)
{
    struct process_io all, own;
    char path[64];
    snprintf(path, sizeof path, "self/task/%d/io", getpid());
    process_io(0, path, &own);
    process_io(0, "self/io", &all);
    all = process_io_since(&all, &own);
    /* The first reading was itself two calls, to its end, which the second has and the first has not. */
    uint64_t *calls = &all.number[PROCESS_READ_CALLS];
    *calls -= *calls > 2 ? 2 : *calls;
    process_io_print(&all);
}

static void print_run(void)
{
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    const char *end = job.error ? "not-started" : job.late ? "time-limit" : job.stopped ? "stopped" : job.over ? "window"
                    : WIFSIGNALED(job.status) ? "signal" : "exit";
    int code = job.error ? job.error : job.over ? 0 : WIFSIGNALED(job.status) ? WTERMSIG(job.status) : WEXITSTATUS(job.status);
    uint64_t user_us = (uint64_t)used.ru_utime.tv_sec * 1000000 + (uint64_t)used.ru_utime.tv_usec;
    uint64_t system_us = (uint64_t)used.ru_stime.tv_sec * 1000000 + (uint64_t)used.ru_stime.tv_usec;
    if (job.over) {
        /* What it did after its window, such as its end, does not count. */
        uint64_t all_us = watch_cpu_us(), ended_us = user_us + system_us;
        system_us = ended_us ? (uint64_t)((double)all_us * (double)system_us / (double)ended_us) : 0;
        user_us = all_us - system_us;
        used.ru_minflt = (long)watch_minor_faults();
    }
    double kernel;
    if (asked.split_us && split_share(user_us + system_us, &kernel)) {
        uint64_t all_us = user_us + system_us;
        system_us = (uint64_t)((double)all_us * kernel + 0.5);
        user_us = all_us - system_us;
    }
    printf("{\"end\":\"%s\",\"code\":%d,\"wall_ns\":%llu,\"user_us\":%llu,\"system_us\":%llu,\"max_rss_kib\":%ld,", end, code,
           (unsigned long long)job.wall_ns, (unsigned long long)user_us, (unsigned long long)system_us, used.ru_maxrss);
    printf("\"minor_faults\":%ld,\"major_faults\":%ld,\"voluntary_switches\":%ld,\"involuntary_switches\":%ld,", used.ru_minflt,
           used.ru_majflt, used.ru_nvcsw, used.ru_nivcsw);
    printf("\"output_bytes\":%llu,\"output_hash\":\"%016llx\",\"error_bytes\":%llu,\"left\":%d,\"not_evicted\":%llu",
           (unsigned long long)job.out_bytes, (unsigned long long)job.hash, (unsigned long long)job.err_bytes, job.left,
           (unsigned long long)job.not_evicted);
    print_calls();
    if (asked.proof)
        proof_print();
    if (asked.faults)
        faults_print();
    if (asked.split_us)
        split_print();
    watch_print(job.wall_ns, user_us + system_us, (uint64_t)used.ru_minflt);
    printf("}\n");
    fflush(stdout);
    if (write(2, job.tail, job.err_bytes < TAIL ? (size_t)job.err_bytes : TAIL) < 0)
        _exit(3);
}

static int try_main(int argc, char **argv)
{
    int i = 0;
    for (; i < argc && strcmp(argv[i], "--") != 0; i += 2) {
        if (i + 1 >= argc)
            give_up(argv[i], "needs a value");
        try_option(argv[i], argv[i + 1]);
    }
    if (i + 1 >= argc)
        give_up("--", "no program");
    asked.command = argv + i + 1;
    /* It is for workers; the command has the user's own environment. */
    unsetenv("PAGEWISE_HELPER");
    job.hash = 0x243F6A8885A308D3u;
    sigset_t watched;
    sigemptyset(&watched);
    int numbers[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP};
    for (int n = 0; n < 4; n++)
        sigaddset(&watched, numbers[n]);
    sigprocmask(SIG_BLOCK, &watched, NULL);
    job.signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    if (job.signals < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        give_up("signalfd or subreaper", strerror(errno));
    for (int n = 0; n < asked.evicts; n++)
        evict(asked.evict[n]);
    start();
    wait_for_command();
    end_all();
    drain_rest();
    print_run();
    return 0;
}

VERB("try", "[OPTION VALUE]… -- CMD…", try_main);
