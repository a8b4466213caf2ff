#include "tcp.h"
#include <time.h> /* linux/errqueue.h needs struct timespec, and brings it by itself with glibc only */
#include <linux/errqueue.h>
#include <poll.h>

#ifndef SO_EE_CODE_ZEROCOPY_COPIED
#define SO_EE_CODE_ZEROCOPY_COPIED 1
#endif

/* What the kernel says of the sends: how many of them it is done with, and of how many it copied the pages after all. */
struct completed {
    uint64_t sends, copied;
};

/* Takes what is there; waits for it where `wait`. False where the connection has failed. */
static bool reap(int fd, struct completed *done, bool wait)
{
    char control[128];
    struct msghdr message = {.msg_control = control, .msg_controllen = sizeof control};
    struct pollfd watched = {fd, 0, 0};
    if (wait && poll(&watched, 1, 10000) != 1)
        return false;
    if (recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
        return errno == EAGAIN;
    struct cmsghdr *part = CMSG_FIRSTHDR(&message);
    struct sock_extended_err *word = part ? (struct sock_extended_err *)CMSG_DATA(part) : NULL;
    if (!word || word->ee_origin != SO_EE_ORIGIN_ZEROCOPY || word->ee_errno != 0)
        return false;
    uint64_t sends = (uint64_t)(word->ee_data - word->ee_info) + 1;
    done->sends += sends;
    done->copied += word->ee_code & SO_EE_CODE_ZEROCOPY_COPIED ? sends : 0;
    return true;
}

/* The block is the kernel's until every send is said to be done. */
static struct moved send_lent(int fd, char *p, size_t bytes, size_t chunk, struct completed *done)
{
    struct moved moved = {0, 0};
    while (moved.bytes < bytes) {
        size_t piece = bytes - moved.bytes < chunk ? bytes - moved.bytes : chunk;
        ssize_t n = send(fd, p + moved.bytes, piece, MSG_ZEROCOPY | MSG_NOSIGNAL);
        if (n < 0 && errno == ENOBUFS && reap(fd, done, true))
            continue; /* as much is lent as net.core.optmem_max allows */
        if (!went_on(n))
            return moved;
        moved.calls += n > 0;
        moved.bytes += n > 0 ? (size_t)n : 0;
    }
    while (done->sends < moved.calls && reap(fd, done, true))
        continue;
    return moved;
}

static void run(struct slot *s)
{
    int fd = tcp_to_b(s), one = 1;
    bool fails = setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof one) != 0;
    agree(s, fails ? refused("setsockopt", "SO_ZEROCOPY came with Linux 4.14") : NULL);
    char *p = transfer_source(s);
    size_t bytes = s->bytes, chunk = key_size(s, "chunk");
    struct completed done = {0, 0};
    struct moved moved;
    meet(s);
    PHASE(s, "send") { moved = send_lent(fd, p, bytes, chunk, &done); }
    transfer_check(s, "send", moved);
    fact(s, "sends", moved.calls);
    fact(s, "completed_sends", done.sends);
    fact(s, "copied_sends", done.copied);
    transfer_sent(s, p, moved.calls, socket_bytes_of(s, fd));
}

static void run_b(struct slot *s)
{
    int fd = tcp_from_a(s);
    agree(s, NULL);
    socket_receive(s, fd);
}

METHOD(transfer_tcp_zerocopy, .experiment = "transfer", .name = "tcp-zerocopy",
       .summary = "send with MSG_ZEROCOPY on a TCP connection over the loopback interface; ends when the kernel gives the pages back.",
       .phases = TRANSFER_PHASES, .keys = TRANSFER_KEYS PAGES_KEY " chunk:size", .memory = "2 * bytes",
       .laws = PRIVATE_LAWS RESIDENT_LAWS "; completed_sends == sends; copied_sends <= sends",
       .calls = "send:sendto,poll?,recvmsg? receive:read", .run = run, .run_b = run_b);
