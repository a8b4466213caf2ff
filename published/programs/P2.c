/* P2 as its article tells it, by Pagewise and without a line of the article's program: a block of A's memory becomes B's.
 * Build: cc -O0 -Wall -Wextra -pthread -o p2 p2.c
 * Run:   head -c 1G /dev/urandom > block; ./p2 memcpy 1073741824 block; ./p2 vmsplice 1073741824 block
 * It prints the CPU seconds of A, which sends, and of B, which receives. Both blocks are malloc'ed and B's is never touched
 * before the clock; a System V segment, or a default pipe with flag 1; 4096 bytes at a time; CPU time by clock(). Unlike the
 * original, the mutex really orders the two processes. B compares every byte with the file afterwards.
 * A changed copy is compared by: pagewise bench --published P2 mine.c */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 4096 };

struct between {
    pthread_mutex_t lock;
    double seconds[2];
};

static double seconds_since(clock_t start)
{
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

static void die(const char *call)
{
    perror(call);
    exit(1);
}

static void read_file(const char *path, char *to, size_t bytes)
{
    int file = open(path, O_RDONLY);
    for (size_t done = 0; done < bytes;) {
        ssize_t got = read(file, to + done, bytes - done);
        if (got <= 0)
            die("read the file");
        done += (size_t)got;
    }
    close(file);
}

static void through_pipe(int end, char *block, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        struct iovec piece = {block + done, bytes - done < PIECE ? bytes - done : PIECE};
        ssize_t moved = vmsplice(end, &piece, 1, 1);
        if (moved <= 0)
            die("vmsplice");
        done += (size_t)moved;
    }
}

static void by_pieces(char *to, const char *from, size_t bytes)
{
    for (size_t done = 0; done < bytes; done += PIECE)
        memcpy(to + done, from + done, bytes - done < PIECE ? bytes - done : PIECE);
}

static void receive(struct between *between, int pipe_end, char *segment, size_t bytes, const char *path, int wait_for_a)
{
    char *block = malloc(bytes), go;
    clock_t start = clock();
    if (segment) {
        pthread_mutex_lock(&between->lock);
        by_pieces(block, segment, bytes);
        pthread_mutex_unlock(&between->lock);
    } else {
        through_pipe(pipe_end, block, bytes);
    }
    between->seconds[1] = seconds_since(start);
    (void)!read(wait_for_a, &go, 1);
    char *expected = malloc(bytes);
    read_file(path, expected, bytes);
    _exit(memcmp(block, expected, bytes) != 0);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    int by_segment = strcmp(argv[1], "memcpy") == 0, ends[2], done[2], status = 1;
    size_t bytes = strtoull(argv[2], NULL, 10);
    struct between *between = mmap(NULL, sizeof *between, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&between->lock, &kind);
    char *segment = NULL, *block = malloc(bytes);
    if (by_segment) {
        int id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
        segment = shmat(id, NULL, 0);
        shmctl(id, IPC_RMID, NULL);
        if (segment == (void *)-1)
            die("shmat");
    }
    if (pipe(ends) != 0 || pipe(done) != 0)
        die("pipe");
    pthread_mutex_lock(&between->lock);
    pid_t b = fork();
    if (b == 0)
        receive(between, ends[0], segment, bytes, argv[3], done[0]);
    read_file(argv[3], block, bytes);
    clock_t start = clock();
    if (segment) {
        by_pieces(segment, block, bytes);
        pthread_mutex_unlock(&between->lock);
    } else {
        through_pipe(ends[1], block, bytes);
    }
    between->seconds[0] = seconds_since(start);
    (void)!write(done[1], "x", 1);
    waitpid(b, &status, 0);
    printf("%f %f\n", between->seconds[0], between->seconds[1]);
    return status != 0;
}
