/* What `pages` and `pages-extra` share: equal pieces of the kernel's work. */
#ifndef PAGEWISE_SELFTEST_TOUCH_H
#define PAGEWISE_SELFTEST_TOUCH_H
#include "selftest.h"

/* Writes to the page at `p` and gives it back, so many times. Each piece leaves everything as it found it, so the next one
 * costs the same; touching so many pages of one mapping would not do, as later pages of it cost more than earlier ones. One
 * function for both methods, as with take_steps(). */
void touch_and_give_back(char *p, size_t page, uint64_t pieces);
/* One page that is mapped, was touched once, and is given back: its page tables are there. */
char *page_to_touch(struct slot *s);
#endif
