/* Where the helper program lies: `exec` says it in the environment; a worker that is driven by hand finds it beside itself. */
#include "core.h"
#include <stdlib.h>

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
