/* What vicrun does when programs end, are to be started again, come and go; and what it finds in the memory of a job then,
 * which a program may have left in any state. */
#define _GNU_SOURCE
#include "launcher_parts.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../emulator/launcher/loop.c"
#include "functional/claims.h"
#include "join.h"
#include "vic.h"

enum { ALL = 3, DEAD = 1 };

static struct job_config size(void)
{
    struct job_config config = job_usual;
    config.cards = ALL;
    config.sram_words = 64;
    config.fifo_words = 4;
    config.outlives = 1; /* a ring of 8 */
    return config;
}

static struct launch *of(struct options *options, enum if_killed what)
{
    struct job_config config = size();
    *options = (struct options){.if_killed = what, .short_lives = 5};
    return a_launch(&config, options);
}

/* Places in a FIFO that the dead has taken and not filled. */
static void take_back(void)
{
    struct options options;
    struct launch *launch = of(&options, IF_KILLED_LEAVE);
    struct job *job = launch->job;
    struct fifo_slot *slot = job_slots(job, 0);
    CHECK(job->ring == 8);
    atomic_store(&job->card[0].fifo_tail, claim_by(3, DEAD));
    CHECK(claims_undo(job, DEAD));
    CHECK(atomic_load(&job->card[0].fifo_voids) == 3);
    for (uint64_t i = 0; i < 3; i++) {
        CHECK(atomic_load(&slot[i].ticket) == ticket_void(i));
    }
    CHECK(claims_undo(job, DEAD) && atomic_load(&job->card[0].fifo_voids) == 3); /* once is enough */
    /* of somebody who lives: he will fill them */
    atomic_store(&job->card[2].fifo_tail, claim_by(2, 0));
    CHECK(claims_undo(job, DEAD) && atomic_load(&job->card[2].fifo_voids) == 0);
    /* nobody says that he took these: they are left alone */
    atomic_store(&job->card[1].fifo_tail, 8);
    CHECK(claims_undo(job, DEAD) && atomic_load(&job->card[1].fifo_voids) == 0);
    /* more than there is room for, beside those that the reader has not passed yet: the job cannot go on */
    atomic_store(&job->card[0].fifo_tail, claim_by(5, DEAD));
    listen_to_stderr();
    launch->child[DEAD].code = 128 + 9;
    program_ended(launch, DEAD, true);
    CHECK(was_heard("card 1 was killed by signal 9 (Killed): too much of what it sent is left half done in FIFOs; "
                    "the job ends"));
    CHECK(atomic_load(&job->shared->poison) == DEAD + 1 && launch->code == 128 + 9);
    end_launch(launch);
}

/* A program of our own that waits. */
static void start(struct launch *launch, uint32_t card)
{
    static char *sleeps[] = {"sleep", "1000", NULL};
    launch->options->program->argument = sleeps;
    CHECK(child_start(launch, card, -1) == 0 && launch->running == 1);
}

static void kill_one(void)
{
    struct options options;
    struct launch *launch = of(&options, IF_KILLED_LEAVE);
    struct join said;
    int line[2];
    a_line(line);
    launch_kill(launch, 0); /* nobody is there */
    launch->child[0].joiner = line[0];
    launch->joiners = 1;
    launch_kill(launch, 0); /* by who brought it */
    CHECK(recv(line[1], &said, sizeof said, MSG_DONTWAIT) == sizeof said);
    CHECK(said.kind == JOIN_SIGNAL && said.number == SIGKILL);
    joiner_hang_up(launch, 0);
    close(line[1]);
    start(launch, 2);
    launch_kill(launch, 2);
    listen_to_stderr();
    note_end(launch, 2);
    CHECK(launch->child[2].code == 128 + SIGKILL && launch->running == 0);
    CHECK(was_heard("card 2 was killed by signal 9 (Killed); the others go on"));
    end_launch(launch);
}

static void kills_in_time(void)
{
    struct options options = {.if_killed = IF_KILLED_LEAVE};
    struct job_config config = size();
    config.kills = 3;
    config.kill[0] = (struct job_event){.card = 0, .at_ns = UINT64_C(5000000000000)};
    config.kill[1] = (struct job_event){.card = 1, .at_ns = UINT64_C(9000000000000)};
    config.kill[2] = (struct job_event){.card = 2};
    struct launch *launch = a_launch(&config, &options);
    CHECK(kill_due(launch) == 1000000 && launch->kills == 4); /* the last was due; looked at again in 1,000 s */
    CHECK(kill_due(launch) == 1000000 && launch->kills == 4);
    CHECK(sooner(-1, -1) == -1 && sooner(-1, 5) == 5 && sooner(5, -1) == 5 && sooner(5, 6) == 5 && sooner(6, 5) == 5);
    end_launch(launch);
}

/* A joiner is to start its program again and cannot be told, as its line is full: both would wait for ever. */
static void one_who_does_not_listen(void)
{
    struct options options;
    struct launch *launch = of(&options, IF_KILLED_RESTART);
    struct child *child = &launch->child[0];
    struct join said = {.kind = JOIN_SIGNAL};
    int line[2], told = 0;
    a_line(line);
    child->joiner = line[0];
    launch->joiners = launch->waiting = 1;
    child->restart_ns = 1;
    while (send(line[0], &said, sizeof said, MSG_DONTWAIT) == sizeof said) {
        told++;
    }
    CHECK(told > 0 && restart_due(launch) == -1 && launch->waiting == 0);
    while (told-- > 0) {
        CHECK(recv(line[1], &said, sizeof said, MSG_DONTWAIT) == sizeof said && said.kind == JOIN_SIGNAL);
    }
    CHECK(recv(line[1], &said, sizeof said, MSG_DONTWAIT) == 0); /* hung up, which says it all */
    joiner_hear(launch, 0);
    CHECK(child->lost == JOINER_DIES); /* and its place will be free */
    joiner_gone(launch, 0);
    CHECK(child->joiner == -1 && child->lost == NOT_LOST && launch->joiners == 0);
    close(line[1]);
    end_launch(launch);
}

/* A signal to end comes while programs wait to be started again. */
static void no_more_restarts(void)
{
    struct options options;
    struct launch *launch = of(&options, IF_KILLED_RESTART);
    int line[2];
    a_line(line);
    launch->child[0].restart_ns = launch->child[2].restart_ns = job_clock_ns() + UINT64_C(5000000000);
    launch->child[0].code = 7;
    launch->child[2].code = 8;
    launch->child[2].joiner = line[0];
    launch->joiners = 1;
    launch->waiting = 2;
    CHECK(restart_due(launch) > 1000);
    stop_restarts(launch);
    CHECK(launch->waiting == 0 && launch->joiners == 0 && launch->code == 7 && launch->child[2].joiner == -1);
    CHECK(atomic_load(&launch->job->card[0].end) == CARD_ENDED);
    CHECK(atomic_load(&launch->job->card[2].end) == CARD_RUNS); /* it is a free place */
    stop_restarts(launch);
    close(line[1]);
    end_launch(launch);
}

/* What comes back when somebody asks; "": a card. */
static const char *ask(struct launch *launch, struct join question, struct join *answer, int *line)
{
    int ends[2];
    a_line(ends);
    CHECK(send(ends[1], &question, sizeof question, 0) == sizeof question);
    launch->pending[0] = ends[0];
    pending_hear(launch, &launch->pending[0]);
    CHECK(launch->pending[0] == -1);
    CHECK(recv(ends[1], answer, sizeof *answer, 0) == sizeof *answer && answer->kind == JOIN_ANSWER);
    *line = ends[1];
    CHECK(answer->refused == (answer->text[0] != 0) && answer->nonce == launch->job->nonce);
    if (answer->refused) {
        CHECK(recv(*line, &question, sizeof question, 0) == 0);
        close(*line);
    }
    return answer->text;
}

static void who_asks(void)
{
    struct options options;
    struct launch *launch = of(&options, IF_KILLED_LEAVE);
    struct join good = {.kind = JOIN_ASK, .layout = JOB_LAYOUT, .version = VIC_VERSION, .card = 1}, answer;
    struct join any = good, high = good, old = good, other = good;
    int line, again;
    old.layout--;
    other.version[0] = 'x';
    any.card = JOIN_ANY;
    high.card = ALL;
    CHECK(strstr(ask(launch, old, &answer, &line), "the job is of vicrun " VIC_VERSION ", this is vicrun " VIC_VERSION));
    CHECK(strstr(ask(launch, other, &answer, &line), ", this is vicrun x"));
    CHECK(strcmp(ask(launch, high, &answer, &line), "the job has no card 3, but 0 .. 2") == 0);
    CHECK(strcmp(ask(launch, good, &answer, &line), "") == 0 && answer.card == 1);
    CHECK(strcmp(ask(launch, good, &answer, &again), "card 1 has a program") == 0);
    launch->child[0].restart_ns = 1; /* it will have one again */
    CHECK(strcmp(ask(launch, any, &answer, &again), "") == 0 && answer.card == 2 && launch->joiners == 2);
    CHECK(strcmp(ask(launch, any, &answer, &again), "all 3 cards have a program") == 0);
    launch->child[0].restart_ns = 0;
    launch->signalled = true;
    CHECK(strcmp(ask(launch, any, &answer, &again), "the job is about to end") == 0);
    launch->signalled = false;
    atomic_store(&launch->job->shared->poison, 1);
    CHECK(strcmp(ask(launch, any, &answer, &again), "the job is about to end") == 0);
    atomic_store(&launch->job->shared->poison, 0);
    /* who has hung up meanwhile gets no card */
    int ends[2];
    a_line(ends);
    CHECK(send(ends[1], &any, sizeof any, 0) == sizeof any);
    close(ends[1]);
    launch->pending[0] = ends[0];
    pending_hear(launch, &launch->pending[0]);
    CHECK(launch->child[0].joiner == -1 && launch->joiners == 2 && fcntl(ends[0], F_GETFD) == -1);
    /* nor who begins with something else */
    a_line(ends);
    any.kind = JOIN_ENDED;
    CHECK(send(ends[1], &any, sizeof any, 0) == sizeof any);
    launch->pending[0] = ends[0];
    pending_hear(launch, &launch->pending[0]);
    CHECK(launch->joiners == 2 && recv(ends[1], &any, sizeof any, 0) == 0);
    joiner_hear(launch, 1); /* nothing has come */
    CHECK(launch->child[1].joiner >= 0 && !launch->child[1].lost);
    struct join ended = {.kind = JOIN_ENDED, .number = 0x305};
    CHECK(send(line, &ended, sizeof ended, 0) == sizeof ended);
    joiner_hear(launch, 1);
    CHECK(launch->child[1].code == 5 && launch->child[1].joiner == -1 && launch->joiners == 1 && launch->code == 0);
    close(ends[1]);
    close(line);
    end_launch(launch);
}

/* A joiner hangs up in the moment in which a signal has ended its place: what the same look had seen of it is old. */
static void old_news(void)
{
    struct options options;
    struct launch *launch = of(&options, IF_KILLED_RESTART);
    struct pollfd seen[PER_CARD * ALL + 5 + PENDING_MOST] = {0};
    seen[3] = (struct pollfd){.fd = 1234, .revents = POLLHUP};
    seen[PER_CARD * ALL + 1] = (struct pollfd){.fd = -1, .revents = POLLIN};
    attend(launch, -1, seen); /* nor can somebody be let in where nobody listens */
    CHECK(launch->child[0].lost == NOT_LOST && launch->connections == 0);
    end_launch(launch);
}

static void nothing_can_be_watched(void)
{
    struct options options;
    for (int code = 0; code < 2; code++) {
        struct launch *launch = of(&options, IF_KILLED_END);
        start(launch, 0);
        launch->code = 7 * code;
        listen_to_stderr();
        memory_left = 0;
        loop(launch, -1);
        memory_left = -1;
        CHECK(was_heard("vicrun: cannot watch the programs: no memory"));
        CHECK(launch->running == 0 && launch->child[0].code == 128 + SIGKILL && launch->code == (code ? 7 : 1));
        CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
        end_launch(launch);
    }
}

/* Where the kernel does not say whose children there are, and what cannot be killed: it is not waited for for ever. */
static void orphans(void)
{
    files = (struct file[]){{"/proc/thread-self/children", NULL}, {NULL, NULL}};
    unkillable = 0;
    children_end_orphans();
    CHECK(unkillable == 5000); /* milliseconds */
    files = NULL;
    unkillable = -1;
    children_end_orphans(); /* there is none */
    CHECK(!children_started(0) && !children_started(1));
    CHECK(!children_started(getpid())); /* as a seat may claim */
}

int main(void)
{
    take_back();
    kill_one();
    kills_in_time();
    one_who_does_not_listen();
    no_more_restarts();
    who_asks();
    old_news();
    nothing_can_be_watched();
    orphans();
    puts("checks passed");
    return 0;
}
