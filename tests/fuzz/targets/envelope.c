/* Whatever bytes stand there: are they refused, or the envelope that packs to the same bytes? And does a topic match
 * a pattern as AMQP 0-9-1 says, 3.1.3.3? */
#include "../fuzz.h"
#include "vic_envelope.h"

static void look(const uint8_t *data, size_t bytes)
{
    struct vic_envelope e;
    size_t packed = 0;
    int status = vic_envelope_unpack(data, bytes, &e);
    if (status != VIC_OK) {
        CHECK(status == VIC_EINVAL);
        CHECK(e.kind == 0 && e.key == NULL && e.body == NULL && e.bytes == 0);
        return;
    }
    for (size_t i = 0; e.kind == VIC_CONFIRM && i < vic_envelope_ids(&e); i++) {
        CHECK(i > 0 || vic_envelope_id(&e, i) == e.id);
    }
    uint8_t *again = malloc(bytes);
    CHECK(again != NULL && vic_envelope_pack(again, bytes - 1, &e, &packed) == VIC_ENOSPC && packed == bytes);
    CHECK(vic_envelope_pack(again, bytes, &e, &packed) == VIC_OK);
    CHECK(packed == bytes && memcmp(data, again, bytes) == 0);
    free(again);
}

struct text {
    const char *at;
    size_t bytes;
};

static struct text word_of(struct text text)
{
    const char *dot = text.bytes > 0 ? memchr(text.at, '.', text.bytes) : NULL;
    return (struct text){text.at, dot != NULL ? (size_t)(dot - text.at) : text.bytes};
}

/* What follows the first word; false: nothing. */
static bool step(struct text *text)
{
    size_t bytes = word_of(*text).bytes;
    bool more = bytes < text->bytes;
    *text = (struct text){text->at + bytes + more, text->bytes - bytes - more};
    return more;
}

/* Slowly, and as it is written there. `p`, `t`: there is a word. */
static bool matches(struct text pattern, bool p, struct text topic, bool t)
{
    if (!p) {
        return !t;
    }
    struct text word = word_of(pattern), first = word_of(topic);
    bool more_p = step(&pattern);
    if (word.bytes == 1 && *word.at == '#') {
        for (;;) {
            if (matches(pattern, more_p, topic, t)) {
                return true;
            }
            if (!t) {
                return false;
            }
            t = step(&topic);
        }
    }
    bool same = (word.bytes == 1 && *word.at == '*') ||
                (word.bytes == first.bytes && (word.bytes == 0 || memcmp(word.at, first.at, word.bytes) == 0));
    bool more_t = step(&topic);
    return t && same && matches(pattern, more_p, topic, more_t);
}

/* The first byte says where the topic ends; the rest are letters of a small alphabet. */
static void match(const uint8_t *data, size_t bytes)
{
    static const char letters[] = "a.b#*c.#";
    enum { MOST = 24 };
    char text[MOST];
    size_t n = bytes > MOST ? MOST : bytes;
    if (n < 2) {
        return;
    }
    for (size_t i = 1; i < n; i++) {
        text[i] = letters[data[i] % 8];
    }
    size_t split = 1 + data[0] % n;
    char *pattern = malloc(n), *topic = malloc(n); /* so that a sanitizer sees a look behind the end */
    CHECK(pattern != NULL && topic != NULL);
    memcpy(pattern, text + 1, split - 1);
    memcpy(topic, text + split, n - split);
    struct text p = {pattern, split - 1}, t = {topic, n - split};
    bool expected = matches(p, p.bytes > 0, t, t.bytes > 0);
    pattern = realloc(pattern, p.bytes > 0 ? p.bytes : 1);
    topic = realloc(topic, t.bytes > 0 ? t.bytes : 1);
    CHECK(vic_topic_matches(pattern, p.bytes, topic, t.bytes) == expected);
    free(pattern);
    free(topic);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    look(data, bytes);
    match(data, bytes);
    return 0;
}
