/* The memory of a timed job, in which a card that is broken or hostile may have written anything: the coordinator, and a
 * card that calls, go on, and every call ends. Card 0 is libvic's; of the others the input is the program. All take
 * turns in this thread: where somebody would sleep, the others act. */
#define _GNU_SOURCE
#include "../cards.h"
#include "coordinator.h"

#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "../../../emulator/launcher/coordinator.c"

enum { CARDS_ = 3, PATIENCE = 300, ACTS = 3, MOST = 80 };

static const struct job_config size = {
    .cards = CARDS_, .mode = 1, .sram_words = 128, .counters = 12, .fifo_words = 6, .dma_entries = 4,
    .pcie_rate = 8000000000, .dma_slow = 1, .seed = 1, .trace_records = 16, .check = 1,
    .model = {.crossing_ps = 400000, .load_ps = 1000000, .look_ps = 50000, .pop_ps = 10000, .setup_ps = 1000000,
              .store_rate = 500000000, .port_rate = 4400000000, .link_ps = 20000, .send_words = 16, .planes = 2,
              .angles = 2},
};

static struct job *job;
static struct coordinator *all;
static struct input *input;
static vic_t *card;
static unsigned patience;

/* ---- what the programs of the other cards do */

static uint64_t take_header(struct input *in)
{
    unsigned what = take_byte(in);
    return vic_header(what % (CARDS_ + (what == 255)), (enum vic_op)(what / 4 % 5), what / 8 % 16, what / 16 % 12);
}

/* A post as the library makes them, or nearly. */
static void post(struct input *in, struct timed_card *shared)
{
    unsigned kind = take_byte(in), words = take_byte(in) % 9;
    struct post head = {.at_ps = all->sim_ps + (int64_t)take(in, 2) * 1000, .step_ps = take_byte(in) * 100,
                        .kind = kind % POST_KINDS, .words = words, .a = take_byte(in), .b = take_byte(in),
                        .count = kind < 128 ? words : take_byte(in)};
    uint64_t raw[POST_HEAD];
    if (kind == 255) {
        scribble(in, &head, sizeof head);
    }
    memcpy(raw, &head, sizeof raw);
    for (unsigned i = 0; i < POST_HEAD; i++) {
        shared->post[shared->post_tail++ % POST_WORDS] = raw[i];
    }
    for (unsigned i = 0; i < words; i++) {
        shared->post[shared->post_tail++ % POST_WORDS] = kind < 192 ? take_header(in) : take_word(in);
    }
}

static void news(struct input *in, struct timed_card *shared)
{
    shared->news[shared->news_tail++ % NEWS_ROOM] =
        (struct news){.at_ps = all->sim_ps + (int64_t)take(in, 2) * 100, .what = take_byte(in) % 17,
                      .index = (shared->epoch & 0x7ff) << 21 | (uint32_t)take_byte(in) << (take_byte(in) % 2 * 20),
                      .value = take_word(in)};
}

static void act(struct input *in, uint32_t number)
{
    unsigned what = take_byte(in);
    struct timed_card *shared = timed_card_of(job, number), *any = timed_card_of(job, what / 16 % CARDS_);
    switch (what % 16) {
    case 0: case 1: case 2: post(in, shared); break;
    case 3: news(in, any); break;
    case 4: shared->next_ps = all->sim_ps + (int64_t)take(in, 3); break;
    case 5: shared->next_ps = (int64_t)take_word(in); break;
    case 6: scribble(in, any, offsetof(struct timed_card, view)); break;
    case 7: scribble(in, &any->view, sizeof any->view); break;
    case 8: scribble(in, any->news, sizeof any->news); break;
    case 9: scribble(in, any->post, sizeof any->post); break;
    case 10: scribble(in, (void *)&any->moves, offsetof(struct timed_card, post) - offsetof(struct timed_card, moves)); break;
    case 11: scribble(in, (void *)timed_shared_of(job), sizeof(struct timed_shared)); break;
    case 12: scribble(in, &job->card[what / 16 % CARDS_], offsetof(struct card_shared, counter)); break;
    case 13: scribble(in, job_trace(job, what / 16 % CARDS_), job->trace_bytes); break;
    case 14: shared->watches = take_byte(in) % 20; break;
    default: shared->watched[take_byte(in) % WATCHED_MOST] =
        (struct watched){take_byte(in) % 67, take_byte(in), take_byte(in)}; break;
    }
}

/* Cards that run stop; with the end of the input they end. */
static void others_act(void)
{
    static const uint32_t states[] = {CARD_STOPPED, CARD_STOPPED, CARD_STOPPED, CARD_AWAY, CARD_COMING, CARD_LATE,
                                      CARD_CLOSED, 77};
    for (uint32_t i = 0; i < CARDS_; i++) {
        struct timed_card *shared = timed_card_of(job, i);
        for (unsigned n = 0; n < ACTS && i > 0 && input_left(input); n++) {
            act(input, i);
        }
        if (!input_left(input) && i > 0) {
            atomic_store(&job->card[i].end, i == 1 ? CARD_ENDED : CARD_DIED);
        } else if (state_of(&all->side[i]) == CARD_RUNNING || state_of(&all->side[i]) == CARD_ABSENT) {
            atomic_store(&shared->state, i == 0 ? CARD_STOPPED : states[take_byte(input) % 8]);
        }
    }
}

/* ---- who sleeps */

long __wrap_syscall(long number, ...);
long __real_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
    va_list more;
    va_start(more, number);
    uint32_t *futex = va_arg(more, uint32_t *);
    int what = va_arg(more, int);
    va_end(more);
    if (number != SYS_futex) {
        return -1; /* pidfd_open: there is no launcher */
    }
    if (what == FUTEX_WAIT && futex == (void *)&timed_shared_of(job)->bell) {
        clock_advance(100 * 1000 * 1000);
        others_act();
    } else if (what == FUTEX_WAIT) { /* card 0 waits for its turn */
        if (--patience == 0) { /* another card can keep it from it for ever: until the launcher ends */
            atomic_store(&timed_shared_of(job)->coordinated, 2);
        } else {
            one_round(all);
        }
    }
    return -1;
}

/* ---- the program of card 0 */

static bool is_status(int status)
{
    return status == VIC_OK || status == VIC_ETIMEDOUT || status == VIC_EPEER || status == VIC_ECLOSED ||
           status == VIC_EINVAL || status == VIC_ERANGE || status == VIC_EBUSY || status == VIC_ENOSPC;
}

static void call(struct input *in)
{
    static uint64_t words[MOST], headers[MOST];
    unsigned what = take_byte(in), number = what / 16;
    uint64_t timeout_ns = number < 8 ? number * 500 : number < 15 ? 100000 : VIC_FOREVER, opens;
    vic_dma_t *dma = NULL;
    int64_t value;
    size_t n = 0;
    int done, status = VIC_OK;
    patience = PATIENCE;
    for (unsigned i = 0; i < MOST; i++) {
        headers[i] = vic_header((number + i) % CARDS_, (enum vic_op)(number % 5), i % 16, number % 9);
    }
    switch (what % 16) {
    case 0: status = vic_write(card, number, headers, MOST); break;
    case 1: status = vic_read(card, number, words, 1 + number); break;
    case 2: status = vic_send(card, headers, words, 1 + 2 * number); break;
    case 3: status = vic_send_cached(card, number, words, 1 + 2 * number); break;
    case 4: status = vic_put(card, number % CARDS_, number, words, 1 + number * 5, number); break;
    case 5: case 6:
        status = what % 16 == 5 ? vic_dma_send(card, number, words, 1 + number, &dma)
                                : vic_dma_read(card, words, number, 1 + number, &dma);
        if (status == VIC_OK && vic_dma_test(card, dma, &done) == VIC_OK) {
            status = vic_dma_wait(card, &dma, timeout_ns);
        }
        break;
    case 7: status = vic_counter_set(card, number % 9, number); break;
    case 8: status = vic_counter_get(card, number % 9, &value); break;
    case 9: status = vic_counter_wait(card, number % 9, timeout_ns); break;
    case 10: status = vic_fifo_poll(card, words, number, &n); CHECK(n <= number); break;
    case 11: status = vic_fifo_wait(card, words, number % 4, 6, &n, timeout_ns); CHECK(n <= 6); break;
    case 12: status = vic_barrier(card, timeout_ns); break;
    case 13: status = vic_peer_opens(card, number % CARDS_, &opens); break;
    case 14: status = vic_compute_ns(card, take_word(in) % (UINT64_C(1) << 40)); break;
    default:
        CHECK(vic_close(card) == VIC_OK);
        status = handle_open(job, 0, 0, &card);
        card = status == VIC_OK ? card : NULL;
    }
    CHECK(is_status(status));
}

static void open_all(void)
{
    static struct job_shared head;
    const char *why;
    if (job == NULL) {
        CHECK(job_config_fault(&size) == NULL);
        job = job_attach(job_create(&size, 42), 42, &why);
        CHECK(job != NULL);
        memcpy(&head, (void *)job->shared, sizeof head);
    }
    unsigned char *begin = (unsigned char *)job->card;
    memset(begin, 0, job->bytes - (size_t)(begin - (unsigned char *)job->shared));
    memcpy((void *)job->shared, &head, sizeof head);
    all = coordinator_make(job, NULL, NULL);
    CHECK(all != NULL);
    patience = PATIENCE;
    if (handle_open(job, 0, 0, &card) != VIC_OK) {
        card = NULL;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct input in = input_of(data, bytes);
    input = &in;
    quiet(true);
    open_all();
    while (input_left(&in) && card != NULL) {
        call(&in);
    }
    patience = PATIENCE;
    CHECK(card == NULL || vic_close(card) == VIC_OK);
    coordinator_report(all, stderr);
    coordinator_free(all);
    quiet(false);
    return 0;
}
