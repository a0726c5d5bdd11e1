/* A card of messages of one size: pieces, SRAM, DMA engine and what its group counters show. */
#include "card/card.h"

#include <stddef.h>

static int64_t ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/* Sizes, counts and costs beyond these limits would overflow somewhere in a product. */
static const int64_t long_ps = INT64_C(1000000000000000000), most_messages = INT64_C(1) << 40;

static int reasonable(const dvsim_card_params *p, int64_t message_bytes)
{
    const int64_t large = INT64_C(1) << 50;
    return message_bytes <= INT64_C(1) << 40 && p->sram_bytes <= large && p->group_counters <= large &&
           p->fifo_words <= large && p->dma_entries <= large && p->piece_words <= large &&
           p->pcie.setup_ps <= long_ps && p->pcie.engine_fs <= long_ps && p->vic_to_dram.fixed_ps <= long_ps &&
           p->vic_to_dram.per_byte_fs <= long_ps;
}

int dvsim_card_init(dvsim_card *card, const dvsim_card_params *params, int64_t message_bytes)
{
    if (card == NULL || params == NULL || message_bytes < 0 || params->sram_bytes < DVSIM_WORD_BYTES ||
        params->group_counters < 2 || params->fifo_words < 1 || params->dma_entries < 1 ||
        params->pcie.setup_ps < 0 || params->piece_words < 1 || params->pcie.engine_fs < 0 ||
        params->vic_to_dram.fixed_ps < 0 || params->vic_to_dram.per_byte_fs < 0 ||
        !reasonable(params, message_bytes)) {
        return DVSIM_EINVAL;
    }
    *card = (dvsim_card){.params = *params, .message_bytes = message_bytes, .software = params->vic_to_dram};
    return DVSIM_OK;
}

int64_t dvsim_words(int64_t message_bytes)
{
    return message_bytes > 0 ? ceil_div(message_bytes, DVSIM_WORD_BYTES) : 1;
}

int64_t dvsim_card_words(const dvsim_card *card)
{
    return dvsim_words(card->message_bytes);
}

int64_t dvsim_card_pieces(const dvsim_card *card)
{
    return ceil_div(dvsim_card_words(card), card->params.piece_words);
}

int64_t dvsim_card_counted(const dvsim_card *card, int64_t moved)
{
    int64_t pieces = dvsim_card_pieces(card);
    int64_t round = card->params.group_counters - 1;
    if (pieces < round) {
        return moved;
    }
    int64_t within = moved % pieces;
    return moved - within + within / round * round;
}

void dvsim_card_counted_many(const dvsim_card *card, int64_t *moved, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        moved[i] = dvsim_card_counted(card, moved[i]);
    }
}

int dvsim_card_pace(dvsim_card *card, int64_t ppm)
{
    if (card == NULL || ppm < 0) {
        return DVSIM_EINVAL;
    }
    const double fixed_ps = (double)card->params.vic_to_dram.fixed_ps * (double)ppm / 1e6 + 0.5;
    card->software.fixed_ps = fixed_ps < (double)long_ps ? (int64_t)fixed_ps : long_ps;
    return DVSIM_OK;
}

int64_t dvsim_card_moved_in(const dvsim_card *card, int64_t ps)
{
    const dvsim_card_params *p = &card->params;
    const double measured = (double)dvsim_law_ps(card->software, card->message_bytes);
    const double pcie = (double)dvsim_pcie_engine_ps(&p->pcie, dvsim_card_words(card), 1);
    const double loading = (double)p->pcie.setup_ps * (double)dvsim_card_pieces(card) / (double)p->dma_entries;
    const double one = (measured > pcie ? measured : pcie) + loading;
    if (one * (double)most_messages < (double)ps) {
        return most_messages;
    }
    return (double)ps > one ? (int64_t)((double)ps / one) : 1;
}

int64_t dvsim_card_move_ps(const dvsim_card *card, int64_t messages)
{
    const dvsim_card_params *p = &card->params;
    int64_t measured = dvsim_law_total_ps(card->software, card->message_bytes, messages);
    int64_t pcie = dvsim_pcie_engine_ps(&p->pcie, dvsim_card_words(card), messages);
    int64_t loadings = ceil_div(messages * dvsim_card_pieces(card), p->dma_entries);
    return (measured > pcie ? measured : pcie) + loadings * p->pcie.setup_ps;
}

/* Messages that have left the SRAM when `arrived` of `messages` are in, at the pace of the two flows. */
static int64_t moved_meanwhile(int64_t arrived, int64_t port, int64_t move)
{
    return move > 0 ? (int64_t)((double)arrived * (double)port / (double)move) : arrived;
}

int dvsim_card_receive(dvsim_card *card, dvsim_arrival_flow flow, int64_t messages, dvsim_burst *burst)
{
    if (card == NULL || burst == NULL || messages < 1 || messages > most_messages || flow.sent_ps < 0 ||
        flow.first_ps < flow.sent_ps || flow.last_ps < flow.first_ps) {
        return DVSIM_EINVAL;
    }
    int64_t bytes = dvsim_card_words(card) * DVSIM_WORD_BYTES;
    int64_t room = card->params.sram_bytes / bytes; /* messages that fit in the SRAM */
    if (room < 1) {
        return DVSIM_EINVAL;
    }

    int64_t port = flow.last_ps - flow.first_ps;
    int64_t move = dvsim_card_move_ps(card, messages);
    int64_t slower = move > port ? move : port;

    /* The DMA engine starts with the first message; the flow ends with the slower of the two stages. */
    burst->first_ps = flow.first_ps;
    burst->last_ps = flow.first_ps + slower;
    burst->sent_ps = flow.sent_ps + port;
    burst->held_ps = 0;

    int64_t waiting = messages - moved_meanwhile(messages, port, move < port ? port : move);
    if (waiting > room) { /* the SRAM fills: its last free slot is the one that the DMA engine makes */
        double past = (double)(messages - room) / (double)messages;
        int64_t sent = flow.sent_ps + (int64_t)(past * (double)slower);
        if (sent > burst->sent_ps) {
            burst->held_ps = sent - burst->sent_ps;
            burst->sent_ps = sent;
        }
        waiting = room;
    }
    if (waiting * bytes > card->sram_peak_bytes) {
        card->sram_peak_bytes = waiting * bytes;
    }
    card->messages += messages;
    card->dma_busy_ps += move;
    card->port_busy_ps += port;
    return DVSIM_OK;
}

int dvsim_card_fifo_push(dvsim_card *card)
{
    if (card->fifo_used >= card->params.fifo_words) {
        return DVSIM_ESTATE;
    }
    card->fifo_used++;
    return DVSIM_OK;
}

int dvsim_card_fifo_pop(dvsim_card *card)
{
    if (card->fifo_used < 1) {
        return DVSIM_ESTATE;
    }
    card->fifo_used--;
    return DVSIM_OK;
}
