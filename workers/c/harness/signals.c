/* A fatal signal names the phase it arrived in, so the laboratory can say which cell died and where. */
#include "core.h"
#include <signal.h>
#include <stdio.h>

static size_t append_number(char *text, size_t at, int number)
{
    char digits[12];
    size_t n = 0;
    unsigned value = number < 0 ? (unsigned)-number : (unsigned)number;
    do
        digits[n++] = (char)('0' + value % 10);
    while (value /= 10);
    if (number < 0)
        text[at++] = '-';
    while (n)
        text[at++] = digits[--n];
    return at;
}

static size_t append(char *text, size_t at, const char *word)
{
    size_t n = strnlen(word, 64);
    memcpy(text + at, word, n);
    return at + n;
}

/* Only async-signal-safe calls here (signal-safety(7)). */
static void on_signal(int number)
{
    const char *name = number == SIGSEGV ? "SIGSEGV" : number == SIGBUS ? "SIGBUS" : number == SIGTERM ? "SIGTERM" :
                       number == SIGILL ? "SIGILL" : number == SIGFPE ? "SIGFPE" : number == SIGINT ? "SIGINT" : "SIGABRT";
    char text[256];
    bool is_child = in_child();
    size_t at = append(text, 0, is_child ? "fail\t" : "crash\t");
    at = append_number(text, at, current_slot);
    text[at++] = '\t';
    at = append_number(text, at, current_cell);
    text[at++] = '\t';
    at = append(text, at, current_phase ? current_phase : "-");
    text[at++] = '\t';
    at = append(text, at, name);
    if (is_child)
        child_ended(text, append(text, at, "\t0\tits process ended\n"), 128 + number);
    text[at++] = '\n';
    (void)!write(transcript_fd, text, at);
    _exit(128 + number);
}

void signals_watch(void)
{
    static char stack[16384];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    sigfillset(&action.sa_mask);
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM, SIGINT};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        sigaction(fatal[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}
