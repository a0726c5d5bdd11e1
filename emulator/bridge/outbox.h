/* outbox.h: publishes on plain TCP, one behind another, sent together.
 *
 * rabbitmq-c hands each frame to the operating system by itself: three calls for a short message, which cost more
 * than all that is done for it elsewhere. Here it encodes method and properties, and the frames of many
 * messages go in one call. By the 32 and into a socket that is drained, a publish of 8 B takes 0.1 us of processor time,
 * by rabbitmq-c with TCP_CORK 2.9; of 2 KiB 0.5 and 3.0, of 64 KiB 16 and 21. It also waits for ever when a broker takes no more; here that ends with the heartbeats.
 * Over TLS, and for methods and headers of messages of several frames, its own calls are used.
 */
#ifndef BRIDGE_OUTBOX_H
#define BRIDGE_OUTBOX_H

#include "link.h"

struct outbox {
    unsigned char *bytes;
    size_t used;
};

bool outbox_open(struct outbox *outbox); /* false: no memory */
void outbox_close(struct outbox *outbox);

/* Put a message in, whose body fits into one frame; what it points to may be used again when this returns. The
 * connection has room for it and for what is there. A status of rabbitmq-c. */
int outbox_publish(struct outbox *outbox, struct link *link, amqp_channel_t channel,
                   const amqp_basic_publish_t *method, const amqp_basic_properties_t *properties,
                   amqp_bytes_t body);

/* Put a frame of a longer body in; the same. */
int outbox_body(struct outbox *outbox, struct link *link, amqp_channel_t channel, amqp_bytes_t body);

/* Send what is there. */
int outbox_flush(struct outbox *outbox, struct link *link);

#endif
