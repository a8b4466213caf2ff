/* The C library starts it as vfork does, on a stack of its own; an error of execve comes back. */
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* --- */
static pid_t start(const char *path, char **words, char **environment)
{
    pid_t child;
    int error = posix_spawn(&child, path, NULL, NULL, words, environment);
    if (error == 0)
        return child;
    errno = error;
    return -1;
}
/* --- */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    char *memory = malloc(bytes + 1);
    if (bytes == 0 || memory == NULL)
        return 1;
    memset(memory, 1, bytes);
    char *words[] = {"true", NULL};
    int status = 1;
    pid_t child = start("/bin/true", words, environ);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        return 1;
    child = start("/nonexistent/program", words, environ);
    if (child > 0 && (waitpid(child, &status, 0) != child || status == 0))
        return 1;
    printf("%zu\n", bytes);
    return 0;
}
