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


static uint64_t mixed(uint64_t key)
{
    key ^= key >> 31;
    key *= UINT64_C(0x9e3779b97f4a7c15);
    return key ^ (key >> 29);
}

/* Number the channels of all operations; returns how many, or DVSIM_ENOMEM. */
static int64_t number_channels(dvsim_replay *replay, bool *wild)
{
    int64_t ranks = replay->graph.ranks, size = 1024, channels = 0;
    while (size < 2 * replay->operations) {
        size *= 2;
    }
    slot *table = malloc((size_t)size * sizeof *table);
    if (!table) {
        return DVSIM_ENOMEM;
    }
    memset(table, 0xff, (size_t)size * sizeof *table);
    for (work *one = replay->works; one < replay->works + replay->operations; one++) {
        one->channel = NONE;
        if (one->kind == DVSIM_CALC) {
            continue;
        }
        if (one->peer == DVSIM_ANY || one->tag == DVSIM_ANY) {
            *wild = true;
            continue;
        }
        int64_t ends = one->kind == DVSIM_SEND ? one->peer * ranks + one->rank : one->rank * ranks + one->peer;
        uint64_t place = mixed((uint64_t)ends * 31 + (uint32_t)one->tag) & (uint64_t)(size - 1);
        while (table[place].channel != NONE && (table[place].ranks != ends || table[place].tag != one->tag)) {
            place = (place + 1) & (uint64_t)(size - 1);
        }
        if (table[place].channel == NONE) {
            table[place] = (slot){ends, one->tag, (int32_t)channels++};
        }
        one->channel = table[place].channel;
    }
    free(table);
    return channels;
}

static void *all_ones(size_t bytes)
{
    void *made = malloc(bytes);
    return made ? memset(made, 0xff, bytes) : NULL;
}

int matching_create(dvsim_replay *replay)
{
    matching *all = &replay->matching;
    bool wild = false;
    int64_t channels = number_channels(replay, &wild);
    if (channels < 0) {
        return DVSIM_ENOMEM;
    }
    all->channels = all_ones(((size_t)channels + 1) * sizeof *all->channels);
    if (!all->channels) {
        return DVSIM_ENOMEM;
    }
    if (wild) {
        all->wild = all_ones(((size_t)replay->graph.ranks + 1) * sizeof *all->wild);
        all->all = all_ones(((size_t)replay->graph.ranks + 1) * sizeof *all->all);
        if (!all->wild || !all->all) {
            return DVSIM_ENOMEM;
        }
    }
    return DVSIM_OK;
}

void matching_free(matching *all)
{
    free(all->channels);
    free(all->wild);
    free(all->all);
}

static void append(work *works, list *into, int32_t one)
{
    works[one].next = NONE;
    if (into->tail == NONE) {
        into->head = one;
    } else {
        works[into->tail].next = one;
    }
    into->tail = one;
}

static int32_t take_head(const work *works, list *from)
{
    int32_t one = from->head;
    if (one != NONE) {
        from->head = works[one].next;
        if (from->head == NONE) {
            from->tail = NONE;
        }
    }
    return one;
}

/* Take the message of a send out of those of its rank; it is the first of its channel. */
static int32_t take_early(dvsim_replay *replay, int32_t rank, int32_t send)
{
    matching *all = &replay->matching;
    work *works = replay->works;
    take_head(works, &all->channels[works[send].channel].early);
    if (all->all) {
        int32_t behind = works[send].behind, ahead = works[send].ahead;
        *(ahead == NONE ? &all->all[rank].head : &works[ahead].behind) = behind;
        *(behind == NONE ? &all->all[rank].tail : &works[behind].ahead) = ahead;
    }
    return send;
}

/* Returns whether a receive takes messages of a tag. */
static bool takes_tag(const dvsim_replay *replay, int32_t receive, int32_t tag)
{
    int32_t wanted = replay->works[receive].tag, private = replay->graph.private_tag;
    return wanted == tag || (wanted == DVSIM_ANY && (!private || tag < private));
}

/* Returns the send whose message was there for a receive, or posts it and returns -1. */
int32_t match_receive(dvsim_replay *replay, int32_t rank, int32_t receive)
{
    matching *all = &replay->matching;
    work *works = replay->works, *own = &works[receive];
    if (own->channel != NONE) {
        int32_t send = all->channels[own->channel].early.head;
        if (send != NONE) {
            return take_early(replay, rank, send);
        }
    } else {
        for (int32_t send = all->all[rank].head; send != NONE; send = works[send].behind) {
            bool from = own->peer == DVSIM_ANY || own->peer == works[send].rank;
            if (from && takes_tag(replay, receive, works[send].tag)) {
                return take_early(replay, rank, send);
            }
        }
    }
    own->turn = all->turns++;
    append(works, own->channel == NONE ? &all->wild[rank] : &all->channels[own->channel].posted, receive);
    return NONE;
}

/* Returns the first posted receive of any that takes the message of a send; `ahead` is what it follows. */
static int32_t wild_for(const dvsim_replay *replay, list from, int32_t send, int32_t *ahead)
{
    const work *works = replay->works;
    *ahead = NONE;
    for (int32_t one = from.head; one != NONE; *ahead = one, one = works[one].next) {
        bool source = works[one].peer == DVSIM_ANY || works[one].peer == works[send].rank;
        if (source && takes_tag(replay, one, works[send].tag)) {
            return one;
        }
    }
    return NONE;
}

/* Returns the receive that takes the message of a send, or keeps the message and returns -1. */
int32_t match_message(dvsim_replay *replay, int32_t rank, int32_t send)
{
    matching *all = &replay->matching;
    work *works = replay->works;
    channel *own = &all->channels[works[send].channel];
    if (all->wild) {
        int32_t ahead, one = wild_for(replay, all->wild[rank], send, &ahead);
        if (one != NONE && (own->posted.head == NONE || works[one].turn < works[own->posted.head].turn)) {
            *(ahead == NONE ? &all->wild[rank].head : &works[ahead].next) = works[one].next;
            if (all->wild[rank].tail == one) {
                all->wild[rank].tail = ahead;
            }
            return one;
        }
    }
    int32_t receive = take_head(works, &own->posted);
    if (receive == NONE) {
        append(works, &own->early, send);
        if (all->all) {
            int32_t tail = all->all[rank].tail;
            works[send].ahead = tail;
            works[send].behind = NONE;
            *(tail == NONE ? &all->all[rank].head : &works[tail].behind) = send;
            all->all[rank].tail = send;
        }
    }
    return receive;
}
