/* The native worker: reads a request, runs its slots in the order given, writes the transcript. */
#include "core.h"
#include "pin.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/utsname.h>

sigjmp_buf slot_exit;

/* Size of a PMD-mapped page, 0 where the kernel has no transparent huge pages. Read once. */
static size_t huge_page_bytes(void)
{
    static size_t bytes;
    static bool known;
    if (known)
        return bytes;
    known = true;
    char text[32] = "";
    int fd = open("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    if (read(fd, text, sizeof text - 1) > 0)
        bytes = strtoull(text, NULL, 10);
    close(fd);
    return bytes;
}

/* What one clock read costs, in nanoseconds: the smallest mean of 64 rows of 65 reads. */
static uint64_t clock_read_ns(void)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 64; i++) {
        uint64_t start = now_ns();
        for (int j = 0; j < 64; j++)
            now_ns();
        uint64_t each = (now_ns() - start) / 65;
        if (each < best)
            best = each;
    }
    return best;
}

void transcript_about(void)
{
    out("pagewise\t1\t%s\n", worker_name());
    out("about\tcompiler\t%s\n", worker_compiler());
    out("about\tmethod_flags\t%s\n", worker_flags());
    out("about\tlibc\t%s %s\n", LIBC_NAME, LIBC_VERSION);
    out("about\tproofs\tby-round\n");
    out("about\tpage_bytes\t%ld\n", sysconf(_SC_PAGESIZE));
    out("about\thuge_page_bytes\t%zu\n", huge_page_bytes());
}

static bool proves(int round)
{
    for (int i = 0; i < request.proof_count; i++)
        if (request.proofs[i] == round)
            return true;
    return !request.proofs;
}

static void run_slot(struct cell *cell, int number, int round)
{
    struct slot *s = arena(sizeof *s);
    *s = (struct slot){.cell = cell, .number = number, .round = round, .page_bytes = (size_t)sysconf(_SC_PAGESIZE),
                       .huge_page_bytes = huge_page_bytes(), .proofs = proves(round), .seed = request.seed, .ops = 1,
                       .threads = 1, .role = request.role ? request.role : 'a'};
    s->bytes = s->phase_bytes = key_size(s, "bytes");
    size_t threads = key_size(s, "threads"), processes = key_size(s, "processes");
    s->threads = threads ? (unsigned)threads : 1;
    proving = s->proofs;
    current_slot = number;
    current_cell = cell->number;
    if (cell->method->run_b)
        meet(s);
    if (sigsetjmp(slot_exit, 0) == 0) {
        if (processes > 1) {
            run_in_processes(s, (unsigned)processes);
        } else {
            pin_begin(s);
            pool_open(s);
            (s->role == 'b' ? cell->method->run_b : cell->method->run)(s);
            pin_facts(s);
        }
    }
    pool_close(s);
    huge_pages_after();
    pin_end();
    current_phase = NULL;
}

static void run(void)
{
    int samples = 0, slots = 0;
    for (int r = 0; r < request.round_count; r++)
        for (int i = 0; i < request.rounds[r].cell_count; i++, slots++)
            samples += phase_count(request.cells[request.rounds[r].cells[i]].method);
    transcript_about();
    out("about\tclock_read_ns\t%llu\n", (unsigned long long)clock_read_ns());
    if (request.hardware_counters)
        perf_open();
    transcript_columns();
    out_flush();
    transcript_open(samples, slots * FACTS_OF_A_SLOT);
    signals_watch();
    code_touch();
    warm_stopwatch();
    if (request.role)
        sides_open();
    int number = 0;
    for (int r = 0; r < request.round_count; r++)
        for (int i = 0; i < request.rounds[r].cell_count; i++, number++) {
            struct cell *cell = &request.cells[request.rounds[r].cells[i]];
            if (!cell->ended)
                run_slot(cell, number, request.rounds[r].number);
        }
    transcript_write(true);
}

static void end_slot(struct slot *s, const char *line)
{
    if (in_child())
        child_end(line);
    ((struct cell *)s->cell)->ended = true;
    record_end(line);
    /* A side that stopped in the middle must not leave its peer waiting: ending the process closes all it holds. */
    if (request.role && !sides_agree) {
        transcript_write(false);
        _exit(4);
    }
    sides_agree = false;
    siglongjmp(slot_exit, 1);
}

void fail_because(struct slot *s, const char *call, const char *message)
{
    int error = errno;
    end_slot(s, arena_text("fail\t%d\t%d\t%s\t%s\t%d\t%s\n", s->number, s->cell->number,
                           current_phase ? current_phase : "-", call, error, message));
    __builtin_unreachable();
}

void fail(struct slot *s, const char *call)
{
    fail_because(s, call, strerror(errno));
}

void skip(struct slot *s, const char *reason)
{
    end_slot(s, arena_text("skip\t%d\t%s\n", s->cell->number, reason));
    __builtin_unreachable();
}

void fact_word(struct slot *s, const char *name, const char *value)
{
    if (!s->proofs)
        return;
    if (in_child())
        child_fact(name, 0, value);
    else
        record_fact(s->number, s->cell->number, name, value);
}

void fact(struct slot *s, const char *name, uint64_t value)
{
    if (!s->proofs)
        return;
    if (in_child())
        child_fact(name, value, NULL);
    else
        record_fact(s->number, s->cell->number, name, arena_text("%llu", (unsigned long long)value));
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        transcript_about();
        methods_list();
        out_flush();
        return 0;
    }
    if (argc >= 2 && strcmp(argv[1], "exec") == 0)
        return exec_main(argc - 2, argv + 2);
    if (argc >= 2 && strcmp(argv[1], "try") == 0)
        return try_main(argc - 2, argv + 2);
    if (argc == 3 && strcmp(argv[1], "find-library") == 0)
        return find_library_main(argc - 2, argv + 2);
    if (argc == 2 && strcmp(argv[1], "guard") == 0)
        return guard_main();
    if (argc == 3 && strcmp(argv[1], "load") == 0)
        return load_main(argv[2]);
    if (argc == 4 && strcmp(argv[1], "witness") == 0)
        return witness_main(argv[2], argv[3]);
    if (argc == 4 && strcmp(argv[1], "pin") == 0)
        return pin_main(argv[2], argv[3]);
    if (argc == 3 && strcmp(argv[1], "choose-cpus") == 0)
        return choose_cpus_main(argv[2]);
    if (argc == 3 && strcmp(argv[1], "place-of") == 0)
        return place_of_main(argv[2]);
    if (argc >= 2 && strcmp(argv[1], "make-capture") == 0)
        return make_capture_main(argc - 2, argv + 2);
    if (argc >= 2 && strcmp(argv[1], "prepare-file") == 0)
        return prepare_file_main(argc - 2, argv + 2);
    if (argc == 3 && strcmp(argv[1], "probe-gaps") == 0)
        return probe_gaps_main(argv[2]);
    if (argc > 1) {
        dprintf(2, "usage: %s [--list | exec … | try … | find-library NAME | guard | load PERCENT | pin THREAD CPUS | choose-cpus PIN | "
                   "place-of CPU | witness PATH BYTES | make-capture PATH BYTES SEED [PART] | probe-gaps MILLISECONDS], or a request "
                   "on standard input\n", argv[0]);
        return 2;
    }
    request_read();
    run();
    return 0;
}
