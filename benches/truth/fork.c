/* A child that runs a program, and its parent's memory written to once; written from the question alone, see README.md. */
#include "truth.h"
#include <spawn.h>

static size_t bytes;
static char *memory, program[64] = "/bin/true";
static char *const nothing[] = {NULL};

/* The shortest program: it ends. It is compiled here, without any library. */
#if defined(__x86_64__)
#define ENDS "syscall\" : : \"a\"(60), \"D\"(0"
#else
#define ENDS "mov x8, 93\\nmov x0, 0\\nsvc 0\" : : \"r\"(0"
#endif

static void make_tiny(void)
{
    snprintf(program, sizeof program, "/tmp/truth-tiny-%d", getpid());
    char command[256];
    snprintf(command, sizeof command, "cc -static -nostdlib -x c -o %s -", program);
    FILE *compiler = popen(command, "w");
    if (!compiler || fputs("void _start(void) { __asm__ volatile(\"" ENDS ")); }\n", compiler) < 0 || pclose(compiler))
        die("cc");
}

static double once(const char *way)
{
    pid_t child = -1;
    int status;
    double start = now();
    if (is(way, "spawn"))
        posix_spawn(&child, program, NULL, NULL, nothing, nothing);
    else {
        child = is(way, "vfork") ? vfork() : fork();
        if (child == 0) {
            execve(program, nothing, nothing);
            _exit(1);
        }
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status)
        die(way);
    for (size_t i = 0; i < bytes; i += 4096)
        ((volatile char *)memory)[i]++;
    return now() - start;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return fprintf(stderr, "usage: fork BYTES tiny|dynamic fork|vfork|spawn…\n"), 2;
    bytes = strtoul(argv[1], NULL, 10);
    if (is(argv[2], "tiny"))
        make_tiny();
    memory = anonymous(bytes, 0);
    memset(memory, 1, bytes);
    take_turns(argv + 3, argc - 3, 41, once);
    if (is(argv[2], "tiny"))
        unlink(program);
}
