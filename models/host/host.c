#include "host/host.h"

#include <stddef.h>

int dvsim_host_init(dvsim_host *host, int64_t buffer_bytes, int64_t buffers, int64_t threads,
                    int64_t message_words)
{
    if (host == NULL || buffer_bytes < 0 || buffers < 1 || threads < 1 || message_words < 1)
        return DVSIM_EINVAL;
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

int64_t dvsim_host_fill(dvsim_host *host, int64_t offered, int64_t stop_ppm)
{
    if (host == NULL || offered < 1 || stop_ppm < 0)
        return DVSIM_EINVAL;
    if (host->in_use >= host->buffers)
        return DVSIM_ESTATE;
    double scaled = (double)dvsim_host_room(host) * (double)stop_ppm;
    int64_t room = (int64_t)((scaled + 5e5) / 1e6);
    if (room < 1)
        room = 1;
    int64_t taken = offered < room ? offered : room;
    host->in_use++;
    host->windows++;
    host->overruns += taken < offered;
    host->held += taken;
    host->filled += taken;
    return taken;
}

int dvsim_host_drain(dvsim_host *host, int64_t messages)
{
    if (host == NULL || messages < 1 || messages > host->held || host->in_use < 1)
        return DVSIM_ESTATE;
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
