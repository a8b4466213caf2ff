/* Records that are safe on the device one by one; written from the question alone, see README.md. */
#include "truth.h"
#include <linux/io_uring.h>

#define RECORDS 8
#define WHOLE (16ul << 20)
static size_t bytes;
static const char *path, *order;
static char *image;

/* The smallest io_uring: two requests at a time, a write and the fdatasync that waits for it. */
static struct {
    int fd;
    unsigned *tail, *array, *done_head, *done_tail, mask, done_mask;
    struct io_uring_sqe *requests;
    struct io_uring_cqe *answers;
} ring;

static void open_ring(void)
{
    struct io_uring_params p = {0};
    ring.fd = syscall(SYS_io_uring_setup, 8, &p);
    if (ring.fd < 0)
        die("io_uring_setup");
    char *s = mmap(NULL, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd,
                   IORING_OFF_SQ_RING);
    char *c = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof *ring.answers, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_POPULATE, ring.fd, IORING_OFF_CQ_RING);
    ring.requests = mmap(NULL, p.sq_entries * sizeof *ring.requests, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                         ring.fd, IORING_OFF_SQES);
    ring.tail = (unsigned *)(s + p.sq_off.tail);
    ring.array = (unsigned *)(s + p.sq_off.array);
    ring.mask = *(unsigned *)(s + p.sq_off.ring_mask);
    ring.done_head = (unsigned *)(c + p.cq_off.head);
    ring.done_tail = (unsigned *)(c + p.cq_off.tail);
    ring.done_mask = *(unsigned *)(c + p.cq_off.ring_mask);
    ring.answers = (struct io_uring_cqe *)(c + p.cq_off.cqes);
}

static void by_ring(int file, const char *data, off_t at)
{
    unsigned tail = *ring.tail, first = tail & ring.mask, second = (tail + 1) & ring.mask;
    ring.requests[first] = (struct io_uring_sqe){.opcode = IORING_OP_WRITE, .flags = IOSQE_IO_LINK, .fd = file,
                                                 .addr = (uintptr_t)data, .len = bytes, .off = at};
    ring.requests[second] = (struct io_uring_sqe){.opcode = IORING_OP_FSYNC, .fd = file,
                                                  .fsync_flags = IORING_FSYNC_DATASYNC};
    ring.array[first] = first;
    ring.array[second] = second;
    __atomic_store_n(ring.tail, tail + 2, __ATOMIC_RELEASE);
    if (syscall(SYS_io_uring_enter, ring.fd, 2, 2, IORING_ENTER_GETEVENTS, NULL, 0) != 2)
        die("io_uring_enter");
    for (unsigned head = *ring.done_head; head != __atomic_load_n(ring.done_tail, __ATOMIC_ACQUIRE); head++)
        if (ring.answers[head & ring.done_mask].res < 0)
            die("io_uring");
    __atomic_store_n(ring.done_head, *ring.done_tail, __ATOMIC_RELEASE);
}

static double once(const char *way)
{
    size_t size = is(order, "random") ? WHOLE : RECORDS * bytes;
    if (!is(order, "random"))
        unlink(path);
    int made = open(path, O_RDWR | O_CREAT, 0600);
    if (is(order, "preallocated") && (posix_fallocate(made, 0, size) || fsync(made)))
        die("posix_fallocate");
    for (size_t at = 0; is(order, "random") && at < size; at += 1 << 17) /* a store's hot file */
        if (pread(made, image, 1 << 17, at) != 1 << 17)
            die("pread");
    close(made);
    int file = open(path, O_RDWR | (is(way, "dsync") ? O_DSYNC : 0));
    char *map = NULL, *record = image + (1 << 17);
    if (is(way, "msync")) {
        if (ftruncate(file, size))
            die("ftruncate");
        map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    off_t place[RECORDS];
    for (int i = 0; i < RECORDS; i++)
        place[i] = is(order, "random") ? (rand() % (size / bytes)) * bytes : i * bytes;
    double start = now();
    for (int i = 0; i < RECORDS; i++) {
        off_t at = place[i];
        record[0]++;
        if (map) {
            off_t page = at & -4096;
            memcpy(map + at, record, bytes);
            if (msync(map + page, at - page + bytes, MS_SYNC))
                die("msync");
        } else if (is(way, "ring"))
            by_ring(file, record, at);
        else if (pwrite(file, record, bytes, at) != (ssize_t)bytes || (is(way, "fdatasync") && fdatasync(file)))
            die("pwrite");
    }
    double spent = now() - start;
    if (map)
        munmap(map, size);
    close(file);
    return spent / RECORDS;
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return fprintf(stderr, "usage: write FILE BYTES append|random|preallocated fdatasync|dsync|msync|ring…\n"), 2;
    path = argv[1];
    bytes = strtoul(argv[2], NULL, 10);
    order = argv[3];
    image = anonymous(2 << 20, 0);
    memset(image, 3, 2 << 20);
    open_ring();
    if (is(order, "random")) {
        int made = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        for (size_t at = 0; at < WHOLE; at += 1 << 17)
            if (pwrite(made, image, 1 << 17, at) != 1 << 17)
                die("pwrite");
        fsync(made);
        close(made);
    }
    take_turns(argv + 4, argc - 4, 31, once);
    unlink(path);
}
