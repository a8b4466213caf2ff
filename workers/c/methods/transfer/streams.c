/* See streams.h. */
#include "streams.h"
#include <sys/socket.h>

int *lasting_channel(struct slot *s)
{
    static const struct cell *cell;
    static int channel = -1;
    if (cell != s->cell) {
        if (channel >= 0)
            close(channel);
        channel = -1;
        cell = s->cell;
    }
    return &channel;
}

/* Keeps no copy of side b's end, so that its death is a broken pipe. */
static int give_end(int mine, int theirs)
{
    tell_descriptor(theirs);
    close(theirs);
    return mine;
}

static int end_from_a(struct slot *s)
{
    int *channel = lasting_channel(s);
    if (*channel < 0)
        *channel = hear_descriptor(s);
    return *channel;
}

int pipe_to_b(struct slot *s, size_t pipe_bytes, const char *obstacle)
{
    int ends[2], *channel = lasting_channel(s);
    if (!obstacle && *channel < 0)
        obstacle = pipe_open(s, ends, pipe_bytes);
    agree(s, obstacle);
    if (*channel < 0)
        *channel = give_end(ends[1], ends[0]);
    else
        fact(s, "granted_pipe_bytes", pipe_bytes_of(*channel));
    return *channel;
}

int pipe_from_a(struct slot *s)
{
    agree(s, NULL);
    return end_from_a(s);
}

int socket_to_b(struct slot *s)
{
    int ends[2], *channel = lasting_channel(s);
    if (*channel < 0) {
        check_done(s, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "socketpair");
        *channel = give_end(ends[0], ends[1]);
    }
    return *channel;
}

int socket_from_a(struct slot *s)
{
    return end_from_a(s);
}

uint64_t pipe_bytes_of(int fd)
{
    return (uint64_t)fcntl(fd, F_GETPIPE_SZ);
}

uint64_t socket_bytes_of(struct slot *s, int fd)
{
    int bytes = 0;
    socklen_t length = sizeof bytes;
    getsockopt(fd, SOL_SOCKET, s->role == 'a' ? SO_SNDBUF : SO_RCVBUF, &bytes, &length);
    return (uint64_t)bytes;
}
