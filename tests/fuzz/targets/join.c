/* Programs that join a job, and the launcher that serves it: what if the one says to the other whatever it likes, in any
 * order, with any descriptors, and hangs up at any time? */
#define _GNU_SOURCE
#include "../cards.h"

#include <fcntl.h>

#include "../../../emulator/launcher/join.c"

enum { ALL = 3, NONCE = 42 };

static const struct job_config size = {
    .cards = ALL, .sram_words = 64, .counters = 12, .fifo_words = 6, .dma_entries = 4,
    .pcie_rate = 8000000000, .dma_slow = 1, .seed = 1, .outlives = 1,
    .model = {.crossing_ps = 400000, .load_ps = 1000000, .look_ps = 50000, .store_rate = 500000000,
              .port_rate = 4400000000, .send_words = 16, .planes = 16, .angles = 6},
};

/* No program is started or ended here. */
int take_signals(void) { return -1; }
void pass_signal(struct launch *launch, int signals) { (void)launch; (void)signals; }
int children_start(struct launch *launch, uint32_t first, uint32_t cards) { (void)launch; (void)first; (void)cards; return -1; }
int child_start(struct launch *launch, uint32_t card, int failed) { (void)launch; (void)card; (void)failed; return 0; }
bool children_started(pid_t process) { (void)process; return false; }
bool children_left(const struct launch *launch) { (void)launch; return false; }
void children_end_orphans(void) { }
void stream_copy(struct stream *stream, uint32_t card, uint32_t cards) { (void)stream; (void)card; (void)cards; }
void stream_finish(struct stream *stream, uint32_t card, uint32_t cards) { (void)stream; (void)card; (void)cards; }
void coordinator_kick(const struct job *job) { (void)job; }

static struct join take_join(struct input *in, uint32_t kind)
{
    struct join what = {.kind = kind, .layout = JOB_LAYOUT, .version = VIC_VERSION};
    unsigned odd = take_byte(in);
    what.kind = odd % 16 == 15 ? (uint32_t)take(in, 4) : odd % 16 >= 12 ? JOIN_ASK + odd % 5 : kind;
    what.layout += odd == 16;
    what.version[odd % 20] ^= odd >= 250 ? 0xff : 0;
    what.card = odd < 128 ? take_byte(in) % (ALL + 1) : odd < 192 ? JOIN_ANY : (uint32_t)take_word(in);
    what.number = (uint32_t)take_word(in);
    what.by_signal = take_byte(in) % 2;
    what.refused = take_byte(in) % 4 == 0;
    what.nonce = odd < 200 ? NONCE : take_word(in);
    memset(what.text, odd, sizeof what.text);
    return what;
}

/* Mostly a whole one. */
static void say(struct input *in, int to, uint32_t kind)
{
    struct join what = take_join(in, kind);
    unsigned bytes = take_byte(in);
    send(to, &what, bytes < 224 ? sizeof what : bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void end_pending(struct launch *launch)
{
    for (int i = 0; i < PENDING_MOST; i++) {
        if (launch->pending[i] >= 0) {
            close(launch->pending[i]);
        }
    }
}

/* The launcher: connections come, some are given cards, and say more. */
static void serve(struct input *in)
{
    char *place[] = {"-", NULL};
    struct program program = {0, ALL, place};
    struct options options = {.job = size, .program = &program, .programs = 1, .if_killed = take_byte(in) % 3,
                              .short_lives = 2};
    struct child child[ALL] = {0};
    vic_t *card[ALL];
    struct launch launch = {.options = &options, .job = cards_open(&size, card), .child = child, .socket = -1,
                            .stats_fd = -1, .core = -1, .memory = open("/dev/null", O_RDONLY)};
    int other[ALL + PENDING_MOST], others = 0;
    cards_close(card);
    memset(launch.pending, 0xff, sizeof launch.pending);
    for (uint32_t i = 0; i < ALL; i++) {
        child[i].pidfd = child[i].joiner = child[i].owner_fd = -1;
        atomic_store(&launch.job->card[i].end, take_byte(in) % 3);
    }
    while (input_left(in)) {
        unsigned what = take_byte(in);
        uint32_t at = what / 8 % ALL;
        switch (what % 8) {
        case 0: case 1:
            if (others < (int)(sizeof other / sizeof *other)) {
                int pair[2];
                CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
                other[others++] = pair[1];
                say(in, pair[1], JOIN_ASK);
                launch.pending[0] = pair[0];
                pending_hear(&launch, &launch.pending[0]);
                CHECK(launch.pending[0] == -1);
            }
            break;
        case 2: case 3:
            if (others > 0) {
                say(in, other[what / 8 % (unsigned)others], JOIN_ENDED);
            }
            break;
        case 4: case 5:
            if (child[at].joiner >= 0 && !child[at].lost) {
                joiner_hear(&launch, at);
            }
            break;
        case 6: /* its seat: as another program that it started would have it */
            atomic_store(&launch.job->card[at].seat, what < 64 ? take_word(in) : seat_taken(0, (uint32_t)getpid()));
            break;
        default:
            if (others > 0 && what % 16 == 15) {
                close(other[--others]);
            } else if (child[at].lost) {
                joiner_gone(&launch, at);
            }
            clock_advance((uint64_t)what * 1000000);
            restart_due(&launch);
        }
        CHECK(launch.joiners <= ALL);
    }
    stop_restarts(&launch);
    uint32_t joiners = 0;
    for (uint32_t i = 0; i < ALL; i++) {
        joiners += child[i].joiner >= 0;
        atomic_store(&launch.job->card[i].seat, 0); /* its number may be that of a process that lives */
        while (child[i].lost) { /* who brought it, then it */
            joiner_gone(&launch, i);
        }
        if (child[i].joiner >= 0) {
            joiner_hang_up(&launch, i);
        }
        if (child[i].owner_fd >= 0) {
            close(child[i].owner_fd);
        }
    }
    CHECK(joiners <= ALL && launch.joiners == 0 && launch.waiting <= ALL);
    end_pending(&launch);
    while (others > 0) {
        close(other[--others]);
    }
    if (launch.owners > 0) {
        close(launch.owners);
    }
    close(launch.memory);
}

/* An answer with up to three descriptors. */
static void answer(struct input *in, int to, int memory)
{
    union {
        char bytes[CMSG_SPACE(3 * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct join what = take_join(in, JOIN_ANSWER);
    unsigned bytes = take_byte(in), count = take_byte(in) % 4;
    struct iovec text = {&what, bytes < 240 ? sizeof what : bytes};
    struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1};
    memset(&control, 0, sizeof control);
    if (count > 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(count * sizeof(int));
        for (unsigned i = 0; i < count; i++) {
            memcpy(CMSG_DATA(head) + i * sizeof(int), i == bytes % 3 ? &memory : &to, sizeof(int));
        }
    }
    sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Who joins: what an odd launcher answers, and says later. */
static void join(struct input *in)
{
    char *program[] = {"x", NULL};
    struct program only = {0, 1, program};
    struct options options = {.join = "j", .card = JOIN_ANY, .program = &only, .programs = 1};
    vic_t *card[ALL];
    struct join got;
    const char *why = NULL;
    int pair[2];
    cards_open(&size, card);
    cards_close(card);
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
    int file = take_byte(in) % 2 == 0 ? cards_memory() : pair[1];
    answer(in, pair[1], file);
    int memory = ask(pair[0], &options, &got);
    if (memory >= 0) {
        struct child child = {.pidfd = -1, .joiner = -1, .owner_fd = -1};
        struct launch launch = {.options = &options, .memory = memory, .joins = true, .child = &child};
        launch.job = job_attach(memory, got.nonce, &why);
        CHECK(launch.job != NULL || why != NULL);
        for (bool more = launch.job != NULL && got.card < ALL; more && input_left(in);) {
            say(in, pair[1], take_byte(in) % 2 == 0 ? JOIN_AGAIN : JOIN_SIGNAL);
            child.pidfd = -1;
            more = hear(&launch, 0, pair[0]);
        }
        close(memory);
    }
    close(pair[0]);
    close(pair[1]);
}

/* Descriptors that are open, of those that an input can come to. */
static int descriptors(void)
{
    int open = 0;
    for (int fd = 0; fd < 64; fd++) {
        open += fcntl(fd, F_GETFD) >= 0;
    }
    return open;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct input in = input_of(data, bytes);
    int before = descriptors();
    quiet(true);
    if (take_byte(&in) % 4 == 0) {
        join(&in);
    } else {
        serve(&in);
    }
    quiet(false);
    static bool warm; /* the first input opens what stays open */
    CHECK(!warm || descriptors() == before);
    warm = true;
    return 0;
}
