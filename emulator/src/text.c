/* The constants of the headers as text, and by name. */
#include <string.h>

#include "fail.h"
#include "vic_client.h"
#include "vic_collective.h"

static const char *const statuses[] = {
    [-VIC_OK] = "good",
    [-VIC_EINVAL] = "an argument is NULL or makes no sense (VIC_EINVAL)",
    [-VIC_ETIMEDOUT] = "the wait timed out (VIC_ETIMEDOUT)",
    [-VIC_EBUSY] = "it is in use already: the card, messages on it, or a team (VIC_EBUSY)",
    [-VIC_ENOSPC] = "no room in SRAM, counters, a table or the memory given (VIC_ENOSPC)",
    [-VIC_EPEER] = "a card of the job died or has ended, or all wait for each other (VIC_EPEER)",
    [-VIC_ECLOSED] = "the card is closed, or the job has ended (VIC_ECLOSED)",
    [-VIC_ENOJOB] = "VIC_JOB names no job that can be joined (VIC_ENOJOB)",
    [-VIC_ESYS] = "the operating system refused something, most likely memory (VIC_ESYS)",
    [-VIC_EAGAIN] = "a full FIFO keeps packets from leaving now (VIC_EAGAIN)",
    [-VIC_ERANGE] = "no such card, counter or SRAM word (VIC_ERANGE)",
};
enum { STATUSES = sizeof statuses / sizeof *statuses };

const char *vic_strerror(int status)
{
    return status <= 0 && status > -STATUSES ? statuses[-status] : "no status of vic.h";
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

#define ENVELOPE(name) CONSTANT(VIC_ENVELOPE_##name), CONSTANT(VIC_##name)

static const struct constant constants[] = {
    CONSTANT(VIC_FOREVER), CONSTANT(VIC_OK), CONSTANT(VIC_EINVAL), CONSTANT(VIC_ETIMEDOUT), CONSTANT(VIC_EBUSY),
    CONSTANT(VIC_ENOSPC), CONSTANT(VIC_EPEER), CONSTANT(VIC_ECLOSED), CONSTANT(VIC_ENOJOB), CONSTANT(VIC_ESYS),
    CONSTANT(VIC_ERANGE), CONSTANT(VIC_EAGAIN), CONSTANT(VIC_WRITE), CONSTANT(VIC_FIFO), CONSTANT(VIC_QUERY),
    CONSTANT(VIC_COUNTER_SET), CONSTANT(VIC_COUNTER_ADD), CONSTANT(VIC_NO_COUNTER), CONSTANT(VIC_READY_FIFO),
    CONSTANT(VIC_HEADER_COUNTER_AT), CONSTANT(VIC_HEADER_OP_AT), CONSTANT(VIC_HEADER_DEST_AT),
    CONSTANT(VIC_HEADER_END_AT), CONSTANT(VIC_VERSION_MAJOR), CONSTANT(VIC_VERSION_MINOR),
    CONSTANT(VIC_VERSION_PATCH), CONSTANT(VIC_VERSION_NUMBER), CONSTANT(VIC_MESSAGE_ORDERED),
    CONSTANT(VIC_CLIENT_AT_MOST_ONCE), CONSTANT(VIC_CLIENT_PERSISTENT), CONSTANT(VIC_CLIENT_BRIDGE),
    CONSTANT(VIC_CLIENT_RETURNS), CONSTANT(VIC_ENVELOPE_MOST), ENVELOPE(PUBLISH), ENVELOPE(CONFIRM),
    ENVELOPE(SUBSCRIBE), ENVELOPE(UNSUBSCRIBE), ENVELOPE(REFUSAL), ENVELOPE(DELIVER), ENVELOPE(ACK), ENVELOPE(BIND),
    ENVELOPE(UNBIND), ENVELOPE(TOPIC), ENVELOPE(CONFIRM_WANTED), ENVELOPE(PERSISTENT), ENVELOPE(RETURNED),
    ENVELOPE(REFUSED), ENVELOPE(REDELIVERED), ENVELOPE(REJECTED), ENVELOPE(ASK), ENVELOPE(KEY_MOST),
    CONSTANT(VIC_SUM), CONSTANT(VIC_MIN), CONSTANT(VIC_MAX), CONSTANT(VIC_AND), CONSTANT(VIC_OR), CONSTANT(VIC_XOR),
};

int vic_constant(const char *name, int64_t *value)
{
    if (name == NULL || value == NULL) {
        return fail(VIC_EINVAL, "NULL where it must not be");
    }
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        if (strcmp(constants[i].name, name) == 0) {
            *value = constants[i].value;
            return VIC_OK;
        }
    }
    return fail(VIC_EINVAL, "'%s' is no constant of the headers", name);
}
