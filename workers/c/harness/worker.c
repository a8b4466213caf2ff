/* Runs the slots of a request in the order given and writes the transcript. */
#include "core.h"
#include "pin.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

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
    if (fd < 0 && (errno == ENOENT || errno == EACCES || errno == EPERM))
        return 0;
    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0) {
        dprintf(2, "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size: %s\n", strerror(errno));
        _exit(2);
    }
    bytes = strtoull(text, NULL, 10);
    close(fd);
    return bytes;
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
    size_t threads = key_size(s, "threads"), processes = key_size(s, "processes") + key_size(s, "clones");
    s->threads = threads ? (unsigned)threads : 1;
    proving = s->proofs;
    current_slot = number;
    current_cell = cell->number;
    if (cell->method->run_b)
        meet_asleep(s);
    if (sigsetjmp(slot_exit, 0) == 0) {
        if (processes > 1) {
            run_in_processes(s, (unsigned)processes);
        } else {
            pin_begin(s);
            pool_open(s);
            (s->role == 'b' ? cell->method->run_b : cell->method->run)(s);
            pin_facts(s);
            pool_facts(s);
        }
    }
    if (slot_left)
        slot_left();
    pool_close(s);
    huge_pages_after();
    pin_end();
    current_phase = NULL;
}

void worker_run(void)
{
    int samples = 0, slots = 0;
    for (int r = 0; r < request.round_count; r++)
        for (int i = 0; i < request.rounds[r].cell_count; i++, slots++)
            samples += phase_count(request.cells[request.rounds[r].cells[i]].method);
    transcript_about();
    out("about\tclock_read_ns\t%llu\n", (unsigned long long)clock_read_ns());
    state_enter();
    if (!counts_open() && request.hardware_counters)
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
            if (cell->ended)
                continue;
            state_renew();
            run_slot(cell, number, request.rounds[r].number);
        }
    current_slot = -1;
    state_tell("after");
    transcript_write(true);
}
