#include "tail.h"
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* The other process: gives each byte back until its end of the socket is closed. */
__attribute__((noreturn)) static void echo(int fd)
{
    char byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (read(fd, &byte, 1) == 1 && write(fd, &byte, 1) == 1)
        ;
    _exit(0);
}

static bool came_back(int fd, char byte)
{
    char back = (char)~byte;
    return write(fd, &byte, 1) == 1 && read(fd, &back, 1) == 1 && back == byte;
}

static void run(struct slot *s)
{
    int ends[2];
    size_t lost = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        fail(s, "socketpair");
    pid_t other = fork();
    if (other == 0) {
        close(ends[0]);
        echo(ends[1]);
    }
    close(ends[1]);
    if (other < 0)
        fail(s, "fork");
    struct tail t = tail_begin(s);
    TAIL_TRIAL(&t, lost += !came_back(ends[0], (char)i));
    PHASE(s, "each") { TAIL_LOOP(&t, lost += !came_back(ends[0], (char)i)); }
    close(ends[0]);
    waitpid(other, NULL, 0);
    fact(s, "lost_messages", lost);
    tail_end(s, &t);
}

METHOD(tail_message, .experiment = "tail", .name = "message", .group = "message",
       .summary = "A byte to another process and back, over a Unix socket; both sleep while they wait.", .phases = TAIL_PHASES,
       .keys = TAIL_KEYS, .memory = "8 * ops", .laws = TAIL_LAWS "; lost_messages == 0",
       .calls = "each:write,read,getrusage?", .run = run);
