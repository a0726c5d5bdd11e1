/* faulty.h: a fabric whose ports lose words, or carry nothing: around any other.
 *
 * Of the words of a message that leaves or enters a port that loses some, each is lost by chance. What was lost is
 * sent again, some time after the rest is there, until nothing is lost; the message has come when all of it has. A
 * port that is dead takes messages and passes on none.
 *
 * Chances are draws at (seed, number of the message, attempt), so that results are the same for the same seed.
 */
#ifndef DVSIM_WORKLOAD_FAULTY_H
#define DVSIM_WORKLOAD_FAULTY_H

#include "workload/fabric.h"

typedef struct {
    const dvsim_fabric *inner; /* outlives this */
    int64_t ports;
    const uint8_t *dead;  /* [ports] 1 if dead; both are copied */
    const double *chance; /* [ports] that a word is lost there, 0 to 0.5 */
    int64_t again_ps;     /* from the loss until the words are sent again, at least 1 */
    uint64_t seed;
} dvsim_faults;

typedef struct {
    int64_t dropped;  /* messages to or from dead ports */
    int64_t lost;     /* words */
    int64_t repeated; /* times that words of a message were sent again */
} dvsim_faulty_counts;

/* Fill a table of functions. DVSIM_EINVAL for numbers out of range, DVSIM_ENOMEM. */
int dvsim_faulty_create(const dvsim_faults *faults, dvsim_fabric *fabric);
void dvsim_faulty_free(dvsim_fabric *fabric);

dvsim_faulty_counts dvsim_faulty_counts_now(const dvsim_fabric *fabric);

#endif
