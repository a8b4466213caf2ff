/* The state in which storage takes its time: a file system on a loop device, whose backing file a process of this program
 * serves (storage.c) from memory. The laboratory tells the guard of the mount before this begins. */
#include "mounting.h"
#include "state.h"
#include "storage.h"
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>

static const size_t DISK_BYTES = (size_t)2 << 30, LEAST_AVAILABLE_BYTES = (size_t)3 << 30;
enum { PROBE_BYTES = 16 << 20, PROBE_READS = 9, SMALL = 4096, LARGE = 1 << 20, READ_AHEAD_KIB = 128, END_TRIES = 1000 };

static struct {
    struct pace pace;
    struct leftover left;
} *shared;
static struct pace wanted;
static pid_t server;
static int probe = -1, root = -1;

static void set_pace(struct pace pace)
{
    shared->pace.latency_ns = pace.latency_ns;
    shared->pace.bytes_per_s = pace.bytes_per_s;
}

/* Starts the server; the descriptor of its file. */
static int served_file(void)
{
    char text[16];
    int pipes[2], memory = memfd_create("pagewise-disk", memfd_flags()), fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (fuse < 0)
        state_lacks("/dev/fuse: %s", strerror(errno));
    if (memory < 0 || ftruncate(memory, (off_t)DISK_BYTES) != 0 || pipe2(pipes, O_CLOEXEC) != 0)
        state_lacks("no memory for storage: %s", strerror(errno));
    snprintf(text, sizeof text, "%d", fuse);
    const struct mount_option options[] = {
        {"fd", text}, {"rootmode", "40000"}, {"user_id", "0"}, {"group_id", "0"}, {NULL, NULL}};
    int mount = mount_nowhere("fuse", options);
    if (mount < 0)
        state_lacks("a file system of its own (fuse) cannot be mounted: %s", strerror(errno));
    if ((server = fork()) == 0) {
        int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
        for (int fd = 0; nowhere >= 0 && fd < 3; fd++)
            dup2(nowhere, fd);
        close(mount);
        close(pipes[1]);
        storage_serve(&(struct server){fuse, memory, DISK_BYTES, &shared->pace, &shared->left}, pipes[0]);
    }
    close(fuse);
    close(memory);
    close(pipes[0]); /* The other end stays open for as long as this process lives. */
    int file = server < 0 ? -1 : openat(mount, STORAGE_FILE, O_RDWR | O_DIRECT | O_CLOEXEC);
    if (file < 0)
        state_lacks("the storage is not served: %s", strerror(errno));
    close(mount);
    return file;
}

/* The device reads ahead as most do, whatever it did for its last user. */
static void set_read_ahead(int device)
{
    char text[16];
    struct stat about;
    struct leftover *left = &shared->left;
    if (fstat(device, &about) != 0)
        state_lacks("fstat: %s", strerror(errno));
    snprintf(left->read_ahead, sizeof left->read_ahead, "/sys/class/bdi/%u:%u/read_ahead_kb", major(about.st_rdev),
             minor(about.st_rdev));
    snprintf(left->kib, sizeof left->kib, "%llu", (unsigned long long)kernel_number(left->read_ahead));
    snprintf(text, sizeof text, "%d", READ_AHEAD_KIB);
    if (!kernel_write(left->read_ahead, text))
        state_lacks("%s: %s", left->read_ahead, strerror(errno));
}

/* A file of the storage whose blocks are there, for the proofs. */
static void make_probe(void)
{
    char *piece = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    root = open(shared->left.mount, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    probe = root < 0 ? -1 : openat(root, "probe", O_RDWR | O_CREAT | O_EXCL | O_DIRECT | O_CLOEXEC, 0600);
    bool done = probe >= 0 && piece != MAP_FAILED && fchmod(root, 0700) == 0;
    for (off_t at = 0; done && at < PROBE_BYTES; at += LARGE) {
        memset(piece, 1 + (int)(at / LARGE), LARGE);
        done = pwrite(probe, piece, LARGE, at) == LARGE;
    }
    if (!done || fsync(probe) != 0)
        state_lacks("the storage cannot be written: %s", strerror(errno));
    munmap(piece, LARGE);
}

/* storage MOUNT LATENCY_NS BYTES_PER_S: 0 is none of it. */
static void make_storage(int argc, char **argv)
{
    static char *const plain[] = {"-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0", NULL};
    char device_path[64];
    if (argc < 3)
        state_lacks("no folder for storage");
    if (kernel_field("/proc/meminfo", "MemAvailable") * 1024 < LEAST_AVAILABLE_BYTES)
        state_lacks("storage lies in memory, up to 2 GiB of it, and fewer than 3 GiB are available");
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || mkdir(argv[0], 0700) != 0)
        state_lacks("%s: %s", argv[0], strerror(errno));
    wanted = (struct pace){strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10)};
    int file = served_file(), device = loop_over(file, LO_FLAGS_DIRECT_IO, device_path, sizeof device_path);
    if (device < 0)
        state_lacks("there is no free loop device, or it is not allowed: %s", strerror(errno));
    close(file);
    set_read_ahead(device);
    if (!format_as("ext4", device_path, plain))
        state_lacks("mkfs.ext4 is not there, or failed");
    snprintf(shared->left.mount, sizeof shared->left.mount, "%s", argv[0]);
    if (mount(device_path, argv[0], "ext4", MS_NOSUID | MS_NODEV, NULL) != 0)
        state_lacks("%s: %s", argv[0], strerror(errno));
    close(device);
    make_probe();
    set_pace(wanted);
}

/* Blocks of removed files are memory again. */
static void renew_storage(void)
{
    struct fstrim_range all = {.len = UINT64_MAX};
    set_pace((struct pace){0});
    if (syncfs(root) != 0 || ioctl(root, FITRIM, &all) != 0)
        errno = 0; /* It is memory only. */
    set_pace(wanted);
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* What reads of `bytes` take one after the other, sorted; false where one fails. */
static bool probe_reads(size_t bytes, uint64_t ns[PROBE_READS])
{
    static char *piece;
    if (!piece)
        piece = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (piece == MAP_FAILED)
        return false;
    for (int i = 0; i < PROBE_READS; i++) {
        uint64_t begun = now_ns();
        if (pread(probe, piece, bytes, (off_t)(i * 5 % 16) * LARGE) != (ssize_t)bytes)
            return false;
        ns[i] = now_ns() - begun;
    }
    qsort(ns, PROBE_READS, sizeof *ns, by_size);
    return true;
}

static void facts_of_storage(void)
{
    uint64_t ns[PROBE_READS];
    /* A processor that others use keeps some of the reads waiting: the storage is as fast as its quicker ones. */
    state_fact("read_ahead_kib", kernel_number(shared->left.read_ahead));
    if (probe_reads(SMALL, ns)) {
        state_fact("storage_least_read_ns", ns[0]);
        state_fact("storage_read_ns", ns[PROBE_READS / 4]);
    }
    if (wanted.bytes_per_s && probe_reads(LARGE, ns))
        state_fact("storage_bytes_per_s", (uint64_t)LARGE * 1000000000u / ns[PROBE_READS / 4]);
}

static void end_storage(void)
{
    struct timespec pause = {0, 10000000};
    set_pace((struct pace){0});
    close(probe);
    close(root);
    kernel_write(shared->left.read_ahead, shared->left.kib);
    umount2(shared->left.mount, MNT_DETACH | UMOUNT_NOFOLLOW);
    for (int tries = 0; waitpid(server, NULL, WNOHANG) == 0 && tries < END_TRIES; tries++)
        nanosleep(&pause, NULL);
}

MAKER(storage, .make = make_storage, .renew = renew_storage, .facts = facts_of_storage, .end = end_storage);
