/* Cards come to a barrier at different times, and hear of its end at different times. Their programs end at once, or long
 * after they have closed their cards: that must not change when card 0 hears of it, which is slow on this machine.
 *
 * SEED: of how long each card computes before; LINGERS_MS: how long its program goes on after it has closed its card.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "harness.h"

enum { MS = 1000 * 1000, SLOW_MS = 50 };

static long linger_ns;
static bool is_slow;

/* In place of libc's, for the library: a card that goes on sleeps first. */
long syscall(long number, ...)
{
    long argument[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) {
        argument[i] = va_arg(list, long);
    }
    va_end(list);
    long (*real)(long, ...);
    *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    long result = real(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
    if (is_slow && number == SYS_futex) {
        pause_ns(SLOW_MS * MS);
    }
    return result;
}

static void linger(void)
{
    pause_ns(linger_ns);
}

void run(const struct self *self)
{
    uint64_t random = (uint64_t)atol(getenv("SEED")) << 32 | self->me;
    vic_compute_ns(self->card, draw(&random) % 2000);
    linger_ns = self->me != 0 ? atol(getenv("LINGERS_MS")) * MS : 0;
    atexit(linger);
    is_slow = self->me == 0;
    OK(vic_barrier(self->card, LONG));
    is_slow = false;
}
