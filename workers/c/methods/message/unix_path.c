/* See unix_path.h. Never timed. */
#include "unix_path.h"
#include <stdio.h>
#include <sys/un.h>

/* By its path, so that a side in any language can take part. */
static struct sockaddr_un address_of(struct slot *s)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (snprintf(address.sun_path, sizeof address.sun_path, "%s", launch_socket()) >= (int)sizeof address.sun_path)
        fail_because(s, "bind", "the rendezvous has too long a path for a socket beside it");
    return address;
}

void unix_stream_a(struct slot *s, const struct trips *trips)
{
    struct link l = message_begin(s);
    struct sockaddr_un address = address_of(s);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    check_done(s, listener < 0, "socket");
    check_done(s, bind(listener, (struct sockaddr *)&address, sizeof address), "bind");
    check_done(s, listen(listener, 1), "listen");
    meet(s);
    l.in = l.out = accept_for_a_while(listener);
    unlink(address.sun_path);
    close(listener);
    if (l.in < 0)
        fail(s, "accept4");
    spin_or_block(s, &l, l.in);
    message_ask(s, &l, trips, "read or write");
    close(l.in);
    message_end(s, &l);
}

void unix_stream_b(struct slot *s, const struct trips *trips)
{
    struct link l = message_begin(s);
    struct sockaddr_un address = address_of(s);
    l.in = l.out = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    check_done(s, l.in < 0, "socket");
    meet(s);
    if (connect(l.in, (struct sockaddr *)&address, sizeof address) != 0)
        fail(s, "connect");
    spin_or_block(s, &l, l.in);
    message_answer(s, &l, trips, "read or write");
    close(l.in);
    message_end(s, &l);
}
