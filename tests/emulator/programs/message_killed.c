/* Card 1 is killed while it has messages for others and of others: what came is received, then all are told. */
#include "message.h"

void run(const struct self *self)
{
    vic_message_t *messages = open_messages(self, 512, 1000);
    unsigned char data[100] = {0};
    size_t bytes;
    int status;
    if (self->me == 1) {
        for (uint32_t i = 0; i < 3; i++) {
            OK(vic_message_send(messages, 0, data, sizeof data, LONG));
        }
        vic_counter_set(self->card, 30, 1);
        vic_counter_wait(self->card, 30, VIC_FOREVER);
        return;
    }
    OK(vic_message_send(messages, 1, data, sizeof data, LONG)); /* which it never takes */
    if (self->me == 0) {
        while (vic_counter_wait(self->card, 40, 0) != VIC_EPEER) { /* it is dead */
            OK(vic_counter_set(self->card, 40, 1));
            vic_relax(self->card);
        }
        for (uint32_t i = 0; i < 3; i++) {
            OK(vic_message_recv(messages, NULL, data, sizeof data, &bytes, LONG));
        }
    }
    IS(vic_message_recv(messages, NULL, data, sizeof data, &bytes, VIC_FOREVER), VIC_EPEER);
    do { /* as long as there is credit */
        status = vic_message_send(messages, 1, data, sizeof data, VIC_FOREVER);
    } while (status == VIC_OK);
    IS(status, VIC_EPEER);
    IS(vic_message_flush(messages, VIC_FOREVER), VIC_EPEER);
    OK(vic_message_close(messages));
}
