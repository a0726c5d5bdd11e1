/* Does every word arrive, exactly where it should, and before its counter says so? All cards send to all, by
 * every path, in random pieces and order, round after round. */
#include "harness.h"

enum { WORDS = 192, ROUNDS = 6, PATHS = 4, AREA = 1024 };

static uint64_t word_of(uint32_t from, uint32_t to, unsigned round, size_t i)
{
    uint64_t state = ((uint64_t)from << 40 | (uint64_t)to << 20 | round) * 1000003 + i;
    return draw(&state);
}

static void send_to(const struct self *self, uint32_t to, unsigned round, vic_addr_t base, unsigned counter,
                    uint64_t *random)
{
    uint64_t headers[WORDS], payloads[WORDS];
    unsigned path = (self->me + to + round) % PATHS;
    for (size_t i = 0; i < WORDS; i++) {
        headers[i] = vic_header(to, VIC_WRITE, base + self->me * WORDS + (vic_addr_t)i, counter);
        payloads[i] = word_of(self->me, to, round, i);
    }
    if (path == 0) { /* pieces of any size */
        for (size_t i = 0, n; i < WORDS; i += n) {
            n = 1 + draw(random) % (WORDS - i);
            OK(vic_put(self->card, to, base + self->me * WORDS + (vic_addr_t)i, payloads + i, n, counter));
        }
        return;
    }
    for (size_t i = WORDS; i-- > 1;) { /* any order */
        size_t j = draw(random) % (i + 1);
        uint64_t header = headers[i], payload = payloads[i];
        headers[i] = headers[j], payloads[i] = payloads[j];
        headers[j] = header, payloads[j] = payload;
    }
    if (path == 1) {
        OK(vic_send(self->card, headers, payloads, WORDS));
        return;
    }
    OK(vic_write(self->card, AREA - WORDS, headers, WORDS));
    if (path == 2) {
        OK(vic_send_cached(self->card, AREA - WORDS, payloads, WORDS));
        return;
    }
    vic_dma_t *dma;
    int done = 0;
    OK(vic_dma_send(self->card, AREA - WORDS, payloads, WORDS, &dma));
    OK(vic_dma_test(self->card, dma, &done));
    OK(vic_dma_wait(self->card, &dma, LONG));
    CHECK(dma == NULL);
}

static void check_from(const struct self *self, uint32_t from, unsigned round, vic_addr_t base)
{
    uint64_t words[WORDS];
    if (from % 2 == 0) {
        OK(vic_read(self->card, base + from * WORDS, words, WORDS));
    } else {
        vic_dma_t *dma;
        OK(vic_dma_read(self->card, words, base + from * WORDS, WORDS, &dma));
        OK(vic_dma_wait(self->card, &dma, LONG));
    }
    for (size_t i = 0; i < WORDS; i++) {
        CHECK(words[i] == word_of(from, self->me, round, i));
    }
}

void run(const struct self *self)
{
    uint64_t random = 77 + self->me;
    size_t room = 2 * (size_t)WORDS * self->cards; /* a round writes while the one before is read */
    vic_addr_t head, area;
    OK(vic_alloc(self->card, AREA, &head));
    OK(vic_alloc(self->card, room, &area));
    CHECK(head == 0 && area == AREA);
    OK(vic_counter_set(self->card, 0, (int64_t)WORDS * self->cards));
    OK(vic_counter_set(self->card, 1, (int64_t)WORDS * self->cards));
    OK(vic_barrier(self->card, LONG));
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned counter = round % 2;
        vic_addr_t base = area + counter * WORDS * self->cards;
        for (uint32_t k = 0; k < self->cards; k++) {
            send_to(self, (self->me + k) % self->cards, round, base, counter, &random);
        }
        OK(vic_counter_wait(self->card, counter, LONG));
        for (uint32_t from = 0; from < self->cards; from++) {
            check_from(self, from, round, base);
        }
        OK(vic_counter_set(self->card, counter, (int64_t)WORDS * self->cards));
        OK(vic_barrier(self->card, LONG));
    }
    OK(vic_free(self->card, area));
    OK(vic_free(self->card, head));
}
