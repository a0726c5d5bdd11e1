/* check.c: which parameters make a switch, and how much memory it takes. */
#include "vortex/switch.h"

/* Where slices are faster than words, of `carried`: nodes of a cylinder, and switches side by side. Nodes of a cylinder of
 * slices for which a thread is worth its start. */
enum { LEAST_NODES = 1024, LEAST_CARRIED = 32, LEAST_OF_THREAD = 1024 };

static int good_shape(const dvsim_vortex_params *p)
{
    if (!dvsim_is_size(p->height, p->angles) || p->replications < 1 ||
        p->replications > DVSIM_MOST_LANES / p->angles || p->injecting == NULL) {
        return 0;
    }
    int inputs = 0;
    for (int64_t a = 0; a < p->angles; a++) {
        if (p->injecting[a] > 1) {
            return 0;
        }
        inputs += p->injecting[a];
    }
    return inputs > 0 && p->crossing >= 0 && p->crossing <= DVSIM_CROSS_RANDOM && p->exit_rule >= 0 &&
           p->exit_rule <= DVSIM_EXIT_ANY && p->injection >= 0 && p->injection <= DVSIM_INJECT_CARRIED && p->layout >= 0 && p->layout <= DVSIM_LAYOUT_SLICES;
}

/* Outputs: with exit `any` the angle of an address is 0. */
int dvsim_is_address(const dvsim_vortex_params *p, int64_t to)
{
    return to >= 0 && to < (p->exit_rule == DVSIM_EXIT_ANY ? 1 : p->angles) * p->height;
}

dvsim_traffic dvsim_traffic_of(const dvsim_vortex_params *p)
{
    const int angle = p->exit_rule == DVSIM_EXIT_ANGLE; /* a permutation keeps the angle */
    const uint64_t height = (uint64_t)p->height, ports = height * (uint64_t)p->angles;
    return (dvsim_traffic){
        .ports = ports,
        .outputs = angle ? ports : height,
        .arrival_threshold = p->arrival_threshold,
        .destination = p->destination,
        .index = height - 1,
        .kept = angle ? ~(height - 1) : 0,
        .hot_threshold = p->hot_threshold,
        .hot = p->hot,
        .hots = p->hots,
        .burst_slots = p->burst_slots,
        .burst_threshold = p->burst_threshold,
        .trace_start = p->trace_start,
        .trace_slot = p->trace_slot,
        .trace_to = p->trace_to,
    };
}

static int good_traffic(const dvsim_vortex_params *p)
{
    const dvsim_traffic t = dvsim_traffic_of(p);
    for (int64_t u = 0; p->destination != NULL && u < p->height; u++) {
        if (p->destination[u] >= p->height) {
            return 0;
        }
    }
    return (p->trace_start == NULL || p->trace_start[0] == 0) && dvsim_traffic_is_good(&t);
}

static int good_faults(const dvsim_vortex_params *p)
{
    if (p->fault_count < 0 || (p->fault_count > 0 && p->faults == NULL) || p->watched < 0) {
        return 0;
    }
    for (int64_t i = 0; i < p->fault_count; i++) {
        const dvsim_fault *f = &p->faults[i];
        if (f->kind < DVSIM_FAULT_NODE || f->kind > DVSIM_FAULT_FREE || (f->kind & (f->kind - 1)) != 0 ||
            f->cylinder < 0 || f->cylinder > dvsim_bits(p->height) || f->angle < 0 || f->angle >= p->angles ||
            f->height < 0 || f->height >= p->height) {
            return 0;
        }
    }
    return 1;
}

int dvsim_is_packetwise(const dvsim_vortex_params *p)
{
    return p->fault_count > 0 || p->watched > 0 || p->injection == DVSIM_INJECT_GIVEN;
}

/* Slices are read as words that begin at any byte. */
int dvsim_is_sliced(const dvsim_vortex_params *p)
{
    const int little = (const union { uint16_t two; uint8_t one; }){.two = 1}.one;
    const int carried = p->injection == DVSIM_INJECT_CARRIED;
    const int large = !carried || (p->height * p->angles * p->replications >= LEAST_NODES &&
                                   p->replications >= LEAST_CARRIED);
    return little && (p->layout == DVSIM_LAYOUT_SLICES || (p->layout == DVSIM_LAYOUT_BEST && large)) &&
           (p->injection == DVSIM_INJECT_DROP || carried) && p->crossing != DVSIM_CROSS_RANDOM &&
           !dvsim_is_packetwise(p);
}

int dvsim_is_drawn(const dvsim_vortex_params *p)
{
    return p->injection == DVSIM_INJECT_DROP && p->trace_start == NULL && p->burst_slots == 0 &&
           p->destination == NULL && p->hots == 0;
}

int dvsim_enters_drawn(const dvsim_vortex_params *p)
{
    return dvsim_is_drawn(p) && !dvsim_is_sliced(p) && !dvsim_is_packetwise(p);
}

int dvsim_has_queues(const dvsim_vortex_params *p)
{
    return p->injection == DVSIM_INJECT_QUEUE || p->injection == DVSIM_INJECT_SATURATE;
}

int64_t dvsim_threads_of(const dvsim_vortex_params *p, int64_t threads)
{
    const int64_t columns = p->angles * p->replications, worth = p->height * columns / LEAST_OF_THREAD;
    const int small = p->layout == DVSIM_LAYOUT_BEST && dvsim_is_sliced(p) && worth < columns;
    const int64_t most = dvsim_is_packetwise(p) ? 1 : small ? worth : columns;
    return most < 1 ? 1 : threads < most ? threads : most;
}

int dvsim_is_good(const dvsim_vortex_params *p, int64_t threads)
{
    return p != NULL && threads >= 1 && threads <= DVSIM_MOST_THREADS && good_shape(p) && good_traffic(p) &&
           good_faults(p) && (!dvsim_is_packetwise(p) || p->replications == 1) &&
           (p->injection != DVSIM_INJECT_CARRIED || (threads == 1 && !dvsim_is_packetwise(p)));
}

int64_t dvsim_vortex_bytes(const dvsim_vortex_params *p, int64_t threads)
{
    if (!dvsim_is_good(p, threads)) {
        return -1;
    }
    const int64_t ports = p->height * p->angles * p->replications, cylinders = dvsim_bits(p->height) + 1;
    const int64_t parts = dvsim_threads_of(p, threads);
    const int64_t of_lane = p->injection == DVSIM_INJECT_CARRIED ? 8 : 64;
    int64_t bytes = p->angles * p->replications * of_lane + parts * (p->height * 8 + (int64_t)sizeof(dvsim_shard));
    if (p->crossing == DVSIM_CROSS_RANDOM) {
        bytes += dvsim_frame_entries(dvsim_bits(p->height)) * (int64_t)sizeof(dvsim_cycle);
    }
    if (!dvsim_is_sliced(p)) {
        bytes += ports * 8 * cylinders;
    }
    if (p->injection == DVSIM_INJECT_CARRIED) {
        return bytes + DVSIM_MATCHES * (int64_t)sizeof(dvsim_left) + (dvsim_is_sliced(p) ? dvsim_pools_bytes(p) : 0) +
               dvsim_sparse_bytes(p, p->angles * p->replications);
    }
    for (int64_t i = 0, first = 0; i < parts; i++) {
        const int64_t lanes = (p->angles * p->replications - first) / (parts - i);
        bytes += dvsim_is_sliced(p) ? dvsim_slices_bytes(p, lanes) : 0;
        bytes += dvsim_enters_drawn(p) ? dvsim_drawn_bytes(p, lanes) : 0;
        first += lanes;
    }
    bytes += ports * (48 * parts + 32); /* counts per port */
    if (dvsim_has_queues(p)) {
        bytes += ports * 16;
    }
    if (dvsim_is_packetwise(p)) {
        bytes += ports * (17 * cylinders + 48); /* names, handles, faults; what the caller gives */
    }
    if (p->trace_start != NULL) {
        bytes += (p->height * p->angles + 1) * 8 + p->trace_start[p->height * p->angles] * 12;
    }
    return bytes + (p->destination != NULL ? p->height * 4 : 0) + p->hots * 4;
}
