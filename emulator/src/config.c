/* What a job may be: the usual sizes, and what is wrong with others. */
#include "job.h"

const struct job_config job_usual = {
    .cards = 1,
    .sram_words = MOST_SRAM,
    .counters = COUNTERS,
    .fifo_words = 4096,
    .dma_entries = 8192,
    .dma_setup_ns = 1000,
    .pcie_rate = UINT64_C(7880000000),
    .dma_slow = 1,
    .seed = 1,
    .model = {.crossing_ps = 400000,
              .load_ps = 1000000,
              .look_ps = 50000,
              .pop_ps = 10000,
              .setup_ps = 1000000,
              .store_rate = 500000000,
              .port_rate = INT64_C(4400000000),
              .link_ps = 20000,
              .send_words = 4096,
              .planes = 16,
              .angles = 6},
};

static bool is_share(double value)
{
    return value >= 0 && value <= 1; /* not for NaN */
}

static bool within(int64_t value, int64_t least, int64_t most)
{
    return value >= least && value <= most;
}

/* What models/ refuses, in the words of a card. */
static const char *model_fault(const struct job_model *m)
{
    const int64_t second = INT64_C(1000000000000), rate = INT64_C(1000000000000000);
    if (!within(m->crossing_ps, 1000, second) || !within(m->look_ps, 1, second)) {
        return "pio_write must be 1 ns .. 1 s and poll_mirror 1 ps .. 1 s";
    }
    if (!within(m->load_ps, 2 * m->crossing_ps, second)) {
        return "pio_read crosses PCIe twice: it must be at least 2 pio_write, and at most 1 s";
    }
    if (!within(m->pop_ps, 0, second) || !within(m->setup_ps, 0, second) || !within(m->link_ps, 0, second)) {
        return "fifo_pop, dma_setup and link must be 0 .. 1 s";
    }
    if (!within(m->store_rate, 1000, rate) || !within(m->port_rate, 1000, rate)) {
        return "pio_rate and port_rate must be 1 kB/s .. 1e15 B/s";
    }
    if (m->send_words < 1 || m->send_words > 1u << 24) {
        return "send_words must be 1 .. 2^24";
    }
    if (m->planes < 1 || m->planes > 64 || m->angles < 1 || m->angles > 4096) {
        return "planes must be 1 .. 64 and switch_angles 1 .. 4096";
    }
    return NULL;
}

static bool are_events(const struct job_event *event, uint32_t count, uint32_t cards)
{
    for (uint32_t i = 0; i < count && i < JOB_FAULTS; i++) {
        if (event[i].card >= cards) {
            return false;
        }
    }
    return count <= JOB_FAULTS;
}

const char *job_config_fault(const struct job_config *c)
{
    if (c->cards < 1 || c->cards > MOST_CARDS) {
        return "cards must be 1 .. 65536";
    }
    if (c->sram_words < 1 || c->sram_words > MOST_SRAM) {
        return "sram must be 8 B .. 32 MiB: a header addresses 2^22 words";
    }
    if (c->counters < 4 || c->counters > COUNTERS) {
        return "group_counters must be 4 .. 64: three are the barrier's and the scratch counter";
    }
    if (c->fifo_words < 1 || c->fifo_words > 1u << 24) {
        return "fifo_words must be 1 .. 2^24";
    }
    if (c->dma_entries < 1 || c->dma_entries > 1u << 20) {
        return "dma_entries must be 1 .. 2^20";
    }
    if (c->trace_records == 1 || c->trace_records > 1u << 24) {
        return "a trace has 2 .. 2^24 records per card";
    }
    if (!is_share(c->fifo_drop) || !is_share(c->extra_polls) || c->extra_polls > 0.999) {
        return "fifo-drop is a probability, 0 .. 1, and extra-polls one of at most 0.999";
    }
    if (!(c->dma_slow >= 1 && c->dma_slow <= 1e6)) {
        return "dma-slow is a factor, 1 .. 1e6";
    }
    if (c->pcie_rate < 1) {
        return "pcie_rate must be at least 1 B/s";
    }
    if (!are_events(c->stall, c->stalls, c->cards) || !are_events(c->kill, c->kills, c->cards)) {
        return "a fault names a card that the job does not have, or there are more than 16 of a kind";
    }
    if (c->hosts > 1 && (c->here < 1 || c->first > c->cards || c->here > c->cards - c->first)) {
        return "each host of a job over several has cards";
    }
    return c->mode == 1 ? model_fault(&c->model) : NULL;
}
