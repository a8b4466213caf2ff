/* What the two hugetlb methods share: what the pool must hold, and how its absence is told. */
#ifndef PAGEWISE_HUGETLB_H
#define PAGEWISE_HUGETLB_H
#include "fault.h"

void hugetlb_begin(struct slot *s);
void hugetlb_check(struct slot *s, const void *mapped);
#endif
