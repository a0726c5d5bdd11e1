/* from.h: vic_message_recv of one card's messages only, for the client, which has to reach confirms behind what others
 * send. */
#ifndef MESSAGE_FROM_H
#define MESSAGE_FROM_H

#include "vic_message.h"

#define MESSAGE_ANY UINT32_MAX

/* As vic_message_recv, but of card `only`, unless that is MESSAGE_ANY. Those of the others stay where they are, or in the
 * memory for messages that came during a send. */
int message_recv_from(vic_message_t *messages, uint32_t only, uint32_t *src, void *data, size_t capacity, size_t *bytes,
                      uint64_t timeout_ns);

#endif
