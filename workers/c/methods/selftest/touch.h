/* What `pages` and `pages-extra` share: equal pieces of the kernel's work. */
#ifndef PAGEWISE_SELFTEST_TOUCH_H
#define PAGEWISE_SELFTEST_TOUCH_H
#include "selftest.h"

/* Maps one page at `at`, writes to it and unmaps it, so many times. Each piece leaves everything as it found it, so the next
 * one costs the same; touching so many pages of one mapping would not do, as later pages of it cost more than earlier ones.
 * One function for both methods, as with take_steps(). */
void map_touch_unmap(char *at, size_t page, uint64_t pieces);
#endif
