/* Sending without a wait. In a file of its own: deliver_some stays in line where packets are sent as fast as can be. */
#include "functional.h"

int functional_try_send(struct vic *card, const uint64_t *headers, const uint64_t *payloads, size_t n, size_t *sent)
{
    int status = packets_check(card, headers, payloads, n, 0);
    if (status != VIC_OK) {
        return status;
    }
    if (__builtin_expect(card->job->config.reorder != 0, 0)) {
        return pending_try(card, headers, payloads, n, sent);
    }
    pending_progress(card);
    uint32_t full;
    *sent = deliver_some(card, headers, payloads, n, &status, &full);
    if (*sent == n || status != VIC_OK) {
        return status;
    }
    status = fifo_wait_space(card, full, 0);
    return status == VIC_OK || status == VIC_ETIMEDOUT ? fail_as(VIC_EAGAIN) : status;
}
