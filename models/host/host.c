/* Buffers in node memory that threads drain: how much of a burst they take. */
#include "host/host.h"

#include <stddef.h>

int dvsim_host_init(dvsim_host *host, int64_t buffer_bytes, int64_t buffers, int64_t threads,
                    int64_t message_words)
{
    if (host == NULL || buffer_bytes < 0 || buffer_bytes > INT64_C(1) << 50 || buffers < 1 || threads < 1 ||
        threads > INT64_C(1) << 50 || message_words < 1 || message_words > INT64_C(1) << 50) {
        return DVSIM_EINVAL;
    }
    *host = (dvsim_host){
        .slots = buffer_bytes / (message_words * DVSIM_WORD_BYTES),
        .buffers = buffers,
        .reserve = threads,
    };
    return DVSIM_OK;
}

int64_t dvsim_host_room(const dvsim_host *host)
{
    return host->slots + host->reserve;
}

/* Messages of a burst that `room` places take: after t there have been t / arrival of them, and from
 * wait on one has left every drain. */
static double taken_by(double room, const dvsim_flow *f, double offered)
{
    const double arrival = (double)f->arrival_ps, drain = (double)f->drain_ps, wait = (double)f->wait_ps;
    if (room * arrival <= wait) { /* full before the threads come to this buffer */
        return room;
    }
    if (arrival >= drain) { /* from then on it only gets emptier */
        return offered;
    }
    return (room - wait / drain) * drain / (drain - arrival);
}

int64_t dvsim_host_fill(dvsim_host *host, int64_t offered, const dvsim_flow *flow)
{
    if (host == NULL || flow == NULL || offered < 1 || flow->arrival_ps < 0 || flow->drain_ps < 0 ||
        flow->wait_ps < 0 || flow->stop_ppm < 0) {
        return DVSIM_EINVAL;
    }
    if (host->in_use >= host->buffers) {
        return DVSIM_ESTATE;
    }
    double stop = (double)dvsim_host_room(host) * (double)flow->stop_ppm / 1e6;
    double most = taken_by(stop, flow, (double)offered) + 0.5;
    int64_t taken = most < (double)offered ? (int64_t)most : offered;
    if (taken < 1) {
        taken = 1;
    }
    host->in_use++;
    host->windows++;
    host->overruns += taken < offered;
    host->held += taken;
    host->filled += taken;
    return taken;
}

int dvsim_host_drain(dvsim_host *host, int64_t messages)
{
    if (host == NULL || messages < 1 || messages > host->held || host->in_use < 1) {
        return DVSIM_ESTATE;
    }
    host->in_use--;
    host->held -= messages;
    host->drained += messages;
    return DVSIM_OK;
}

int dvsim_host_check(const dvsim_host *host)
{
    return host->held >= 0 && host->in_use >= 0 && host->in_use <= host->buffers &&
           host->filled == host->drained + host->held;
}
