/* P2's third job as its article tells it, by Pagewise: A passes a file on, and B writes it to a second file.
 * Build: cc -O0 -Wall -Wextra -pthread -o p2c p2c.c
 * Run:   ./p2c pipe FROM TO; ./p2c mmap FROM TO; ./p2c splice FROM TO          (FROM has 1.4 GB there)
 * It prints the CPU seconds of A and of B. pipe: read, write, 4096 bytes at a time. mmap: A copies from a mapping of the file
 * into a System V segment, B from it into a mapping of the new file. splice: all that is left in each call, through a
 * default pipe. Unlike the original, a lock orders the two where they share a segment.
 * A changed copy is compared by: pagewise bench --published P2c mine.c */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 4096 };

struct between {
    pthread_mutex_t lock;
    double seconds[2];
};

static void die(const char *call)
{
    perror(call);
    exit(1);
}

static void by_calls(int from, int to)
{
    char piece[PIECE];
    ssize_t got;
    while ((got = read(from, piece, sizeof piece)) > 0)
        for (ssize_t put = 0, n; put < got; put += n)
            if ((n = write(to, piece + put, (size_t)(got - put))) <= 0)
                die("write");
    if (got < 0)
        die("read");
}

static void by_splice(int from, int to, size_t bytes)
{
    for (ssize_t n; bytes > 0; bytes -= (size_t)n)
        if ((n = splice(from, NULL, to, NULL, bytes, SPLICE_F_MOVE)) <= 0)
            die("splice");
}

static void by_pieces(char *to, const char *from, size_t bytes)
{
    for (size_t done = 0; done < bytes; done += PIECE)
        memcpy(to + done, from + done, bytes - done < PIECE ? bytes - done : PIECE);
}

static char *map(int file, size_t bytes, int access)
{
    char *p = mmap(NULL, bytes, access, MAP_SHARED, file, 0);
    if (p == MAP_FAILED)
        die("mmap");
    return p;
}

static void send(const char *way, struct between *between, int file, int pipe_end, char *segment, size_t bytes)
{
    clock_t start = clock();
    if (segment) {
        by_pieces(segment, map(file, bytes, PROT_READ), bytes);
        pthread_mutex_unlock(&between->lock);
    } else if (strcmp(way, "splice") == 0) {
        by_splice(file, pipe_end, bytes);
    } else {
        by_calls(file, pipe_end);
    }
    between->seconds[0] = (double)(clock() - start) / CLOCKS_PER_SEC;
    close(pipe_end);
}

static void receive(const char *way, struct between *between, int file, int pipe_end, char *segment, size_t bytes)
{
    clock_t start = clock();
    if (segment) {
        pthread_mutex_lock(&between->lock);
        if (ftruncate(file, (off_t)bytes) != 0)
            die("ftruncate");
        by_pieces(map(file, bytes, PROT_READ | PROT_WRITE), segment, bytes);
        pthread_mutex_unlock(&between->lock);
    } else if (strcmp(way, "splice") == 0) {
        by_splice(pipe_end, file, bytes);
    } else {
        by_calls(pipe_end, file);
    }
    between->seconds[1] = (double)(clock() - start) / CLOCKS_PER_SEC;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    int from = open(argv[2], O_RDONLY), to = open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0600), ends[2], status = 1;
    struct stat about;
    if (from < 0 || to < 0 || fstat(from, &about) != 0 || pipe(ends) != 0)
        die("open or pipe");
    size_t bytes = (size_t)about.st_size;
    struct between *between = mmap(NULL, sizeof *between, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&between->lock, &kind);
    char *segment = NULL;
    if (strcmp(argv[1], "mmap") == 0) {
        int id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
        segment = shmat(id, NULL, 0);
        shmctl(id, IPC_RMID, NULL);
        if (segment == (void *)-1)
            die("shmat");
        pthread_mutex_lock(&between->lock);
    }
    pid_t b = fork();
    if (b == 0) {
        close(ends[1]);
        receive(argv[1], between, to, ends[0], segment, bytes);
        _exit(0);
    }
    close(ends[0]);
    send(argv[1], between, from, ends[1], segment, bytes);
    waitpid(b, &status, 0);
    printf("%f %f\n", between->seconds[0], between->seconds[1]);
    return status != 0;
}
