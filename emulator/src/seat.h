/* seat.h: does the process live that has a card?
 *
 * Who has a card holds a lock on byte 1 + card of the job's memory (fcntl). The kernel gives it back when the process ends,
 * whoever its parent is, also before anybody has waited for it, and tells it in other PID namespaces. A program that closes
 * descriptors which it does not know loses the lock: then its number says that it lives, with the time at which it began,
 * as numbers are used again.
 */
#ifndef VIC_SEAT_H
#define VIC_SEAT_H

#include <sys/types.h>

#include "job.h"

/* This process has just taken the seat; it is about to leave it. */
void seat_lock(const struct job *job, uint32_t card, uint64_t seat);
void seat_unlock(const struct job *job, uint32_t card);

/* Another process has the seat, and lives. */
bool seat_is_held(const struct job *job, uint32_t card, uint64_t seat);

/* False: who has the seat has just taken it, and its number may still be that of a process that has nothing to do with it. */
bool seat_is_known(const struct job *job, uint32_t card, uint64_t seat);

/* Its number as this process sees it; 0: it does not live, or is not seen here. */
pid_t seat_process(const struct job *job, uint32_t card, uint64_t seat);

/* Another process has the lock of the card, as the kernel says: its number, 0 if it cannot be seen from here; -1: nobody. */
pid_t seat_holder(const struct job *job, uint32_t card);

/* What /proc says of a process. False: there is none, or no /proc. */
struct process_stat {
    char state; /* 'Z': it has ended, or its first thread has */
    int parent, threads;
    uint64_t began; /* in ticks of the kernel */
};
bool process_stat(pid_t process, struct process_stat *stat);

#endif
