/* ports.c: see ports.h. Four things happen to a message: its first word can leave the card, it comes to the port of
 * its receiver, the last word is in the card there, and the host has it. */
#include <stdlib.h>
#include <string.h>

#include "workload/card_ends.h"
#include "workload/internal.h"
#include "workload/ports.h"

enum { MOST_PORTS = 1 << 24, MOST_PLANES = 256, MASKS = MOST_PLANES / 64, KEPT = 64, MOST_BITS = 24 };
#define LONGEST_PS INT64_C(1000000000000)
#define MOST_WORDS (INT64_C(1) << 40)

/* Hops of the first and of the last of some words to come, beyond the mean. */
typedef struct {
    int64_t words, planes; /* 0: of none yet */
    double soonest, latest;
} ends;

/* What is known of a message before it leaves. */
typedef struct {
    int64_t way_ps, planes, words, word_fs;
    ends hops;
} course_of;

enum { LEAVES, ENTERS, WHOLE, AT_HOST };

typedef struct {
    int64_t id, sent_ps;
    course_of course;
    int64_t ready_ps, each_ps; /* its first word is in the card, and the time from one to the next */
    int64_t first_ps, last_ps; /* of its words in the card of the receiver */
    int32_t from, to;
    int what; /* happens to it next */
} flight;

typedef struct {
    dvsim_ports shape;
    double *shares[DVSIM_PORT_LEVELS]; /* [draws + 1] of ways with at most so many hops by random links */
    ends kept[DVSIM_PORT_LEVELS][KEPT];
    dvsim_pcie *pcie;                  /* [ports] as all below */
    int64_t *stores, *sends, *reads;   /* until when the ends of each card are in use */
    int64_t *out, *in;                 /* and its ports */
    uint64_t (*dead)[MASKS];           /* planes that a port does not reach; NULL: all reach all */
    flight *flights;
    int32_t *unused; /* places among `flights` */
    int64_t room, free, order;
    heap heap;
} ports;

static int grow(ports *all)
{
    int64_t room = all->room ? 2 * all->room : 256;
    flight *flights = realloc(all->flights, (size_t)room * sizeof *flights);
    if (!flights) {
        return DVSIM_ENOMEM;
    }
    all->flights = flights;
    int32_t *unused = realloc(all->unused, (size_t)room * sizeof *unused);
    if (!unused) {
        return DVSIM_ENOMEM;
    }
    all->unused = unused;
    while (all->room < room) {
        all->unused[all->free++] = (int32_t)all->room++;
    }
    return DVSIM_OK;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The slot in which a time lies begins, and the first that does not begin before it. */
static int64_t slot_of(const ports *all, int64_t ps)
{
    return ps / all->shape.slot_ps * all->shape.slot_ps;
}

static int64_t slot_from(const ports *all, int64_t ps)
{
    return slot_of(all, ps + all->shape.slot_ps - 1);
}

/* Planes by which words go between two ports; at least one. */
static int64_t planes_of(const ports *all, int64_t from, int64_t to)
{
    int64_t planes = all->shape.planes;
    for (int64_t k = 0; all->dead && k < MASKS; k++) {
        planes -= __builtin_popcountll(all->dead[from][k] | all->dead[to][k]);
    }
    return planes > 1 ? planes : 1;
}

static double power(double base, int64_t exponent)
{
    double result = 1;
    for (; exponent > 0; exponent >>= 1, base *= base) {
        result *= exponent & 1 ? base : 1;
    }
    return result;
}

/* The ends of words that a card gives one in a slot, as PIO brings them, or as many in each slot as there are planes, which
 * a port passes on one behind the other. */
static ends ends_of(const double *at_most, int64_t draws, int64_t words, int64_t planes, bool by_stores)
{
    double soonest = 0, latest = 0;
    for (int64_t hops = 0; hops < draws; hops++) {
        double all_most = 1, all_more = 1; /* the last has at most so many hops, the first more than so many */
        for (int64_t k = 0; k <= hops; k++) {
            const int64_t left = words - (by_stores ? k : k * planes), most = by_stores ? 1 : planes;
            all_more *= left > 0 ? power(1 - at_most[hops - k], left < most ? left : most) : 1;
        }
        for (int64_t k = 0; by_stores && hops + k < draws && k < words; k++) {
            all_most *= at_most[hops + k];
        }
        latest += 1 - (by_stores ? all_most : power(at_most[hops], words));
        soonest += all_more;
    }
    return (ends){words, planes, soonest - (double)draws / 2, latest - (double)draws / 2};
}

/* Crossings from one height to another of 2^bits heights by a bit-reversed counter: a crossing of cylinder c adds 2^c to
 * the height written backwards, so it is a binary digit of their difference. */
static int64_t crossings(int64_t from, int64_t to, int64_t bits)
{
    uint64_t difference = 0;
    for (int64_t k = 0; k < bits; k++) {
        difference += ((uint64_t)(to >> k & 1) - (uint64_t)(from >> k & 1)) << (bits - 1 - k);
    }
    return __builtin_popcountll(difference & ((UINT64_C(1) << bits) - 1));
}

static course_of course_between(ports *all, int64_t from, int64_t to, int64_t words)
{
    const dvsim_ports *shape = &all->shape;
    int64_t k = 0;
    while (k < shape->levels - 1 && from / shape->level[k].reach != to / shape->level[k].reach) {
        k++;
    }
    const dvsim_port_level *level = &shape->level[k];
    const int64_t planes = planes_of(all, from, to), slot_fs = shape->slot_ps * 1000 / planes;
    const int64_t hops = crossings(from / level->below, to / level->below, level->bits);
    const int64_t word_fs = planes < shape->planes ? larger(slot_fs, shape->word_fs) : shape->word_fs;
    course_of course = {level->way_ps + hops * shape->slot_ps, planes, words, word_fs > 0 ? word_fs : slot_fs, {0}};
    if (level->draws > 0 && words > 1) {
        ends *kept = &all->kept[k][words % KEPT];
        if (kept->words != words || kept->planes != planes) {
            const bool by_stores = !dvsim_pcie_engine_is_faster(&all->pcie[from], words);
            *kept = ends_of(all->shares[k], level->draws, words, planes, by_stores);
        }
        course.hops = *kept;
    }
    return course;
}

static int64_t port_ps(const course_of *course, int64_t words)
{
    return dvsim_law_ps((dvsim_law){0, course->word_fs}, words);
}

/* Out of a port that is free from a time on, and over the way: when the first and last word are in the other card. */
static void travel(const ports *all, const course_of *course, int64_t ready_ps, int64_t each_ps, int64_t free_ps,
                   int64_t *first_ps, int64_t *last_ps)
{
    const int64_t slot_ps = all->shape.slot_ps;
    const int64_t free = larger(slot_from(all, ready_ps), free_ps);
    int64_t end = slot_of(all, free + port_ps(course, course->words - 1));
    if (each_ps * all->shape.planes > slot_ps) {
        end = larger(end, slot_from(all, ready_ps + (course->words - 1) * each_ps));
    }
    *first_ps = slot_of(all, free) + course->way_ps + (int64_t)(course->hops.soonest * (double)slot_ps);
    *last_ps = end + course->way_ps + (int64_t)(course->hops.latest * (double)slot_ps);
}

/* How long a message, or one word of it, takes from when it is sent, if it is alone. */
static int64_t alone_ps(const ports *all, const flight *message, course_of course)
{
    int64_t stores = 0, sends = 0, reads = 0, ready, each, first, last;
    card_enter(&all->pcie[message->from], course.words, message->sent_ps, &stores, &sends, &ready, &each);
    travel(all, &course, ready, each, 0, &first, &last);
    return card_received_ps(&all->pcie[message->to], all->shape.piece_words, all->shape.lands_in_sram, course.words,
                            first, last, &reads) - message->sent_ps;
}

static int64_t words_of(int64_t bytes)
{
    return bytes > DVSIM_WORD_BYTES ? (bytes - 1) / DVSIM_WORD_BYTES + 1 : 1;
}

static int ports_send(void *self, const dvsim_message *message, int64_t time_ps)
{
    ports *all = self;
    const int64_t from = message->from, to = message->to, words = words_of(message->bytes);
    if (from < 0 || to < 0 || from >= all->shape.ports || to >= all->shape.ports || words > MOST_WORDS) {
        return DVSIM_EINVAL;
    }
    const dvsim_pcie *pcie = &all->pcie[from];
    const int64_t slot_fs = all->shape.slot_ps * 1000;
    if (larger(time_ps, larger(all->stores[from], all->sends[from])) > DVSIM_LATEST ||
        larger(cost_of(words, larger(slot_fs, all->shape.word_fs)),
               larger(dvsim_pcie_store_ps(pcie, 2 * words), dvsim_pcie_engine_ps(pcie, words, 1))) > DVSIM_LATEST) {
        return DVSIM_ERANGE;
    }
    if (!all->free && grow(all)) {
        return DVSIM_ENOMEM;
    }
    int32_t place = all->unused[--all->free];
    flight *one = &all->flights[place];
    *one = (flight){.id = message->id, .sent_ps = time_ps, .course = course_between(all, from, to, words),
                    .from = (int32_t)from, .to = (int32_t)to, .what = LEAVES};
    card_enter(pcie, words, time_ps, &all->stores[from], &all->sends[from], &one->ready_ps, &one->each_ps);
    return heap_push(&all->heap, (event){slot_from(all, one->ready_ps), all->order++, place});
}

static int64_t ports_next(void *self)
{
    ports *all = self;
    return all->heap.count ? all->heap.at[0].time : DVSIM_NEVER;
}

/* Let the next thing happen to a message; returns when the one after that does. */
static int64_t proceed(ports *all, flight *message)
{
    const course_of *course = &message->course;
    const int64_t words = course->words, slot_ps = all->shape.slot_ps;
    if (message->what == LEAVES) {
        int64_t *out = &all->out[message->from];
        travel(all, course, message->ready_ps, message->each_ps, *out, &message->first_ps, &message->last_ps);
        *out = larger(*out, slot_from(all, message->ready_ps)) + port_ps(course, words);
        return message->first_ps;
    }
    if (message->what == ENTERS) {
        int64_t *in = &all->in[message->to];
        const int64_t free = larger(*in, message->first_ps), end = free + port_ps(course, words - 1);
        *in = free + port_ps(course, words);
        message->first_ps = free - (free - message->first_ps) % slot_ps;
        message->last_ps = larger(message->last_ps, end - (end - message->first_ps) % slot_ps);
        return message->last_ps;
    }
    return card_received_ps(&all->pcie[message->to], all->shape.piece_words, all->shape.lands_in_sram, words,
                            message->first_ps, message->last_ps, &all->reads[message->to]);
}

static int64_t ports_advance(void *self, int64_t until_ps, dvsim_arrival *arrivals, int64_t room)
{
    ports *all = self;
    while (room > 0 && all->heap.count && all->heap.at[0].time <= until_ps) {
        event one = heap_pop(&all->heap);
        flight *message = &all->flights[one.what];
        if (message->what == AT_HOST) {
            const int64_t whole = one.time - message->sent_ps;
            course_of word = message->course;
            word.words = 1;
            word.hops = (ends){0};
            int64_t latency = alone_ps(all, message, word);
            int64_t serial = alone_ps(all, message, message->course) - latency;
            latency = latency < whole ? latency : whole;
            serial = serial < whole - latency ? serial : whole - latency;
            arrivals[0] = (dvsim_arrival){message->id, one.time, latency, serial};
            all->unused[all->free++] = (int32_t)one.what;
            return 1;
        }
        const int64_t time = proceed(all, message);
        message->what++;
        if (time > DVSIM_LATEST) {
            return DVSIM_ERANGE;
        }
        if (heap_push(&all->heap, (event){time, one.order, one.what})) {
            return DVSIM_ENOMEM;
        }
    }
    return 0;
}

static bool good_card(const dvsim_pcie *pcie)
{
    const int64_t times[] = {pcie->crossing_ps, pcie->store_fs, pcie->pop_ps, pcie->setup_ps, pcie->engine_fs};
    bool good = pcie->look_ps >= 0 && pcie->look_ps <= DVSIM_LATEST;
    for (size_t k = 0; good && k < sizeof times / sizeof *times; k++) {
        good = times[k] >= 0 && times[k] <= LONGEST_PS;
    }
    return good;
}

static bool good(const dvsim_ports *shape)
{
    bool found = shape->ports >= 1 && shape->ports <= MOST_PORTS && shape->planes >= 1 && shape->planes <= MOST_PLANES &&
                 shape->slot_ps >= 1 && shape->slot_ps <= LONGEST_PS && shape->word_fs >= 0 && shape->levels >= 1 &&
                 shape->levels <= DVSIM_PORT_LEVELS && shape->piece_words >= 1;
    for (int64_t port = 0; found && port < shape->ports; port++) {
        found = good_card(&shape->pcie[port]);
    }
    for (int64_t k = 0; found && k < shape->levels; k++) {
        const dvsim_port_level *level = &shape->level[k];
        found = level->reach >= 1 && level->below >= 1 && level->way_ps >= 0 && level->way_ps <= LONGEST_PS &&
                level->bits >= 0 && level->bits <= MOST_BITS &&
                level->draws >= 0 && level->draws <= DVSIM_PORT_DRAWS;
    }
    for (int64_t cut = 0; found && cut < shape->cut_count; cut++) {
        const dvsim_cable *cable = &shape->cuts[cut];
        found = cable->port >= 0 && cable->port < shape->ports && cable->plane >= 0 && cable->plane < shape->planes;
    }
    return found;
}

/* The share of ways that have at most 0, 1, ... of their draws. */
static double *shares_of(int64_t draws)
{
    double *shares = malloc((size_t)(draws + 1) * sizeof *shares), chance = 1 / (double)(UINT64_C(1) << draws), sum = 0;
    for (int64_t k = 0; shares && k <= draws; k++) {
        sum += chance;
        shares[k] = k < draws ? sum : 1;
        chance *= (double)(draws - k) / (double)(k + 1);
    }
    return shares;
}

int dvsim_ports_create(const dvsim_ports *shape, dvsim_fabric *fabric)
{
    if (!good(shape)) {
        return DVSIM_EINVAL;
    }
    ports *all = calloc(1, sizeof *all);
    if (!all) {
        return DVSIM_ENOMEM;
    }
    *fabric = (dvsim_fabric){all, ports_send, ports_next, ports_advance};
    all->shape = *shape;
    all->shape.pcie = NULL; /* these are the caller's */
    all->shape.cuts = NULL;
    const size_t count = (size_t)shape->ports;
    bool made = (all->pcie = malloc(count * sizeof *all->pcie)) != NULL;
    int64_t **times[] = {&all->stores, &all->sends, &all->reads, &all->out, &all->in};
    for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
        made = (*times[k] = calloc(count, sizeof **times[k])) != NULL && made;
    }
    for (int64_t k = 0; k < shape->levels; k++) {
        made = (all->shares[k] = shares_of(shape->level[k].draws)) != NULL && made;
    }
    made = (shape->cut_count == 0 || (all->dead = calloc(count, sizeof *all->dead)) != NULL) && made;
    if (!made) {
        dvsim_ports_free(fabric);
        return DVSIM_ENOMEM;
    }
    memcpy(all->pcie, shape->pcie, count * sizeof *all->pcie);
    for (int64_t cut = 0; cut < shape->cut_count; cut++) {
        const dvsim_cable *cable = &shape->cuts[cut];
        all->dead[cable->port][cable->plane / 64] |= UINT64_C(1) << cable->plane % 64;
    }
    return DVSIM_OK;
}

void dvsim_ports_free(dvsim_fabric *fabric)
{
    ports *all = fabric->self;
    if (all) {
        for (int64_t k = 0; k < DVSIM_PORT_LEVELS; k++) {
            free(all->shares[k]);
        }
        free(all->pcie);
        free(all->stores);
        free(all->sends);
        free(all->reads);
        free(all->out);
        free(all->in);
        free(all->dead);
        free(all->flights);
        free(all->unused);
        free(all->heap.at);
        free(all);
    }
    fabric->self = NULL;
}
