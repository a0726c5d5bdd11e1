/* Do vic_get, vic_put_strided and vic_put_indexed move what they say, and does vic_try_send never wait? */
#include "harness.h"

enum { N = 700, STRIDE = 3, TABLE = 0, STRIDED = 1024, INDEXED = 4096, GOT = 6144, CHUNK = 16 };

static uint64_t word_of(uint32_t card, uint64_t i)
{
    uint64_t state = (uint64_t)card << 32 | i;
    return draw(&state);
}

static void refuses(const struct self *self)
{
    vic_t *card = self->card;
    uint32_t all = self->attr.sram_words, none = self->cards;
    uint64_t words[2] = {0};
    vic_addr_t addrs[2] = {0, all};
    size_t sent = 7;
    IS(vic_get(NULL, 0, 0, 1, 0, 0), VIC_EINVAL);
    IS(vic_get(card, none, 0, 1, 0, 0), VIC_ERANGE);
    IS(vic_get(card, 0, all - 1, 2, 0, 0), VIC_ERANGE);
    IS(vic_get(card, 0, 0, 2, all - 1, 0), VIC_ERANGE);
    IS(vic_get(card, 0, 0, SIZE_MAX, 0, 0), VIC_ERANGE);
    IS(vic_get(card, 0, 0, 1, 0, 64), VIC_ERANGE);
    OK(vic_get(card, 0, all, 0, all, 0));
    IS(vic_put_strided(NULL, 0, 0, 1, words, 1, 0), VIC_EINVAL);
    IS(vic_put_strided(card, 0, 0, 1, NULL, 1, 0), VIC_EINVAL);
    IS(vic_put_strided(card, none, 0, 1, words, 1, 0), VIC_ERANGE);
    IS(vic_put_strided(card, 0, 0, all, words, 2, 0), VIC_ERANGE);
    IS(vic_put_strided(card, 0, all, 0, words, 2, 0), VIC_ERANGE);
    IS(vic_put_strided(card, 0, 1, SIZE_MAX, words, 2, 0), VIC_ERANGE);
    IS(vic_put_strided(card, 0, 0, 1, words, SIZE_MAX, 0), VIC_ERANGE);
    IS(vic_put_strided(card, 0, 0, 1, words, 1, 64), VIC_ERANGE);
    OK(vic_put_strided(card, 0, all, 1, words, 0, 0));
    IS(vic_try_send(NULL, words, words, 0, &sent), VIC_EINVAL);
    IS(vic_try_send(card, NULL, words, 0, &sent), VIC_EINVAL);
    IS(vic_try_send(card, words, NULL, 0, &sent), VIC_EINVAL);
    IS(vic_try_send(card, words, words, 0, NULL), VIC_EINVAL);
    IS(vic_put_indexed(NULL, 0, NULL, words, 1, 0), VIC_EINVAL);
    IS(vic_put_indexed(card, 0, NULL, words, 1, 0), VIC_EINVAL);
    IS(vic_put_indexed(card, 0, addrs, NULL, 1, 0), VIC_EINVAL);
    IS(vic_put_indexed(card, 0, addrs, words, 2, 0), VIC_ERANGE);
    IS(vic_put_indexed(card, none, addrs, words, 1, 0), VIC_ERANGE);
    IS(vic_put_indexed(card, 0, addrs, words, 1, 64), VIC_ERANGE);
    words[0] = vic_header(none, VIC_FIFO, 0, 0);
    IS(vic_try_send(card, words, words, 1, &sent), VIC_ERANGE);
    CHECK(sent == 0);
    IS(vic_try_send(card, words, words, 1, NULL), VIC_EINVAL);
    sent = 7;
    OK(vic_try_send(card, words, words, 0, &sent));
    CHECK(sent == 0);
}

/* Each card writes to its right neighbour, and fetches what its left one wrote into that. */
static void moves(const struct self *self)
{
    vic_t *card = self->card;
    uint32_t right = (self->me + 1) % self->cards, left = (self->me + self->cards - 1) % self->cards;
    uint64_t words[N], back[N * STRIDE];
    vic_addr_t addrs[N];
    OK(vic_counter_set(card, 0, 2 * N));
    OK(vic_counter_set(card, 1, N));
    OK(vic_counter_set(card, 2, N));
    for (size_t i = 0; i < N; i++) {
        words[i] = word_of(self->me, i);
        addrs[i] = (vic_addr_t)(INDEXED + (i * 37 + 5) % N); /* 37 and N have no factor in common */
    }
    OK(vic_write(card, TABLE, words, N));
    OK(vic_barrier(card, LONG));
    OK(vic_put_strided(card, right, STRIDED, STRIDE, words, N, 0));
    OK(vic_put_indexed(card, right, addrs, words, N, 0));
    OK(vic_put_strided(card, right, 8191, 0, words, N, 1)); /* all of them to one word */
    OK(vic_counter_wait(card, 0, LONG));
    OK(vic_counter_wait(card, 1, LONG));
    OK(vic_read(card, STRIDED, back, N * STRIDE));
    for (size_t i = 0; i < N; i++) {
        CHECK(back[i * STRIDE] == word_of(left, i));
    }
    OK(vic_read(card, INDEXED, back, N));
    for (size_t i = 0; i < N; i++) {
        CHECK(back[addrs[i] - INDEXED] == word_of(left, i));
    }
    OK(vic_barrier(card, LONG));
    OK(vic_get(card, right, TABLE, N, GOT, 2));
    OK(vic_counter_wait(card, 2, LONG));
    OK(vic_read(card, GOT, back, N));
    for (size_t i = 0; i < N; i++) {
        CHECK(back[i] == word_of(right, i));
    }
    OK(vic_barrier(card, LONG));
}

/* More than this card's FIFO holds, to itself: a vic_send would wait for ever. */
static void never_waits(const struct self *self)
{
    vic_t *card = self->card;
    uint64_t headers[CHUNK], words[CHUNK], sum = 0, taken = 0;
    size_t sent, all = 0, n;
    int status;
    for (size_t i = 0; i < CHUNK; i++) {
        headers[i] = vic_header(self->me, VIC_FIFO, 0, VIC_NO_COUNTER);
    }
    do {
        for (size_t i = 0; i < CHUNK; i++) {
            words[i] = all + i;
        }
        status = vic_try_send(card, headers, words, CHUNK, &sent);
        all += sent;
        CHECK(status != VIC_OK || sent == CHUNK);
    } while (status == VIC_OK);
    IS(status, VIC_EAGAIN);
    CHECK(sent < CHUNK && all >= self->attr.fifo_words);
    for (size_t got = 0; got < all; got += n) {
        OK(vic_fifo_wait(card, words, 1, CHUNK, &n, LONG));
        for (size_t i = 0; i < n; i++) {
            sum += words[i];
        }
    }
    CHECK(sum == all * (all - 1) / 2); /* the first ones, each once */
    do { /* there is room again, when the card has noticed */
        vic_relax(card);
        status = vic_try_send(card, headers, words, 1, &sent);
    } while (status == VIC_EAGAIN);
    OK(status);
    OK(vic_fifo_wait(card, &taken, 1, 1, &n, LONG));
    CHECK(taken == words[0]);
    OK(vic_barrier(card, LONG));
}

/* Nobody takes what the FIFO of a card that has ended holds: that is said, not VIC_EAGAIN for ever. */
static void ends(const struct self *self)
{
    uint64_t header = vic_header(1, VIC_FIFO, 0, VIC_NO_COUNTER), word = 1;
    size_t sent;
    int status;
    do {
        vic_relax(self->card);
        status = vic_try_send(self->card, &header, &word, 1, &sent);
    } while (status == VIC_OK || status == VIC_EAGAIN);
    CHECK(status == VIC_EPEER || status == VIC_ECLOSED);
}

void run(const struct self *self)
{
    refuses(self);
    moves(self);
    never_waits(self);
    if (self->cards == 2 && self->me == 0) {
        ends(self);
    }
}
