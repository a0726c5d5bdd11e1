/* What the coordinator prints. */
#include <inttypes.h>

#include "coordinator.h"

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
