/* Do programs of older and newer headers have what they know of a struct, and does a peer with another config hear of
 * it? Two cards. */
#include <vic_client.h>

#include "message.h"

struct older {
    uint32_t card, cards, sram_words;
};
struct newer {
    struct vic_attr known;
    uint32_t unknown;
};
struct newer_config {
    struct vic_message_config known;
    uint64_t unknown;
};

static void attributes(const struct self *self)
{
    struct older older[2] = {{0}, {77, 78, 79}};
    struct newer newer = {.unknown = 5};
    OK(vic_query_attr_sized(sizeof *older, self->card, (struct vic_attr *)older));
    CHECK(older[0].card == self->me && older[0].sram_words == self->attr.sram_words && older[1].card == 77);
    OK(vic_query_attr_sized(sizeof newer, self->card, &newer.known));
    CHECK(newer.known.mode == self->attr.mode && newer.known.cards == self->cards && newer.unknown == 0);
    IS(vic_query_attr_sized(sizeof newer, self->card, NULL), VIC_EINVAL);
    struct vic_attr old_name;
    OK((vic_query_attr)(self->card, &old_name));
    CHECK(memcmp(&old_name, &self->attr, sizeof old_name) == 0);
}

static void configs(const struct self *self)
{
    vic_message_t *messages;
    struct newer_config newer = {{1000, 1024, 0}, 1};
    size_t max_bytes = 100;
    unsigned char data[101] = {0};
    IS(vic_message_open_sized(sizeof newer, self->card, &newer.known, &messages), VIC_EINVAL);
    CHECK(strstr(vic_error_detail(), "something is set behind") != NULL);
    newer.unknown = 0;
    OK(vic_message_open_sized(sizeof newer, self->card, &newer.known, &messages));
    OK(vic_message_close(messages));
    IS(vic_message_open_sized(0, self->card, &newer.known, &messages), VIC_EINVAL);
    OK(vic_message_open_sized(sizeof max_bytes, self->card, (void *)&max_bytes, &messages)); /* no windows were known */
    IS(vic_message_send(messages, self->me, data, 101, 0), VIC_EINVAL);
    OK(vic_message_close(messages));
    vic_client_t *client;
    OK((vic_message_open)(self->card, NULL, &messages));
    OK(vic_message_close(messages));
    OK((vic_client_open)(self->card, NULL, NULL, &client));
    OK(vic_client_close(client));
    OK(vic_client_open_sized(8, 8, self->card, &(struct vic_message_config){1000, 0, 0},
                             &(struct vic_client_config){5, 0, 99}, &client)); /* flags were not known */
    OK(vic_client_close(client));
}

/* Each of them has another config: both are told. */
static void strangers(const struct self *self)
{
    const struct vic_message_config config = {.max_bytes = self->me == 0 ? 1000 : 2000, .window_bytes = 1024};
    vic_message_t *messages;
    OK(vic_message_open(self->card, &config, &messages));
    OK(vic_barrier(self->card, LONG));
    IS(vic_message_send(messages, 1 - self->me, "a", 1, LONG), VIC_EINVAL);
    char expected[200];
    snprintf(expected, sizeof expected, "card %u has messages open with max_bytes %d, window_bytes 1024,", 1 - self->me,
             self->me == 0 ? 2000 : 1000);
    CHECK(strncmp(vic_error_detail(), expected, strlen(expected)) == 0);
    OK(vic_message_send(messages, self->me, "a", 1, LONG)); /* to itself */
    OK(vic_barrier(self->card, LONG));
    IS(vic_message_close(messages), VIC_OK);
}

/* What a card said that has closed is no greeting any more. */
static void again(const struct self *self)
{
    const struct vic_message_config config = {.max_bytes = 3000, .window_bytes = 1024};
    vic_message_t *messages;
    unsigned char data[8];
    size_t bytes;
    if (self->me == 1) {
        OK(vic_message_open(self->card, &config, &messages));
        IS(vic_message_send(messages, 0, "b", 1, 200 * 1000 * 1000), VIC_ETIMEDOUT);
        OK(vic_barrier(self->card, LONG));
        OK(vic_message_send(messages, 0, "b", 1, LONG));
    } else {
        OK(vic_barrier(self->card, LONG));
        OK(vic_message_open(self->card, &config, &messages));
        OK(vic_message_recv(messages, NULL, data, 8, &bytes, LONG));
        CHECK(bytes == 1 && data[0] == 'b');
    }
    OK(vic_message_flush(messages, LONG));
    OK(vic_barrier(self->card, LONG)); /* the end of a program ends the waits of others */
    OK(vic_message_close(messages));
}

void run(const struct self *self)
{
    attributes(self);
    configs(self);
    OK(vic_barrier(self->card, LONG));
    strangers(self);
    OK(vic_barrier(self->card, LONG));
    again(self);
}
