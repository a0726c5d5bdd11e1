/* --check: a packet came to a counter before that was preset, or to one that is not for programs. */
#include <stdio.h>

#include "cancel.h"
#include "job.h"

void check_report(const struct job *job, uint32_t card, unsigned counter, int64_t read, uint32_t from)
{
    if (counter == SCRATCH || atomic_exchange(&job->card[card].counter[counter].reported, 1) != 0) {
        return;
    }
    int before = cancel_off(); /* the thread may hold a lock */
    if (counter < FIRST_RESERVED) {
        fprintf(stderr,
                "vic: check: card %u: counter %u read %lld when a packet of card %u came: it was not preset "
                "yet, or is preset to less than what is sent\n",
                card, counter, (long long)read, from);
    } else {
        fprintf(stderr,
                "vic: check: card %u: counter %u belongs to vic_barrier, and card %u uses it: on hardware a barrier "
                "would break; vic_counter_alloc gives others\n",
                card, counter, from);
    }
    cancel_back(before);
}
