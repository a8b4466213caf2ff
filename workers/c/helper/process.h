/* What the kernel says of one process. */
#ifndef PAGEWISE_PROCESS_H
#define PAGEWISE_PROCESS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The whole of a file below /proc/PID, or /proc where that is 0, with a final NUL; NULL where it cannot be read. The caller
 * frees it. */
char *process_text(pid_t pid, const char *name, size_t *bytes);
uint64_t process_field(const char *text, const char *name); /* the number behind a name; UINT64_MAX where there is none */
/* Bytes and calls of reading and writing, bytes of pages made dirty, and bytes that came from a device. */
enum {
    PROCESS_READ,
    PROCESS_WRITTEN,
    PROCESS_READ_CALLS,
    PROCESS_WRITE_CALLS,
    PROCESS_DIRTIED,
    PROCESS_FETCHED,
    PROCESS_NUMBERS
};
struct process_io {
    uint64_t number[PROCESS_NUMBERS];
};
void process_io(pid_t pid, const char *name, struct process_io *io); /* of a file `io` below /proc; zeros where there is none */
struct process_io process_io_since(const struct process_io *now, const struct process_io *then);
void process_io_print(const struct process_io *io); /* as members of a JSON object that has begun */
bool process_has_ended(int process);            /* by its pidfd, although its parent may not know yet */
bool process_has_thread(pid_t pid, pid_t thread);
uint64_t merged_pages(pid_t pid);               /* by the kernel's samepage merging */
#endif
