/* Timed mode: the turns of the cards of this host. vicrun sends which cards go on and what they see; this host copies that
 * into the memory of the job. When all of these cards have stopped, it sends vicrun what they have done. */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "member.h"
#include "thread.h"

enum { LOOK_MS = 20 }; /* how often to look whether a host is lost */

static bool has_turn(const struct job *job, uint32_t card)
{
    return atomic_load(&job->card[card].end) == CARD_RUNS && atomic_load(&timed_card_of(job, card)->state) == CARD_RUNNING;
}

/* Reads the end first: nobody changes the state of a card that has ended. */
static void write_card(struct member *member, uint32_t card)
{
    const struct job *job = member->agent.job;
    struct known *known = &member->known[card];
    struct turn_record record = {.card = card, .end = atomic_load(&job->card[card].end)};
    record.state = atomic_load(&timed_card_of(job, card)->state);
    record.go = atomic_load(&timed_card_of(job, card)->go);
    if (record.state != known->state || record.end != known->end) {
        known->state = record.state;
        known->end = record.end;
        mirror_write(&member->turns, job, record, known, FROM_CARD);
    }
}

/* Tells vicrun that a card of a host that the agent has lost is dead. A host that is there does so itself. */
static void write_lost(struct member *member, uint32_t card)
{
    const struct job *job = member->agent.job;
    struct known *known = &member->known[card];
    if (known->end == CARD_RUNS && atomic_load(&job->card[card].end) == CARD_DIED) {
        known->end = CARD_DIED;
        turns_add(&member->turns, (struct turn_record){.card = card, .end = CARD_DIED});
    }
}

static void tell(struct member *member)
{
    const struct job *job = member->agent.job;
    bool runs = false, lost = atomic_load(&member->agent.lost);
    pthread_mutex_lock(&member->turns_lock);
    turns_begin(&member->turns);
    for (uint32_t i = 0; i < job->here; i++) {
        runs |= has_turn(job, job->first + i);
    }
    for (uint32_t i = 0; i < job->config.cards; i++) {
        if (!job_is_here(job, i) && lost) {
            write_lost(member, i);
        } else if (job_is_here(job, i) && !runs) {
            write_card(member, i);
        }
    }
    if (!turns_empty(&member->turns) && !member->turns.failed) {
        member_say(member, HOST_TURN, member->turns.text, member->turns.used);
    }
    pthread_mutex_unlock(&member->turns_lock);
}

static void *follow(void *what)
{
    struct member *member = what;
    _Atomic uint32_t *bell = &timed_shared_of(member->agent.job)->bell;
    const struct timespec slice = {0, LOOK_MS * 1000000};
    while (!atomic_load(&member->stop)) {
        uint32_t seen = atomic_load(bell);
        tell(member);
        syscall(SYS_futex, bell, FUTEX_WAIT, seen, &slice, NULL, 0);
    }
    tell(member);
    return NULL;
}

bool turns_start(struct member *member)
{
    const struct job *job = member->agent.job;
    if (job->config.mode != 1) {
        return true;
    }
    member->known = calloc(job->config.cards, sizeof *member->known);
    member->turn = calloc(job->config.cards, sizeof *member->turn);
    pthread_mutex_init(&member->turns_lock, NULL);
    member->follows = member->known != NULL && member->turn != NULL && thread_start(&member->follower, follow, member);
    return member->follows;
}

void turns_stop(struct member *member)
{
    if (member->follows) {
        atomic_store(&member->stop, true);
        coordinator_kick(member->agent.job);
        pthread_join(member->follower, NULL);
    }
    free(member->known);
    free(member->turn);
    free(member->turns.text);
}

/* Copies what vicrun says, and returns how many cards are to go on. None of them does before all is copied. */
static uint32_t copy_turns(struct launch *launch, struct member *member, const struct host_head *head)
{
    const struct job *job = launch->job;
    const struct turn_head *turn = (const void *)(head + 1);
    struct turns turns = {.text = (char *)(uintptr_t)(head + 1), .used = sizeof *turn, .room = head->bytes};
    const struct turn_record *record;
    uint32_t count = 0;
    for (uint32_t i = 0; i < turn->records && (record = mirror_read(&turns, job, member->known, TO_CARD)) != NULL; i++) {
        struct known *known = &member->known[record->card];
        if (record->kill != 0) {
            launch_kill(launch, record->card);
        } else if (job_is_here(job, record->card) && record->go != known->go && count < job->here) {
            known->go = record->go;
            known->state = CARD_RUNNING;
            member->turn[count++] = record->card;
        }
    }
    return count;
}

void turns_hear(struct launch *launch, const struct host_head *head)
{
    struct member *member = launch->member;
    struct timed_shared *shared = timed_shared_of(launch->job);
    if (!member->follows || head->bytes < sizeof(struct turn_head)) {
        return;
    }
    pthread_mutex_lock(&member->turns_lock);
    uint32_t count = copy_turns(launch, member, head);
    atomic_fetch_add(&shared->running, count);
    for (uint32_t i = 0; i < count; i++) {
        struct timed_card *card = timed_card_of(launch->job, member->turn[i]);
        atomic_store(&card->state, CARD_RUNNING);
        atomic_store(&card->go, member->known[member->turn[i]].go);
        syscall(SYS_futex, &card->go, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    }
    if (((const struct turn_head *)(const void *)(head + 1))->gone) {
        atomic_store(&shared->coordinated, 2);
    }
    pthread_mutex_unlock(&member->turns_lock);
}
