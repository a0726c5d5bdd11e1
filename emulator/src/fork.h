/* fork.h: what a child made by fork() finds of its parent's cards: all of them are closed.
 *
 * Locks that one keeps for the whole process are held over the fork, so that the child finds what they protect
 * whole, whatever other threads of the parent were doing. The child forgets what belongs to the parent: it frees
 * none of it, as those other threads may have been at it.
 */
#ifndef VIC_FORK_H
#define VIC_FORK_H

/* Of each file that has such a lock. */
struct fork_part {
    void (*before)(void); /* take it */
    void (*parent)(void); /* give it back */
    void (*child)(void);  /* forget, and give it back */
};

extern const struct fork_part fork_layers, fork_handles, fork_jobs, fork_members, fork_records;

/* From now on; to be called before any of the locks is taken. */
void fork_watch(void);

#endif
