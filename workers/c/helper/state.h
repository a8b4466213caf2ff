/* Makers of machine states. One MAKER() enters one in the list, so nothing else names it. */
#ifndef PAGEWISE_STATE_H
#define PAGEWISE_STATE_H
#include "core.h"

/* Every function but `make` may be NULL. `make` gets the words behind the maker's name. What a process holds ends with it; what
 * outlives it, the laboratory told the guard before. */
struct maker {
    const char *name;
    void (*make)(int argc, char **argv);
    void (*renew)(void);  /* before each launch, and each slot of a worker that asks: what the last one used up */
    void (*prepare)(void); /* before each launch, and before `renew`: what takes too long before a slot */
    void (*facts)(void);  /* state_fact() */
    void (*end)(void);
};

#define MAKER(word, ...)                                                                                                \
    static const struct maker word##_maker = {.name = #word, __VA_ARGS__};                                              \
    __attribute__((used, section("pagewise_makers"))) static const struct maker *const word##_maker_entry = &word##_maker

/* state.c */
void state_fact(const char *name, uint64_t value);
/* The state cannot be had on this machine: the reason, as a sentence. */
__attribute__((noreturn, format(printf, 1, 2))) void state_lacks(const char *format, ...);
uint64_t kernel_number(const char *path);                     /* the first number of a file of the kernel; 0 if there is none */
uint64_t kernel_field(const char *path, const char *name);    /* the number behind a name at the start of a line */
bool kernel_write(const char *path, const char *text);
size_t huge_block_bytes(void);
uint64_t free_permille_in_huge_blocks(void);                  /* of the free memory in the buddy allocator */
void drain_page_lists(void);                                  /* state_memory.c: the CPUs' lists of free pages */
pid_t state_child(void);                                      /* fork(2); the child dies with the holder */
#endif
