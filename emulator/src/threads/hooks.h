/* hooks.h: how timed mode learns of threads before they first call the library.
 *
 * libvic-threads.so is loaded before everything else into the programs of a timed job (LD_PRELOAD, set by the launcher).
 * It stands in for pthread_create and pthread_join, and has this variable; libvic, which looks for it when a card is
 * opened, fills it. Without it timed mode works, but the order of threads is that in which they come.
 */
#ifndef VIC_THREADS_HOOKS_H
#define VIC_THREADS_HOOKS_H

#define VIC_THREAD_HOOKS "vic_thread_hooks"

struct thread_hooks {
    void *(*begins)(void);        /* before a thread is made, by its maker: a record of it, or NULL */
    void (*runs)(void *record);   /* in it, before its program: returns when it is its turn */
    void (*failed)(void *record); /* it could not be made */
    void (*joins)(void *record);  /* another thread is going to join it: returns when it has ended */
};

#endif
