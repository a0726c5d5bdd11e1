/* The constants of vic.h and vic_message.h as text, and by name. */
#include <string.h>

#include "vic_message.h"

struct status {
    int number;
    const char *text;
};

static const struct status statuses[] = {
    {VIC_OK, "good"},
    {VIC_EINVAL, "an argument is NULL or makes no sense (VIC_EINVAL)"},
    {VIC_ETIMEDOUT, "the wait timed out (VIC_ETIMEDOUT)"},
    {VIC_EBUSY, "the card is open already (VIC_EBUSY)"},
    {VIC_ENOSPC, "no room in SRAM, counters or DMA table (VIC_ENOSPC)"},
    {VIC_EPEER, "a card of the job died (VIC_EPEER)"},
    {VIC_ECLOSED, "the card is closed, or the job has ended (VIC_ECLOSED)"},
    {VIC_ENOJOB, "VIC_JOB names no job that can be joined (VIC_ENOJOB)"},
    {VIC_ESYS, "the operating system refused something, most likely memory (VIC_ESYS)"},
    {VIC_ERANGE, "no such card, counter or SRAM word (VIC_ERANGE)"},
};

const char *vic_strerror(int status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        if (statuses[i].number == status) {
            return statuses[i].text;
        }
    }
    return "no status of vic.h";
}

const char *vic_version(void)
{
    return VIC_VERSION;
}

struct constant {
    const char *name;
    int64_t value;
};

#define CONSTANT(name) {#name, (int64_t)name}

static const struct constant constants[] = {
    CONSTANT(VIC_FOREVER),   CONSTANT(VIC_OK),          CONSTANT(VIC_EINVAL),     CONSTANT(VIC_ETIMEDOUT),
    CONSTANT(VIC_EBUSY),     CONSTANT(VIC_ENOSPC),      CONSTANT(VIC_EPEER),      CONSTANT(VIC_ECLOSED),
    CONSTANT(VIC_ENOJOB),    CONSTANT(VIC_ESYS),        CONSTANT(VIC_ERANGE),     CONSTANT(VIC_WRITE),
    CONSTANT(VIC_FIFO),      CONSTANT(VIC_QUERY),       CONSTANT(VIC_COUNTER_SET), CONSTANT(VIC_COUNTER_ADD),
    CONSTANT(VIC_NO_COUNTER), CONSTANT(VIC_MESSAGE_ORDERED),
};

int vic_constant(const char *name, int64_t *value)
{
    if (name == NULL || value == NULL) {
        return VIC_EINVAL;
    }
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        if (strcmp(constants[i].name, name) == 0) {
            *value = constants[i].value;
            return VIC_OK;
        }
    }
    return VIC_EINVAL;
}
