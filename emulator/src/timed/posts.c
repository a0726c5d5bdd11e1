/* Posts: what calls do, in the ring that the coordinator reads when the card stops. */
#include <string.h>

#include "race.h"
#include "timed/timed.h"

/* A thread that waits for an answer does nothing more at its present time. */
static int64_t least_key(const struct member *me, bool waits_answer)
{
    const int64_t least = me->clock_ps + (waits_answer ? 2 : 0);
    int64_t key = least;
    for (const struct member *m = me->own->members; m != NULL; m = m->next) {
        bool waits = m->state == MEMBER_READY || m->state == MEMBER_PARKED;
        key = waits && m->key_ps < key && m->key_ps >= least ? m->key_ps : key;
    }
    return key;
}

void timed_drain(struct member *me, bool wait_answer)
{
    struct timed *own = me->own;
    uint32_t seen = own->shared->answers;
    own->driving = true;
    do {
        token_pass(own, CARD_STOPPED, least_key(me, wait_answer), !wait_answer);
    } while (wait_answer && own->shared->answers == seen && !own->orphaned);
    own->driving = false;
    cpu_time_read(me);
}

static void put_words(struct timed_card *shared, const uint64_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        shared->post[shared->post_tail++ % POST_WORDS] = words[i];
    }
}

static void post(struct member *me, const struct post *what, const uint64_t *words)
{
    struct timed_card *shared = me->own->shared;
    uint64_t head[POST_HEAD];
    if (POST_WORDS - (shared->post_tail - shared->post_head) < POST_HEAD + what->words) {
        timed_drain(me, false);
    }
    if (me->own->orphaned) {
        return;
    }
    memcpy(head, what, sizeof *what);
    put_words(shared, head, POST_HEAD);
    STEP();
    put_words(shared, words, what->words);
}

void post_bare(struct member *me, const struct post *what)
{
    post(me, what, NULL);
}

void post_items(struct member *me, struct post what, const uint64_t *words, size_t n, unsigned each)
{
    size_t most = POST_MOST / each;
    for (size_t i = 0; i < n; i += most) {
        size_t some = n - i < most ? n - i : most;
        what.words = (uint32_t)(some * each);
        post(me, &what, words + i * each);
        what.at_ps += (int64_t)some * what.step_ps;
        what.a += what.kind == POST_STORE || what.kind == POST_CACHED ? (uint32_t)some : 0;
    }
}

void post_one(struct member *me, enum post_kind kind, int64_t at_ps, uint32_t a, uint32_t b, uint64_t count)
{
    struct post what = {.at_ps = at_ps, .kind = kind, .a = a, .b = b, .count = count};
    post_bare(me, &what);
}

/* The headers as they are just before the first payload can be there. */
int post_check(struct member *me, vic_addr_t headers, const uint64_t *payloads, size_t n)
{
    struct timed *own = me->own;
    if (n == 0) {
        return VIC_OK;
    }
    post_items(me, (struct post){.kind = POST_STAGE}, payloads, n, 1);
    post_one(me, POST_CHECK, me->clock_ps + own->pcie.crossing_ps, headers, 0, n);
    timed_drain(me, true);
    int status = own->orphaned ? VIC_ECLOSED : sound_status(own->shared->answer);
    if (status == VIC_EINVAL || status == VIC_ERANGE) {
        return fail(status, "of the %zu headers in SRAM from word %u on, or the replies that they ask for, one is wrong", n,
                    headers);
    }
    return fail_as(status);
}
