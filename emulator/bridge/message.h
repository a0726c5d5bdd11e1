/* message.h: a message in host memory, and queues of them. */
#ifndef BRIDGE_MESSAGE_H
#define BRIDGE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What came off the card, in one piece of memory; key and body are parts of data. */
struct message {
    struct message *next;
    size_t capacity; /* of data */
    size_t bytes;    /* that came */
    uint32_t src;
    uint64_t session, id;
    const char *key;
    const unsigned char *body;
    uint32_t key_bytes;
    size_t body_bytes;
    uint64_t published_ns; /* the first time; 0: not yet */
    uint64_t due_ns;       /* not to be published again before */
    uint32_t refusals;     /* how often the broker did not take it */
    bool confirm_wanted, persistent, returned;
    _Alignas(16) unsigned char data[]; /* where words of the card can be put */
};

struct queue {
    struct message *first, *last;
    size_t count;
};

void queue_put(struct queue *queue, struct message *message);
void queue_put_first(struct queue *queue, struct message *message);
struct message *queue_take(struct queue *queue);          /* or NULL */
void queue_join(struct queue *queue, struct queue *more); /* `more` behind, and empty then */
void queue_free(struct queue *queue);                     /* its messages */

/* Memory that is used again and again, from any thread. As much stays as 40 MiB. NULL: no memory. */
struct message *message_new(size_t capacity);
void message_free(struct message *message); /* NULL is good */
void message_free_all(void);                /* what stays */

/* The AMQP message id of a message, ID_BYTES long, and back. */
enum { ID_BYTES = 33 };
void id_write(char *text, uint64_t session, uint64_t id);
bool id_read(const void *text, size_t bytes, uint64_t *session, uint64_t *id);

#endif
