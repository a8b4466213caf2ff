#include "streams.h"
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>

enum { MESSAGES = 2 }; /* that a queue holds */

static bool mq_send_one(struct link *l)
{
    int sent;
    unsigned tries = 0;
    while ((sent = mq_send(l->out, (const char *)l->message, l->bytes, 0)) != 0 && (errno == EAGAIN || errno == EINTR))
        if (!tried(&tries, TRIES_IN_KERNEL))
            return false;
    return sent == 0;
}

static bool mq_receive_one(struct link *l)
{
    ssize_t got;
    unsigned tries = 0;
    while ((got = mq_receive(l->in, (char *)l->message, l->bytes, NULL)) < 0 && (errno == EAGAIN || errno == EINTR))
        if (!tried(&tries, TRIES_IN_KERNEL))
            return false;
    return got == (ssize_t)l->bytes;
}

TRIPS(by_mq, mq_send_one, mq_receive_one);

/* Which of the limits on queues was met; NULL where it was another error. See mq_overview(7). */
static const char *limit_met(size_t bytes)
{
    int error = errno, most = MESSAGES;
    FILE *file = fopen("/proc/sys/fs/mqueue/msg_max", "re");
    if (file && fscanf(file, "%d", &most) != 1)
        most = MESSAGES;
    if (file)
        fclose(file);
    errno = error;
    if (error == EINVAL && most < MESSAGES)
        return "a queue may hold fewer than two messages: sudo sysctl fs.mqueue.msg_max=2";
    if (error == EINVAL)
        return arena_text("messages of %zu bytes are not allowed: sudo sysctl fs.mqueue.msgsize_max=%zu", bytes, bytes);
    if (error == EMFILE)
        return "the queue would exceed RLIMIT_MSGQUEUE: raise it by ulimit -q";
    return error == ENOSYS ? "this kernel has no POSIX message queues (CONFIG_POSIX_MQUEUE)" : NULL;
}

/* A queue descriptor is a file descriptor on Linux, so side b is passed it and the name is gone at once. */
static mqd_t queue(struct slot *s, const struct link *l, const char *which)
{
    char name[256];
    snprintf(name, sizeof name, "/%s-%s", launch_name(), which);
    struct mq_attr about = {.mq_maxmsg = MESSAGES, .mq_msgsize = (long)l->bytes};
    mqd_t made = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &about);
    if (made < 0) {
        const char *limit = limit_met(l->bytes);
        if (limit)
            agree(s, limit);
        if (errno == ENOSPC)
            fail_because(s, "mq_open", "there are as many queues as fs.mqueue.queues_max allows");
        fail(s, "mq_open");
    }
    mq_unlink(name);
    spin_or_block(s, l, made);
    return made;
}

static void run(struct slot *s)
{
    struct link l = message_begin(s);
    l.out = queue(s, &l, "forth");
    l.in = queue(s, &l, "back");
    agree(s, NULL);
    tell_descriptor(l.out);
    tell_descriptor(l.in);
    message_ask(s, &l, &by_mq, "mq_send or mq_receive");
    mq_close(l.in);
    mq_close(l.out);
    message_end(s, &l);
}

static void run_b(struct slot *s)
{
    struct link l = message_begin(s);
    agree(s, NULL);
    l.in = hear_descriptor(s);
    l.out = hear_descriptor(s);
    message_answer(s, &l, &by_mq, "mq_send or mq_receive");
    mq_close(l.in);
    mq_close(l.out);
    message_end(s, &l);
}

METHOD(message_posix_mq, .experiment = "message", .name = "posix-mq", .summary = "Two POSIX message queues, one each way.",
       .phases = MESSAGE_PHASES, .keys = MESSAGE_KEYS, .memory = "6 * bytes + 8 * ops", .laws = MESSAGE_LAWS,
       .calls = "round-trips:mq_timedsend,mq_timedreceive,sched_yield?,poll? timed-trips:mq_timedsend,mq_timedreceive,sched_yield?,poll?",
       .run = run, .run_b = run_b);
