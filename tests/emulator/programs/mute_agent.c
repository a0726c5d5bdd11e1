/* Preloaded into vichost: its agent stops for good before it has sent anything, while the main thread goes on. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The agent calls this when nothing moves, and sends its first sign of life a millisecond later; so do libraries when
 * they are loaded. */
__attribute__((visibility("default"))) int sched_yield(void)
{
    while (syscall(SYS_gettid) != getpid()) {
        pause();
    }
    return 0;
}
