/* Functional mode, card by card: three cards of one job in one process, whose memory is here, so that peers can be
 * what the test wants: gone, full, hostile.
 *
 * Built with emulator/src/job.c and config.c beside libvic. */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

#include "functional/claims.h"
#include "harness.h"
#include "trace.h"

enum { CARDS = 3, WORDS = 8192, DEPTH = 16, MANY = 6000 };

static struct job_config config;
static struct job *job;
static vic_t *card[CARDS];
static uint64_t header[MANY], word[MANY];

/* A new job; its cards are open. */
static void open_cards(void)
{
    static uint64_t nonce = 1;
    char text[64];
    const char *why;
    int memory = job_create(&config, ++nonce);
    CHECK(memory >= 0);
    job = job_attach(memory, nonce, &why);
    CHECK(job != NULL);
    snprintf(text, sizeof text, "%d:%llx", memory, (unsigned long long)nonce);
    setenv("VIC_JOB", text, 1);
    unsetenv("VIC_CARDS"); /* of a launcher, if there is one */
    for (int i = 0; i < CARDS; i++) {
        snprintf(text, sizeof text, "%d", i);
        setenv("VIC_CARD", text, 1);
        OK(vic_open(&card[i]));
    }
}

static void close_cards(void)
{
    for (int i = 0; i < CARDS; i++) {
        OK(vic_close(card[i]));
    }
}

/* As the launcher says it. */
static void ends(int i)
{
    CHECK(seat_leave(&job->card[i], (uint32_t)getpid()));
    atomic_store(&job->card[i].end, CARD_ENDED);
    atomic_fetch_add(&job->shared->ended, 1);
}

static void fill_fifo(int from, int to)
{
    for (int i = 0; i < DEPTH; i++) {
        uint64_t head = vic_header((uint32_t)to, VIC_FIFO, 0, VIC_NO_COUNTER), number = (uint64_t)i;
        OK(vic_send(card[from], &head, &number, 1));
    }
}

/* All the same packet, their payloads 0, 1, 2 ... */
static void prepare(uint32_t to, enum vic_op op, vic_addr_t addr)
{
    for (uint64_t i = 0; i < MANY; i++) {
        header[i] = vic_header(to, op, addr, VIC_NO_COUNTER);
        word[i] = i;
    }
}

/* Take all that was sent, and see that it is whole. */
struct taken {
    vic_t *card;
    uint64_t words;
    bool in_order;
};

static void *take(void *what)
{
    struct taken *taken = what;
    static uint8_t seen[MANY];
    memset(seen, 0, sizeof seen);
    taken->in_order = true;
    for (uint64_t got = 0; got < taken->words;) {
        uint64_t some[DEPTH];
        size_t n;
        OK(vic_fifo_wait(taken->card, some, 1, DEPTH, &n, LONG));
        for (size_t i = 0; i < n; i++, got++) {
            CHECK(some[i] < MANY && seen[some[i]]++ == 0);
            taken->in_order = taken->in_order && some[i] == got;
        }
    }
    return NULL;
}

/* The reply to a query waits for room, too, and is lost with its reader. */
static void reply_to_a_full_fifo(void)
{
    uint64_t query = vic_header(1, VIC_QUERY, 5, VIC_NO_COUNTER), reply = vic_header(2, VIC_FIFO, 0, 4), five = 5;
    uint64_t got[DEPTH + 1];
    size_t n;
    open_cards();
    OK(vic_write(card[1], 5, &five, 1));
    fill_fifo(0, 2);
    OK(vic_fifo_wait(card[2], got, 1, 1, &n, 0));
    OK(vic_send(card[0], &query, &reply, 1));
    ends(2);
    IS(vic_send(card[0], &query, &reply, 1), VIC_EPEER);
    OK(vic_fifo_wait(card[2], got, DEPTH, DEPTH, &n, 0));
    CHECK(n == DEPTH && got[DEPTH - 2] == DEPTH - 1 && got[DEPTH - 1] == 5);
    close_cards();
}

/* Headers can change while they are sent: here the first packet writes over one that follows. */
static void headers_that_change(void)
{
    enum { BAD = 1200, FEW = 2000 };
    int64_t moved;
    vic_dma_t *dma;
    open_cards();
    prepare(0, VIC_WRITE, 0);
    header[0] = vic_header(0, VIC_WRITE, 100 + BAD, 3);
    header[BAD - 1] = vic_header(1, VIC_COUNTER_ADD, 0, 3);
    word[BAD - 1] = 1;
    word[0] = vic_header(CARDS, VIC_WRITE, 0, 0); /* no such card */
    OK(vic_write(card[0], 100, header, FEW));
    IS(vic_dma_send(card[0], 100, word, FEW, &dma), VIC_ERANGE);
    OK(vic_write(card[0], 100, header, FEW));
    IS(vic_send_cached(card[0], 100, word, FEW), VIC_ERANGE);
    OK(vic_counter_get(card[1], 3, &moved)); /* the packet before it of the same block was sent by neither */
    CHECK(moved == 0);
    const uint64_t bad[] = {word[0], vic_header(0, VIC_WRITE, WORDS, 0), vic_header(0, VIC_WRITE, 0, 30),
                            (uint64_t)9 << 28, (uint64_t)1 << 50};
    const int how[] = {VIC_ERANGE, VIC_ERANGE, VIC_ERANGE, VIC_EINVAL, VIC_EINVAL};
    for (int i = 0; i < 5; i++) {
        OK(vic_write(card[0], 100, header, FEW));
        uint64_t *there = (uint64_t *)(void *)(job_sram(job, 0) + 100);
        word[0] = bad[i];
        IS(vic_send(card[0], there, word, FEW), how[i]); /* one array: what comes before it was sent */
        OK(vic_counter_get(card[1], 3, &moved));
        CHECK(moved == i + 1);
    }
    OK(vic_write(card[0], 100, &bad[0], 1)); /* bad from the first: nothing is sent */
    IS(vic_send_cached(card[0], 100, word, FEW), VIC_ERANGE);
    IS(vic_dma_send(card[0], 100, word, FEW, &dma), VIC_ERANGE);
    close_cards();
}

/* A transfer of more packets than are looked at in one go. */
static void long_transfer(void)
{
    pthread_t reader;
    vic_dma_t *dma;
    open_cards();
    struct taken taken = {.card = card[1], .words = MANY};
    prepare(1, VIC_FIFO, 0);
    OK(vic_write(card[0], 0, header, MANY));
    OK(vic_dma_send(card[0], 0, word, MANY, &dma));
    CHECK(pthread_create(&reader, NULL, take, &taken) == 0);
    OK(vic_dma_wait(card[0], &dma, LONG));
    CHECK(pthread_join(reader, NULL) == 0);
    close_cards();
}

/* With --reorder so many packets are held at most; a sender of more waits. */
static void many_out_of_order(void)
{
    pthread_t reader;
    config.reorder = config.reorder_seed = 1;
    open_cards();
    struct taken taken = {.card = card[1], .words = MANY};
    prepare(1, VIC_FIFO, 0);
    CHECK(pthread_create(&reader, NULL, take, &taken) == 0);
    OK(vic_send(card[0], header, word, MANY));
    CHECK(pthread_join(reader, NULL) == 0 && !taken.in_order);
    OK(vic_send(card[0], header, word, 4096));
    ends(1);
    ends(2);
    IS(vic_send(card[0], header, word, MANY), VIC_ECLOSED); /* nobody takes any, the card is alone */
    config.reorder = 0;
    IS(vic_put(card[0], 1, 0, word, MANY, 0), VIC_ECLOSED);
    close_cards();
}

/* A transfer that is slow by a fault needs nobody else. */
static void slow_transfer_of_the_last(void)
{
    vic_dma_t *dma;
    int done;
    config.dma_slow = 20;
    open_cards();
    ends(1);
    ends(2);
    uint64_t before = vic_time_ns(card[0]);
    OK(vic_dma_read(card[0], word, 0, 8, &dma));
    OK(vic_dma_test(card[0], dma, &done));
    OK(vic_dma_wait(card[0], &dma, LONG));
    CHECK(vic_time_ns(card[0]) - before >= 20000 && done == 0);
    config.dma_slow = 1;
    close_cards();
}

struct visit {
    uint64_t timeout_ns;
    int status;
};

static void *visit(void *what)
{
    struct visit *visit = what;
    visit->status = vic_barrier(card[0], visit->timeout_ns);
    return NULL;
}

/* One thread of a card at a time is in the barrier. The others wait for it, no longer than they say. */
static void two_in_the_barrier(void)
{
    pthread_t first, second;
    struct visit patient = {LONG, VIC_EINVAL}, hasty = {1000 * 1000, VIC_EINVAL};
    open_cards();
    CHECK(pthread_create(&first, NULL, visit, &patient) == 0);
    while (barrier_count(atomic_load(&job->shared->barrier)) == 0) {
    }
    CHECK(pthread_create(&second, NULL, visit, &hasty) == 0 && pthread_join(second, NULL) == 0);
    IS(hasty.status, VIC_ETIMEDOUT);
    atomic_store(&job->shared->poison, 2);
    CHECK(pthread_join(first, NULL) == 0);
    IS(patient.status, VIC_EPEER);
    CHECK(barrier_count(atomic_load(&job->shared->barrier)) == 0);
    close_cards();
}

/* Words of a peer that is broken or hostile: nothing is believed. */
static void hostile_tickets(void)
{
    uint64_t got[DEPTH];
    size_t n;
    open_cards();
    fill_fifo(1, 0);
    struct fifo_slot *slot = job_slots(job, 0);
    CHECK(ticket_card(ticket_word(3), 3) == -1 && ticket_card(ticket_void(3), 3) == -1);
    CHECK(ticket_card(ticket_word(3) | UINT64_C(2) << 40, 3) == 1 && ticket_card(ticket_word(4), 3) == -1);
    atomic_store(&slot[2].ticket, ticket_void(2));
    atomic_fetch_add(&job->card[0].fifo_voids, 1);
    OK(vic_fifo_poll(card[0], got, DEPTH, &n)); /* a place that nobody will fill is passed */
    CHECK(n == DEPTH - 1 && got[1] == 1 && got[2] == 3);
    barrier_note(job, barrier_word(0, 1, 7, 1)); /* no such card */
    barrier_note(job, barrier_word(0, 1, 1, STEPS / 2)); /* or one that is far ahead */
    CHECK(atomic_load(&job->card[1].barrier_mark) == 0);
    close_cards();
}

static void traces(void)
{
    struct trace_head *trace = calloc(1, sizeof *trace + 2 * sizeof *trace->record);
    for (uint64_t i = 0; i < 5; i++) {
        trace_add(trace, 2, &(struct trace_record){.at_ns = i});
    }
    CHECK(trace->count <= 2 && trace->seen == 5 && trace->record[0].at_ns == 0 && trace->stride == 4);
    free(trace);
    enum { ROOM = 256, RUN = 4, EVENTS = 1000 }; /* a call and what it sent stay together: in runs of four */
    trace = calloc(1, sizeof *trace + ROOM * sizeof *trace->record);
    for (uint64_t i = 0; i < EVENTS; i++) {
        trace_add(trace, ROOM, &(struct trace_record){.at_ns = i});
    }
    CHECK(trace->stride == 4 && trace->count == 252);
    for (uint64_t i = 0; i < trace->count; i++) {
        CHECK(trace->record[i].at_ns == i / RUN * trace->stride * RUN + i % RUN);
    }
    free(trace);
}

/* What a job cannot be. */
static void refused(void)
{
    struct job_config c;
    const char *why;
#define REFUSED(text, ...)                                                                                  \
    c = config;                                                                                             \
    __VA_ARGS__;                                                                                            \
    why = job_config_fault(&c);                                                                             \
    CHECK(why != NULL && strstr(why, text) != NULL)
    CHECK(job_config_fault(&config) == NULL);
    REFUSED("cards must be", c.cards = 0);
    REFUSED("cards must be", c.cards = MOST_CARDS + 1);
    REFUSED("sram must be", c.sram_words = 0);
    REFUSED("sram must be", c.sram_words = MOST_SRAM + 1);
    REFUSED("group_counters must be", c.counters = 3);
    REFUSED("group_counters must be", c.counters = 65);
    REFUSED("fifo_words must be", c.fifo_words = 0);
    REFUSED("fifo_words must be", c.fifo_words = (1 << 24) + 1);
    REFUSED("dma_entries must be", c.dma_entries = 0);
    REFUSED("dma_entries must be", c.dma_entries = (1 << 20) + 1);
    REFUSED("trace", c.trace_records = 1);
    REFUSED("trace", c.trace_records = (1 << 24) + 1);
    REFUSED("fifo-drop", c.fifo_drop = -0.1);
    REFUSED("fifo-drop", c.fifo_drop = 1.1);
    REFUSED("extra-polls", c.extra_polls = -1);
    REFUSED("extra-polls", c.extra_polls = 0.9995);
    REFUSED("dma-slow", c.dma_slow = 0.5);
    REFUSED("dma-slow", c.dma_slow = 2e6);
    REFUSED("pcie_rate", c.pcie_rate = 0);
    REFUSED("a fault names a card", c.stalls = 1; c.stall[0].card = CARDS);
    REFUSED("a fault names a card", c.kills = 1; c.kill[0].card = CARDS);
    REFUSED("more than 16", c.kills = JOB_FAULTS + 1);
    config.mode = 1;
    CHECK(job_config_fault(&config) == NULL);
    REFUSED("pio_write must be", c.model.crossing_ps = 999);
    REFUSED("poll_mirror", c.model.look_ps = 0);
    REFUSED("pio_read crosses", c.model.load_ps = 2 * c.model.crossing_ps - 1);
    REFUSED("pio_read crosses", c.model.load_ps = INT64_MAX);
    REFUSED("fifo_pop", c.model.pop_ps = -1);
    REFUSED("dma_setup", c.model.setup_ps = INT64_MAX);
    REFUSED("link", c.model.link_ps = -1);
    REFUSED("pio_rate", c.model.store_rate = 999);
    REFUSED("port_rate", c.model.port_rate = INT64_MAX);
    REFUSED("send_words", c.model.send_words = 0);
    REFUSED("send_words", c.model.send_words = (1 << 24) + 1);
    REFUSED("planes must be", c.model.planes = 0);
    REFUSED("planes must be", c.model.planes = 65);
    REFUSED("switch_angles", c.model.angles = 0);
    REFUSED("switch_angles", c.model.angles = 4097);
    config.mode = 0;
}

int main(void)
{
    config = job_usual;
    config.cards = CARDS;
    config.sram_words = WORDS;
    config.fifo_words = DEPTH;
    config.dma_entries = 8;
    config.counters = 16;
    refused();
    traces();
    reply_to_a_full_fifo();
    headers_that_change();
    long_transfer();
    many_out_of_order();
    slow_transfer_of_the_last();
    two_in_the_barrier();
    hostile_tickets();
    return 0;
}
