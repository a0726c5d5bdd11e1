/* cycle.c: messages as words in a network: when they leave, which slots are run, and when they have come. */
#include <stdlib.h>
#include <string.h>

#include "workload/cycle_parts.h"

enum { MOST_WAYS = 1 << 22, LONGEST_WAY = 1 << 20, MOST_SLOW = 1000 };

static int64_t now_slot(const dvsim_cycle *cycle)
{
    return cycle->base + dvsim_network_slots_now(cycle->network);
}

/* A place for a message; -1: no memory. */
static int64_t place_for(dvsim_cycle *cycle)
{
    if (cycle->free_message < 0) {
        const int64_t room = cycle->room > 0 ? 2 * cycle->room : 256;
        cycle_message *longer = realloc(cycle->messages, (size_t)room * sizeof *longer);
        if (!longer) {
            return -1;
        }
        for (int64_t one = cycle->room; one < room; one++) {
            longer[one].next_free = one + 1 < room ? one + 1 : -1;
        }
        cycle->messages = longer;
        cycle->free_message = cycle->room;
        cycle->room = room;
    }
    const int64_t place = cycle->free_message;
    cycle->free_message = cycle->messages[place].next_free;
    return place;
}

/* Slots from leaving to coming out of a word that nothing meets, or a code below 0. */
static int64_t way_slots(dvsim_cycle *cycle, int32_t from, int32_t to)
{
    int64_t *known = cycle->ways ? &cycle->ways[from * cycle->params.network.ports + to] : NULL;
    if (known && *known > 0) {
        return *known - 1;
    }
    const int64_t begin = dvsim_network_slots_now(cycle->alone);
    int64_t code = dvsim_network_send(cycle->alone, from, to, 1, 0);
    if (code == DVSIM_OK) {
        code = dvsim_network_run_until(cycle->alone, LONGEST_WAY);
    }
    if (code < 0) {
        return code;
    }
    const dvsim_completion *done;
    if (dvsim_network_completions(cycle->alone, &done) != 1) {
        return DVSIM_ESTATE;
    }
    const int64_t slots = done->last_slot - begin;
    if (known) {
        *known = slots + 1;
    }
    return slots;
}

static int send(void *self, const dvsim_message *given, int64_t time_ps)
{
    dvsim_cycle *cycle = self;
    const int64_t ports = cycle->params.network.ports;
    if (given->from < 0 || given->from >= ports || given->to < 0 || given->to >= ports || given->bytes < 0 ||
        time_ps < 0) {
        return DVSIM_EINVAL;
    }
    const int64_t way = way_slots(cycle, given->from, given->to), place = way < 0 ? -1 : place_for(cycle);
    if (way < 0 || place < 0) {
        return way < 0 ? (int)way : DVSIM_ENOMEM;
    }
    const int64_t words = given->bytes <= DVSIM_WORD_BYTES ? 1 : (given->bytes - 1) / DVSIM_WORD_BYTES + 1;
    cycle_message *message = &cycle->messages[place];
    *message = (cycle_message){.id = given->id, .words = words, .sent_ps = time_ps, .from = given->from,
                               .to = given->to, .first_slot = INT64_MAX, .last_slot = -1, .way_slots = way};
    cycle_enter(cycle, message);
    cycle->counts.messages++;
    cycle->counts.words += words;
    return cycle_put(&cycle->leaving, (message->first_in_ps + message->aligned_ps) / cycle->params.slot_ps, place);
}

/* The time of the next slot in which something happens, by its end. */
static int64_t next_slot_end(const dvsim_cycle *cycle)
{
    if (cycle->under_way > 0) {
        return (now_slot(cycle) + 1) * cycle->params.slot_ps;
    }
    return cycle->leaving.count > 0 ? (cycle->leaving.entries[0].at + 1) * cycle->params.slot_ps : DVSIM_NEVER;
}

static int64_t next(void *self)
{
    const dvsim_cycle *cycle = self;
    const int64_t slot = next_slot_end(cycle);
    return cycle->coming.count > 0 && cycle->coming.entries[0].at < slot ? cycle->coming.entries[0].at : slot;
}

/* Give the network the words of a message that are in the card when the present slot begins; all of them if the
 * port is slower than what brings them. */
static int leave(dvsim_cycle *cycle, int64_t place, int64_t slot)
{
    cycle_message *message = &cycle->messages[place];
    const int64_t slot_ps = cycle->params.slot_ps, left = message->words - message->given;
    int64_t words = left;
    if (message->each_ps * cycle->params.network.planes > slot_ps) {
        const int64_t there = (slot * slot_ps - message->first_in_ps) / message->each_ps + 1;
        words = there < message->words ? there - message->given : left;
    }
    const int code = dvsim_network_send(cycle->network, message->from, message->to, words, place);
    if (code == DVSIM_ESTATE) { /* more are under way than can be told apart */
        return cycle_put(&cycle->leaving, slot + 1, place);
    }
    if (code != DVSIM_OK) {
        return code;
    }
    cycle->under_way++;
    message->bursts++;
    message->given += words;
    if (message->given == message->words) {
        return DVSIM_OK;
    }
    const int64_t there = message->first_in_ps + message->given * message->each_ps;
    return cycle_put(&cycle->leaving, (there + slot_ps - 1) / slot_ps, place);
}

/* Bursts have come out in the last slot that was run. */
static int come(dvsim_cycle *cycle)
{
    const dvsim_completion *done;
    const int64_t count = dvsim_network_completions(cycle->network, &done);
    for (int64_t one = 0; one < count; one++) {
        cycle_message *message = &cycle->messages[done[one].handle];
        const int64_t first = cycle->base + done[one].first_slot, last = cycle->base + done[one].last_slot;
        message->first_slot = first < message->first_slot ? first : message->first_slot;
        message->last_slot = last > message->last_slot ? last : message->last_slot;
        cycle->under_way--;
        if (--message->bursts > 0 || message->given < message->words) {
            continue;
        }
        cycle_receive(cycle, message);
        if (cycle_put(&cycle->coming, message->arrival.time_ps, done[one].handle)) {
            return DVSIM_ENOMEM;
        }
    }
    return DVSIM_OK;
}

/* Run slots that end by then, to the first in which something comes out. */
static int run(dvsim_cycle *cycle, int64_t until_ps)
{
    if (cycle->under_way == 0) {
        const int64_t idle = cycle->leaving.entries[0].at - now_slot(cycle);
        cycle->base += idle > 0 ? idle : 0;
        cycle->counts.skipped += idle > 0 ? idle : 0;
    }
    const int64_t now = now_slot(cycle);
    while (cycle->leaving.count > 0 && cycle->leaving.entries[0].at <= now) {
        const int code = leave(cycle, cycle_take(&cycle->leaving).what, now);
        if (code != DVSIM_OK) {
            return code;
        }
    }
    int64_t slots = until_ps / cycle->params.slot_ps - now;
    if (cycle->leaving.count > 0 && cycle->leaving.entries[0].at - now < slots) {
        slots = cycle->leaving.entries[0].at - now;
    }
    const int64_t ran = dvsim_network_run_until(cycle->network, slots);
    if (ran < 0) {
        return (int)ran;
    }
    cycle->counts.slots += ran;
    return come(cycle);
}

static int64_t advance(void *self, int64_t until_ps, dvsim_arrival *arrivals, int64_t room)
{
    dvsim_cycle *cycle = self;
    int64_t count = 0;
    while (count < room) {
        const int64_t slot = next_slot_end(cycle);
        const int64_t arrival = cycle->coming.count > 0 ? cycle->coming.entries[0].at : DVSIM_NEVER;
        if (arrival == DVSIM_NEVER && slot == DVSIM_NEVER) {
            break;
        }
        if (arrival <= until_ps && arrival <= slot) {
            const int64_t place = cycle_take(&cycle->coming).what;
            arrivals[count++] = cycle->messages[place].arrival;
            cycle->messages[place].next_free = cycle->free_message;
            cycle->free_message = place;
            continue;
        }
        if (slot > until_ps || count > 0) {
            break;
        }
        const int code = run(cycle, arrival < until_ps ? arrival : until_ps);
        if (code != DVSIM_OK) {
            return code;
        }
    }
    return count;
}

dvsim_cycle *dvsim_cycle_create(const dvsim_cycle_params *params)
{
    if (!params || params->slot_ps < 1 || params->piece_words < 1 || !dvsim_pcie_is_good(&params->pcie)) {
        return NULL;
    }
    dvsim_cycle *cycle = calloc(1, sizeof *cycle);
    if (!cycle) {
        return NULL;
    }
    cycle->params = *params;
    cycle->params.network.injection = DVSIM_INJECT_GIVEN;
    cycle->free_message = -1;
    cycle->network = dvsim_network_create(&cycle->params.network, 1);
    cycle->alone = dvsim_network_create(&cycle->params.network, 1);
    const size_t ports = cycle->network ? (size_t)params->network.ports : 0;
    cycle->stores_free = calloc(ports + 1, sizeof *cycle->stores_free);
    cycle->sends_free = calloc(ports + 1, sizeof *cycle->sends_free);
    cycle->reads_free = calloc(ports + 1, sizeof *cycle->reads_free);
    cycle->ways = ports * ports <= MOST_WAYS ? calloc(ports * ports + 1, sizeof *cycle->ways) : NULL;
    cycle->table = (dvsim_fabric){cycle, send, next, advance};
    cycle->pcie = calloc(ports + 1, sizeof *cycle->pcie);
    if (!cycle->pcie || !cycle->network || !cycle->alone || !cycle->stores_free || !cycle->sends_free || !cycle->reads_free) {
        dvsim_cycle_free(cycle);
        return NULL;
    }
    for (int64_t port = 0; port < params->network.ports; port++) {
        const double slow = params->slow ? params->slow[port] : 1;
        dvsim_pcie *own = &cycle->pcie[port];
        *own = params->pcie;
        own->store_fs = (int64_t)((double)own->store_fs * slow);
        own->engine_fs = (int64_t)((double)own->engine_fs * slow);
        if (!(slow >= 1 && slow <= MOST_SLOW) || !dvsim_pcie_is_good(own)) {
            dvsim_cycle_free(cycle);
            return NULL;
        }
    }
    for (int64_t one = 0; one < params->cut_count; one++) {
        const dvsim_cable *cable = &params->cuts[one];
        if (dvsim_network_cut(cycle->network, cable->port, cable->plane) ||
            dvsim_network_cut(cycle->alone, cable->port, cable->plane)) {
            dvsim_cycle_free(cycle);
            return NULL;
        }
    }
    for (int64_t one = 0; one < params->link_count; one++) {
        if (dvsim_network_break(cycle->network, &params->links[one]) ||
            dvsim_network_break(cycle->alone, &params->links[one])) {
            dvsim_cycle_free(cycle);
            return NULL;
        }
    }
    cycle->params.slow = NULL; /* these are the caller's */
    cycle->params.cuts = NULL;
    cycle->params.links = NULL;
    return cycle;
}

void dvsim_cycle_free(dvsim_cycle *cycle)
{
    if (!cycle) {
        return;
    }
    if (cycle->network) {
        dvsim_network_free(cycle->network);
    }
    if (cycle->alone) {
        dvsim_network_free(cycle->alone);
    }
    free(cycle->pcie);
    free(cycle->stores_free);
    free(cycle->sends_free);
    free(cycle->reads_free);
    free(cycle->ways);
    free(cycle->messages);
    free(cycle->leaving.entries);
    free(cycle->coming.entries);
    free(cycle);
}

int64_t dvsim_cycle_ways(const dvsim_cycle *cycle, int64_t from, int64_t to)
{
    return dvsim_network_ways(cycle->network, from, to);
}

const dvsim_fabric *dvsim_cycle_fabric(const dvsim_cycle *cycle)
{
    return &cycle->table;
}

dvsim_cycle_counts dvsim_cycle_counts_now(const dvsim_cycle *cycle)
{
    return cycle->counts;
}
