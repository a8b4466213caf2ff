/* A Unix stream socket by its path: both sides of it, around the round trips of any worker. */
#ifndef PAGEWISE_MESSAGE_UNIX_PATH_H
#define PAGEWISE_MESSAGE_UNIX_PATH_H
#include "streams.h"

void unix_stream_a(struct slot *s, const struct trips *trips);
void unix_stream_b(struct slot *s, const struct trips *trips);
#endif
