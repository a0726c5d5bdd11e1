/* cards.h: several cards of one job in this process, functional mode. A clock of their own makes every run of an
 * input the same: it goes on by 100 ns with each look, and by as much as a target says. */
#ifndef FUZZ_CARDS_H
#define FUZZ_CARDS_H

#include "fuzz.h"
#include "handle.h"

/* Open all cards of a job of this size; what earlier inputs left there is gone. The size is that of the first
 * call. */
struct job *cards_open(const struct job_config *config, vic_t **card);

/* Close them; what a full FIFO holds back is lost. */
void cards_close(vic_t **card);

/* Let all that is held by --reorder arrive, and empty the FIFOs. It is counted when the cards are closed. */
void cards_settle(vic_t **card);

/* The memory of that job: a descriptor. */
int cards_memory(void);

void clock_advance(uint64_t ns);

#endif
