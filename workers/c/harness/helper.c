/* Where the helper program lies: `exec` says it in the environment; a worker that is driven by hand finds it beside itself. */
#include "core.h"
#include <spawn.h>
#include <stdlib.h>

enum { MOST_ARGUMENTS = 16 };

const char *helper_path(struct slot *s)
{
    static char beside[4096 + sizeof "pagewise-helper"];
    const char *path = getenv("PAGEWISE_HELPER");
    ssize_t length;
    if (!path && (length = readlink("/proc/self/exe", beside, 4096)) > 0) {
        while (length > 0 && beside[length - 1] != '/')
            length--;
        memcpy(beside + length, "pagewise-helper", sizeof "pagewise-helper");
        path = beside;
    }
    if (!path || access(path, X_OK) != 0)
        fail_because(s, "access", "the helper is not there: its path belongs in PAGEWISE_HELPER, or it lies beside the worker");
    return path;
}

pid_t helper_start(struct slot *s, char *const verb[], int input, int further)
{
    char *arguments[MOST_ARGUMENTS + 2] = {"pagewise-helper"};
    for (int i = 0; i < MOST_ARGUMENTS && verb[i]; i++)
        arguments[i + 1] = verb[i];
    pid_t process = 0;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, 0);
    if (further >= 0)
        posix_spawn_file_actions_adddup2(&actions, further, 3);
    errno = posix_spawn(&process, helper_path(s), &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (errno)
        fail(s, "posix_spawn");
    return process;
}
