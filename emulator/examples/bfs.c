/* Breadth-first search in a graph of the Graph500 kind, spread over all cards.
 *
 *     vicrun -n 4 -- ./bfs [SCALE]
 *
 * 2^SCALE vertices, 16 edges each on average, from the Kronecker generator (A, B, C = 0.57, 0.19, 0.19), with
 * shuffled labels. Vertex v lives on card v mod cards. Level by level a card sends, for every edge out of its
 * frontier, one word (vertex, parent) to the surprise FIFO of the vertex' card. At the end every card does the
 * whole search alone and compares levels and parents of its vertices.
 */
#include "stream.h"

enum { EDGE_FACTOR = 16 };

#define NO_LEVEL UINT32_MAX

struct edge {
    uint32_t from, to;
};

struct graph { /* the vertices v = first, first + step, ...; neighbours of number i: place[i] .. place[i + 1] */
    uint64_t vertices, edges, first, step, count, *place;
    uint32_t *neighbour;
};

/* The label of a vertex, which says nothing of its degree: a bijection of the numbers below 2^scale. */
static uint32_t label(uint32_t vertex, unsigned scale)
{
    uint32_t mask = (UINT32_C(1) << scale) - 1;
    for (int turn = 0; turn < 2; turn++) {
        vertex = vertex * UINT32_C(0x9e3779b1) & mask;
        vertex ^= vertex >> scale / 2;
    }
    return vertex;
}

/* Edge number i, the same on every card. */
static struct edge edge_of(uint64_t i, unsigned scale)
{
    struct edge edge = {0, 0};
    for (unsigned bit = 0; bit < scale; bit++) {
        double chance = (double)(scramble(i * 64 + bit) >> 11) * 0x1p-53;
        edge.from = edge.from << 1 | (chance >= 0.57 + 0.19);
        edge.to = edge.to << 1 | ((chance >= 0.57 && chance < 0.57 + 0.19) || chance >= 0.57 + 2 * 0.19);
    }
    return (struct edge){label(edge.from, scale), label(edge.to, scale)};
}

static void add(struct graph *graph, uint64_t *filled, uint32_t from, uint32_t to)
{
    if (from % graph->step == graph->first) {
        uint64_t at = from / graph->step;
        if (graph->neighbour == NULL) {
            graph->place[at + 1]++; /* the first time only count */
        } else {
            graph->neighbour[graph->place[at] + filled[at]++] = to;
        }
    }
}

static struct graph build(unsigned scale, uint64_t first, uint64_t step)
{
    struct graph graph = {.vertices = UINT64_C(1) << scale, .first = first, .step = step};
    graph.edges = EDGE_FACTOR * graph.vertices;
    graph.count = first < graph.vertices ? (graph.vertices - first + step - 1) / step : 0;
    graph.place = allocate(graph.count + 1, sizeof *graph.place);
    uint64_t *filled = allocate(graph.count, sizeof *filled);
    for (int pass = 0; pass < 2; pass++) {
        for (uint64_t i = 0; i < graph.edges; i++) {
            struct edge edge = edge_of(i, scale);
            add(&graph, filled, edge.from, edge.to);
            add(&graph, filled, edge.to, edge.from);
        }
        if (pass == 0) {
            for (uint64_t i = 0; i < graph.count; i++) {
                graph.place[i + 1] += graph.place[i];
            }
            graph.neighbour = allocate(graph.place[graph.count], sizeof *graph.neighbour);
        }
    }
    free(filled);
    return graph;
}

struct search {
    vic_t *card;
    const struct graph *graph;
    uint32_t *level, *parent, *next, now; /* next: own vertices found in this level */
    uint64_t found, scanned;
    double busiest; /* ends of edges that came to the card that has most, over their mean */
};

static struct search search_open(vic_t *card, const struct graph *graph)
{
    struct search search = {.card = card, .graph = graph};
    search.level = allocate(graph->count, sizeof *search.level);
    search.parent = allocate(graph->count, sizeof *search.parent);
    search.next = allocate(graph->count, sizeof *search.next);
    memset(search.level, 0xff, graph->count * sizeof *search.level);
    return search;
}

static void search_close(struct search *search)
{
    free(search->level);
    free(search->parent);
    free(search->next);
}

static void visit(void *what, const uint64_t *words, size_t n)
{
    struct search *search = what;
    for (size_t i = 0; i < n; i++) {
        uint32_t vertex = (uint32_t)(words[i] >> 32), at = (uint32_t)(vertex / search->graph->step);
        if (search->level[at] == NO_LEVEL) {
            search->level[at] = search->now;
            search->parent[at] = (uint32_t)words[i];
            search->next[search->found++] = vertex;
        }
    }
    worked(search->card, (double)n, UPDATE_NS);
}

/* All levels; `send` brings an edge to the vertex' card, `end` ends a level and sums over all cards. */
static void run(struct search *search, uint32_t root, struct stream *stream, struct sum *sum)
{
    const struct graph *graph = search->graph;
    uint32_t *frontier = allocate(graph->count, sizeof *frontier);
    uint64_t all = 1, start = (uint64_t)root << 32 | root;
    if (root % graph->step == graph->first) {
        visit(search, &start, 1);
    }
    while (all != 0) {
        uint64_t count = search->found;
        memcpy(frontier, search->next, count * sizeof *frontier);
        search->found = 0;
        search->now++;
        for (uint64_t i = 0; i < count; i++) {
            uint64_t at = frontier[i] / graph->step;
            for (uint64_t k = graph->place[at]; k < graph->place[at + 1]; k++) {
                uint64_t word = (uint64_t)graph->neighbour[k] << 32 | frontier[i];
                if (stream == NULL) {
                    visit(search, &word, 1);
                } else {
                    stream_push(stream, (uint32_t)(graph->neighbour[k] % graph->step), word);
                }
            }
            search->scanned += graph->place[at + 1] - graph->place[at];
            worked(search->card, (double)(graph->place[at + 1] - graph->place[at]), COPY_NS);
        }
        all = search->found;
        if (stream != NULL) {
            stream_end(stream);
            all = sum_of(search->card, stream->attr, sum, search->found);
        }
    }
    free(frontier);
}

/* Against a search of the whole graph: the levels, and that the parent is a neighbour one level up. */
static void compare(struct search *mine, unsigned scale, uint32_t root)
{
    struct graph whole = build(scale, 0, 1);
    struct search alone = search_open(mine->card, &whole);
    run(&alone, root, NULL, NULL);
    for (uint64_t i = 0; i < mine->graph->count; i++) {
        uint64_t vertex = mine->graph->first + i * mine->graph->step;
        bool good = mine->level[i] == alone.level[vertex];
        if (good && mine->level[i] != NO_LEVEL && vertex != root) {
            uint32_t parent = mine->parent[i];
            bool neighbour = false;
            for (uint64_t k = mine->graph->place[i]; k < mine->graph->place[i + 1]; k++) {
                neighbour |= mine->graph->neighbour[k] == parent;
            }
            good = neighbour && alone.level[parent] + 1 == mine->level[i];
        }
        if (!good) {
            fail("bfs: vertex %" PRIu64 " has a wrong level or parent", vertex);
        }
    }
    uint64_t cards = mine->graph->step, *taken = allocate(cards, sizeof *taken), most = 0;
    for (uint64_t i = 0; i < whole.count; i++) { /* as many ends come to a vertex as leave it */
        taken[i % cards] += alone.level[i] != NO_LEVEL ? whole.place[i + 1] - whole.place[i] : 0;
        most = taken[i % cards] > most ? taken[i % cards] : most;
    }
    mine->busiest = (double)most * (double)cards / (double)alone.scanned;
    free(taken);
    worked(mine->card, (double)whole.edges * 2 / (double)mine->graph->step, MAKE_NS);
    search_close(&alone);
    free(whole.place);
    free(whole.neighbour);
}

int main(int argc, char **argv)
{
    struct vic_attr attr;
    struct sum sum;
    struct stream stream;
    vic_t *card = open_card(&attr);
    unsigned scale = (unsigned)argument(argc, argv, 1, 12, 4, 24);
    struct graph graph = build(scale, attr.card, attr.cards);
    struct search search = search_open(card, &graph);
    uint32_t root = edge_of(0, scale).from; /* it has a neighbour */
    worked(card, (double)graph.edges * 2 * scale, MAKE_NS);
    sum_open(card, &attr, &sum);
    stream_open(&stream, card, &attr, visit, &search);
    MUST(vic_barrier(card, VIC_FOREVER));
    uint64_t start = vic_time_ns(card);
    run(&search, root, &stream, &sum);
    MUST(vic_barrier(card, VIC_FOREVER));
    double seconds = (double)(vic_time_ns(card) - start) / 1e9;
    uint64_t scanned = sum_of(card, &attr, &sum, search.scanned);
    worked(card, (double)graph.edges * 2 * scale, MAKE_NS);
    compare(&search, scale, root);
    uint64_t result = 0;
    for (uint64_t i = 0; i < graph.count; i++) {
        result = scramble(result ^ search.level[i]);
    }
    worked(card, (double)graph.count, MAKE_NS);
    if (attr.card == 0) { /* every edge is looked at from both of its ends, as in Graph500 */
        printf("%10s %10s %12s %10s %12s %8s\n%10u %10" PRIu64 " %12" PRIu64 " %10u %12.3f %8.3f\n", "cards",
               "vertices", "edges", "levels", "M edges/s", "busiest", attr.cards, graph.vertices, scanned / 2,
               search.now, (double)scanned / 2 / seconds / 1e6, search.busiest);
    }
    search_close(&search);
    stream_close(&stream);
    free(graph.place);
    free(graph.neighbour);
    report(card, &attr, &sum, "bfs", result);
    return 0;
}
