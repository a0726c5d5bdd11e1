/* landing.c: a burst, event by event: words land, counters reach zero, the software hands out entries, the
 * engine moves words, the ring has room again. Events of the same time come in the order of `kind`. */
#include <stdlib.h>
#include <string.h>

#include "host/internal.h"

enum kind { PRESET, SEEN, ROOM, ENGINE, LANDING, HOST, KINDS };

static int64_t first_word(const dvsim_receiver *r, int64_t piece)
{
    const int64_t message = piece / r->message_pieces, within = piece - message * r->message_pieces;
    return message * r->message_words + within * r->params.piece_words;
}

static int64_t words_of(const dvsim_receiver *r, int64_t piece)
{
    const int64_t within = piece % r->message_pieces * r->params.piece_words;
    const int64_t left = r->message_words - within;
    return left < r->params.piece_words ? left : r->params.piece_words;
}

/* Words come nearly in order, so that it mostly is the piece of the word before. */
static int64_t piece_of(dvsim_receiver *r, int64_t word)
{
    if (word < r->near_first || word >= r->near_end) {
        const int64_t message = word / r->message_words, within = word - message * r->message_words;
        r->near = message * r->message_pieces + within / r->params.piece_words;
        r->near_first = first_word(r, r->near);
        r->near_end = r->near_first + words_of(r, r->near);
        r->near_counter = r->near % r->counters;
        r->near_place = r->near_first % r->zone_words - r->near_first;
    }
    return r->near;
}

void dvsim_receiver_observe(void *receiver, int64_t at_ps, dvsim_vic_event what, uint32_t index, uint64_t value)
{
    dvsim_receiver *r = receiver;
    if (what == DVSIM_VIC_MOVED) {
        r->wrong += value != (uint64_t)(r->counts.words + r->moved);
        r->wrong += dvsim_ring_put(r->ring, value) != DVSIM_OK;
        r->moved++;
        r->moved_ps = at_ps;
        if (r->moved == r->moving_end) {
            r->pieces_ps[r->moving++] = at_ps;
            r->moving_end += r->moving < r->pieces ? words_of(r, r->moving) : 0;
        }
    } else if (what == DVSIM_VIC_DONE) {
        r->done++;
        r->done_ps = at_ps;
    } else {
        dvsim_mirror_observe(&r->mirror, at_ps, what, index, value);
    }
}

/* The words by slot and number. 0: no memory. */
static int sort(dvsim_receiver *r, const int64_t *slots)
{
    const int64_t first = r->first_slot, last = r->last_slot;
    uint32_t *from = calloc((size_t)(last - first) + 2, sizeof *from);
    if (from == NULL) {
        return 0;
    }
    for (int64_t i = 0; i < r->words; i++) {
        from[slots[i] - first + 1]++;
    }
    for (int64_t s = 0; s < last - first; s++) {
        from[s + 1] += from[s];
    }
    for (int64_t i = 0; i < r->words; i++) {
        r->order[from[slots[i] - first]++] = (uint32_t)i;
    }
    free(from);
    return 1;
}

static void preset(dvsim_receiver *r, int64_t now_ps, int64_t piece)
{
    const int64_t counter = piece % r->counters;
    dvsim_vic_preset(r->vic, now_ps, (uint32_t)counter, words_of(r, piece));
    r->watched[counter] = piece;
}

static void begin(dvsim_receiver *r, int64_t sent_ps)
{
    memset(r->landed, 0, (size_t)r->words);
    memset(r->pieces_ps, 0xff, (size_t)r->pieces * sizeof *r->pieces_ps);
    r->place = r->lowest = r->landed_words = r->moved = r->late_ps = r->held_sram_ps = r->is_full = 0;
    r->preset_put = r->preset_taken = r->handed = r->handed_words = r->done = r->moving = 0;
    r->near = r->near_first = r->near_end = r->law_ps = r->law_next_ps = 0;
    r->done_ps = r->moved_ps = r->host_free_ps = sent_ps;
    r->moving_end = words_of(r, 0);
    r->stopped_ps = -1;
    for (int64_t piece = 0; piece < r->counters && piece < r->pieces; piece++) {
        preset(r, sent_ps, piece);
    }
    dvsim_vic_allow(r->vic, sent_ps, r->counts.words + r->allowed);
}

/* ---- words */

enum leave { GO, FULL, UNSET };

static enum leave may_leave(dvsim_receiver *r, int64_t word)
{
    if (word >= r->moved + r->zone_words) {
        return FULL;
    }
    const int64_t piece = piece_of(r, word);
    return r->watched[r->near_counter] == piece ? GO : UNSET;
}

/* The word that lands next: in the order of the fabric, but one that is held back waits for all before it.
 * -1: none can. */
static int64_t next_word(dvsim_receiver *r)
{
    while (r->place < r->words && r->landed[r->order[r->place]]) {
        r->place++;
    }
    if (r->place == r->words) {
        return -1;
    }
    int64_t word = r->order[r->place];
    enum leave leave = may_leave(r, word);
    if (leave == GO) {
        return word;
    }
    while (r->landed[r->lowest]) {
        r->lowest++;
    }
    if (r->lowest != word && (leave = may_leave(r, r->lowest)) == GO) {
        return r->lowest;
    }
    r->is_full = leave == FULL;
    return -1;
}

static int64_t landing_ps(const dvsim_receiver *r, const dvsim_arrival_words *a, int64_t word)
{
    return (a->slots[word] + a->ahead) * a->slot_ps + r->late_ps;
}

static int land(dvsim_receiver *r, const dvsim_arrival_words *a, int64_t word, int64_t now_ps)
{
    const int64_t held = now_ps - landing_ps(r, a, word);
    (void)piece_of(r, word);
    const dvsim_vic_packet packet = {
        (uint64_t)DVSIM_OP_WRITE << 28 | (uint64_t)r->near_counter << 22 | (uint64_t)(r->near_place + word),
        (uint64_t)(r->counts.words + word),
        -1,
    };
    r->late_ps += held;
    *(r->is_full ? &r->held_sram_ps : &r->counts.held_counters_ps) += held;
    r->landed[word] = 1;
    r->landed_words++;
    if (r->landed_words - r->moved > r->counts.sram_peak_words) {
        r->counts.sram_peak_words = r->landed_words - r->moved;
    }
    return dvsim_vic_arrive(r->vic, now_ps, &packet, 0);
}

/* ---- the host */

static void see(dvsim_receiver *r, int64_t now_ps)
{
    const dvsim_pcie *pcie = &r->params.pcie;
    const int64_t back_ps = pcie->look_ps + dvsim_pcie_store_ps(pcie, 1) + pcie->crossing_ps;
    for (int counter; (counter = dvsim_mirror_look(&r->mirror, now_ps)) >= 0;) {
        const int64_t piece = r->watched[counter], next = piece + r->counters;
        r->pieces_ps[piece] = now_ps;
        if (next < r->pieces) {
            r->presets[r->preset_put++ % DVSIM_COUNTERS] = (dvsim_preset){now_ps + back_ps, next};
        }
    }
}

static int64_t host_ps(const dvsim_receiver *r)
{
    if (r->handed == r->pieces || r->pieces_ps[r->handed] < 0) {
        return INT64_MAX;
    }
    const int64_t seen = r->pieces_ps[r->handed], idle = r->host_free_ps;
    const int64_t at = seen <= idle ? idle : dvsim_pcie_look_from(&r->params.pcie, idle, seen);
    if (r->handed % r->params.dma_entries != 0) {
        return at;
    }
    if (r->done < r->handed) { /* the engine still works on the table */
        return INT64_MAX;
    }
    return r->done_ps > at ? r->done_ps : at;
}

/* The software's time for a piece: its share of what the law says of its message, without rounding errors that
 * add up. */
static int64_t share_ps(dvsim_receiver *r, int64_t piece)
{
    const int64_t message = piece / r->message_pieces, within = piece - message * r->message_pieces;
    if (within == 0) {
        r->law_ps = r->law_next_ps;
        r->law_next_ps = dvsim_law_total_ps(r->flow.software, r->flow.message_bytes, message + 1);
    }
    const int64_t all = r->law_next_ps - r->law_ps, each = all / r->message_pieces;
    return within + 1 < r->message_pieces ? each : all - within * each;
}

static int hand_out(dvsim_receiver *r, int64_t now_ps)
{
    const int64_t piece = r->handed++, words = words_of(r, piece);
    const uint32_t place = (uint32_t)(first_word(r, piece) % r->zone_words);
    r->handed_words += words;
    dvsim_ring_left(r->ring, now_ps);
    r->host_free_ps = now_ps + share_ps(r, piece);
    if (piece % r->params.dma_entries != 0) {
        return dvsim_vic_engine_entry(r->vic, now_ps, 0, place, (uint32_t)words);
    }
    r->host_free_ps += r->params.pcie.setup_ps;
    r->counts.loadings++;
    return dvsim_vic_engine_read(r->vic, now_ps, 0, place, (uint32_t)words);
}

/* The engine goes on as far as the ring has room, or stops. */
static void make_room(dvsim_receiver *r, int64_t now_ps)
{
    if (r->moved < r->allowed || r->moved == r->handed_words) {
        return;
    }
    const int64_t allowed = dvsim_ring_left(r->ring, now_ps) + r->room;
    if (allowed > r->allowed) {
        r->allowed = allowed;
        dvsim_vic_allow(r->vic, now_ps, r->counts.words + allowed);
        r->counts.held_ring_ps += r->stopped_ps >= 0 ? now_ps - r->stopped_ps : 0;
        r->stopped_ps = -1;
    } else if (r->stopped_ps < 0) {
        r->stopped_ps = now_ps;
    }
}

/* ---- events */

/* All words that land now. */
static int land_all(dvsim_receiver *r, const dvsim_arrival_words *a, int64_t word, int64_t now_ps)
{
    do {
        const int code = land(r, a, word, now_ps);
        if (code != DVSIM_OK) {
            return code;
        }
        word = next_word(r);
    } while (word >= 0 && landing_ps(r, a, word) <= now_ps);
    return DVSIM_OK;
}

/* All words that the engine moves before anything else happens; when the last of them is moved. */
static int64_t move_all(dvsim_receiver *r, const int64_t at[KINDS])
{
    int64_t now_ps = at[ENGINE], before = INT64_MAX;
    const int word_waits = at[LANDING] == INT64_MAX && r->place < r->words;
    const int host_waits = at[HOST] == INT64_MAX && r->handed % r->params.dma_entries == 0;
    for (enum kind kind = PRESET; kind < KINDS; kind++) {
        before = kind != ENGINE && at[kind] < before ? at[kind] : before;
    }
    for (;;) {
        dvsim_vic_move(r->vic, now_ps);
        make_room(r, now_ps);
        const int64_t next = dvsim_vic_due_ps(r->vic);
        if (word_waits || host_waits || next >= before) { /* a move may end their wait */
            return now_ps;
        }
        now_ps = next;
    }
}

static int run(dvsim_receiver *r, const dvsim_arrival_words *a, int64_t *first_ps)
{
    for (int64_t now_ps = a->sent_ps; r->moving < r->pieces;) {
        const int64_t word = next_word(r);
        const int64_t lands = word < 0 ? INT64_MAX : landing_ps(r, a, word);
        const int64_t at[KINDS] = {
            [PRESET] = r->preset_taken < r->preset_put ? r->presets[r->preset_taken % DVSIM_COUNTERS].at_ps
                                                       : INT64_MAX,
            [SEEN] = dvsim_mirror_zero_ps(&r->mirror),
            [ROOM] = r->stopped_ps >= 0 ? dvsim_ring_next_ps(r->ring) : INT64_MAX,
            [ENGINE] = dvsim_vic_due_ps(r->vic),
            [LANDING] = lands > now_ps ? lands : now_ps,
            [HOST] = host_ps(r),
        };
        enum kind next = PRESET;
        for (enum kind kind = SEEN; kind < KINDS; kind++) {
            next = at[kind] < at[next] ? kind : next;
        }
        if (at[next] == INT64_MAX) { /* the threads never come to a full ring */
            return DVSIM_ESTATE;
        }
        now_ps = at[next];
        int code = DVSIM_OK;
        if (next == PRESET) {
            preset(r, now_ps, r->presets[r->preset_taken++ % DVSIM_COUNTERS].piece);
        } else if (next == SEEN) {
            see(r, now_ps);
        } else if (next == ROOM) {
            make_room(r, now_ps);
        } else if (next == ENGINE) {
            now_ps = move_all(r, at);
        } else if (next == LANDING) {
            code = land_all(r, a, word, now_ps);
        } else {
            *first_ps = r->handed == 0 ? now_ps : *first_ps;
            code = hand_out(r, now_ps);
            make_room(r, now_ps);
        }
        if (code != DVSIM_OK || r->mirror.failed) {
            return code != DVSIM_OK ? code : DVSIM_ENOMEM;
        }
    }
    return DVSIM_OK;
}

int dvsim_receiver_land(dvsim_receiver *r, const dvsim_arrival_words *a, dvsim_burst *burst)
{
    int64_t first_ps = 0;
    if (!sort(r, a->slots)) {
        return DVSIM_ENOMEM;
    }
    begin(r, a->sent_ps);
    const int code = run(r, a, &first_ps);
    if (code != DVSIM_OK) {
        return code;
    }
    const int64_t port_ps = (r->last_slot - r->first_slot) * a->slot_ps;
    *burst = (dvsim_burst){
        .first_ps = first_ps,
        .last_ps = r->host_free_ps > r->moved_ps ? r->host_free_ps : r->moved_ps,
        .sent_ps = a->sent_ps + port_ps + r->late_ps,
        .held_ps = r->held_sram_ps,
    };
    r->counts.words += r->words;
    r->counts.port_busy_ps += port_ps;
    r->counts.dma_busy_ps += burst->last_ps - burst->first_ps;
    return r->wrong == 0 ? DVSIM_OK : DVSIM_ESTATE;
}
