/* match.c: which message meets which receive, as MPI has it: in posted order, by source and tag.
 *
 * Messages from one rank to another with one tag are a channel, found once for each operation, so that
 * meeting takes the head of a list. Only receives of any source or tag look through lists, and only ranks
 * of graphs that have some keep these.
 */
#include <stdlib.h>
#include <string.h>

#include "workload/internal.h"

#define NONE (-1)

typedef struct {
    int64_t ranks; /* receiver * ranks + sender */
    int32_t tag, channel;
} slot;

static bool any_of(const dvsim_graph *graph, int64_t operation)
{
    return graph->peer[operation] == DVSIM_ANY || graph->tag[operation] == DVSIM_ANY;
}

static uint64_t mixed(uint64_t key)
{
    key ^= key >> 31;
    key *= UINT64_C(0x9e3779b97f4a7c15);
    return key ^ (key >> 29);
}

/* Number the channels of all operations; returns how many, or DVSIM_ENOMEM. */
static int64_t number_channels(matching *all, const dvsim_graph *graph, bool *wild)
{
    int64_t operations = graph->first[graph->ranks], size = 1024, channels = 0;
    while (size < 2 * operations) {
        size *= 2;
    }
    slot *table = malloc((size_t)size * sizeof *table);
    if (!table) {
        return DVSIM_ENOMEM;
    }
    memset(table, 0xff, (size_t)size * sizeof *table);
    for (int64_t rank = 0; rank < graph->ranks; rank++) {
        for (int64_t one = graph->first[rank]; one < graph->first[rank + 1]; one++) {
            all->channel[one] = NONE;
            if (graph->kind[one] == DVSIM_CALC) {
                continue;
            }
            if (any_of(graph, one)) {
                *wild = true;
                continue;
            }
            bool sends = graph->kind[one] == DVSIM_SEND;
            int64_t ends = sends ? graph->peer[one] * graph->ranks + rank : rank * graph->ranks + graph->peer[one];
            uint64_t place = mixed((uint64_t)ends * 31 + (uint32_t)graph->tag[one]) & (uint64_t)(size - 1);
            while (table[place].channel != NONE && (table[place].ranks != ends || table[place].tag != graph->tag[one])) {
                place = (place + 1) & (uint64_t)(size - 1);
            }
            if (table[place].channel == NONE) {
                table[place] = (slot){ends, graph->tag[one], (int32_t)channels++};
            }
            all->channel[one] = table[place].channel;
        }
    }
    free(table);
    return channels;
}

static list *lists(int64_t count)
{
    list *made = malloc((size_t)(count + 1) * sizeof *made);
    if (made) {
        memset(made, 0xff, (size_t)(count + 1) * sizeof *made);
    }
    return made;
}

int matching_create(matching *all, const dvsim_graph *graph)
{
    size_t size = (size_t)graph->first[graph->ranks] + 1;
    bool wild = false;
    all->channel = malloc(size * sizeof *all->channel);
    all->next = malloc(size * sizeof *all->next);
    all->turn = malloc(size * sizeof *all->turn);
    if (!all->channel || !all->next || !all->turn) {
        return DVSIM_ENOMEM;
    }
    int64_t channels = number_channels(all, graph, &wild);
    if (channels < 0) {
        return DVSIM_ENOMEM;
    }
    all->posted = lists(channels);
    all->early = lists(channels);
    if (!all->posted || !all->early) {
        return DVSIM_ENOMEM;
    }
    if (wild) {
        all->wild = lists(graph->ranks);
        all->all = lists(graph->ranks);
        all->behind = malloc(size * sizeof *all->behind);
        all->ahead = malloc(size * sizeof *all->ahead);
        if (!all->wild || !all->all || !all->behind || !all->ahead) {
            return DVSIM_ENOMEM;
        }
    }
    return DVSIM_OK;
}

void matching_free(matching *all)
{
    free(all->channel);
    free(all->next);
    free(all->turn);
    free(all->posted);
    free(all->early);
    free(all->wild);
    free(all->all);
    free(all->behind);
    free(all->ahead);
}

static void append(matching *all, list *into, int32_t one)
{
    all->next[one] = NONE;
    if (into->tail == NONE) {
        into->head = one;
    } else {
        all->next[into->tail] = one;
    }
    into->tail = one;
}

static int32_t take_head(matching *all, list *from)
{
    int32_t one = from->head;
    if (one != NONE) {
        from->head = all->next[one];
        if (from->head == NONE) {
            from->tail = NONE;
        }
    }
    return one;
}

/* Take the message of a send out of those of its rank; it is the first of its channel. */
static int32_t take_early(matching *all, int32_t rank, int32_t send)
{
    take_head(all, &all->early[all->channel[send]]);
    if (all->all) {
        int32_t behind = all->behind[send], ahead = all->ahead[send];
        *(ahead == NONE ? &all->all[rank].head : &all->behind[ahead]) = behind;
        *(behind == NONE ? &all->all[rank].tail : &all->ahead[behind]) = ahead;
    }
    return send;
}

/* Returns whether a receive takes messages of a tag. */
static bool takes_tag(const dvsim_graph *graph, int32_t receive, int32_t tag)
{
    int32_t wanted = graph->tag[receive];
    return wanted == tag || (wanted == DVSIM_ANY && (!graph->private_tag || tag < graph->private_tag));
}

/* Returns the send whose message was there for a receive, or posts it and returns -1. */
int32_t match_receive(matching *all, const dvsim_graph *graph, int32_t rank, int32_t receive)
{
    int32_t channel = all->channel[receive];
    if (channel != NONE) {
        int32_t send = all->early[channel].head;
        if (send != NONE) {
            return take_early(all, rank, send);
        }
    } else {
        int32_t source = graph->peer[receive];
        for (int32_t send = all->all[rank].head; send != NONE; send = all->behind[send]) {
            bool from = source == DVSIM_ANY || (send >= graph->first[source] && send < graph->first[source + 1]);
            if (from && takes_tag(graph, receive, graph->tag[send])) {
                return take_early(all, rank, send);
            }
        }
    }
    all->turn[receive] = all->turns++;
    append(all, channel == NONE ? &all->wild[rank] : &all->posted[channel], receive);
    return NONE;
}

/* Returns the first posted receive of any that takes a message, before a turn; `ahead` is what it follows. */
static int32_t wild_for(const matching *all, const dvsim_graph *graph, list from, int32_t source, int32_t tag,
                        int32_t *ahead)
{
    *ahead = NONE;
    for (int32_t one = from.head; one != NONE; *ahead = one, one = all->next[one]) {
        if ((graph->peer[one] == DVSIM_ANY || graph->peer[one] == source) && takes_tag(graph, one, tag)) {
            return one;
        }
    }
    return NONE;
}

/* Returns the receive that takes the message of a send, or keeps the message and returns -1. */
int32_t match_message(matching *all, const dvsim_graph *graph, int32_t rank, int32_t source, int32_t send)
{
    list *posted = &all->posted[all->channel[send]];
    if (all->wild) {
        int32_t ahead, one = wild_for(all, graph, all->wild[rank], source, graph->tag[send], &ahead);
        if (one != NONE && (posted->head == NONE || all->turn[one] < all->turn[posted->head])) {
            *(ahead == NONE ? &all->wild[rank].head : &all->next[ahead]) = all->next[one];
            if (all->wild[rank].tail == one) {
                all->wild[rank].tail = ahead;
            }
            return one;
        }
    }
    int32_t receive = take_head(all, posted);
    if (receive == NONE) {
        append(all, &all->early[all->channel[send]], send);
        if (all->all) {
            int32_t tail = all->all[rank].tail;
            all->ahead[send] = tail;
            all->behind[send] = NONE;
            *(tail == NONE ? &all->all[rank].head : &all->behind[tail]) = send;
            all->all[rank].tail = send;
        }
    }
    return receive;
}
