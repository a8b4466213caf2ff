/* Reads a machine's advice, which `pagewise advise --save` makes: which way to use at which size.
 *
 *     const char *way = pagewise_advice("read", bytes, "cache=hot");
 *     if (way != NULL && strcmp(way, "mmap") == 0) ... else ... your default
 *
 * The condition is the one that the program is in, as `pagewise show read` names them: here the file was cached by read(2).
 * A program that does not know its condition passes NULL and gets only what is shown under every measured condition.
 *
 * NULL says: keep your default. It is returned where no advice is saved, where it is of another machine, for every size at
 * which no way is shown to be faster, and for a condition that was not measured. Two files, no dependencies;
 * C11, Linux. MIT OR Apache-2.0, like Pagewise. */
#ifndef PAGEWISE_ADVICE_H
#define PAGEWISE_ADVICE_H

#include <stddef.h>
#include <stdint.h>

struct pagewise_advice;

/* Loads advice from a path; NULL looks at $PAGEWISE_ADVICE alone where it is set, else at
 * $XDG_CONFIG_HOME/pagewise/advice.json (~/.config where that is not set) and /etc/pagewise/advice.json.
 * A program with more rights than its caller (set-user-ID) looks at /etc alone. A file must be regular and below 4 MiB.
 * One that is not as Pagewise wrote it is not used; `pagewise advise --merge FILE --out FILE` seals a changed one.
 * NULL is returned where there is none for this machine; `why` then says so in a sentence, where it has room. */
struct pagewise_advice *pagewise_advice_load(const char *path, char *why, size_t why_bytes);

/* The way to use for a question at a size in bytes, under a condition `KEY=VALUE` or, by NULL, whatever the condition is. NULL:
 * keep your default. It lives as long as the advice. */
const char *pagewise_advice_ask(const struct pagewise_advice *advice, const char *question, uint64_t bytes,
                                const char *condition);

void pagewise_advice_free(struct pagewise_advice *advice);

/* The same with advice that is looked for once, at the first question. Safe from several threads. */
const char *pagewise_advice(const char *question, uint64_t bytes, const char *condition);

#endif
