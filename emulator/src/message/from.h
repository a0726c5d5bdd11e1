/* from.h: for the client: vic_message_recv of one card's messages only, as it has to reach confirms behind what others send;
 * and vic_message_send of what it asks for, which it does again where that was lost. */
#ifndef MESSAGE_FROM_H
#define MESSAGE_FROM_H

#include "vic_message.h"

#define MESSAGE_ANY UINT32_MAX

/* As vic_message_recv, but of card `only`, unless that is MESSAGE_ANY. Those of the others stay where they are, or in the
 * memory for messages that came during a send. */
int message_recv_from(vic_message_t *messages, uint32_t only, uint32_t *src, void *data, size_t capacity, size_t *bytes,
                      uint64_t timeout_ns);

/* As vic_message_send, but if the peer closes and has received only such, no flush says that messages were lost. */
int message_ask(vic_message_t *messages, uint32_t dest, const void *data, size_t bytes, uint64_t timeout_ns);

#endif
