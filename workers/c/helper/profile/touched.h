/* The memory of a command's processes as their page faults and mappings tell of it: which page was touched how. */
#ifndef PAGEWISE_TOUCHED_H
#define PAGEWISE_TOUCHED_H
#include "direction.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Page faults by kind, over all processes. Each fault in user mode is in exactly one of the kinds up to `elsewhere`. */
struct touched {
    uint64_t heap, anonymous, stack, shared; /* first writes */
    uint64_t again, again_malloc;            /* of a page touched before and given back; malloc's that `keep` spares */
    uint64_t malloc_writes;                  /* of all these writes, likely malloc's */
    uint64_t zero_read, zero_write;          /* reads of fresh memory, and the writes after them */
    uint64_t cow;                            /* writes after a fork */
    uint64_t file, file_write;               /* maps of a file's pages; writes to private copies of them */
    uint64_t huge;
    uint64_t elsewhere;                      /* in no mapping that is known */
    uint64_t in_calls;                       /* in kernel mode, where these are seen */
    uint64_t raced;                          /* of a page that another thread was just getting */
    /* If mappings were advised: blocks that would be huge, and the faults in them that there would not be. */
    uint64_t malloc_blocks, malloc_faults, other_blocks, other_faults;
    uint64_t processes, threads, unknown_direction, java; /* `threads`: beside the first of each process */
    uint64_t unused_pages;                   /* never touched, of blocks that malloc gave back */
    uint64_t again_huge;                     /* huge pages of malloc's that `keep` spares */
    uint64_t huge_in_order;                  /* huge pages above one touched before: of memory written from its start on */
    uint64_t calls[5], lazy_calls, returned_bytes, moved_bytes; /* calls by kind, where these are seen; those of MADV_FREE */
};

enum { CALLER_WORDS = 8, MAPPING_CALLS = sizeof(((struct touched *)0)->calls) / sizeof(uint64_t) };

/* A call that changes mappings. */
struct mapping_call {
    enum { CALL_MAP, CALL_UNMAP, CALL_REMAP, CALL_ADVISE, CALL_BREAK } kind;
    bool is_stack;                /* of a thread */
    uint64_t instruction;         /* behind that of the system call */
    int advice;
    uint64_t start, bytes;        /* CALL_BREAK: the new end of the heap */
    uint64_t to, to_bytes;        /* the call's result; of CALL_REMAP the new size */
    uint64_t stack[CALLER_WORDS]; /* the top of the caller's stack, which tells malloc's mappings from others */
};

extern struct touched touched;

void touched_fork(pid_t parent, pid_t child);   /* a new process, or, where both are the same, a new thread */
void touched_exec(pid_t pid);
void touched_exit(pid_t pid);
bool touched_knew(pid_t pid); /* it was forked or executed here, whether or not it has ended */
void touched_map(pid_t pid, uint64_t start, uint64_t bytes, bool is_shared, const char *name);
void touched_call(pid_t pid, const struct mapping_call *call);
/* A page that was there when the process began to be followed: its own alone, or shared since a fork. */
void touched_before(pid_t pid, uint64_t address, bool exclusive);
/* A page fault; `raced` where another thread has just had one there. */
struct page_fault {
    uint64_t address, page_bytes;
    enum direction direction;
    bool in_kernel, raced;
};
/* The fault's counter, as an index into `struct touched`; -1 where memory has run out. */
int touched_fault(pid_t pid, const struct page_fault *fault);
/* The likely counter of a fault that is not counted. */
int touched_likely(pid_t pid, uint64_t address);
#endif
