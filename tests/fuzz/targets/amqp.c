/* vicbridge, all of it, between a client on a card and a broker that may say anything (amqp_server.h): does it survive,
 * end, and confirm nothing that the broker has not received? */
#define _GNU_SOURCE
#include <signal.h>
#include <stdarg.h>

#include "../amqp_server.h"
#include "../cards.h"

/* The signals of this process are not for the bridge. */
#define sigaction(number, action, old) ((void)(action))
#define main bridge_main
#include "../../../emulator/bridge/main.c"
#undef main
#undef sigaction

enum { BRIDGE = 1, CLIENT = 0, ALL = 2, MESSAGES = 3, LONG_BODY = 300, PATIENCE_MS = 60, WHOLE = 400 };

static const struct job_config size = {
    .cards = ALL, .sram_words = 8192, .counters = 40, .fifo_words = 8, .dma_entries = 8,
    .pcie_rate = 8000000000, .dma_slow = 1, .seed = 1,
    .model = {.crossing_ps = 400000, .load_ps = 1000000, .look_ps = 50000, .store_rate = 500000000,
              .port_rate = 4400000000, .send_words = 16, .planes = 16, .angles = 6},
};
static const struct vic_message_config config = {.max_bytes = 4096, .window_bytes = 4096};

static void format(const char *text, va_list values)
{
    char line[2048];
    vsnprintf(line, sizeof line, text, values);
}

/* What it says is put together, and that is all. */
#define LOG(name)                                                                                           \
    void name(const char *text, ...)                                                                        \
    {                                                                                                       \
        va_list values;                                                                                     \
        va_start(values, text);                                                                             \
        format(text, values);                                                                               \
        va_end(values);                                                                                     \
    }
LOG(__wrap_log_error)
LOG(__wrap_log_warning)
LOG(__wrap_log_info)

static void send_one(vic_message_t *messages, const struct vic_envelope *e)
{
    unsigned char room[LONG_BODY + 100];
    size_t bytes;
    CHECK(vic_envelope_pack(room, sizeof room, e, &bytes) == VIC_OK);
    vic_message_send(messages, BRIDGE, room, bytes, (uint64_t)PATIENCE_MS * 1000000);
}

static unsigned confirmed(const struct vic_envelope *e)
{
    unsigned count = 0;
    for (size_t i = 0; i < vic_envelope_ids(e); i++) {
        char id[40];
        snprintf(id, sizeof id, VIC_MESSAGE_ID, (unsigned long long)e->session,
                 (unsigned long long)vic_envelope_id(e, i));
        CHECK(e->session == 1 && (bridge.options.at_most_once || server_has(id)));
        count++;
    }
    return count;
}

/* Publish, subscribe, take what comes for a while, and stop the bridge. */
static void *be_client(void *what)
{
    vic_t *card = what;
    vic_message_t *messages;
    unsigned left = MESSAGES, turns = 0;
    char body[LONG_BODY];
    memset(body, 'c', sizeof body);
    CHECK(vic_message_open(card, &config, &messages) == VIC_OK);
    struct vic_envelope e = {.kind = VIC_SUBSCRIBE, .session = 1, .id = 1, .key = "q", .key_bytes = 1,
                             .body = "\x02\0\0\0\0\0\0", .bytes = 8};
    send_one(messages, &e);
    for (unsigned i = 1; i <= MESSAGES; i++) {
        e = (struct vic_envelope){.kind = VIC_PUBLISH, .flags = VIC_CONFIRM_WANTED, .session = 1, .id = i, .key = "k",
                                  .key_bytes = 1, .body = body, .bytes = i == MESSAGES ? LONG_BODY : i};
        send_one(messages, &e);
    }
    for (uint64_t begin = now_ns(); turns < MESSAGES * 4 && now_ns() - begin < (uint64_t)PATIENCE_MS * 1000000 &&
                                    atomic_load(&bridge.stop) == STOP_NOT;) {
        unsigned char data[4096];
        size_t bytes;
        int status = vic_message_recv(messages, NULL, data, sizeof data, &bytes, 2000000);
        if (status != VIC_OK) {
            turns += left == 0 ? 4 : 0;
            continue;
        }
        CHECK(vic_envelope_unpack(data, bytes, &e) == VIC_OK);
        if (e.kind == VIC_CONFIRM) {
            unsigned some = confirmed(&e);
            CHECK(some <= left);
            left -= some;
        } else if (e.kind == VIC_DELIVER) {
            CHECK(e.subscriber == 1 && e.subscription == 1);
            struct vic_envelope ack = {.kind = VIC_ACK, .session = e.session, .id = e.id};
            send_one(messages, &ack);
        }
    }
    bridge_stop(&bridge, STOP_SIGNAL);
    vic_message_send(messages, BRIDGE, "", 0, 2000000); /* wakes it */
    vic_message_close(messages);
    return NULL;
}

/* main has freed everything. The linker gives us the last call of that. */
static bool is_free;
void __real_message_free_all(void);
void __wrap_message_free_all(void);
void __wrap_message_free_all(void)
{
    is_free = true;
    __real_message_free_all();
}

/* What main leaves to the end of the process. */
static void clean_up(void)
{
    while (!is_free && !all_ended()) {
        nap(); /* the server has hung up */
    }
    if (!is_free) {
        close_all();
    }
    if (bridge.messages != NULL) {
        vic_message_close(bridge.messages); /* unless main did */
    }
    vic_close(bridge.card);
    free(bridge.options.url[0].text);
    free((void *)(uintptr_t)bridge.options.queue[0].name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static int port;
    char url[64], name[32], *argument[WHOLE] = {"vicbridge", "--url", url, "--queue", "q=k", "--reconnect", "0.001:0.002",
                            "--give-up", "0.05", "--drain-timeout", "0.03", "--max-message", "4096", "--ring", "4096",
                            "--window", "2"};
    int count = 17;
    struct input in = input_of(data, bytes), part[PARTS];
    unsigned flags = take_byte(&in);
    size_t each = (size_t)(in.end - in.at) / PARTS;
    for (int i = 0; i < PARTS; i++) { /* the first two connections have most to say */
        part[i] = (struct input){in.at + each * (size_t)i, i == PARTS - 1 ? in.end : in.at + each * ((size_t)i + 1)};
    }
    if (port == 0) {
        signal(SIGPIPE, SIG_IGN);
        port = server_listen();
    }
    snprintf(url, sizeof url, "amqp://127.0.0.1:%d/%%2f", port);
    static char *const more[] = {"--at-most-once", "--no-declare", "--no-mandatory", "--persistent"};
    for (int i = 0; i < 4; i++) {
        if ((flags >> i & 1) != 0) {
            argument[count++] = more[i];
        }
    }
    vic_t *card[ALL];
    cards_open(&size, card);
    CHECK(vic_close(card[BRIDGE]) == VIC_OK);
    snprintf(name, sizeof name, "%d:2a", cards_memory());
    setenv("VIC_JOB", name, 1);
    setenv("VIC_CARD", "1", 1);
    memset(&bridge, 0, sizeof bridge);
    publishers = 0;
    is_free = false;
    server_start(part);
    pthread_t client;
    CHECK(pthread_create(&client, NULL, be_client, card[CLIENT]) == 0);
    bridge_main(count, argument);
    pthread_join(client, NULL);
    server_stop();
    clean_up();
    CHECK(vic_close(card[CLIENT]) == VIC_OK);
    return 0;
}
