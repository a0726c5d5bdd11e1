/* The clock of vicbridge, thirty times as fast: linked with --wrap=now_ns. */
#include <stdint.h>

uint64_t __real_now_ns(void);
uint64_t __wrap_now_ns(void);

uint64_t __wrap_now_ns(void)
{
    return 30 * __real_now_ns();
}
