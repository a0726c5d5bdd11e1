/* replay_test.c: does a replay keep its contract: times, meetings, what never ends, and a fabric? */
#include <string.h>

#include "check.h"
#include "workload/faulty.h"
#include "workload/ports.h"
#include "workload/replay.h"

#define MOST 64

static int64_t first[MOST + 1], size[MOST], start[MOST + 1], to[MOST];
static uint8_t kind[MOST], cpu[MOST], nic[MOST], after_start[MOST];
static int32_t peer[MOST], tag[MOST];
static int64_t finish[MOST];
static dvsim_course course[MOST];
static const dvsim_loggops usual = {2500000, 1500000, 1000000, 6000000, 0, 65535};

static dvsim_graph graph;

static void empty(int64_t ranks)
{
    memset(first, 0, sizeof first);
    memset(start, 0, sizeof start);
    graph = (dvsim_graph){ranks, first, kind, peer, tag, size, cpu, nic, start, to, after_start, 0, 0};
}

/* Add an operation of the last rank so far, or of the next ones. */
static void add(int64_t rank, uint8_t what, int32_t other, int64_t bytes, int32_t label)
{
    int64_t one = first[graph.ranks];
    kind[one] = what;
    peer[one] = other;
    size[one] = bytes;
    tag[one] = label;
    cpu[one] = nic[one] = 0;
    for (int64_t next = rank + 1; next <= graph.ranks; next++) {
        first[next] = one + 1;
    }
    start[one + 1] = start[one];
}

/* The operation that was added last is waited for. */
static void waited_by(int64_t one, uint8_t started)
{
    int64_t last = first[graph.ranks];
    after_start[start[last]] = started;
    to[start[last]++] = one;
}

static int64_t run(const dvsim_fabric *fabric)
{
    static const int32_t place[MOST] = {0, 1, 2, 3, 4, 5, 6, 7};
    dvsim_replay *replay = dvsim_replay_create(&graph, &usual, fabric, place, course, finish);
    int more;
    CHECK(replay);
    while ((more = dvsim_replay_run(replay, 3)) == 1) {
    }
    CHECK(more == 0);
    int64_t done = dvsim_replay_done(replay);
    CHECK(dvsim_replay_now(replay) >= 0);
    for (int64_t last = 0; last < first[graph.ranks]; last++) {
        dvsim_path path;
        int64_t way[2];
        dvsim_replay_path(replay, last, &path, way, 2);
        CHECK(path.steps > 0);
        int64_t all = path.compute_ps + path.overhead_ps + path.latency_ps + path.bandwidth_ps;
        CHECK(course[last].state != DVSIM_DONE || all + path.contention_ps + path.wait_ps == course[last].end);
    }
    dvsim_replay_free(replay);
    return done;
}

static void tree_has_published_times(void)
{
    static const int64_t expected[] = {34914, 24776, 13138, 13138, 1500, 1500, 1500, 1500};
    empty(8);
    for (int64_t rank = 0; rank < 8; rank++) {
        int64_t receives = 0;
        for (int64_t child = 1; child < 8; child *= 2) {
            receives += child > rank && rank + child < 8;
        }
        int64_t sends = first[graph.ranks] + receives;
        for (int64_t child = 1; child < 8; child *= 2) {
            if (child > rank && rank + child < 8) {
                add(rank, DVSIM_RECV, (int32_t)(rank + child), 1024, 0);
                if (rank) {
                    waited_by(sends, 0);
                }
            }
        }
        int64_t parent = rank - (rank & 4 ? 4 : rank & 2 ? 2 : 1);
        if (rank) {
            add(rank, DVSIM_SEND, (int32_t)parent, 1024, 0);
        }
    }
    CHECK(run(NULL) == 14);
    for (int64_t rank = 0; rank < 8; rank++) {
        CHECK(finish[rank] == expected[rank] * 1000);
    }
}

static void receives_meet_in_posted_order(void)
{
    empty(2);
    add(0, DVSIM_RECV, 1, 8, 5);
    waited_by(1, 1);
    add(0, DVSIM_RECV, DVSIM_ANY, 8, DVSIM_ANY);
    waited_by(2, 1);
    add(0, DVSIM_RECV, 1, 8, DVSIM_ANY);
    add(1, DVSIM_SEND, 0, 8, 4);
    waited_by(4, 0);
    add(1, DVSIM_SEND, 0, 8, 5);
    waited_by(5, 0);
    add(1, DVSIM_SEND, 0, 8, 5);
    CHECK(run(NULL) == 6);
    CHECK(course[0].pair == 4 && course[1].pair == 3 && course[2].pair == 5);
    empty(2); /* and messages that came before */
    add(0, DVSIM_CALC, -1, 100000000, 0);
    waited_by(1, 0);
    add(0, DVSIM_RECV, DVSIM_ANY, 8, 7);
    waited_by(2, 0);
    add(0, DVSIM_RECV, 1, 8, 6);
    waited_by(3, 0);
    add(0, DVSIM_RECV, DVSIM_ANY, 8, DVSIM_ANY);
    for (int32_t one = 0; one < 3; one++) {
        add(1, DVSIM_SEND, 0, 8, 6 + one % 2);
    }
    CHECK(run(NULL) == 7);
    CHECK(course[1].pair == 5 && course[2].pair == 4 && course[3].pair == 6);
}

static void what_never_ends_is_left(void)
{
    empty(2);
    add(0, DVSIM_RECV, 1, 8, 0);
    waited_by(1, 0);
    add(0, DVSIM_CALC, -1, 5, 0);
    add(1, DVSIM_SEND, 0, 8, 1);
    add(1, DVSIM_SEND, 0, 100000, 2);
    CHECK(run(NULL) == 1);
    CHECK(course[0].state == DVSIM_OPEN && course[1].state == DVSIM_WAITING);
    CHECK(course[2].state == DVSIM_DONE && course[3].state == DVSIM_OPEN);
}

/* A fabric in which each message takes 1 us, one after the other. */
typedef struct {
    dvsim_message one[MOST];
    int64_t at[MOST], head, tail;
} line;

static int line_send(void *self, const dvsim_message *message, int64_t time_ps)
{
    line *all = self;
    all->one[all->tail] = *message;
    int64_t free = all->tail ? all->at[all->tail - 1] : 0;
    all->at[all->tail++] = (time_ps > free ? time_ps : free) + 1000000;
    return message->to < 8 ? DVSIM_OK : DVSIM_EINVAL;
}

static int64_t line_next(void *self)
{
    line *all = self;
    return all->head < all->tail ? all->at[all->head] : DVSIM_NEVER;
}

static int64_t line_advance(void *self, int64_t until_ps, dvsim_arrival *arrivals, int64_t room)
{
    line *all = self;
    CHECK(room > 0);
    if (all->head == all->tail || all->at[all->head] > until_ps) {
        return 0;
    }
    arrivals[0] = (dvsim_arrival){all->one[all->head].id, all->at[all->head], 600000, 400000};
    all->head++;
    return 1;
}

static void fabric_carries(void)
{
    static line all;
    dvsim_fabric fabric = {&all, line_send, line_next, line_advance};
    empty(3);
    add(0, DVSIM_SEND, 2, 8, 0);
    add(1, DVSIM_SEND, 2, 8, 0);
    add(2, DVSIM_RECV, 0, 8, 0);
    add(2, DVSIM_RECV, 1, 8, 0);
    CHECK(run(&fabric) == 4);
    CHECK(course[0].arrived == 2500000 && course[1].arrived == 3500000);
    CHECK(finish[2] == 4000000 + 1500000);
    peer[3] = 0; /* its message never comes */
    all = (line){0};
    CHECK(run(&fabric) == 3);
}

/* Cards that cost nothing, on two leaves; a word takes a slot of 8 ns. */
static const dvsim_pcie free_cards[4];

static dvsim_ports shape_of(const dvsim_pcie *cards)
{
    return (dvsim_ports){
        .ports = 4, .planes = 1, .slot_ps = 8000, .levels = 2, .piece_words = 1, .lands_in_sram = 1, .pcie = cards,
        .level = {{.reach = 2, .below = 1, .way_ps = 104000}, {.reach = 4, .below = 2, .way_ps = 304000}},
    };
}

static void ports_are_shared_in_order(void)
{
    dvsim_ports shape = shape_of(free_cards), bad = shape;
    dvsim_fabric fabric;
    bad.planes = 0;
    CHECK(dvsim_ports_create(&bad, &fabric) == DVSIM_EINVAL);
    CHECK(dvsim_ports_create(&shape, &fabric) == DVSIM_OK);
    dvsim_arrival one;
    dvsim_message first_of_two = {1, 0, 1, 1000}, second = {2, 2, 1, 1}, none = {3, 0, 4, 8};
    CHECK(fabric.next(fabric.self) == DVSIM_NEVER);
    CHECK(fabric.send(fabric.self, &none, 0) == DVSIM_EINVAL);
    CHECK(fabric.send(fabric.self, &first_of_two, 0) == DVSIM_OK);
    CHECK(fabric.send(fabric.self, &second, 0) == DVSIM_OK);
    CHECK(fabric.advance(fabric.self, 1095999, &one, 1) == 0);
    CHECK(fabric.advance(fabric.self, DVSIM_NEVER, &one, 1) == 1);
    CHECK(one.id == 1 && one.time_ps == 1096000 && one.latency_ps == 104000 && one.serial_ps == 992000);
    CHECK(fabric.next(fabric.self) == 1104000); /* behind the last word of the first */
    CHECK(fabric.advance(fabric.self, 2000000, &one, 1) == 1 && one.id == 2 && one.time_ps == 1104000);
    dvsim_ports_free(&fabric);
}

static void a_slow_card_and_dead_cables_keep_words_back(void)
{
    const dvsim_pcie cards[4] = {{.store_fs = 2000000, .engine_fs = 4000000}}; /* by either a word takes four slots */
    const dvsim_cable cut = {1, 0};
    dvsim_ports shape = shape_of(cards);
    dvsim_fabric fabric;
    dvsim_arrival one;
    dvsim_message message = {1, 0, 1, 1000}, back = {2, 1, 2, 1000}, other = {3, 2, 3, 1000};
    shape.planes = 2;
    shape.cuts = &cut;
    shape.cut_count = 1;
    CHECK(dvsim_ports_create(&shape, &fabric) == DVSIM_OK);
    CHECK(fabric.send(fabric.self, &message, 0) == DVSIM_OK && fabric.send(fabric.self, &back, 0) == DVSIM_OK &&
          fabric.send(fabric.self, &other, 0) == DVSIM_OK);
    CHECK(fabric.advance(fabric.self, DVSIM_NEVER, &one, 1) == 1 && one.id == 3 && one.time_ps == 104000 + 62 * 8000);
    CHECK(fabric.advance(fabric.self, DVSIM_NEVER, &one, 1) == 1 && one.id == 2 && one.time_ps == 304000 + 124 * 8000);
    CHECK(fabric.advance(fabric.self, DVSIM_NEVER, &one, 1) == 1 && one.id == 1 && one.time_ps == 104000 + 125 * 32000);
    dvsim_ports_free(&fabric);
}

static void what_is_lost_is_sent_again(void)
{
    dvsim_ports shape = shape_of(free_cards);
    shape.level[1].way_ps = 104000;
    const uint8_t dead[4] = {0, 0, 0, 1};
    const double chance[4] = {0.25, 0, 0, 0}, too_much[4] = {0.6, 0, 0, 0};
    dvsim_fabric inner, fabric;
    CHECK(dvsim_ports_create(&shape, &inner) == DVSIM_OK);
    dvsim_faults bad = {&inner, 4, dead, too_much, 1000000, 7}, good = {&inner, 4, dead, chance, 1000000, 7};
    CHECK(dvsim_faulty_create(&bad, &fabric) == DVSIM_EINVAL);
    CHECK(dvsim_faulty_create(&good, &fabric) == DVSIM_OK);
    dvsim_arrival one;
    dvsim_message long_one = {1, 0, 1, 8000}, sound = {2, 2, 1, 8000}, never = {3, 2, 3, 8};
    CHECK(fabric.send(fabric.self, &long_one, 0) == DVSIM_OK);
    CHECK(fabric.send(fabric.self, &never, 0) == DVSIM_OK);
    CHECK(fabric.advance(fabric.self, DVSIM_NEVER, &one, 1) == 1 && one.id == 1);
    dvsim_faulty_counts counts = dvsim_faulty_counts_now(&fabric);
    CHECK(counts.dropped == 1 && counts.lost > 200 && counts.lost < 450 && counts.repeated >= 2);
    const int64_t behind = 999 + counts.lost - counts.repeated; /* words behind the first of each time */
    CHECK(one.latency_ps == 104000 * (counts.repeated + 1) && one.serial_ps == 8000 * behind);
    CHECK(one.time_ps == one.latency_ps + one.serial_ps + 1000000 * counts.repeated);
    CHECK(fabric.next(fabric.self) == DVSIM_NEVER);
    const int64_t begin = one.time_ps;
    CHECK(fabric.send(fabric.self, &sound, begin) == DVSIM_OK);
    CHECK(fabric.advance(fabric.self, DVSIM_NEVER, &one, 1) == 1 && one.id == 2 && one.time_ps == begin + 104000 + 999 * 8000);
    dvsim_faulty_free(&fabric);
    dvsim_ports_free(&inner);
}

/* A put larger than S and its answer, by the agents of both ranks, while the program of the other computes. */
static void agents_work_beside_the_programs(void)
{
    empty(2);
    add(0, DVSIM_SEND, 1, 100000, 1);
    waited_by(1, 1);
    waited_by(2, 1);
    add(0, DVSIM_CALC, -1, 7000, 0);
    waited_by(3, 0);
    add(0, DVSIM_RECV, 1, 1, 2);
    waited_by(3, 0);
    add(0, DVSIM_CALC, -1, 7000, 0);
    add(1, DVSIM_RECV, 0, 100000, 1);
    waited_by(5, 0);
    add(1, DVSIM_SEND, 0, 1, 2);
    add(1, DVSIM_CALC, -1, 5000000000, 0);
    cpu[0] = cpu[2] = cpu[4] = cpu[5] = graph.agent = 1;
    CHECK(run(NULL) == 7);
    CHECK(course[0].end == 1500000 && course[1].begin == 0); /* neither waits for the receive */
    int64_t taken = 4000000 + 1500000 + 99999 * INT64_C(6000), answered = taken + 1500000 + 2500000 + 1500000;
    CHECK(course[5].begin == taken && course[3].begin == answered && finish[0] == answered + 7000);
    CHECK(course[6].begin == 0 && finish[1] == 5000000000);
}

/* What takes too long is refused, however it adds up, and what just fits is not. */
static void late_events_are_refused(void)
{
    const int64_t sizes[] = {DVSIM_LATEST, DVSIM_LATEST + 1, INT64_MAX};
    for (int more = 0; more < 3; more++) {
        empty(2);
        add(0, DVSIM_CALC, -1, sizes[more], 0);
        waited_by(1, 0);
        add(0, DVSIM_CALC, -1, 1, 0);
        waited_by(2, 0);
        add(0, DVSIM_CALC, -1, 1, 0);
        add(1, DVSIM_CALC, -1, 1, 0);
        dvsim_replay *replay = dvsim_replay_create(&graph, &usual, NULL, NULL, course, finish);
        CHECK(dvsim_replay_run(replay, 9) == DVSIM_ERANGE && dvsim_replay_run(replay, 9) == DVSIM_ERANGE);
        CHECK(dvsim_replay_done(replay) == (more ? 0 : 3));
        dvsim_replay_free(replay);
    }
    dvsim_ports shape = shape_of(free_cards);
    shape.slot_ps = INT64_C(1000000000000);
    dvsim_fabric fabric;
    CHECK(dvsim_ports_create(&shape, &fabric) == DVSIM_OK);
    dvsim_message one = {1, 0, 1, 8 << 21}, two = {2, 0, 1, 8 << 21}, longer = {3, 2, 3, 8 << 22};
    dvsim_arrival come;
    CHECK(fabric.send(fabric.self, &longer, 0) == DVSIM_ERANGE);
    CHECK(fabric.send(fabric.self, &one, 0) == DVSIM_OK && fabric.send(fabric.self, &two, 0) == DVSIM_OK);
    CHECK(fabric.advance(fabric.self, DVSIM_NEVER, &come, 1) == 1 && come.id == 1);
    CHECK(fabric.advance(fabric.self, DVSIM_NEVER, &come, 1) == DVSIM_ERANGE);
    dvsim_ports_free(&fabric);
}

int main(void)
{
    tree_has_published_times();
    receives_meet_in_posted_order();
    what_never_ends_is_left();
    fabric_carries();
    ports_are_shared_in_order();
    a_slow_card_and_dead_cables_keep_words_back();
    what_is_lost_is_sent_again();
    agents_work_beside_the_programs();
    late_events_are_refused();
    printf("9 checks passed\n");
    return 0;
}
