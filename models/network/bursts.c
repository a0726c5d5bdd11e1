/* bursts.c: words of the caller, many at a time. */
#include <stdlib.h>

#include "network/internal.h"

static const int64_t MOST_WORDS = INT64_C(1) << 40; /* of a burst, so that no sum of them overflows */

static int64_t host_of(const dvsim_part *p, int64_t plane, int64_t port)
{
    const dvsim_network *net = p->network;
    const int64_t number = plane * net->levels[0].switches + port / net->down;
    const dvsim_stage *leaves = &p->stages[number >> net->stage_bits[0]];
    return leaves->first * net->down + port % net->down * leaves->replications + number - leaves->first;
}

/* Where a host offers to its leaf: input q of the switch with that number. */
static uint64_t *offer_of(const dvsim_part *p, uint32_t host, uint32_t *q, uint32_t *number)
{
    const dvsim_network *net = p->network;
    const dvsim_stage *leaves = &p->stages[host / net->down >> net->stage_bits[0]];
    const uint32_t first = (uint32_t)leaves->first, replications = (uint32_t)leaves->replications;
    const uint32_t within = host - first * net->down;
    *q = within / replications;
    const uint32_t r = within - *q * replications;
    *number = first + r;
    return &leaves->offers[net->row_of[*q] * replications + r];
}

void dvsim_network_offer_given(dvsim_part *p)
{
    const dvsim_network *net = p->network;
    uint32_t q, r;
    for (int64_t k = 0; k < p->sender_count; k++) {
        const uint32_t host = p->senders[k];
        dvsim_batch *batch = &p->batches[p->sending[host].first];
        uint64_t *offer = offer_of(p, host, &q, &r), birth;
        if (*offer != 0 || batch->from_slot > p->now || !dvsim_network_name(p, batch, &birth)) {
            continue;
        }
        const uint32_t plane = r / net->levels[0].switches, box = r - plane * net->levels[0].switches;
        const uint64_t port = (uint64_t)box * net->down + q;
        *offer = dvsim_network_packet(p, box, batch->to, birth, plane, port);
    }
}

void dvsim_network_offered_given(dvsim_part *p)
{
    const dvsim_network *net = p->network;
    uint32_t q, r;
    for (int64_t k = 0; k < p->sender_count;) {
        const uint32_t host = p->senders[k];
        dvsim_queue *queue = &p->sending[host];
        const uint32_t first = queue->first;
        dvsim_batch *batch = &p->batches[first];
        if (*offer_of(p, host, &q, &r) == 0 && batch->from_slot <= p->now) { /* it has entered */
            p->accepted[host]++;
            if (--batch->words == 0) {
                queue->first = batch->next;
                queue->length--;
                batch->next = p->free_batch;
                p->free_batch = first;
                p->waits[(r % net->levels[0].switches) * net->down + q]--;
            }
        }
        if (queue->length == 0) {
            p->senders[k] = p->senders[--p->sender_count];
        } else {
            k++;
        }
    }
}

int64_t dvsim_network_words_waiting(const dvsim_part *p)
{
    int64_t words = 0;
    for (int64_t k = 0; k < p->sender_count; k++) {
        for (uint32_t i = p->sending[p->senders[k]].first; i != 0; i = p->batches[i].next) {
            words += p->batches[i].words;
        }
    }
    return words;
}

void dvsim_network_word_ended(dvsim_part *p, uint64_t burst)
{
    dvsim_share *share = &p->shares[burst];
    if (share->first < 0) {
        share->first = p->now;
    }
    share->last = p->now;
    p->words_left--;
    if (--share->left == 0) {
        p->ended[p->ended_count++] = (int64_t)burst;
    }
}

/* Double the bursts that can be on their way. */
static int more_bursts(dvsim_network *net)
{
    const int64_t before = net->burst_room, room = before > 0 ? 2 * before : 64;
    for (int64_t i = 0; i < net->part_count; i++) {
        dvsim_part *p = &net->parts[i];
        dvsim_share *shares = dvsim_network_longer(p->shares, before, room, sizeof *shares);
        if (shares != NULL) {
            p->shares = shares;
        }
        int64_t *ended = dvsim_network_longer(p->ended, before, room, sizeof *ended);
        if (ended != NULL) {
            p->ended = ended;
        }
        if (shares == NULL || ended == NULL) {
            return 0;
        }
    }
    dvsim_burst *bursts = dvsim_network_longer(net->bursts, before, room, sizeof *bursts);
    if (bursts == NULL) {
        return 0;
    }
    for (int64_t k = before; k < room; k++) {
        bursts[k].next_free = k + 1 < room ? k + 1 : -1;
    }
    net->bursts = bursts;
    net->burst_room = room;
    net->free_burst = before;
    return 1;
}

/* Room for a batch at every plane of every part. */
static int more_batches(dvsim_network *net)
{
    for (int64_t i = 0; i < net->part_count; i++) {
        dvsim_part *p = &net->parts[i];
        if (p->batch_count + (uint32_t)p->planes < p->batch_room) {
            continue;
        }
        const uint32_t room = p->batch_room > 0 ? 2 * p->batch_room : 1024;
        dvsim_batch *longer =
            room < UINT32_MAX / 2 ? dvsim_network_longer(p->batches, p->batch_room, room, sizeof *longer) : NULL;
        if (longer == NULL) {
            return 0;
        }
        p->batches = longer;
        p->batch_room = room;
        p->batch_count += p->batch_count == 0; /* batch 0 is none */
    }
    return 1;
}

static void add_batch(dvsim_part *p, uint32_t host, const dvsim_batch *batch)
{
    dvsim_queue *queue = &p->sending[host];
    uint32_t place = p->free_batch;
    if (place != 0) {
        p->free_batch = p->batches[place].next;
    } else {
        place = p->batch_count++;
    }
    p->batches[place] = *batch;
    if (queue->length++ == 0) {
        queue->first = place;
        p->senders[p->sender_count++] = host;
    } else {
        p->batches[queue->last].next = place;
    }
    queue->last = place;
    p->offered[host] += batch->words;
    p->words_left += batch->words;
    p->shares[batch->burst].left += batch->words;
}

int dvsim_network_cut(dvsim_network *net, int64_t port, int64_t plane)
{
    if (net == NULL || port < 0 || port >= net->params.ports || plane < 0 || plane >= net->params.planes) {
        return DVSIM_EINVAL;
    }
    if (net->cut == NULL) {
        net->cut = calloc((size_t)(net->params.ports * net->params.planes), sizeof *net->cut);
    }
    if (net->cut == NULL) {
        return DVSIM_ENOMEM;
    }
    net->cut[port * net->params.planes + plane] = 1;
    return DVSIM_OK;
}

/* 1 if words between two ports can go by a plane. */
static int64_t is_way(const dvsim_network *net, int64_t from, int64_t to, int64_t plane)
{
    const int64_t planes = net->params.planes;
    const int cut = net->cut != NULL && (net->cut[from * planes + plane] | net->cut[to * planes + plane]);
    return !cut && (!net->broken || dvsim_network_leads(net, plane, from, to));
}

int64_t dvsim_network_ways(const dvsim_network *net, int64_t from, int64_t to)
{
    if (net->cut == NULL && !net->broken) {
        return net->params.planes;
    }
    int64_t count = 0;
    for (int64_t plane = 0; plane < net->params.planes; plane++) {
        count += is_way(net, from, to, plane);
    }
    return count;
}

static int send(dvsim_network *net, int64_t from, int64_t to, int64_t words, int64_t handle, int64_t *slots)
{
    if (net == NULL || from < 0 || from >= net->params.ports || to < 0 || to >= net->params.ports || words < 1 ||
        words > MOST_WORDS) {
        return DVSIM_EINVAL;
    }
    if (net->params.injection != DVSIM_INJECT_GIVEN || net->pending > 0 ||
        ((net->cut != NULL || net->broken) && slots != NULL)) {
        return DVSIM_ESTATE;
    }
    const int64_t planes = dvsim_network_ways(net, from, to);
    if (planes == 0) {
        return DVSIM_EINVAL;
    }
    if (net->free_burst < 0) {
        const int64_t most = (int64_t)net->birth_mask + 1 - dvsim_network_most_noted(net);
        if (net->burst_room > most / 2) { /* twice as many would have no names */
            return DVSIM_ESTATE;
        }
        if (!more_bursts(net)) {
            return DVSIM_ENOMEM;
        }
    }
    if (!more_batches(net)) {
        return DVSIM_ENOMEM;
    }
    const int64_t burst = net->free_burst;
    dvsim_burst *record = &net->bursts[burst];
    net->free_burst = record->next_free;
    *record = (dvsim_burst){handle, net->serial++, net->now, INT64_MAX, -1, 0, -1};
    const int64_t first = (from + net->sent_words[from]) % planes, each = words / planes, more = words % planes;
    net->sent_words[from] = (net->sent_words[from] + words) % net->params.planes;
    int64_t number = 0; /* of a plane, among those that are a way */
    for (int64_t i = 0; i < net->part_count; i++) {
        dvsim_part *p = &net->parts[i];
        p->shares[burst] = (dvsim_share){0, -1, -1};
        for (int64_t plane = p->first; plane < p->first + p->planes; plane++) {
            if (!is_way(net, from, to, plane)) {
                continue;
            }
            const int64_t place = number - first + (number < first ? planes : 0);
            dvsim_batch batch = {burst, each + (place < more), net->now + net->params.link_slots, NULL, (uint32_t)to, 0};
            number++;
            if (batch.words == 0) {
                continue;
            }
            batch.slot = slots != NULL ? slots + place : NULL;
            add_batch(p, (uint32_t)host_of(p, plane - p->first, from), &batch);
            p->waits[from]++;
        }
        record->parts_left += p->shares[burst].left > 0;
    }
    return DVSIM_OK;
}

int dvsim_network_send(dvsim_network *net, int64_t from, int64_t to, int64_t words, int64_t handle)
{
    return send(net, from, to, words, handle, NULL);
}

int dvsim_network_send_noted(dvsim_network *net, int64_t from, int64_t to, int64_t words, int64_t handle,
                             int64_t *slots)
{
    return slots == NULL ? DVSIM_EINVAL : send(net, from, to, words, handle, slots);
}

int64_t dvsim_network_waiting(const dvsim_network *net, int64_t port)
{
    int64_t bursts = 0;
    for (int64_t i = 0; i < net->part_count; i++) {
        bursts += net->parts[i].waits[port];
    }
    return bursts;
}

static int note_completion(dvsim_network *net, const dvsim_burst *burst)
{
    if (net->completion_count == net->completion_room) {
        const int64_t before = net->completion_room, room = before > 0 ? 2 * before : 64;
        dvsim_ended *ended = dvsim_network_longer(net->ended, before, room, sizeof *ended);
        if (ended != NULL) {
            net->ended = ended;
        }
        dvsim_completion *list = dvsim_network_longer(net->completions, before, room, sizeof *list);
        if (list != NULL) {
            net->completions = list;
        }
        if (ended == NULL || list == NULL) {
            return 0;
        }
        net->completion_room = room;
    }
    net->ended[net->completion_count++] =
        (dvsim_ended){{burst->handle, burst->first, burst->last}, burst->serial};
    return 1;
}

static int earlier(const void *left, const void *right)
{
    const dvsim_ended *a = left, *b = right;
    if (a->is.last_slot != b->is.last_slot) {
        return a->is.last_slot < b->is.last_slot ? -1 : 1;
    }
    return (a->serial > b->serial) - (a->serial < b->serial);
}

/* The same order as of qsort, faster while they are few. */
enum { FEW = 48 };
static void insert_each(dvsim_ended *ended, int64_t count)
{
    for (int64_t k = 1; k < count; k++) {
        const dvsim_ended one = ended[k];
        int64_t at = k;
        for (; at > 0 && earlier(&one, &ended[at - 1]) < 0; at--) {
            ended[at] = ended[at - 1];
        }
        ended[at] = one;
    }
}

int dvsim_network_collect(dvsim_network *net)
{
    for (int64_t i = 0; i < net->part_count; i++) {
        dvsim_part *p = &net->parts[i];
        for (int64_t k = 0; k < p->ended_count; k++) {
            dvsim_burst *burst = &net->bursts[p->ended[k]];
            const dvsim_share *share = &p->shares[p->ended[k]];
            burst->first = share->first < burst->first ? share->first : burst->first;
            burst->last = share->last > burst->last ? share->last : burst->last;
            if (--burst->parts_left > 0) {
                continue;
            }
            if (!note_completion(net, burst)) {
                return 0;
            }
            burst->next_free = net->free_burst;
            net->free_burst = p->ended[k];
        }
        p->ended_count = 0;
    }
    if (net->completion_count > FEW) {
        qsort(net->ended, (size_t)net->completion_count, sizeof *net->ended, earlier);
    } else {
        insert_each(net->ended, net->completion_count);
    }
    for (int64_t k = 0; k < net->completion_count; k++) {
        net->completions[k] = net->ended[k].is;
    }
    return 1;
}

int64_t dvsim_network_completions(const dvsim_network *net, const dvsim_completion **completions)
{
    *completions = net->completions;
    return net->completion_count;
}
