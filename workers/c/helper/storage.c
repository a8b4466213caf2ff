/* See storage.h. The protocol is linux/fuse.h and fuse(4). A request is due from the moment at which it arrives, so that those
 * that are under way together end together. */
#include "storage.h"
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

#ifndef PR_SET_IO_FLUSHER /* Linux 5.6 */
#define PR_SET_IO_FLUSHER 57
#endif

/* As many at once as a loop device has; the largest request of the protocol. */
enum { AT_ONCE = 128, PIECE = 1 << 20, ROOM = PIECE + (64 << 10), ROOT = FUSE_ROOT_ID, FILE_NODE = 2, LAST_S = 5 };

static struct server serving;
static unsigned char *bytes_of_file;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t busy_until; /* of the pipe that all bytes go through */

static void wait_for_turn(uint64_t arrived, size_t bytes)
{
    uint64_t rate = serving.pace->bytes_per_s, latency = serving.pace->latency_ns, due = arrived;
    if (rate) {
        pthread_mutex_lock(&lock);
        busy_until = (busy_until > arrived ? busy_until : arrived) + (uint64_t)bytes * 1000000000u / rate;
        due = busy_until;
        pthread_mutex_unlock(&lock);
    }
    due += latency;
    struct timespec until = {(time_t)(due / 1000000000u), (long)(due % 1000000000u)};
    while (due > arrived && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

static void reply(const struct fuse_in_header *in, int error, const void *data, size_t bytes)
{
    struct fuse_out_header head = {.len = (uint32_t)(sizeof head + bytes), .error = -error, .unique = in->unique};
    struct iovec parts[] = {{&head, sizeof head}, {(void *)data, bytes}};
    if (writev(serving.fuse, parts, bytes ? 2 : 1) < 0)
        errno = 0; /* Nobody waits for it any more. */
}

static struct fuse_attr attributes(uint64_t node)
{
    bool file = node == FILE_NODE;
    return (struct fuse_attr){.ino = node, .size = file ? serving.bytes : 0, .blocks = file ? serving.bytes / 512 : 0,
                              .mode = file ? S_IFREG | 0600 : S_IFDIR | 0700, .nlink = 1, .blksize = 4096};
}

static void greet(const struct fuse_in_header *in, const struct fuse_init_in *asked)
{
    const uint32_t flags = FUSE_ASYNC_READ | FUSE_BIG_WRITES | FUSE_ASYNC_DIO | FUSE_MAX_PAGES;
    struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION, .minor = asked->minor < 31 ? asked->minor : 31,
                                .max_readahead = asked->max_readahead, .flags = flags & asked->flags,
                                .max_background = AT_ONCE, .congestion_threshold = AT_ONCE, .max_write = PIECE,
                                .time_gran = 1, .max_pages = (uint16_t)(PIECE / (size_t)sysconf(_SC_PAGESIZE))};
    if (asked->major != FUSE_KERNEL_VERSION || asked->minor < 28)
        reply(in, EPROTO, NULL, 0);
    else
        reply(in, 0, &out, sizeof out);
}

static void look_up(const struct fuse_in_header *in, const char *name)
{
    struct fuse_entry_out out = {.nodeid = FILE_NODE, .entry_valid = 3600, .attr_valid = 3600, .attr = attributes(FILE_NODE)};
    if (in->nodeid == ROOT && strcmp(name, STORAGE_FILE) == 0)
        reply(in, 0, &out, sizeof out);
    else
        reply(in, ENOENT, NULL, 0);
}

static void tell_attributes(const struct fuse_in_header *in)
{
    struct fuse_attr_out out = {.attr_valid = 3600, .attr = attributes(in->nodeid)};
    reply(in, 0, &out, sizeof out);
}

static void read_bytes(const struct fuse_in_header *in, const struct fuse_read_in *asked, uint64_t arrived)
{
    size_t from = asked->offset < serving.bytes ? (size_t)asked->offset : serving.bytes;
    size_t bytes = asked->size < serving.bytes - from ? asked->size : serving.bytes - from;
    wait_for_turn(arrived, bytes);
    reply(in, 0, bytes_of_file + from, bytes);
}

static void write_bytes(const struct fuse_in_header *in, const struct fuse_write_in *asked, uint64_t arrived)
{
    struct fuse_write_out out = {0};
    ssize_t put = asked->offset + asked->size > serving.bytes ? -1 :
                  pwrite(serving.memory, asked + 1, asked->size, (off_t)asked->offset);
    wait_for_turn(arrived, asked->size);
    out.size = put > 0 ? (uint32_t)put : 0;
    reply(in, put < 0 ? ENOSPC : 0, &out, put < 0 ? 0 : sizeof out);
}

/* What is discarded or zeroed takes no memory, and reads as zeros. */
static void free_bytes(const struct fuse_in_header *in, const struct fuse_fallocate_in *asked)
{
    const int hole = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    bool frees = asked->mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE);
    bool done = frees && fallocate(serving.memory, hole, (off_t)asked->offset, (off_t)asked->length) == 0;
    reply(in, done ? 0 : EOPNOTSUPP, NULL, 0);
}

static void answer(const struct fuse_in_header *in, uint64_t arrived)
{
    const void *asked = in + 1;
    struct fuse_open_out opened = {.open_flags = FOPEN_DIRECT_IO};
    struct fuse_statfs_out room = {.st = {.bsize = 4096, .frsize = 4096, .namelen = 255}};
    switch (in->opcode) {
    case FUSE_INIT: greet(in, asked); break;
    case FUSE_LOOKUP: look_up(in, asked); break;
    case FUSE_GETATTR:
    case FUSE_SETATTR: tell_attributes(in); break;
    case FUSE_OPEN: reply(in, 0, &opened, sizeof opened); break;
    case FUSE_READ: read_bytes(in, asked, arrived); break;
    case FUSE_WRITE: write_bytes(in, asked, arrived); break;
    case FUSE_FALLOCATE: free_bytes(in, asked); break;
    case FUSE_STATFS: reply(in, 0, &room, sizeof room); break;
    case FUSE_FSYNC: wait_for_turn(arrived, 0); /* fall through */
    case FUSE_FLUSH:
    case FUSE_RELEASE:
    case FUSE_DESTROY: reply(in, 0, NULL, 0); break;
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT: break; /* These have no answer. */
    default: reply(in, ENOSYS, NULL, 0);
    }
}

static void *serve(void *request)
{
    prctl(PR_SET_TIMERSLACK, 1ul);
    for (;;) {
        ssize_t got = read(serving.fuse, request, ROOM);
        uint64_t arrived = now_ns();
        if (got >= (ssize_t)sizeof(struct fuse_in_header))
            answer(request, arrived);
        else if (got >= 0 || errno == ENODEV)
            _exit(0); /* Nothing uses the file any more. */
        else if (errno != EINTR && errno != EAGAIN && errno != ENOENT)
            _exit(1);
    }
}

/* In a process without the server's descriptor: it may wait for what the server has yet to answer. */
static void take_away(const struct leftover *left)
{
    if (fork() != 0)
        return;
    close(serving.fuse);
    if (left->mount[0])
        umount2(left->mount, MNT_DETACH | UMOUNT_NOFOLLOW);
    int setting = left->read_ahead[0] ? open(left->read_ahead, O_WRONLY | O_CLOEXEC) : -1;
    if (setting >= 0 && write(setting, left->kib, strlen(left->kib)) < 0)
        errno = 0;
    _exit(0);
}

void storage_serve(const struct server *server, int holder)
{
    char nothing;
    pthread_t thread;
    pthread_attr_t small;
    serving = *server;
    bytes_of_file = mmap(NULL, serving.bytes, PROT_READ, MAP_SHARED, serving.memory, 0);
    char *rooms = mmap(NULL, (size_t)AT_ONCE * ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes_of_file == MAP_FAILED || rooms == MAP_FAILED)
        _exit(1);
    /* The kernel may write to this storage to get memory; whoever serves it must not wait for that. */
    prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0);
    /* A device does not wait for a processor. Where that is refused, it waits. */
    sched_setscheduler(0, SCHED_RR, &(struct sched_param){.sched_priority = 1});
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 << 10);
    for (size_t i = 0; i < AT_ONCE; i++)
        if (pthread_create(&thread, &small, serve, rooms + i * ROOM) != 0)
            _exit(1);
    while (read(holder, &nothing, 1) < 0 && errno == EINTR)
        ;
    serving.pace->latency_ns = serving.pace->bytes_per_s = 0;
    take_away(serving.left);
    sleep(LAST_S);
    _exit(1);
}
