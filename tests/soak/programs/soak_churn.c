/* Who stays and who comes and goes: cards alone, without a broker.
 *
 *     soak_churn stay             sends every message back, until it is asked to stop
 *     soak_churn HOW              sends messages to cards 0 and 1 and has them back, then
 *         close                   leaves in order, 0
 *         exit                    returns 3 without closing
 *         kill                    is killed, with a message on its way
 *         alarm                   goes on until a signal ends it, at any moment from before its card is open
 *         orphan                  goes on until somebody kills it
 * 5: something is wrong. */
#include <sys/time.h>

#include "soak.h"

enum { NAME = 16, LEAST = NAME + 4, MESSAGES = 8, ROOM = 20000, PATIENCE_NS = 1000000000, LATEST_US = 30000, WRONG = 5 };

static int wrong(const char *what, int status)
{
    failed(what, status);
    return WRONG;
}

/* Name, noise, checksum. */
static void prove(unsigned char *data, size_t bytes, const uint64_t name[2], uint64_t *state)
{
    memcpy(data, name, NAME);
    for (size_t i = NAME; i < bytes - 4; i++) {
        data[i] = (unsigned char)draw(state);
    }
    uint32_t crc = crc32_of(data, bytes - 4);
    memcpy(data + bytes - 4, &crc, 4);
}

static bool is_good(const unsigned char *data, size_t bytes)
{
    uint32_t crc;
    if (bytes < LEAST) {
        return false;
    }
    memcpy(&crc, data + bytes - 4, 4);
    return crc == crc32_of(data, bytes - 4);
}

static int stay(vic_message_t *messages)
{
    static unsigned char data[ROOM];
    uint32_t from;
    size_t bytes;
    while (!stopped) {
        int status = vic_message_recv(messages, &from, data, sizeof data, &bytes, 100000000);
        if (status == VIC_ETIMEDOUT) {
            continue;
        }
        if (status != VIC_OK || !is_good(data, bytes)) {
            return wrong(status != VIC_OK ? "recv" : "a message is altered", status);
        }
        status = vic_message_send(messages, from, data, bytes, 5000000); /* it may have gone */
        if (status != VIC_OK && status != VIC_ETIMEDOUT) {
            return wrong("send", status);
        }
    }
    return 0;
}

/* There and back. An answer may fail to come if the other side gave up on us, or come late, and answers to who had
 * this card before are no concern of ours; but a damaged one may not come, nor one of ours twice. */
static int visit(vic_message_t *messages, uint64_t life, uint64_t number, uint64_t *last, uint64_t *state)
{
    static unsigned char data[ROOM], back[ROOM];
    size_t size = LEAST + draw(state) % (ROOM - LEAST), bytes;
    uint64_t name[2] = {life, number}, answer[2] = {0};
    prove(data, size, name, state);
    int status = vic_message_send(messages, (uint32_t)(number % 2), data, size, PATIENCE_NS);
    while (status == VIC_OK && (answer[0] != life || answer[1] != number)) {
        status = vic_message_recv(messages, NULL, back, sizeof back, &bytes, PATIENCE_NS);
        if (status != VIC_OK) {
            break;
        }
        if (!is_good(back, bytes)) {
            return wrong("an answer is altered", VIC_OK);
        }
        memcpy(answer, back, sizeof answer);
        uint64_t *before = &last[answer[1] % 2];
        if (answer[0] == life && answer[1] <= *before) {
            return wrong("an answer came twice, or behind a later one", VIC_OK);
        }
        *before = answer[0] == life ? answer[1] : *before;
        if (answer[0] == life && answer[1] == number && (bytes != size || memcmp(data, back, bytes) != 0)) {
            return wrong("an answer is not what was sent", VIC_OK);
        }
    }
    return status == VIC_OK || status == VIC_ETIMEDOUT ? 0 : wrong("visit", status);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = stop};
    vic_t *card;
    vic_message_t *messages;
    const char *how = argc == 2 ? argv[1] : "";
    uint64_t state = now_ns() ^ (uint64_t)getpid() << 32;
    sigaction(SIGTERM, &action, NULL);
    if (strcmp(how, "alarm") == 0) {
        struct itimerval at = {.it_value = {.tv_usec = 1 + (long)(draw(&state) % LATEST_US)}};
        setitimer(ITIMER_REAL, &at, NULL);
    }
    bool stays = strcmp(how, "stay") == 0, goes_on = strcmp(how, "alarm") == 0 || strcmp(how, "orphan") == 0;
    int status = vic_open(&card);
    status = status == VIC_OK ? vic_message_open(card, NULL, &messages) : status;
    if (status != VIC_OK) {
        return wrong("cannot begin", status);
    }
    int code = stays ? stay(messages) : 0;
    uint64_t life = draw(&state), last[2] = {0}, number = 1; /* numbers of card 0 are even */
    for (; !stays && code == 0 && (number <= MESSAGES || goes_on); number++) {
        code = visit(messages, life, number, last, &state);
    }
    if (code == 0 && strcmp(how, "exit") == 0) {
        _exit(3);
    }
    if (code == 0 && strcmp(how, "kill") == 0) {
        static unsigned char data[ROOM];
        prove(data, sizeof data, (uint64_t[]){life, number}, &state);
        vic_message_send(messages, 0, data, sizeof data, PATIENCE_NS);
        raise(SIGKILL);
    }
    vic_message_close(messages);
    vic_close(card);
    return code;
}
