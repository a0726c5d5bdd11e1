/* slab.h: handles of one kind, at addresses that are given once.
 *
 * What is known of a handle, in here or by the program, is known of one opening, because no other opening ever has
 * its address. A handle that was given back can still be read and written, and reads as 0 sooner or later: a call with
 * it finds it closed if 0 stands for that. Its memory goes back to the system page by page.
 */
#ifndef VIC_SLAB_H
#define VIC_SLAB_H

#include <pthread.h>
#include <stddef.h>

enum { SLAB_LINE = 64 };

struct slab {
    size_t bytes; /* of a handle */
    pthread_mutex_t lock; /* of what follows */
    struct slab_chunk *chunks;
    unsigned char *next, *page_end, *chunk_end; /* the next handle, the ends of its page and of its chunk */
};

#define SLAB_OF(type)                                                                                       \
    {.bytes = (sizeof(type) + SLAB_LINE - 1) / SLAB_LINE * SLAB_LINE, .lock = PTHREAD_MUTEX_INITIALIZER}

/* A new handle, all 0. NULL: no memory. */
void *slab_take(struct slab *slab);

/* Give back a handle. Its state is 0, and calls on it, if any, use nothing but that. */
void slab_give(struct slab *slab, void *handle);

/* For a fork: no handle is taken or given back between hold and release; in the child all handles of the parent read as
 * 0. */
void slab_hold(struct slab *slab);
void slab_release(struct slab *slab);
void slab_forget(struct slab *slab);

#endif
