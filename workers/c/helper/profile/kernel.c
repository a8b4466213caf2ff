/* Which work of the kernel a sample met. Its call chain is read from the innermost function outwards, and the first one that
 * the table below has names the work: copying page tables inside of fork(2), giving pages back inside of exit(2). */
#include "kernel.h"
#include "core.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALL_NAME = 24, MOST_NAME = 64, MOST_PARTS = 256, MARKS = 4095 };

enum work {
    NO_WORK, FAULT, HUGE_FAULT, COPY_FAULT, FILE_FAULT, FREEING, FORKING, STARTING, EXECUTING, PROTECTING, MOVING, MAPPING,
    SHOOTDOWN, LOCKING, RECLAIM, PAGE_CACHE, WRITE_BACK, SWITCHING, INTERRUPT, SIGNALING, READING, WRITING, CALLING, OTHER,
    WORKS
};

/* As the laboratory knows them (crates/record/src/command/profile.rs); src/run/command/stacks/mod.rs has them in this order. */
static const char *const names[WORKS] = {
    [FAULT] = "unknown", [HUGE_FAULT] = "huge", [COPY_FAULT] = "cow", [FILE_FAULT] = "file", [FREEING] = "free-base",
    [FORKING] = "fork", [STARTING] = "start", [EXECUTING] = "exec", [PROTECTING] = "protect", [MOVING] = "move",
    [MAPPING] = "map", [SHOOTDOWN] = "shootdown", [LOCKING] = "lock", [RECLAIM] = "reclaim", [PAGE_CACHE] = "page-cache",
    [WRITE_BACK] = "write-back", [SWITCHING] = "switch", [INTERRUPT] = "interrupt", [SIGNALING] = "signal",
    [READING] = "read-calls", [WRITING] = "write-calls", [CALLING] = "system-call", [OTHER] = "kernel",
};

/* Functions of Linux 5.4 to 6.18. A compiler may inline any of them, so each kind of work has several. */
static const struct {
    enum work work;
    const char *functions;
} table[] = {
    {FAULT, "handle_mm_fault exc_page_fault asm_exc_page_fault do_user_addr_fault __do_page_fault do_page_fault do_mem_abort "
            "do_translation_fault faultin_page lock_vma_under_rcu lock_mm_and_find_vma populate_vma_page_range __mm_populate"},
    {HUGE_FAULT, "do_huge_pmd_anonymous_page __do_huge_pmd_anonymous_page vma_alloc_anon_folio_pmd map_anon_folio_pmd_pf"},
    {COPY_FAULT, "do_wp_page wp_page_copy wp_page_reuse do_huge_pmd_wp_page"},
    {FILE_FAULT, "do_fault do_read_fault do_shared_fault do_cow_fault filemap_map_pages filemap_fault shmem_fault finish_fault "
                 "do_fault_around do_shared_fault"},
    {FREEING, "exit_mmap unmap_vmas unmap_page_range zap_page_range zap_page_range_single zap_page_range_single_batched "
              "zap_pte_range tlb_finish_mmu tlb_flush_mmu tlb_batch_pages_flush free_pages_and_swap_cache free_pgtables "
              "unmap_region do_munmap do_vmi_munmap do_vmi_align_munmap __vm_munmap __do_munmap vms_complete_munmap_vmas "
              "vms_clear_ptes mmput __mmput madvise_free_single_vma madvise_dontneed_free madvise_dontneed_single_vma "
              "folios_put_refs release_pages"},
    {FORKING, "dup_mmap dup_mm copy_page_range copy_mm anon_vma_fork"},
    {STARTING, "copy_process kernel_clone _do_fork ret_from_fork ret_from_fork_asm schedule_tail wake_up_new_task do_exit "
               "do_group_exit release_task wait_consider_task kernel_wait4 do_wait"},
    {EXECUTING, "bprm_execve load_elf_binary do_execveat_common begin_new_exec setup_arg_pages exec_binprm __do_execve_file "
                "search_binary_handler"},
    {PROTECTING, "change_protection change_protection_range change_pte_range mprotect_fixup do_mprotect_pkey"},
    {MOVING, "move_page_tables move_ptes move_vma mremap_to do_mremap __do_sys_mremap"},
    {MAPPING, "do_mmap mmap_region __mmap_region vm_mmap_pgoff ksys_mmap_pgoff do_brk_flags __do_sys_brk"},
    {SHOOTDOWN, "smp_call_function_many_cond smp_call_function_many native_flush_tlb_multi kvm_flush_tlb_multi "
                "native_flush_tlb_others on_each_cpu_cond_mask arch_tlbbatch_flush flush_tlb_func"},
    {LOCKING, "rwsem_down_read_slowpath rwsem_down_write_slowpath rwsem_optimistic_spin osq_lock mutex_spin_on_owner "
              "native_queued_spin_lock_slowpath __pv_queued_spin_lock_slowpath queued_spin_lock_slowpath"},
    {RECLAIM, "do_swap_page try_to_free_mem_cgroup_pages try_to_free_pages shrink_node shrink_lruvec shrink_folio_list "
              "shrink_page_list reclaim_pages reclaim_folio_list madvise_pageout swap_writepage swap_writeout swap_readpage "
              "swap_read_folio do_shrink_slab mem_cgroup_handle_over_high __mem_cgroup_handle_over_high"},
    {PAGE_CACHE, "page_cache_ra_unbounded page_cache_ra_order page_cache_sync_ra page_cache_async_ra force_page_cache_ra "
                 "filemap_read_folio read_pages"},
    {WRITE_BACK, "do_writepages filemap_fdatawrite __filemap_fdatawrite_range file_write_and_wait_range file_fdatawait_range "
                 "__filemap_fdatawait_range balance_dirty_pages vfs_fsync_range do_fsync iterate_supers sync_filesystem"},
    {SWITCHING, "__schedule schedule try_to_wake_up __rseq_handle_notify_resume task_mm_cid_work"},
    {INTERRUPT, "handle_softirqs __do_softirq irq_exit_rcu __irq_exit_rcu sysvec_apic_timer_interrupt common_interrupt "
                "sysvec_call_function sysvec_call_function_single sysvec_reschedule_ipi el1_interrupt "
                "asm_sysvec_apic_timer_interrupt asm_common_interrupt asm_sysvec_reschedule_ipi asm_sysvec_call_function "
                "asm_sysvec_call_function_single el0_interrupt"},
    {SIGNALING, "force_sig_fault force_sig_info_to_task bad_area_access_error __bad_area_nosemaphore bad_area_nosemaphore "
                "arch_do_signal_or_restart do_signal get_signal __x64_sys_rt_sigreturn __arm64_sys_rt_sigreturn"},
    {READING, "vfs_read ksys_read vfs_readv do_readv do_preadv ksys_pread64"},
    {WRITING, "vfs_write ksys_write vfs_writev do_writev do_pwritev ksys_pwrite64"},
    {CALLING, "do_syscall_64 x64_sys_call entry_SYSCALL_64_after_hwframe el0_svc do_el0_svc invoke_syscall"},
};

static const char *const entries[] = {"__x64_sys_", "__arm64_sys_", "__do_sys_", "__se_sys_", "__ia32_sys_", "ksys_"};

static struct {
    char *text;
    struct symbol {
        uint64_t address;
        const char *name;
        bool is_known; /* what it stands for has been looked up */
        uint8_t work;
        const char *call; /* the system call that it enters */
    } *symbols;
    size_t count;
    struct work_part {
        enum work work;
        char call[CALL_NAME];
        uint64_t samples;
    } parts[MOST_PARTS];
    int part_count;
} kernel;

static int by_address(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* The whole file with a final NUL; NULL where it cannot be read. */
static char *read_symbols(void)
{
    int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
    size_t have = 0, room = 16 << 20;
    char *text = fd < 0 ? NULL : malloc(room);
    ssize_t got = 0;
    while (text && room - have > 1 && (got = read(fd, text + have, room - have - 1)) > 0)
        have += (size_t)got;
    if (text)
        text[have] = 0;
    if (fd >= 0)
        close(fd);
    return text;
}

bool kernel_names(void)
{
    char *at = kernel.text = read_symbols();
    size_t room = 0;
    bool shown = false;
    while (at && *at) {
        char *rest, *end = at + strcspn(at, "\n"), *next = *end ? end + 1 : end;
        uint64_t address = strtoull(at, &rest, 16);
        *end = 0;
        if (rest + 3 < end && strchr("tTwW", rest[1])) {
            if (kernel.count == room) {
                struct symbol *more = realloc(kernel.symbols, (room = room ? 2 * room : 1 << 17) * sizeof *more);
                if (!more)
                    return false;
                kernel.symbols = more;
            }
            rest[3 + strcspn(rest + 3, "\t")] = 0; /* the name of a module follows */
            kernel.symbols[kernel.count++] = (struct symbol){.address = address, .name = rest + 3};
            shown |= address != 0;
        }
        at = next;
    }
    qsort(kernel.symbols, kernel.count, sizeof *kernel.symbols, by_address);
    return shown;
}

/* A compiler's parts and copies of a function, such as `.isra.0` and `.part.0`, stand for it. */
static bool is_one_of(const char *functions, const char *name)
{
    char plain[MOST_NAME];
    size_t length = strcspn(name, ".");
    if (!length || length >= sizeof plain)
        return false;
    memcpy(plain, name, length);
    plain[length] = 0;
    for (const char *at = functions; (at = strstr(at, plain)); at += length)
        if ((at == functions || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static struct symbol *symbol_at(uint64_t address)
{
    size_t low = 0, high = kernel.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (kernel.symbols[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    struct symbol *s = low ? &kernel.symbols[low - 1] : NULL;
    if (!s || s->is_known)
        return s;
    s->is_known = true;
    for (size_t i = 0; i < sizeof table / sizeof *table && !s->work; i++)
        if (is_one_of(table[i].functions, s->name))
            s->work = (uint8_t)table[i].work;
    for (size_t i = 0; i < sizeof entries / sizeof *entries && !s->call; i++)
        if (strncmp(s->name, entries[i], strlen(entries[i])) == 0)
            s->call = s->name + strlen(entries[i]);
    return s;
}

static void count_part(enum work work, const char *call)
{
    struct work_part *part = kernel.parts;
    for (; part < kernel.parts + kernel.part_count; part++)
        if (part->work == work && strncmp(part->call, call, CALL_NAME - 1) == 0)
            break;
    if (part == kernel.parts + MOST_PARTS)
        return;
    if (part == kernel.parts + kernel.part_count) {
        kernel.part_count++;
        part->work = work;
        snprintf(part->call, CALL_NAME, "%s", call);
    }
    part->samples++;
}

int kernel_work(const uint64_t *chain, uint64_t count, const char **entered)
{
    enum work work = NO_WORK;
    const char *call = "";
    for (uint64_t i = 0; i < count; i++) {
        /* Marks of the chain's parts are no addresses. */
        const struct symbol *s = chain[i] < -(uint64_t)MARKS ? symbol_at(chain[i]) : NULL;
        if (s && !work)
            work = (enum work)s->work;
        if (s && s->call)
            call = s->call;
    }
    work = work ? work : *call ? CALLING : OTHER;
    *entered = call;
    return SAMPLED + (int)work;
}

void kernel_count(int kind, const char *call)
{
    count_part((enum work)(kind - SAMPLED), call);
}

void kernel_print(uint64_t period_ns, uint64_t lost, bool whole)
{
    printf(",\"kernel_work\":{\"period_ns\":%llu,\"lost\":%llu,\"whole\":%s,\"parts\":[", (unsigned long long)period_ns,
           (unsigned long long)lost, whole ? "true" : "false");
    for (int i = 0; i < kernel.part_count; i++) {
        const struct work_part *part = &kernel.parts[i];
        printf("%s{\"event\":\"%s\",\"call\":\"%s\",\"samples\":%llu}", i ? "," : "", names[part->work], part->call,
               (unsigned long long)part->samples);
    }
    printf("]}");
}
