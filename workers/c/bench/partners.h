/* Processes beside a function: its other side, which ends with its turn, and fixtures, which end with the process. */
#ifndef PAGEWISE_PARTNERS_H
#define PAGEWISE_PARTNERS_H
#include "core.h"

/* Starts a fixture, which is ready when this returns: `body` has returned, or has said so by partner_ready(). */
void fixture_start(struct slot *s, const char *name, void (*body)(void));
void partner_ready(void);
bool is_fixture(pid_t process);

/* Starts the other side of this turn, on the second CPU of its `pin`. */
void other_side_start(struct slot *s, void (*work)(void *), void *argument);
/* Waits for the other sides. The reason where one failed or had to be ended; NULL where all is well. */
const char *other_sides_end(void);
/* Ends them where the turn has ended early. */
void other_sides_kill(void);
#endif
