/* model.h: the job's parameters as models/ wants them. */
#ifndef VIC_TIMED_MODEL_H
#define VIC_TIMED_MODEL_H

#include "host/pcie.h"
#include "job.h"

static inline int64_t fs_per_byte(int64_t bytes_per_s)
{
    return (INT64_C(1000000000000000) + bytes_per_s / 2) / bytes_per_s;
}

static inline dvsim_pcie model_pcie(const struct job_config *config)
{
    const struct job_model *m = &config->model;
    uint64_t rate = config->pcie_rate < INT64_MAX ? config->pcie_rate : INT64_MAX;
    int64_t engine = fs_per_byte((int64_t)rate);
    return (dvsim_pcie){.crossing_ps = m->crossing_ps,
                        .load_ps = m->load_ps,
                        .store_fs = fs_per_byte(m->store_rate),
                        .look_ps = m->look_ps,
                        .pop_ps = m->pop_ps,
                        .setup_ps = m->setup_ps,
                        .engine_fs = engine > 0 ? engine : 1};
}

/* Nothing that a thread does is in its card sooner: stores take a crossing. Less 1 ps, so that what is there a
 * crossing after a time belongs to what is known when all threads have passed that time by 2 ps. */
static inline int64_t model_ahead_ps(const dvsim_pcie *pcie)
{
    return pcie->crossing_ps - 1;
}

/* A word on each plane. */
static inline int64_t model_slot_ps(const struct job_config *config)
{
    const struct job_model *m = &config->model;
    int64_t bytes = (int64_t)m->planes * 8;
    int64_t ps = (bytes * INT64_C(1000000000000) + m->port_rate / 2) / m->port_rate;
    return ps > 0 ? ps : 1;
}

#endif
