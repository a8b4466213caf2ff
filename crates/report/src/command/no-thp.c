/* cc -o no-thp no-thp.c; no-thp PROGRAM ARGUMENTS
 * Linux 6.18 has a milder form: prctl(PR_SET_THP_DISABLE, 1, 2 (PR_THP_DISABLE_EXCEPT_ADVISED), 0, 0). */
#include <sys/prctl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    if (argc < 2 || prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0)
        return 126;
    execvp(argv[1], argv + 1);
    return 127;
}
