/* What vic_envelope.h has inline, for those that load the library; and the patterns of topics. */
#include "vic_envelope.h"

extern inline size_t vic_envelope_header(unsigned kind);
extern inline uint64_t vic_envelope_word(const void *at);
extern inline void vic_envelope_put_word(void *at, uint64_t word);
extern inline int vic_envelope_is_sound(const struct vic_envelope *e);
extern inline int vic_envelope_pack(void *to, size_t size, const struct vic_envelope *e, size_t *bytes);
extern inline int vic_envelope_unpack(const void *from, size_t bytes, struct vic_envelope *e);
extern inline size_t vic_envelope_ids(const struct vic_envelope *e);
extern inline uint64_t vic_envelope_id(const struct vic_envelope *e, size_t which);

struct words {
    const char *at, *end; /* NULL: no word is left */
};

/* The next word ends here. */
static const char *word_end(const struct words *words)
{
    const char *dot = memchr(words->at, '.', (size_t)(words->end - words->at));
    return dot != NULL ? dot : words->end;
}

static struct words after_word(const struct words *words)
{
    const char *end = word_end(words);
    return (struct words){end < words->end ? end + 1 : NULL, words->end};
}

static int is_single(const struct words *words, char sign)
{
    return word_end(words) - words->at == 1 && *words->at == sign;
}

static int word_matches(const struct words *pattern, const struct words *topic)
{
    size_t bytes = (size_t)(word_end(pattern) - pattern->at);
    return is_single(pattern, '*') || (bytes == (size_t)(word_end(topic) - topic->at) &&
                                       memcmp(pattern->at, topic->at, bytes) == 0);
}

static struct words words_of(const char *text, size_t bytes)
{
    return (struct words){bytes > 0 ? text : NULL, bytes > 0 ? text + bytes : NULL};
}

/* Word by word; where it goes wrong, the last # takes one more word. */
int vic_topic_matches(const char *pattern, size_t pattern_bytes, const char *topic, size_t topic_bytes)
{
    struct words p = words_of(pattern, pattern_bytes), t = words_of(topic, topic_bytes);
    struct words after_hash = {NULL, NULL}, taken = {NULL, NULL};
    int hash = 0;
    for (;;) {
        if (p.at != NULL && is_single(&p, '#')) {
            hash = 1;
            p = after_hash = after_word(&p);
            taken = t;
        } else if (p.at != NULL && t.at != NULL && word_matches(&p, &t)) {
            p = after_word(&p);
            t = after_word(&t);
        } else if (p.at == NULL && t.at == NULL) {
            return 1;
        } else if (hash && taken.at != NULL) {
            t = taken = after_word(&taken);
            p = after_hash;
        } else {
            return 0;
        }
    }
}
