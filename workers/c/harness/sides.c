/* The rendezvous of a two-sided launch: side `a` listens on a Unix stream socket, side `b` connects. It carries a few bytes
 * between phases, never payload of a measured one. */
#include "core.h"
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

static int peer = -1;

static const char *to_remove;

void remove_if_lost(const char *path)
{
    to_remove = path;
}

__attribute__((noreturn)) static void lost(const char *call, const char *message)
{
    if (to_remove)
        unlink(to_remove);
    dprintf(2, "rendezvous: %s: %s\n", call, message);
    transcript_write(false);
    _exit(4);
}

static void connect_to(const struct sockaddr_un *address)
{
    for (int tries = 0; tries < 3000; tries++) {
        peer = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (peer < 0)
            lost("socket", strerror(errno));
        if (connect(peer, (const struct sockaddr *)address, sizeof *address) == 0)
            return;
        close(peer);
        struct timespec pause = {0, 10000000};
        nanosleep(&pause, NULL);
    }
    lost("connect", "the other side did not listen within 30 s");
}

static void accept_from(const struct sockaddr_un *address)
{
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0)
        lost("socket", strerror(errno));
    if (bind(listener, (const struct sockaddr *)address, sizeof *address) != 0)
        lost("bind", strerror(errno));
    if (listen(listener, 1) != 0)
        lost("listen", strerror(errno));
    struct pollfd waiting = {listener, POLLIN, 0};
    int ready;
    while ((ready = poll(&waiting, 1, 30000)) < 0 && errno == EINTR)
        continue;
    if (ready < 0)
        lost("poll", strerror(errno));
    if (ready == 0)
        lost("accept", "the other side did not connect within 30 s");
    while ((peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) < 0 && errno == EINTR)
        continue;
    if (peer < 0)
        lost("accept", strerror(errno));
    close(listener);
    unlink(address->sun_path);
}

void sides_open(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!request.rendezvous || strlen(request.rendezvous) >= sizeof address.sun_path)
        request_error(1, "a side needs rendezvous=PATH of at most %zu bytes", sizeof address.sun_path - 1);
    strcpy(address.sun_path, request.rendezvous);
    if (request.role == 'a')
        accept_from(&address);
    else
        connect_to(&address);
}

/* Why nothing could be said or heard. A peer that ends before it has read everything resets the connection. */
static const char *gone(ssize_t bytes)
{
    return bytes == 0 || errno == ECONNRESET || errno == EPIPE ? "the other side ended" : strerror(errno);
}

void tell(struct slot *s, const void *data, size_t bytes)
{
    (void)s;
    for (const char *p = data; bytes;) {
        ssize_t sent = send(peer, p, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            lost("send", gone(sent));
        p += sent;
        bytes -= (size_t)sent;
    }
}

void hear(struct slot *s, void *data, size_t bytes)
{
    (void)s;
    for (char *p = data; bytes;) {
        ssize_t got = recv(peer, p, bytes, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            lost("recv", gone(got));
        p += got;
        bytes -= (size_t)got;
    }
}

/* Moves to another processor at once; afterwards the kernel may choose again. */
static void leave_cpu(int cpu)
{
    cpu_set_t all, others;
    if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    others = all;
    CPU_CLR(cpu, &others);
    if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0 &&
        sched_setaffinity(0, sizeof all, &all) != 0)
        lost("sched_setaffinity", strerror(errno)); /* it would be measured with a processor less */
}

/* Tells the other side where this one runs; returns where that one does. */
static int exchange_cpus(struct slot *s)
{
    struct {
        int mark, cpu;
    } mine = {'m', sched_getcpu()}, theirs = {0, 0};
    tell(s, &mine, sizeof mine);
    hear(s, &theirs, sizeof theirs);
    if (theirs.mark != 'm')
        lost("recv", "the two sides are not at the same place");
    return theirs.cpu;
}

/* Whoever is woken by a message tends to be put on the waker's processor and would begin its phase late. So the sides meet
 * twice: asleep, where b then steps aside, and awake, so that both run when they leave. */
void meet(struct slot *s)
{
    int cpu = exchange_cpus(s);
    if (s->role == 'b' && cpu == sched_getcpu())
        leave_cpu(cpu);
    char here = 'h';
    tell(s, &here, 1);
    ssize_t got;
    while ((got = recv(peer, &here, 1, MSG_DONTWAIT)) < 0 && (errno == EAGAIN || errno == EINTR))
        sched_yield();
    if (got != 1)
        lost("recv", gone(got));
}

void meet_asleep(struct slot *s)
{
    char here = 'h';
    (void)exchange_cpus(s);
    tell(s, &here, 1);
    hear(s, &here, 1);
}

void agree(struct slot *s, const char *obstacle)
{
    uint32_t mine = obstacle ? (uint32_t)strlen(obstacle) + 1 : 0, theirs;
    tell(s, &mine, sizeof mine);
    tell(s, obstacle, mine);
    hear(s, &theirs, sizeof theirs);
    char *reason = arena(theirs + 1);
    hear(s, reason, theirs);
    if (!mine && !theirs)
        return;
    sides_agree = true;
    skip(s, mine ? arena_text("%s", obstacle) : reason);
}

bool peer_gone(void)
{
    struct pollfd watched = {peer, POLLRDHUP, 0};
    return poll(&watched, 1, 0) > 0; /* who is interrupted asks again later */
}

void tell_descriptor(int descriptor)
{
    char byte = 'd';
    struct iovec part = {&byte, 1};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(rights), &descriptor, sizeof(int));
    ssize_t sent;
    while ((sent = sendmsg(peer, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        continue;
    if (sent != 1)
        lost("sendmsg", gone(sent));
}

int hear_descriptor(struct slot *s)
{
    char byte;
    struct iovec part = {&byte, 1};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t got;
    while ((got = recvmsg(peer, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        continue;
    if (got != 1)
        lost("recvmsg", gone(got));
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    if (!rights || rights->cmsg_type != SCM_RIGHTS)
        fail_because(s, "recvmsg", "no descriptor came");
    int descriptor;
    memcpy(&descriptor, CMSG_DATA(rights), sizeof(int));
    return descriptor;
}
