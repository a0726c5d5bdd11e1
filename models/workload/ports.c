/* ports.c: see ports.h. Two things happen to a message: its head comes to the port of its receiver, and it is
 * there whole. */
#include <stdlib.h>

#include "workload/internal.h"
#include "workload/ports.h"

#define MOST_PORTS (1 << 24)

typedef struct {
    int64_t id, latency_ps, serial_ps;
    int64_t bytes, last_ps; /* its last byte comes to the port of its receiver */
    int32_t to;
    bool entered; /* the port of its receiver */
} flight;

typedef struct {
    dvsim_ports shape;
    int64_t *out, *in; /* [ports] until when each is in use */
    flight *flights;
    int32_t *unused; /* places among `flights` */
    int64_t room, free, order;
    heap heap;
} ports;

static int grow(ports *all)
{
    int64_t room = all->room ? 2 * all->room : 256;
    flight *flights = realloc(all->flights, (size_t)room * sizeof *flights);
    if (!flights) {
        return DVSIM_ENOMEM;
    }
    all->flights = flights;
    int32_t *unused = realloc(all->unused, (size_t)room * sizeof *unused);
    if (!unused) {
        return DVSIM_ENOMEM;
    }
    all->unused = unused;
    while (all->room < room) {
        all->unused[all->free++] = (int32_t)all->room++;
    }
    return DVSIM_OK;
}

static int64_t latency_of(const dvsim_ports *shape, int64_t from, int64_t to)
{
    int64_t level = 0;
    while (level < shape->levels - 1 && from / shape->reach[level] != to / shape->reach[level]) {
        level++;
    }
    return shape->latency_ps[level];
}

static int64_t serial_of(const dvsim_ports *shape, int64_t port, int64_t bytes)
{
    const int64_t byte_fs = shape->own_fs ? shape->own_fs[port] : shape->byte_fs;
    int64_t units = bytes / shape->unit_bytes + (bytes % shape->unit_bytes || !bytes);
    return cost_of(units * shape->unit_bytes, byte_fs);
}

static int ports_send(void *self, const dvsim_message *message, int64_t time_ps)
{
    ports *all = self;
    int64_t from = message->from, to = message->to;
    if (from < 0 || to < 0 || from >= all->shape.ports || to >= all->shape.ports) {
        return DVSIM_EINVAL;
    }
    int64_t begin = time_ps > all->out[from] ? time_ps : all->out[from];
    if (begin > DVSIM_LATEST) {
        return DVSIM_ERANGE;
    }
    if (!all->free && grow(all)) {
        return DVSIM_ENOMEM;
    }
    int64_t serial = serial_of(&all->shape, from, message->bytes), latency = latency_of(&all->shape, from, to);
    all->out[from] = begin + serial;
    int32_t place = all->unused[--all->free];
    all->flights[place] = (flight){message->id, latency, serial,       message->bytes, begin + latency + serial,
                                   (int32_t)to, false};
    return heap_push(&all->heap, (event){begin + latency, all->order++, place});
}

static int64_t ports_next(void *self)
{
    ports *all = self;
    return all->heap.count ? all->heap.at[0].time : DVSIM_NEVER;
}

static int64_t ports_advance(void *self, int64_t until_ps, dvsim_arrival *arrivals, int64_t room)
{
    ports *all = self;
    while (room > 0 && all->heap.count && all->heap.at[0].time <= until_ps) {
        event one = heap_pop(&all->heap);
        flight *message = &all->flights[one.what];
        if (message->entered) {
            arrivals[0] = (dvsim_arrival){message->id, one.time, message->latency_ps, message->serial_ps};
            all->unused[all->free++] = (int32_t)one.what;
            return 1;
        }
        int64_t *port = &all->in[message->to];
        int64_t serial = serial_of(&all->shape, message->to, message->bytes);
        int64_t whole = one.time > *port ? one.time : *port;
        if (whole > DVSIM_LATEST) {
            return DVSIM_ERANGE;
        }
        whole += serial;
        *port = whole > message->last_ps ? whole : message->last_ps;
        message->serial_ps = serial > message->serial_ps ? serial : message->serial_ps;
        message->entered = true;
        if (heap_push(&all->heap, (event){*port, one.order, one.what})) {
            return DVSIM_ENOMEM;
        }
    }
    return 0;
}

static bool good(const dvsim_ports *shape)
{
    bool found = shape->ports >= 1 && shape->ports <= MOST_PORTS && shape->byte_fs >= 0 && shape->unit_bytes >= 1 &&
                 shape->levels >= 1 && shape->levels <= DVSIM_PORT_LEVELS;
    for (int64_t port = 0; found && shape->own_fs && port < shape->ports; port++) {
        found = shape->own_fs[port] >= 0;
    }
    for (int64_t level = 0; found && level < shape->levels; level++) {
        found = shape->reach[level] >= 1 && shape->latency_ps[level] >= 0;
    }
    return found;
}

int dvsim_ports_create(const dvsim_ports *shape, dvsim_fabric *fabric)
{
    if (!good(shape)) {
        return DVSIM_EINVAL;
    }
    ports *all = calloc(1, sizeof *all);
    if (!all) {
        return DVSIM_ENOMEM;
    }
    *fabric = (dvsim_fabric){all, ports_send, ports_next, ports_advance};
    all->shape = *shape;
    if (shape->own_fs) {
        int64_t *own = malloc((size_t)shape->ports * sizeof *own);
        all->shape.own_fs = own;
        for (int64_t port = 0; own && port < shape->ports; port++) {
            own[port] = shape->own_fs[port];
        }
    }
    all->out = calloc((size_t)shape->ports, sizeof *all->out);
    all->in = calloc((size_t)shape->ports, sizeof *all->in);
    if (!all->out || !all->in || (shape->own_fs && !all->shape.own_fs)) {
        dvsim_ports_free(fabric);
        return DVSIM_ENOMEM;
    }
    return DVSIM_OK;
}

void dvsim_ports_free(dvsim_fabric *fabric)
{
    ports *all = fabric->self;
    if (all) {
        free((void *)(uintptr_t)all->shape.own_fs);
        free(all->out);
        free(all->in);
        free(all->flights);
        free(all->unused);
        free(all->heap.at);
        free(all);
    }
    fabric->self = NULL;
}
