/* The published P5 job, flaws included: advice before the clock, no alignment, the mapping made anew and never unmapped, as
 * often as Go's testing package would for a benchmark of `benchtime_ms`. */
#ifndef PAGEWISE_FAULT_PUBLISHED_H
#define PAGEWISE_FAULT_PUBLISHED_H
#include "fault.h"

#define PUBLISHED_KEYS "bytes:size release:dontneed|free piled:no|before pile:size benchtime_ms:count"
#define PUBLISHED_PHASES "first-touch"
/* What was given back is gone, or lies there; what was never given back lies there unless it was reclaimed meanwhile. Mappings
 * are made side by side, and a folio that lies across two of them (mTHP) is given back in part: the rest stays. */
#define PUBLISHED_LAWS                                                                                                 \
    "first-touch.ops == iterations * (bytes / page_bytes); touched_bytes == bytes; "                                  \
    "first-touch.minor_faults >= iterations; first-touch.minor_faults <= first-touch.ops; "                            \
    "release=dontneed: lazyfree_bytes == 0; release=dontneed: 2 * pile_bytes <= 2097152 + mappings * bytes; " \
    "release=free: pile_bytes >= bytes; " \
    "release=free & reclaimed_pages == 0: 8 * lazyfree_bytes >= 7 * mappings * bytes; "                            \
    "piled=before: 2 * pile_before_bytes >= bound_bytes; piled=no: pile_before_bytes <= 1048576; "                            \
    "stopped == 0: 1000000 * benchtime_ms <= first-touch.wall_ns"

void published_run(struct slot *s, bool huge);
#endif
