/* What the methods that read by stdio share: two measured passes over a stream. */
#ifndef PAGEWISE_READ_STREAM_H
#define PAGEWISE_READ_STREAM_H
#include "read.h"
#include <stdio.h>

/* Each record's header, then its packet, copied into `record` by one fread(3) each. */
void walk_stream(struct input *in, FILE *file, unsigned char *record, size_t room);
/* 4 KiB at a time into `block`, in the order of the steps. */
void sum_stream(struct input *in, FILE *file, unsigned char *block);
#endif
