/* The frames that an agent reads from another host of the job: what if a host that has the key sends any bytes, at any
 * time, while programs of this host send, receive and cross barriers? Two hosts beside this one, which is the first or the
 * second; libfabric is played here. */
#define _GNU_SOURCE
#include "../fuzz.h"

#include "../../../emulator/hosts/streams.c"

enum { EACH = 2, ALL = 3 * EACH, SRAM = 64, POSTED = FRAMES, LENGTH = 400 /* words of a frame, at most */ };

void clock_advance(uint64_t ns);

/* An endpoint and what was given to it: frames to receive into, and such as were sent and are to be confirmed. */
struct end {
    struct fid_ep ep;
    struct frame *posted[POSTED], *sent[FRAMES];
    unsigned post, send;
};

/* A host: its agent, the memory of its job, its cards, and the ends of the other two. */
struct side {
    struct job *job;
    struct job_shared head;
    struct agent agent;
    struct end end[3];
    struct fid_cq done;
    vic_t *card[EACH];
};

static struct side side[2], *here;
static struct fi_cq_msg_entry next[1];
static bool there;

static struct end *end_of(struct fid_ep *ep)
{
    return (struct end *)(void *)ep;
}

static ssize_t give(struct fid_ep *ep, void *words, size_t bytes, void *desc, fi_addr_t from, void *frame)
{
    struct end *end = end_of(ep);
    (void)words, (void)bytes, (void)desc, (void)from;
    CHECK(end->post < POSTED);
    end->posted[end->post++] = frame;
    return 0;
}

static ssize_t send_it(struct fid_ep *ep, const void *words, size_t bytes, void *desc, fi_addr_t to, void *frame)
{
    struct end *end = end_of(ep);
    (void)words, (void)desc, (void)to;
    CHECK(bytes >= FRAME_HEAD * 8 && bytes <= sizeof ((struct frame *)frame)->word);
    if (end->send == FRAMES / 2) {
        return -FI_EAGAIN;
    }
    end->sent[end->send++] = frame;
    return 0;
}

static int hang_up(struct fid_ep *ep, uint64_t flags)
{
    (void)ep, (void)flags;
    return 0;
}

static ssize_t complete(struct fid_cq *cq, void *entry, size_t count)
{
    (void)cq, (void)count;
    if (!there) {
        return -FI_EAGAIN;
    }
    there = false;
    memcpy(entry, next, sizeof *next);
    return 1;
}

static ssize_t no_news(struct fid_eq *eq, uint32_t *event, void *text, size_t bytes, uint64_t flags)
{
    (void)eq, (void)event, (void)text, (void)bytes, (void)flags;
    return -FI_EAGAIN;
}

static struct fi_ops_msg messages = {.size = sizeof messages, .recv = give, .send = send_it};
static struct fi_ops_cm connections = {.size = sizeof connections, .shutdown = hang_up};
static struct fi_ops_cq completions = {.size = sizeof completions, .read = complete};
static struct fi_ops_eq events = {.size = sizeof events, .read = no_news};
static struct fid_eq news = {.ops = &events};
static struct host names[3] = {{"a", 0, EACH}, {"b", EACH, EACH}, {"c", 2 * EACH, EACH}};
static const struct hosts hosts = {names, 3, ALL};

static void make(struct side *one, uint32_t host)
{
    const struct job_config config = {
        .cards = ALL, .sram_words = SRAM, .counters = 12, .fifo_words = 6, .dma_entries = 4, .hosts = 3,
        .first = host * EACH, .here = EACH, .pcie_rate = 8000000000, .dma_slow = 1, .seed = 1,
        .model = {.crossing_ps = 400000, .load_ps = 1000000, .look_ps = 50000, .store_rate = 500000000,
                  .port_rate = 4400000000, .send_words = 16, .planes = 16, .angles = 6},
    };
    const char *why;
    CHECK(job_config_fault(&config) == NULL);
    one->job = job_attach(job_create(&config, 42 + host), 42 + host, &why);
    CHECK(one->job != NULL);
    memcpy(&one->head, (void *)one->job->shared, sizeof one->head);
    CHECK(agent_make(&one->agent, one->job, &hosts, host));
    one->done.ops = &completions;
    one->agent.done = &one->done;
    one->agent.news = &news;
    one->agent.silence_ns = 400000000;
}

/* As it was before anything came. */
static void meet(struct peer *peer, struct end *end)
{
    struct peer before = *peer;
    *end = (struct end){.ep = {.msg = &messages, .cm = &connections}};
    *peer = (struct peer){.host = before.host, .first = before.first, .here = before.here, .end = &end->ep,
                          .frame = before.frame, .answer = before.answer, .answer_room = before.answer_room,
                          .opens_told = before.opens_told, .end_told = before.end_told, .room = before.room,
                          .left = before.left, .ended = before.ended, .mark = before.mark};
    memset(peer->opens_told, 0, EACH * sizeof *peer->opens_told);
    memset(peer->end_told, 0, EACH * sizeof *peer->end_told);
    memset(peer->room, 0, EACH * sizeof *peer->room);
    memset(peer->left, 0, EACH * sizeof *peer->left);
    memset(peer->ended, 0, EACH * sizeof *peer->ended);
    memset(peer->mark, 0, hosts.count * sizeof *peer->mark);
    CHECK(stream_begin(peer));
}

static void begin(struct side *one)
{
    struct job *job = one->job;
    struct agent *agent = &one->agent;
    unsigned char *cards = (unsigned char *)job->card;
    memset(cards, 0, (size_t)((unsigned char *)job->rings - cards));
    for (uint32_t i = 0; i < EACH; i++) {
        memset(&job->rings[i], 0, offsetof(struct ring, word));
        struct sender *sender = &agent->sender[i];
        memset(sender->frame, 0, 3 * sizeof *sender->frame);
        memset(sender->call_told, 0, 3 * sizeof *sender->call_told);
        *sender = (struct sender){.frame = sender->frame, .call_told = sender->call_told};
        agent->inbox[i].count = agent->inbox[i].owed_count = agent->inbox[i].first = agent->inbox[i].owed_first = 0;
    }
    memcpy((void *)job->shared, &one->head, sizeof one->head);
    job->start_ns = 0;
    memset(agent->inside, 0, ALL * sizeof *agent->inside);
    agent->inside_count = agent->generation = 0;
    agent->asked = agent->answers = false;
    atomic_store(&agent->questions, 0);
    atomic_store(&agent->lost, false);
    for (uint32_t i = 0; i < 3; i++) {
        if (i != agent->host) {
            meet(&agent->peer[i], &one->end[i]);
        }
    }
    for (uint32_t i = 0; i < EACH; i++) {
        CHECK(handle_open(job, job->first + i, 0, &one->card[i]) == VIC_OK);
    }
}

/* A card: one of that host, or of this one, or any. */
static uint32_t some_card(struct input *in, const struct peer *peer)
{
    unsigned how = take_byte(in);
    return how < 128 ? peer->first + how % EACH : how < 224 ? here->job->first + how % EACH : (uint32_t)take(in, 3);
}

static uint64_t some_header(struct input *in, const struct peer *peer)
{
    unsigned how = take_byte(in);
    uint32_t card = how % 2 == 0 ? here->job->first + how / 2 % EACH : some_card(in, peer);
    return how >= 250 ? take(in, 8) : vic_header(card, how / 4 % 6, take_byte(in) % (SRAM + 2), take_byte(in) % 66);
}

/* One record, which may say that it is longer than it is. */
static size_t write_record(struct input *in, const struct peer *peer, uint64_t *to)
{
    unsigned kind = take_byte(in), n = take_byte(in) % 8;
    kind = kind < 240 ? 1 + kind % (RECORD_KINDS - 1) : kind;
    uint64_t head = record_word(kind, some_card(in, peer), n == 7 ? (uint32_t)take(in, 4) : n);
    size_t words = 1 + n * 2;
    to[0] = head;
    for (size_t i = 1; i < words; i++) {
        bool header = kind == RECORD_PUT ? i == 1 : (kind == RECORD_PACKETS || kind == RECORD_REPLIES) && i % 2 == 1;
        to[i] = header ? some_header(in, peer) : take_byte(in) % 8 == 0 ? some_header(in, peer) : take_word(in);
    }
    return record_words(head) < words ? 1 + record_words(head) : words;
}

static void frame_comes(struct input *in, struct peer *peer)
{
    struct end *end = end_of(peer->end);
    unsigned how = take_byte(in), records = take_byte(in) % 8;
    if (peer->hung_up || end->post == 0) {
        return;
    }
    struct frame *frame = end->posted[--end->post];
    size_t used = FRAME_HEAD;
    memset(frame->word, 0, (LENGTH + 16) * sizeof *frame->word);
    frame->word[0] = how < 128 ? peer->sent : how < 224 ? peer->confirmed : take_word(in);
    frame->word[1] = how % 8 == 7 ? peer->answered : how % 64 == 6 ? take_word(in) : frame->word[0];
    frame->word[2] = how % 16 != 0;
    for (unsigned i = 0; i < records && used < LENGTH - 16; i++) {
        used += write_record(in, peer, frame->word + used);
    }
    next[0] = (struct fi_cq_msg_entry){.op_context = frame, .len = how % 32 == 31 ? take(in, 2) % (used * 8 + 1) : used * 8};
    there = true;
    CHECK(stream_poll(&here->agent));
    CHECK(peer->answered <= peer->confirmed && peer->confirmed <= peer->sent);
}

/* The network has taken a frame. */
static void frame_went(struct peer *peer)
{
    struct end *end = end_of(peer->end);
    if (end->send > 0) {
        next[0] = (struct fi_cq_msg_entry){.op_context = end->sent[--end->send]};
        there = true;
        stream_poll(&here->agent);
    }
}

/* What the agent does in each round. */
static void pass_all(struct input *in)
{
    struct agent *agent = &here->agent;
    clock_advance((uint64_t)take_byte(in) * 1000000);
    incoming_answers(agent);
    inbox_pass(agent);
    outgoing_answered(agent);
    outgoing_pass(agent);
    news_pass(agent);
    clocks_pass(agent);
    for (uint32_t i = 0; i < 3; i++) {
        if (i != agent->host) {
            stream_flush(agent, &agent->peer[i]);
        }
    }
    stream_confirm(agent, take_byte(in) % 2 == 0);
    stream_keep_alive(agent, job_clock_ns());
}

/* As a program goes out of the barrier, which then would wait for the answer. */
static void leave(vic_t *me, uint32_t number)
{
    struct ring *ring = job_ring(me->job, me->number);
    uint64_t tail = atomic_load(&ring->tail);
    if (tail - atomic_load(&ring->head) < RING_WORDS) {
        ring->word[tail % RING_WORDS] = record_word(RECORD_LEAVE, me->number, number);
        atomic_store(&ring->tail, tail + 1);
    }
}

/* No call that waits for ever. */
static void call(struct input *in)
{
    unsigned what = take_byte(in);
    vic_t *me = here->card[what % EACH];
    uint32_t to = what / 2 % ALL;
    uint64_t words[16] = {1, 2, 3}, headers[2], opens;
    size_t n = 0;
    switch (what / 16 % 8) {
    case 0: vic_put(me, to, take_byte(in) % SRAM, words, 16, 3); break;
    case 1: case 2:
        headers[0] = vic_header(to, what % 3 == 0 ? VIC_FIFO : VIC_QUERY, 1, 3);
        words[0] = vic_header(me->number, VIC_WRITE, 2, 4);
        headers[1] = vic_header(to, VIC_FIFO, 0, VIC_NO_COUNTER);
        vic_try_send(me, headers, words, 2, &n);
        CHECK(n <= 2);
        break;
    case 3: case 4: CHECK(vic_fifo_poll(me, words, 8, &n) == VIC_OK && n <= 8); break;
    case 5: vic_peer_opens(me, to, &opens); break;
    case 6: vic_counter_wait(me, to, 0); break;
    default: what % 2 == 0 ? remote_arrive(me, here->agent.generation + take_byte(in) % 2) : leave(me, what);
    }
}

/* No other host opens, closes or ends a card of this one, and words for its cards come to no other card's memory. */
static void check_all(void)
{
    const struct job *job = here->job;
    for (uint32_t i = 0; i < ALL; i++) {
        if (job_is_here(job, i)) {
            CHECK(atomic_load(&job->card[i].end) == CARD_RUNS);
            CHECK(seat_owner(atomic_load(&job->card[i].seat)) == (uint32_t)getpid());
            continue;
        }
        for (uint32_t k = 0; k < job->sram_stride; k++) {
            CHECK(atomic_load(&job_sram(job, i)[k]) == 0);
        }
        CHECK(atomic_load(&job->card[i].counter[3].value) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct input in = input_of(data, bytes);
    if (side[0].job == NULL) {
        make(&side[0], 0);
        make(&side[1], 1);
    }
    here = &side[take_byte(&in) % 2];
    begin(here);
    quiet(true);
    while (input_left(&in)) {
        unsigned what = take_byte(&in);
        struct peer *peer = &here->agent.peer[(here->agent.host + 1 + what / 8 % 2) % 3];
        switch (what % 8) {
        case 0: case 1: case 2: frame_comes(&in, peer); break;
        case 3: frame_went(peer); break;
        case 4: case 5: call(&in); break;
        case 6: pass_all(&in); break;
        default: clocks_measure(&here->agent);
        }
    }
    quiet(false);
    check_all();
    for (uint32_t i = 0; i < ALL; i++) {
        atomic_store(&here->job->card[i].end, CARD_ENDED); /* nobody waits for a FIFO that is full */
    }
    atomic_store(&here->job->shared->poison, 1);
    for (uint32_t i = 0; i < EACH; i++) {
        CHECK(vic_close(here->card[i]) == VIC_OK);
    }
    return 0;
}
