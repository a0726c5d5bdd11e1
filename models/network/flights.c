/* flights.c: words whose slots the caller wants to know have names of their own. */
#include "network/internal.h"

/* Twice as many words to note; 0: no memory, or no names for them. */
static int more_flights(dvsim_part *p)
{
    const int64_t before = p->flight_room, room = before > 0 ? 2 * before : 64;
    if ((uint64_t)(p->network->burst_room + room) > p->network->birth_mask + 1) {
        return 0;
    }
    dvsim_flight *longer = dvsim_network_longer(p->flights, before, room, sizeof *longer);
    if (longer == NULL) {
        p->failed = 1;
        return 0;
    }
    for (int64_t k = before; k < room; k++) {
        longer[k].next_free = k + 1 < room ? k + 1 : -1;
    }
    p->flights = longer;
    p->flight_room = room;
    p->free_flight = before;
    return 1;
}

int dvsim_network_name(dvsim_part *p, dvsim_batch *batch, uint64_t *birth)
{
    if (batch->slot == NULL) {
        *birth = (uint64_t)batch->burst;
        return 1;
    }
    if (p->free_flight < 0 && !more_flights(p)) {
        return 0;
    }
    const int64_t flight = p->free_flight;
    p->free_flight = p->flights[flight].next_free;
    p->flights[flight] = (dvsim_flight){batch->burst, -1, batch->slot};
    if (batch->words > 1) { /* so that the pointer stays within the list */
        batch->slot += p->network->params.planes;
    }
    *birth = p->network->birth_mask - (uint64_t)flight;
    return 1;
}

uint64_t dvsim_network_noted(dvsim_part *p, uint64_t birth)
{
    const int64_t number = (int64_t)(p->network->birth_mask - birth);
    dvsim_flight *flight = &p->flights[number];
    *flight->slot = p->now;
    flight->next_free = p->free_flight;
    p->free_flight = number;
    return (uint64_t)flight->burst;
}

int64_t dvsim_network_most_noted(const dvsim_network *net)
{
    int64_t most = 0;
    for (int64_t i = 0; i < net->part_count; i++) {
        most = net->parts[i].flight_room > most ? net->parts[i].flight_room : most;
    }
    return most;
}
