/* A card writes over the counts of its own FIFO, in the memory of the job, while another one sends to it: the
 * sender has to wait, not to spin, and so hears when the first one is killed. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>

#include "harness.h"
#include "job.h"

int main(void)
{
    vic_t *card;
    int fd;
    unsigned long long nonce;
    const char *why;
    OK(vic_open(&card));
    struct self self = self_of(card);
    CHECK(sscanf(getenv("VIC_JOB"), "%d:%llx", &fd, &nonce) == 2);
    struct job *job = job_attach(fd, nonce, &why);
    CHECK(job != NULL);
    uint64_t word = 1, tell = vic_header(1, VIC_COUNTER_SET, 0, 0), none = 0;
    uint64_t packet = vic_header(1, VIC_FIFO, 0, VIC_NO_COUNTER);
    for (uint32_t i = 0; self.me == 0 && i < self.attr.fifo_words; i++) { /* it is full: the counts are looked at */
        OK(vic_send(card, &packet, &word, 1));
    }
    OK(vic_barrier(card, LONG));
    if (self.me == 1) {
        OK(vic_counter_set(card, 0, 1));
        atomic_store(&job->card[1].fifo_head, atomic_load(&job->card[1].fifo_tail) + 1); /* more taken than came */
        OK(vic_barrier(card, LONG));
        int64_t left = 1;
        while (left != 0) { /* the sender is about to send */
            vic_relax(card);
            OK(vic_counter_get(card, 0, &left));
        }
        raise(SIGKILL);
    }
    OK(vic_barrier(card, LONG));
    OK(vic_send(card, &tell, &none, 1));
    IS(vic_send(card, &packet, &word, 1), VIC_EPEER);
    puts("heard");
    return 0;
}
