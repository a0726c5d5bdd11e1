/* Which provider is behind which mode. */
#include "provider.h"

/* Indexed by mode. Another provider is another line. */
static const struct provider *const providers[] = {
    &functional_provider,
    &timed_provider,
};

const struct provider *provider_of(uint32_t mode)
{
    return mode < sizeof providers / sizeof *providers ? providers[mode] : NULL;
}
