/* Memory of the worker itself. It never comes from malloc, so that a method which measures malloc finds it untouched. */
#include "core.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static char *block;
static size_t block_left;

void *arena(size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > block_left) {
        size_t size = bytes > (1u << 20) ? bytes : (1u << 20);
        /* Populated now: no fault of the worker's own may fall into a measured phase. */
        block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (block == MAP_FAILED) {
            static const char message[] = "worker: no memory for its own records\n";
            (void)!write(2, message, sizeof message - 1);
            _exit(3);
        }
        block_left = size;
    }
    void *result = block;
    block += bytes;
    block_left -= bytes;
    return result;
}

const char *arena_text(const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof text)
        length = sizeof text - 1;
    char *copy = arena((size_t)length + 1);
    memcpy(copy, text, (size_t)length);
    copy[length] = 0;
    return copy;
}
