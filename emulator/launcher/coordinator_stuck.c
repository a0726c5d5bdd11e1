/* Waits that cannot end well: after a death, when all other programs have ended, in a deadlock. */
#include "coordinator.h"

#include <inttypes.h>

#include "look.h"
#include "vic.h"

/* ---- what the coordinator prints */

static void print_watched(const struct side *side, const struct watched *watched)
{
    const struct timed_card *shared = side->shared;
    uint32_t counter = watched->index % COUNTERS;
    uint64_t words;
    switch (watched->what) {
    case DVSIM_VIC_COUNTER:
    case DVSIM_VIC_PRESET:
        fprintf(stderr, "counter %u to read 0 (it reads %" PRId64 ")", counter,
                dvsim_vic_counter(side->vic, counter)); /* of the card itself: its host may not have looked since */
        break;
    case DVSIM_VIC_FIFO:
        words = watched->least - shared->view.fifo_out;
        fprintf(stderr, "%" PRIu64 " word%s in its FIFO", words, words == 1 ? "" : "s");
        break;
    case DVSIM_VIC_TAKEN: fputs("room for its packets", stderr); break;
    case DVSIM_VIC_LOADED: fputs("a read of SRAM", stderr); break;
    case DVSIM_VIC_MOVED:
    case DVSIM_VIC_DONE: fputs("a transfer", stderr); break;
    case WATCH_THREAD: fputs("a thread to end", stderr); break;
    case WATCH_SLOT: fputs("another thread (a lock, a condition)", stderr); break;
    default: fputs("the barrier", stderr); break;
    }
}

/* A call that waits in many parts, as those of vic_message; false: there is none. */
static bool print_whole(const struct side *side)
{
    for (int i = 0; i < WAITS; i++) {
        const struct card_wait *wait = &side->coord->job->card[side->number].wait[i];
        uint32_t kind = atomic_load(&wait->kind);
        if (kind >= WAIT_MESSAGE && kind < WAIT_KINDS) {
            fprintf(stderr, wait_text(kind), atomic_load(&wait->dest));
            return true;
        }
    }
    return false;
}

static void print_waits(const struct side *side)
{
    const struct timed_card *shared = side->shared;
    uint32_t state = atomic_load(&shared->state), watches = shared->watches;
    if (side->end_ps != NEVER || state == CARD_CLOSED || state == CARD_AWAY || watches == 0) {
        fprintf(stderr, "nothing%s", side->end_ps != NEVER   ? ", its program has ended"
                                     : state == CARD_CLOSED ? ", it is closed"
                                     : state == CARD_AWAY   ? ", its threads do something else"
                                                            : "");
        return;
    }
    if (print_whole(side)) {
        return;
    }
    for (uint32_t i = 0; i < watches && i < WATCHED_MOST; i++) {
        fputs(i > 0 ? ", " : "", stderr);
        print_watched(side, &shared->watched[i]);
    }
}

void report_deadlock(const struct coordinator *coord)
{
    fprintf(stderr,
            "vicrun: deadlock at %.3f us of model time: every program waits, and nothing is on its way\n",
            (double)coord->last_ps / 1e6);
    for (uint32_t i = 0; i < coord->cards; i++) {
        const struct side *side = &coord->side[i];
        const dvsim_vic_packet *held = dvsim_vic_held(side->vic);
        fprintf(stderr, "vicrun:   card %u waits for ", i);
        print_waits(side);
        if (held != NULL && dvsim_header_op(held->header) == DVSIM_OP_FIFO) {
            fprintf(stderr, "; its packets wait for room in the FIFO of card %u",
                    dvsim_header_dest(held->header));
        }
        fputc('\n', stderr);
    }
    fputs("vicrun:   all waits now end with VIC_EPEER\n", stderr);
}

void report_waiting(const struct coordinator *coord, uint32_t card)
{
    fprintf(stderr,
            "vicrun: timed: the program of card %u has not called the library for 5 s; model time stands at "
            "%.3f us until it does\n",
            card, (double)coord->sim_ps / 1e6);
}

void coordinator_report(const struct coordinator *coord, FILE *file)
{
    uint64_t looks = 0;
    int64_t end = 0;
    for (uint32_t i = 0; i < coord->cards; i++) {
        looks += coord->side[i].shared->looks;
        end = coord->side[i].end_ps != NEVER && coord->side[i].end_ps > end ? coord->side[i].end_ps : end;
    }
    fprintf(file,
            "vicrun: timed: %.3f us of model time, %" PRIu64 " packets delivered, %" PRIu64 " looks, %" PRIu64
            " slots of %.3f ns, %" PRIu64 " windows, trace hash %016" PRIx64 "\n",
            (double)end / 1e6, coord->deliveries, looks, coord->slots, (double)coord->slot_ps / 1e3, coord->windows,
            coord->hash);
    if (coord->late > 0) {
        fprintf(file, "vicrun: timed: %" PRIu64 " calls came after their time: this run is not exact\n",
                coord->late);
    }
    for (uint32_t i = 0; i < coord->cards; i++) {
        dvsim_vic_counts counts = dvsim_vic_counts_now(coord->side[i].vic);
        fprintf(file, "vicrun: timed: card %u: clock %.3f us, %" PRId64 " packets came, FIFO at most %" PRId64
                " words%s\n", i, (double)coord->side[i].end_ps / 1e6, counts.arrived, counts.fifo_peak,
                counts.refused > 0 ? "; headers in SRAM were overwritten before they were used" : "");
    }
}

/* Let the waits of a card end at at_ps, with this status. Returns false if an earlier call has done so. */
static bool stop_waits(struct side *side, int64_t at_ps, int status)
{
    if (side->shared->stop_ps != NEVER) {
        return false;
    }
    side->shared->stop_ps = at_ps;
    side->shared->stop_status = status;
    side->wake = true;
    return true;
}

void ends_stop_waits(struct coordinator *coord, int64_t at_ps, int status)
{
    for (uint32_t i = 0; i < coord->cards; i++) {
        stop_waits(&coord->side[i], at_ps, status);
    }
}

/* The time at which all cards learn of a death. The coordinator waited for the card, so no other is later than this. */
static int64_t after_death_ps(const struct coordinator *coord, int64_t at_ps)
{
    return at_ps + 2 * coord->pcie.crossing_ps;
}

void ends_announce_deaths(struct coordinator *coord)
{
    for (uint32_t i = 0; i < coord->cards; i++) {
        bool died = atomic_load(&coord->job->card[i].end) == CARD_DIED;
        if (died && coord->side[i].end_ps != NEVER) {
            ends_stop_waits(coord, after_death_ps(coord, coord->side[i].end_ps), VIC_EPEER);
        }
    }
}

/* Carry out the fault `kill` where it is due. Returns the time of the next one, which no card may pass before. */
int64_t ends_kill_due(struct coordinator *coord, int64_t least_ps)
{
    const struct job_config *c = &coord->job->config;
    int64_t next = NEVER;
    for (uint32_t i = 0; i < c->kills; i++) {
        int64_t at = c->kill[i].at_ns < INT64_MAX / 2000 ? (int64_t)c->kill[i].at_ns * 1000 : NEVER / 2;
        struct side *side = &coord->side[c->kill[i].card];
        if (coord->kills >> i & 1 || side->end_ps != NEVER) {
            continue;
        }
        if (least_ps < at || coord->sim_ps < at) {
            next = at < next ? at : next;
            continue;
        }
        coord->kills |= UINT64_C(1) << i;
        ends_stop_waits(coord, after_death_ps(coord, at), VIC_EPEER);
        coord->kill(coord->context, side->number);
        for (uint32_t seen = coordinator_look(coord); !has_ended(side); seen = coordinator_look(coord)) {
            coordinator_sleep(coord, seen);
        }
        side->end_ps = at;
        side->next_ps = NEVER;
        side->wake = false;
        atomic_store(&side->shared->state, CARD_CLOSED);
    }
    coord->kill_pending = next != NEVER;
    return next;
}

/* Whether a card waits for something that its own threads cannot bring. */
static bool waits_for_others(const struct side *side)
{
    const struct timed_card *shared = side->shared;
    bool others = shared->watches > WATCHED_MOST; /* these are not known */
    for (uint32_t i = 0; i < shared->watches && i < WATCHED_MOST; i++) {
        others = others || shared->watched[i].what < WATCH_BARRIER;
    }
    return others;
}

/* The later of two times; `written` counts only if it is a time (time_of). */
static int64_t latest(int64_t ps, const int64_t *written)
{
    int64_t other = time_of(written);
    return other > ps && other != NEVER ? other : ps;
}

/* Have the cards waited without end for so long that what looks round in the meantime, as vic_message does at least every
 * 10 ms or eighth part of its wait, finds nothing any more? `newest`: since when the last of them has. */
static bool is_still(struct coordinator *coord, int64_t newest)
{
    const int64_t quiet_ps = INT64_C(1000000000000);
    int64_t waited = coord->sim_ps - newest, least = waited / 4 > quiet_ps ? waited / 4 : quiet_ps;
    uint64_t print = 0;
    if (waited < quiet_ps) {
        return false;
    }
    for (uint32_t i = 0; i < coord->cards; i++) {
        print = (print ^ coord->side[i].fifo_words) * UINT64_C(0x9e3779b97f4a7c15);
        for (unsigned k = 0; k < SCRATCH; k++) { /* the scratch counter counts looks of others */
            print = (print ^ (uint64_t)dvsim_vic_counter(coord->side[i].vic, k)) * UINT64_C(0x9e3779b97f4a7c15);
        }
    }
    if (print != coord->still_print || newest > coord->still_ps) {
        coord->still_print = print;
        coord->still_ps = coord->sim_ps;
    }
    return coord->sim_ps - coord->still_ps >= least;
}

/* No packet and no event is left: end the waits for what cannot come any more. */
void ends_when_idle(struct coordinator *coord)
{
    struct side *last = NULL;
    uint32_t live = 0;
    int64_t ended = coord->last_ps + coord->pcie.crossing_ps;
    int64_t newest = 0;
    bool all_wait = true, endless = true; /* for news, or in parts */
    for (uint32_t i = 0; i < coord->cards; i++) {
        struct side *side = &coord->side[i];
        if (side->end_ps == NEVER) {
            if (side->shared->lost != 0) { /* its thread that computes, or sleeps elsewhere, may do something */
                return;
            }
            last = side;
            live++;
            int64_t since_ps = time_of(&side->shared->endless_ps);
            bool waits = !side->wake && is_stopped(side);
            all_wait = all_wait && waits && side->next_ps == NEVER;
            endless = endless && waits && since_ps != NEVER;
            newest = since_ps > newest ? since_ps : newest;
        } else if (side->end_ps > ended) {
            ended = side->end_ps;
        }
    }
    if (live == 1 && last->shared->news_tail != last->shared->news_head) { /* what is known comes first */
        ended = latest(ended, &last->shared->news[(last->shared->news_tail - 1) % NEWS_ROOM].at_ps);
    }
    if (live == 1 && coord->cards > 1 && is_stopped(last) && waits_for_others(last)) {
        ended = latest(ended, &last->shared->now_ps);
        bool first = stop_waits(last, ended, VIC_ECLOSED);
        int64_t ends_ps = ended + coord->pcie.look_ps;
        if (first && coord->sim_ps > ends_ps) { /* the wait ends before its timeout, up to which nothing happened */
            coord->sim_ps = ends_ps;
        }
    } else if (live > 0 && (all_wait || (endless && is_still(coord, newest))) && !coord->deadlock && !coord->kill_pending && last->shared->stop_ps == NEVER) {
        coord->deadlock = true;
        report_deadlock(coord);
        ends_stop_waits(coord, coord->last_ps, VIC_EPEER);
    }
}
