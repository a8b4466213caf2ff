/* Has short turns follow themselves (workers/PROTOCOL.md, "Turns of a user's functions"). */
#include "settle.h"

enum { SHORT_TURN_NS = 1000000, SETTLING_NS = 20000 };

static const char *settle(struct slot *slot, pass_of_turn *pass)
{
    struct slot spare = *slot;
    uint64_t begun = now_ns();
    int recorded = samples_recorded();
    const char *failed;
    spare.proofs = proving = false;
    do {
        spare.ops = slot->ops;
        spare.phase_bytes = slot->phase_bytes;
        failed = pass(&spare);
        samples_drop(recorded);
    } while (!failed && now_ns() - begun < SETTLING_NS);
    proving = slot->proofs;
    return failed;
}

const char *settled_pass(struct slot *slot, pass_of_turn *pass, bool settles)
{
    static uint64_t *least_ns; /* of a pass of each cell so far; 0: there was none */
    if (!least_ns)
        least_ns = arena((size_t)request.cell_count * sizeof *least_ns);
    uint64_t *least = &least_ns[slot->cell->number];
    if (settles && *least && *least < SHORT_TURN_NS) {
        const char *failed = settle(slot, pass);
        if (failed)
            return failed;
    }
    uint64_t begun = now_ns();
    const char *failed = pass(slot);
    uint64_t spent = now_ns() - begun;
    if (!*least || spent < *least)
        *least = spent;
    return failed;
}
