/* Writes the transcript in large pieces. */
#include "core.h"
#include <stdarg.h>
#include <stdio.h>

int transcript_fd = 1;
static char buffer[1 << 16];
static size_t buffered;

void out_flush(void)
{
    for (size_t done = 0; done < buffered;) {
        ssize_t wrote = write(transcript_fd, buffer + done, buffered - done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0) {
            dprintf(2, "the transcript cannot be written: %s\n", strerror(errno));
            _exit(3);
        }
        done += (size_t)wrote;
    }
    buffered = 0;
}

void out(const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(buffer + buffered, sizeof buffer - buffered, format, arguments);
    if (length >= (int)(sizeof buffer - buffered)) {
        out_flush();
        length = vsnprintf(buffer, sizeof buffer, format, again);
    }
    buffered += (size_t)length;
    va_end(again);
    va_end(arguments);
}

void out_warm(void)
{
    memset(buffer + buffered, 0, sizeof buffer - buffered);
}
