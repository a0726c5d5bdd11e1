/* vic_message, and a card that writes whatever it likes: words that it saw, forged frames with a right checksum, lies
 * about credit, counters. Two others send to each other meanwhile: does each message come at most once, whole and in
 * order, and when the writing is over, does every one come? And is what comes of the forger something that a sender
 * could have sent whole, whatever pieces it was forged from? */
#include <sched.h>

#include "../cards.h"
#include "vic_message.h"
#include "../../../emulator/src/message/wire.h"

enum { ALL = 3, FORGER = 2, WINDOW = 8192, MOST = 6000, ACTIVITIES = 3, NEWS = ACTIVITIES + 1, SEEN = 64, POISON = 0xbe };

static const struct job_config size = {
    .cards = ALL, .sram_words = 4096, .counters = 40, .fifo_words = 8, .dma_entries = 8,
    .pcie_rate = 8000000000, .dma_slow = 1, .seed = 1,
    .model = {.crossing_ps = 400000, .load_ps = 1000000, .look_ps = 50000, .store_rate = 500000000,
              .port_rate = 4400000000, .send_words = 16, .planes = 16, .angles = 6},
};
static const struct vic_message_config config = {MOST, WINDOW, VIC_MESSAGE_ORDERED};

static struct job *job;
static vic_t *card[ALL];
static vic_message_t *messages[FORGER];
static struct layout layout;
static uint64_t seen[SEEN];
static uint32_t names[FORGER]; /* of the forger's streams */
static struct {
    uint32_t sent, received; /* by the other one, and in which order: numbers of messages */
} flow[FORGER];              /* to this card */
static bool reopened;
static unsigned char data[MOST];

static uint8_t byte_of(uint32_t to, uint32_t number, size_t at)
{
    return (uint8_t)dvsim_mix((uint64_t)to << 40 ^ (uint64_t)number << 16 ^ at / 3);
}

static void send_one(struct input *in)
{
    uint32_t from = take_byte(in) % FORGER, to = 1 - from;
    size_t bytes = take(in, 2) % (MOST + 1);
    if (take_byte(in) % 8 == 0) { /* to the forger, who may say that it reads */
        int status = vic_message_send(messages[from], FORGER, data, bytes, 0);
        CHECK(status == VIC_OK || status == VIC_ETIMEDOUT);
        return;
    }
    bytes = bytes < 4 ? 4 : bytes;
    memcpy(data, &flow[to].sent, 4);
    for (size_t i = 4; i < bytes; i++) {
        data[i] = byte_of(to, flow[to].sent, i);
    }
    int status = vic_message_send(messages[from], to, data, bytes, 0);
    CHECK(status == VIC_OK || status == VIC_ETIMEDOUT);
    flow[to].sent += status == VIC_OK;
}

/* Every forged piece of a message of so many bytes has these, each at its place: a hole has others. */
static void check_forged(size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        CHECK(data[i] == byte_of(FORGER, (uint32_t)bytes, i));
    }
}

/* False: there was nothing. */
static bool receive_one(uint32_t me, size_t capacity)
{
    uint32_t src = UINT32_MAX, number;
    size_t bytes = 0;
    memset(data, POISON, sizeof data); /* what is not written is seen; the sanitizer does so with what is allocated */
    int status = vic_message_recv(messages[me], &src, data, capacity, &bytes, 0);
    if (status != VIC_OK) {
        CHECK(status == VIC_ETIMEDOUT || (status == VIC_ENOSPC && bytes > capacity && bytes <= MOST));
        return false;
    }
    CHECK(bytes <= capacity);
    if (src == FORGER) {
        check_forged(bytes);
        return true;
    }
    CHECK(src == 1 - me && bytes >= 4);
    memcpy(&number, data, 4);
    CHECK(number < flow[me].sent && (reopened ? number >= flow[me].received : number == flow[me].received));
    for (size_t i = 4; i < bytes; i++) {
        CHECK(data[i] == byte_of(me, number, i));
    }
    flow[me].received = number + 1;
    return true;
}

static uint64_t forged_word(struct input *in)
{
    unsigned kind = take_byte(in);
    uint64_t word = seen[kind % SEEN];
    return kind < 64 ? word : kind < 128 ? word ^ UINT64_C(1) << take_byte(in) % 64 : take_word(in);
}

static void write_words(struct input *in, uint32_t at)
{
    enum { SOME = 4 };
    uint64_t words[SOME];
    uint32_t addr = (uint32_t)take(in, 2) % (size.sram_words - SOME);
    size_t n = take_byte(in) % SOME + 1;
    for (size_t i = 0; i < n; i++) {
        words[i] = forged_word(in);
    }
    CHECK(vic_put(card[FORGER], at, addr, words, n, take_byte(in) % 9) == VIC_OK);
}

static void write_counter(struct input *in, uint32_t at)
{
    enum vic_op op = take_byte(in) % 2 == 0 ? VIC_COUNTER_SET : VIC_COUNTER_ADD;
    uint64_t header = vic_header(at, op, 0, take_byte(in) % 9), word = take_word(in);
    CHECK(vic_send(card[FORGER], &header, &word, 1) == VIC_OK);
}

static void look(struct input *in, uint32_t at)
{
    uint32_t addr = (uint32_t)take(in, 2) % size.sram_words, slot = take_byte(in);
    for (uint32_t i = 0; i < 16 && addr + i < size.sram_words; i++) {
        seen[(slot + i) % SEEN] = atomic_load(&job_sram(job, at)[addr + i]);
    }
}

/* What the card says that it has taken of the forger's messages. */
static bool state_of(uint32_t at, struct state *state)
{
    uint64_t word[2];
    for (uint32_t i = 0; i < 2; i++) {
        word[i] = atomic_load(&job_sram(job, at)[record_at(&layout, FORGER) + RECORD_TAKEN + i]);
    }
    return state_read(&layout, RECORD_TAKEN, FORGER, at, word, state);
}

static void greet(struct input *in, uint32_t at)
{
    struct state state, hello;
    uint64_t word[2], add = vic_header(at, VIC_COUNTER_ADD, 0, NEWS), one = 1;
    if (state_of(at, &state)) {
        names[at] = take_byte(in) % 4;
        hello = (struct state){state.position + (uint32_t)take_word(in), names[at], state.epoch};
        state_make(&layout, RECORD_HELLO, FORGER, at, &hello, word);
        CHECK(vic_put(card[FORGER], at, record_at(&layout, FORGER) + RECORD_HELLO, word, 2, FORGER) == VIC_OK);
        CHECK(vic_send(card[FORGER], &add, &one, 1) == VIC_OK);
    }
}

static void forge(struct input *in, uint32_t at)
{
    static uint64_t words[WINDOW / 8 + LARGE_HEADER], body[WINDOW / 8];
    struct state state;
    struct frame frame = {FRAME_PIECE, (uint32_t)take(in, 2), 0, 0, 0, 0};
    unsigned kind = take_byte(in);
    frame.kind = (enum frame_kind)(kind % 8 == 0 ? kind / 8 % 4 : 0);
    frame.offset = kind < 128 ? 0 : (uint32_t)take_word(in);
    frame.total = kind % 2 == 0 ? frame.bytes : (uint32_t)take_word(in);
    frame.bytes = frame.kind == FRAME_SKIP ? 0 : frame.bytes % (kind % 16 < 14 ? 64 : WINDOW);
    frame.total = kind % 2 == 0 ? frame.bytes : frame.total;
    if (kind / 16 % 2 == 0) { /* the middle of a message */
        frame.bytes = frame.bytes / 8 * 8;
    }
    if (!state_of(at, &state)) {
        return;
    }
    for (uint32_t i = 0; i < frame.bytes; i++) {
        ((uint8_t *)body)[i] = byte_of(FORGER, frame.total, (size_t)frame.offset + i);
    }
    uint32_t position = state.position + (kind % 64 == 63 ? take_byte(in) : 0);
    frame_make(stream_key(&layout, FORGER, at, state.epoch, names[at]), position, &frame, body, words);
    uint32_t n = frame_words(frame.bytes), rest = rest_of(&layout, position) * UNIT;
    words[0] ^= kind % 32 == 31 ? take_word(in) << 12 : 0;
    CHECK(vic_put(card[FORGER], at, ring_at(&layout, FORGER, position), words, n < rest ? n : rest, FORGER) == VIC_OK);
}

/* As if it were open and had taken so much of what `of` sends. */
static void claim_credit(struct input *in, uint32_t of)
{
    struct state state = {(uint32_t)take_word(in), (uint32_t)take_word(in), take_byte(in) % 4 * 2 + 1};
    uint64_t word[2];
    if (take_byte(in) % 2 == 0) { /* what it was told to be the beginning, and some more */
        uint64_t hello[2];
        for (uint32_t i = 0; i < 2; i++) {
            hello[i] = atomic_load(&job_sram(job, FORGER)[record_at(&layout, of) + RECORD_HELLO + i]);
        }
        state.position = (uint32_t)(hello[0] >> 32) + state.position % 300;
    }
    state_make(&layout, RECORD_TAKEN, of, FORGER, &state, word);
    CHECK(vic_write(card[FORGER], record_at(&layout, of) + RECORD_TAKEN, word, 2) == VIC_OK);
}

static void reopen(uint32_t me)
{
    reopened = true;
    int status = vic_message_close(messages[me]);
    CHECK(status == VIC_OK || status == VIC_EPEER);
    CHECK(vic_message_open(card[me], &config, &messages[me]) == VIC_OK);
}

static void others(struct input *in, uint32_t me)
{
    uint64_t ends;
    unsigned what = take_byte(in);
    int status = what % 2 == 0 ? vic_message_flush_to(messages[me], what / 2 % ALL, 0)
                               : vic_message_ends(messages[me], what / 2 % ALL, &ends);
    CHECK(status == VIC_OK || status == VIC_ETIMEDOUT || status == VIC_EPEER);
}

static void step(struct input *in)
{
    unsigned what = take_byte(in);
    uint32_t at = what / 16 % FORGER;
    switch (what % 16) {
    case 0: case 1: case 2: send_one(in); break;
    case 3: case 4: receive_one(at, MOST); break;
    case 5: receive_one(at, take(in, 2) % MOST); break;
    case 6: write_words(in, at); break;
    case 7: write_counter(in, at); break;
    case 8: look(in, at); break;
    case 9: greet(in, at); break;
    case 10: case 11: forge(in, at); break;
    case 12: claim_credit(in, at); break;
    case 13: clock_advance((uint64_t)take_byte(in) * 1000000); break;
    case 14: others(in, at); break;
    default:
        if (what >= 240) {
            reopen(at);
        }
    }
}

/* Nobody disturbs any more. */
static void settle(void)
{
    enum { ROUNDS = 5000, FEW = 20, SECOND = 1000000000 };
    bool all = false;
    for (int round = 0; round < (reopened ? FEW : ROUNDS) && !all; round++) { /* some may be lost then */
        clock_advance(SECOND);
        for (uint32_t me = 0; me < FORGER; me++) {
            while (receive_one(me, MOST)) {
            }
            vic_message_flush_to(messages[me], 1 - me, 0);
        }
        sched_yield(); /* with --reorder a thread of the card may be at it */
        all = flow[0].received == flow[0].sent && flow[1].received == flow[1].sent;
    }
    CHECK(all || reopened);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct input in = input_of(bytes, count);
    struct job_config wanted = size;
    wanted.reorder = take_byte(&in) % 32 == 31;
    job = cards_open(&wanted, card);
    layout = (struct layout){.base = 0, .cards = ALL, .units = WINDOW / 8 / UNIT};
    layout_set_key(&layout, MOST, VIC_MESSAGE_ORDERED, ACTIVITIES + 2, 0);
    memset(flow, 0, sizeof flow);
    memset(seen, 0, sizeof seen);
    memset(names, 0, sizeof names);
    reopened = false;
    for (uint32_t i = 0; i < FORGER; i++) {
        CHECK(vic_message_open(card[i], &config, &messages[i]) == VIC_OK);
    }
    while (input_left(&in)) {
        step(&in);
    }
    settle();
    for (uint32_t i = 0; i < FORGER; i++) {
        int status = vic_message_close(messages[i]);
        CHECK(status == VIC_OK || status == VIC_EPEER);
    }
    cards_close(card);
    return 0;
}
