/* Collectives of three cards, and somebody who writes over words and counters that they use: does every call end, with a
 * status that it may have, and without a bad access? And if nobody writes: does everybody get what plain C computes? */
#include "../cards.h"
#include "vic_collective.h"

enum { ALL = 3, CALLS = 12, MOST = 40, ROUNDS = 4000 };

static const struct job_config size = {
    .cards = ALL, .sram_words = 2048, .counters = 20, .fifo_words = 8, .dma_entries = 4,
    .pcie_rate = 8000000000, .dma_slow = 1, .seed = 1,
    .model = {.crossing_ps = 400000, .load_ps = 1000000, .look_ps = 50000, .store_rate = 500000000,
              .port_rate = 4400000000, .send_words = 16, .planes = 16, .angles = 6},
};

struct call {
    unsigned kind;
    uint32_t root;
    enum vic_reduction op;
    size_t n;
};

static struct job *job;
static vic_t *card[ALL];
static struct call script[CALLS];
static bool disturbed;
static struct {
    vic_team_t *team;
    unsigned at; /* calls that are done */
    bool over;   /* the team is of no use any more */
    uint64_t in[ALL * MOST], out[ALL * MOST];
} member[ALL];

static uint64_t word_of(uint32_t from, unsigned call, size_t i)
{
    return (from + 1) * UINT64_C(0x9e3779b97f4a7c15) + call * 1000 + i;
}

static uint64_t reduced(const struct call *call, unsigned number, size_t i)
{
    uint64_t all = word_of(0, number, i);
    for (uint32_t from = 1; from < ALL; from++) {
        uint64_t word = word_of(from, number, i);
        switch (call->op) {
        case VIC_SUM: all += word; break;
        case VIC_MIN: all = word < all ? word : all; break;
        case VIC_MAX: all = word > all ? word : all; break;
        case VIC_AND: all &= word; break;
        case VIC_OR: all |= word; break;
        default: all ^= word;
        }
    }
    return all;
}

static int make(uint32_t me)
{
    const struct call *call = &script[member[me].at];
    uint64_t *in = member[me].in, *out = member[me].out;
    vic_team_t *team = member[me].team;
    switch (call->kind) {
    case 0: return vic_team_barrier(team, 0);
    case 1: return vic_broadcast(team, call->root, me == call->root ? in : out, call->n, 0);
    case 2: return vic_reduce(team, call->root, call->op, in, me == call->root ? out : NULL, call->n, 0);
    case 3: return vic_allreduce(team, call->op, in, out, call->n, 0);
    case 4: return vic_gather(team, call->root, in, call->n, me == call->root ? out : NULL, 0);
    default: return vic_alltoall(team, in, out, call->n, 0);
    }
}

static void check(uint32_t me)
{
    unsigned number = member[me].at;
    const struct call *call = &script[number];
    const uint64_t *out = member[me].out;
    bool root = me == call->root;
    for (size_t i = 0; i < call->n; i++) {
        CHECK(call->kind != 1 || root || out[i] == word_of(call->root, number, i));
        CHECK((call->kind != 3 && (call->kind != 2 || !root)) || out[i] == reduced(call, number, i));
        for (uint32_t from = 0; from < ALL; from++) {
            uint64_t word = out[from * call->n + i];
            CHECK(call->kind != 4 || !root || word == word_of(from, number, i));
            CHECK(call->kind != 5 || word == word_of(from, number, me * call->n + i));
        }
    }
}

static void begin(uint32_t me)
{
    for (size_t i = 0; i < ALL * MOST && member[me].at < CALLS; i++) {
        member[me].in[i] = word_of(me, member[me].at, i);
    }
}

/* One look of a card at what it has to do. */
static void step(uint32_t me)
{
    int status;
    if (member[me].over || member[me].at == CALLS) {
        return;
    }
    if (member[me].team == NULL) {
        status = vic_team_open(card[me], NULL, 0, &member[me].team, 0);
        begin(me);
    } else {
        status = make(me);
        if (status == VIC_OK) {
            if (!disturbed) {
                check(me);
            }
            member[me].at++;
            begin(me);
        }
    }
    if (status != VIC_OK && status != VIC_ETIMEDOUT) {
        CHECK(disturbed && (status == VIC_EPEER || status == VIC_EINVAL || status == VIC_ERANGE));
        CHECK(member[me].team == NULL || make(me) == status);
        member[me].over = true;
    }
}

static void disturb(struct input *in)
{
    uint32_t at = take_byte(in) % ALL, from = take_byte(in) % ALL;
    unsigned how = take_byte(in);
    uint64_t word = take_word(in);
    disturbed = true;
    if (how % 4 == 0) {
        uint64_t header = vic_header(at, how < 128 ? VIC_COUNTER_SET : VIC_COUNTER_ADD, 0, how / 4 % 8);
        CHECK(vic_send(card[from], &header, &word, 1) == VIC_OK);
    } else if (how % 4 == 1) { /* anywhere, at first what cards say to each other */
        vic_addr_t addr = (vic_addr_t)(take(in, 2) % size.sram_words);
        CHECK(vic_put(card[from], at, addr, &word, 1, VIC_NO_COUNTER) == VIC_OK);
    } else if (how % 4 == 2) { /* what one card says stands on another one, or elsewhere */
        uint32_t addr = take_byte(in), other = take_byte(in);
        for (uint32_t i = 0; i < 4; i++) {
            uint64_t copied = atomic_load(&job_sram(job, from)[other + i]);
            atomic_store(&job_sram(job, at)[addr + i], copied);
        }
    } else {
        scribble(in, job_sram(job, at), 256 * sizeof(uint64_t));
    }
}

static void draw(struct input *in)
{
    for (unsigned i = 0; i < CALLS; i++) {
        script[i] = (struct call){take_byte(in) % 6, take_byte(in) % ALL, (enum vic_reduction)take_below(in, VIC_XOR + 1), 0};
        script[i].n = script[i].kind == 0 ? 0 : take_below(in, MOST + 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct input in = input_of(data, bytes);
    job = cards_open(&size, card);
    memset(member, 0, sizeof member);
    disturbed = false;
    draw(&in);
    while (input_left(&in)) {
        unsigned what = take_byte(&in);
        if (what < 160) {
            step(what % ALL);
        } else if (what < 200) {
            clock_advance((uint64_t)take_byte(&in) * 10000000);
        } else {
            disturb(&in);
        }
    }
    bool all = disturbed;
    for (int round = 0; round < (disturbed ? 20 : ROUNDS) && !(all && !disturbed); round++) {
        all = !disturbed;
        for (uint32_t me = 0; me < ALL; me++) {
            step(me);
            all = all && member[me].at == CALLS;
        }
        clock_advance(1000000);
    }
    CHECK(all || disturbed);
    for (uint32_t me = 0; me < ALL; me++) {
        CHECK(member[me].team == NULL || vic_team_close(member[me].team) == VIC_OK);
    }
    cards_close(card);
    return 0;
}
