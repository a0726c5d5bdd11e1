/* faulty.c: see faulty.h. */
#include <stdlib.h>
#include <string.h>

#include "engine/random.h"
#include "workload/faulty.h"
#include "workload/internal.h"

enum { WORD_BYTES = 8, MOST_DRAWN = 1 << 20, SOME = 64 };

static const double MOST_CHANCE = 0.5;

/* A message of the caller, while it is under way. */
typedef struct {
    dvsim_message message;
    int64_t serial; /* of all messages, for its chances */
    int64_t words, lost, attempt;
    int64_t latency_ps, serial_ps; /* of all attempts */
} flight;

typedef struct {
    dvsim_faults given;
    uint8_t *dead;
    double *chance;
    flight *flights;
    int64_t *unused; /* places among `flights` */
    int64_t room, free, serial, order;
    heap again; /* times, places */
    dvsim_faulty_counts counts;
} faulty;

static int grow(faulty *all)
{
    const int64_t room = all->room ? 2 * all->room : 256;
    flight *flights = realloc(all->flights, (size_t)room * sizeof *flights);
    if (!flights) {
        return DVSIM_ENOMEM;
    }
    all->flights = flights;
    int64_t *unused = realloc(all->unused, (size_t)room * sizeof *unused);
    if (!unused) {
        return DVSIM_ENOMEM;
    }
    all->unused = unused;
    while (all->room < room) {
        all->unused[all->free++] = all->room++;
    }
    return DVSIM_OK;
}

/* How many of some words are lost. Of very many the mean: chance moves it by little then. */
static int64_t lost_of(const faulty *all, const flight *one)
{
    const double out = 1 - all->chance[one->message.from], in = 1 - all->chance[one->message.to];
    const double chance = 1 - out * in;
    if (chance <= 0 || one->words > MOST_DRAWN) {
        return (int64_t)((double)one->words * chance);
    }
    const uint64_t below = (uint64_t)(chance * 0x1p64);
    uint64_t state = dvsim_mix(all->given.seed ^ dvsim_draw((uint64_t)one->serial, (uint64_t)one->attempt));
    int64_t lost = 0;
    for (int64_t word = 0; word < one->words; word++) {
        lost += dvsim_next(&state) < below;
    }
    return lost;
}

static int send_on(faulty *all, int64_t place, int64_t time_ps)
{
    if (time_ps > DVSIM_LATEST) {
        return DVSIM_ERANGE;
    }
    flight *one = &all->flights[place];
    dvsim_message message = one->message;
    message.id = place;
    if (one->attempt > 0) {
        message.bytes = one->words * WORD_BYTES;
    }
    one->lost = lost_of(all, one);
    all->counts.lost += one->lost;
    one->attempt++;
    return all->given.inner->send(all->given.inner->self, &message, time_ps);
}

static int faulty_send(void *self, const dvsim_message *message, int64_t time_ps)
{
    faulty *all = self;
    const int64_t ports = all->given.ports;
    if (message->from < 0 || message->to < 0 || message->from >= ports || message->to >= ports) {
        return DVSIM_EINVAL;
    }
    if (all->dead[message->from] || all->dead[message->to]) {
        all->counts.dropped++;
        return DVSIM_OK;
    }
    if (!all->free && grow(all)) {
        return DVSIM_ENOMEM;
    }
    const int64_t place = all->unused[--all->free];
    const int64_t words = message->bytes <= WORD_BYTES ? 1 : (message->bytes - 1) / WORD_BYTES + 1;
    all->flights[place] = (flight){.message = *message, .serial = all->serial++, .words = words};
    return send_on(all, place, time_ps);
}

static int64_t faulty_next(void *self)
{
    const faulty *all = self;
    const int64_t inner = all->given.inner->next(all->given.inner->self);
    const int64_t again = all->again.count ? all->again.at[0].time : DVSIM_NEVER;
    return again < inner ? again : inner;
}

/* Pass on what has come whole, and keep what has to be sent again. Returns how many were passed on. */
static int64_t take(faulty *all, const dvsim_arrival *come, int64_t count, dvsim_arrival *arrivals)
{
    int64_t passed = 0;
    for (int64_t k = 0; k < count; k++) {
        flight *one = &all->flights[come[k].id];
        one->latency_ps += come[k].latency_ps;
        one->serial_ps += come[k].serial_ps;
        if (one->lost > 0) {
            one->words = one->lost;
            all->counts.repeated++;
            const event due = {come[k].time_ps + all->given.again_ps, all->order++, come[k].id};
            if (heap_push(&all->again, due)) {
                return DVSIM_ENOMEM;
            }
            continue;
        }
        arrivals[passed++] =
            (dvsim_arrival){one->message.id, come[k].time_ps, one->latency_ps, one->serial_ps};
        all->unused[all->free++] = come[k].id;
    }
    return passed;
}

static int64_t faulty_advance(void *self, int64_t until_ps, dvsim_arrival *arrivals, int64_t room)
{
    faulty *all = self;
    const dvsim_fabric *inner = all->given.inner;
    dvsim_arrival come[SOME];
    while (room > 0) {
        const int64_t again = all->again.count ? all->again.at[0].time : DVSIM_NEVER;
        const int64_t next = inner->next(inner->self);
        if (again <= until_ps && again < next) {
            const int code = send_on(all, heap_pop(&all->again).what, again);
            if (code != DVSIM_OK) {
                return code;
            }
            continue;
        }
        if (next > until_ps || next == DVSIM_NEVER) {
            return 0;
        }
        const int64_t count =
            inner->advance(inner->self, again < until_ps ? again : until_ps, come, room < SOME ? room : SOME);
        const int64_t passed = count < 0 ? count : take(all, come, count, arrivals);
        if (passed != 0) {
            return passed;
        }
    }
    return 0;
}

int dvsim_faulty_create(const dvsim_faults *faults, dvsim_fabric *fabric)
{
    if (!faults->inner || faults->ports < 1 || faults->again_ps < 1) {
        return DVSIM_EINVAL;
    }
    for (int64_t port = 0; port < faults->ports; port++) {
        if (!(faults->chance[port] >= 0 && faults->chance[port] <= MOST_CHANCE)) {
            return DVSIM_EINVAL;
        }
    }
    faulty *all = calloc(1, sizeof *all);
    if (!all) {
        return DVSIM_ENOMEM;
    }
    *fabric = (dvsim_fabric){all, faulty_send, faulty_next, faulty_advance};
    const size_t ports = (size_t)faults->ports;
    all->given = *faults;
    all->dead = malloc(ports * sizeof *all->dead);
    all->chance = malloc(ports * sizeof *all->chance);
    if (!all->dead || !all->chance) {
        dvsim_faulty_free(fabric);
        return DVSIM_ENOMEM;
    }
    memcpy(all->dead, faults->dead, ports * sizeof *all->dead);
    memcpy(all->chance, faults->chance, ports * sizeof *all->chance);
    return DVSIM_OK;
}

void dvsim_faulty_free(dvsim_fabric *fabric)
{
    faulty *all = fabric->self;
    if (all) {
        free(all->dead);
        free(all->chance);
        free(all->flights);
        free(all->unused);
        free(all->again.at);
        free(all);
    }
    fabric->self = NULL;
}

dvsim_faulty_counts dvsim_faulty_counts_now(const dvsim_fabric *fabric)
{
    const faulty *all = fabric->self;
    return all->counts;
}
