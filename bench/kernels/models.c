/* The hot loops of models/, each on its own: `models KERNEL` for bench/instructions.py, `models KERNEL time` for
 * bench/against.py, which compiles this file with the models of another revision, too.
 *
 * Prints how many turns were counted, the instruction set of the switch that is really used, and, if time is asked
 * for, the nanoseconds of a turn and the packets that a switch had delivered before.
 * What is counted is what happens inside of `counted`; queues and tables have been filled before, by
 * the same loop. One thread, no time, no addresses in any decision: the count is always the same.
 */
#include "counted.h"

#include <stdlib.h>
#include <string.h>

#include "host/receiver.h"
#include "network/network.h"
#include "vortex/vortex.h"

enum { MOST = 1 << 15, SLOT_PS = 29091, PLANES = 16 };

static dvsim_vortex *vortex;
static dvsim_network *network;
static dvsim_receiver *receiver;
static int64_t words, messages, slots[MOST], pieces[MOST];

static int run_vortex(int64_t times)
{
    return dvsim_vortex_run(vortex, times);
}

static int run_network(int64_t times)
{
    return dvsim_network_run(network, times);
}

/* Bursts at the full rate of the port, each to a buffer that is empty. */
static int run_receiver(int64_t times)
{
    const dvsim_arrival_words arrival = {slots, 1, SLOT_PS, 0};
    const dvsim_window window = {.room = INT64_C(1) << 40, .unit_words = 1};
    dvsim_burst burst;
    for (int64_t i = 0; i < times; i++) {
        if (dvsim_receiver_take(receiver, &arrival, messages, &window, pieces, &burst) != DVSIM_OK ||
            dvsim_receiver_release(receiver) < 0)
            return DVSIM_ESTATE;
    }
    return DVSIM_OK;
}

static void make_vortex(int64_t height, int64_t angles, int64_t replications, int32_t injection)
{
    uint8_t injecting[64];
    memset(injecting, 1, sizeof injecting);
    const dvsim_vortex_params p = {
        .height = height,
        .angles = angles,
        .replications = replications,
        .injection = injection,
        .injecting = injecting,
        .seed = 1,
        .arrival_threshold = UINT64_C(1) << 31, /* half load */
    };
    vortex = dvsim_vortex_create(&p, 1);
}

/* As presets have them: switches of few angles, of which each has half of its ports up. */
static void make_network(int64_t height, int64_t angles, int64_t levels, int64_t ports, int64_t planes)
{
    const dvsim_network_params p = {
        .height = height,
        .angles = angles,
        .exit_rule = DVSIM_EXIT_ANY,
        .levels = levels,
        .ports = ports,
        .planes = planes,
        .link_slots = 2,
        .seed = 1,
        .traffic = {.arrival_threshold = UINT64_C(1) << 31},
    };
    network = dvsim_network_create(&p, 1);
}

static void make_receiver(int64_t bytes, int64_t count)
{
    const dvsim_card_params p = {
        .sram_bytes = 32 << 20,
        .group_counters = 64,
        .fifo_words = 2,
        .dma_entries = 8192,
        .piece_words = 131,
        .pcie = {.crossing_ps = 400000, .load_ps = 1000000, .store_fs = 2000000, .look_ps = 50000,
                 .pop_ps = 10000, .setup_ps = 1000000, .engine_fs = 126904},
        .vic_to_dram = {287000, 1490000},
    };
    words = dvsim_words(bytes) * count;
    messages = count;
    for (int64_t i = 0; i < words && words <= MOST; i++)
        slots[i] = 8 + i / PLANES;
    receiver = words <= MOST ? dvsim_receiver_create(&p, bytes, 2) : NULL;
}

int main(int argc, char **argv)
{
    const char *kernel = argc == 2 || (argc == 3 && strcmp(argv[2], "time") == 0) ? argv[1] : "";
    int (*run)(int64_t) = run_vortex;
    int64_t before = 0, times = 0;
    if (strcmp(kernel, "switch-16x4") == 0) {
        make_vortex(16, 4, 1, DVSIM_INJECT_DROP);
        before = 100, times = 2000;
    } else if (strcmp(kernel, "switch-64x4") == 0) {
        make_vortex(64, 4, 1, DVSIM_INJECT_DROP);
        before = 100, times = 500;
    } else if (strcmp(kernel, "switch-64x4-queue") == 0) {
        make_vortex(64, 4, 1, DVSIM_INJECT_QUEUE);
        before = 100, times = 500;
    } else if (strcmp(kernel, "switch-1024x8") == 0) {
        make_vortex(1024, 8, 1, DVSIM_INJECT_DROP);
        before = 50, times = 20;
    } else if (strcmp(kernel, "switch-65536x16") == 0) {
        make_vortex(65536, 16, 1, DVSIM_INJECT_DROP);
        before = 20, times = 16;
    } else if (strcmp(kernel, "switch-16x4x256") == 0) {
        make_vortex(16, 4, 256, DVSIM_INJECT_DROP);
        before = 50, times = 50;
    } else if (strcmp(kernel, "network") == 0) {
        make_network(8, 3, 2, 32, PLANES);
        run = run_network;
        before = 50, times = 50;
    } else if (strcmp(kernel, "network-65536") == 0) {
        make_network(64, 6, 3, 65536, 1);
        run = run_network;
        before = 80, times = 10;
    } else if (strcmp(kernel, "receive-8") == 0) {
        make_receiver(8, 2700);
        run = run_receiver;
        before = 1, times = 2;
    } else if (strcmp(kernel, "receive-8192") == 0) {
        make_receiver(8192, 16);
        run = run_receiver;
        before = 1, times = 1;
    }
    if (times == 0 || (vortex == NULL && network == NULL && receiver == NULL)) {
        fprintf(stderr, "models KERNEL: no such kernel, or no memory\n");
        return 2;
    }
    int status = run(before);
    if (status == DVSIM_OK)
        status = counted(run, times);
    if (status != DVSIM_OK) {
        fprintf(stderr, "models %s: status %d\n", kernel, status);
        return 1;
    }
    printf("%lld %s\n", (long long)times, dvsim_vortex_simd());
    if (argc == 3) {
        dvsim_vortex_totals totals = {0};
        if (vortex != NULL)
            dvsim_vortex_totals_now(vortex, &totals);
        printf("%.1f %lld\n", best_ns(run, times, DVSIM_OK), (long long)totals.delivered);
    }
    dvsim_vortex_free(vortex);
    dvsim_network_free(network);
    dvsim_receiver_free(receiver);
    return 0;
}
