/* What `pages` and `pages-extra` share: one fault for each page of a fresh mapping. */
#ifndef PAGEWISE_SELFTEST_TOUCH_H
#define PAGEWISE_SELFTEST_TOUCH_H
#include "selftest.h"

/* One function for both, as with take_steps(): cells differ in the number of pages and in nothing else. */
void touch_each_page(volatile char *p, size_t bytes, size_t page);
/* Maps fresh memory, without huge pages, at the same alignment for every cell. */
char *fresh_pages(struct slot *s, size_t bytes);
#endif
