/* The child borrows the memory until it is the program; the parent waits so long. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* --- */
static pid_t start(const char *path, char **words, char **environment)
{
    pid_t child = vfork();
    if (child == 0) { /* nothing but execve and _exit: this is the parent's stack */
        execve(path, words, environment);
        _exit(127);
    }
    return child;
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
