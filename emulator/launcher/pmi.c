/* The PMI-1 server of --mpi. */
#define _GNU_SOURCE
#include "pmi.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <unistd.h>

#include "grow.h"
#include "launcher.h"

enum { LINE_MOST = 16 << 10, KEY_MOST = 256, VALUE_MOST = 4096 };

struct rank {
    int here, there; /* the two ends; -1 */
    bool asked, inside; /* it has sent something; it is in the barrier */
    size_t used;
    char line[LINE_MOST];
};

struct value {
    char *key, *value;
};

struct pmi {
    uint32_t ranks, inside;
    struct rank *rank;
    struct value *value;
    size_t values, room;
    pthread_t thread;
    bool runs, aborted;
    int code; /* of MPI_Abort */
    int stop[2];
    struct launch *launch;
    char libraries[PATH_MAX];
};

/* libvic-fi.so lies in ../lib/fi, seen from vicrun: a folder of its own, since libfabric loads all that is there. */
static bool find_libraries(struct pmi *pmi)
{
    ssize_t length = readlink("/proc/self/exe", pmi->libraries, sizeof pmi->libraries - sizeof "../lib/fi/libvic-fi.so");
    char *end = length > 0 ? strrchr(pmi->libraries, '/') : NULL;
    if (end == NULL) {
        return false;
    }
    strcpy(end, "/../lib/fi/libvic-fi.so");
    bool there = access(pmi->libraries, R_OK) == 0;
    *strrchr(pmi->libraries, '/') = 0;
    return there;
}

static void pmi_free(struct pmi *pmi)
{
    for (uint32_t i = 0; pmi->rank != NULL && i < pmi->ranks; i++) {
        close(pmi->rank[i].here);
        close(pmi->rank[i].there);
    }
    for (size_t i = 0; i < pmi->values; i++) {
        free(pmi->value[i].key);
        free(pmi->value[i].value);
    }
    free(pmi->value);
    free(pmi->rank);
    free(pmi);
}

bool pmi_make(struct launch *launch)
{
    if (!launch->options->mpi) {
        return true;
    }
    struct pmi *pmi = calloc(1, sizeof *pmi);
    uint32_t ranks = launch->options->job.cards;
    if (pmi != NULL && !find_libraries(pmi)) {
        fputs("vicrun: --mpi: there is no ../lib/fi/libvic-fi.so, seen from this program: it is built where libfabric's headers are "
              "(apt install libfabric-dev), then pip install vortexsim again\n", stderr);
        free(pmi);
        return false;
    }
    if (pmi == NULL || (pmi->rank = calloc(ranks, sizeof *pmi->rank)) == NULL) {
        fputs("vicrun: --mpi: no memory\n", stderr);
        free(pmi);
        return false;
    }
    pmi->launch = launch;
    for (; pmi->ranks < ranks; pmi->ranks++) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
            fprintf(stderr, "vicrun: --mpi: %s\n", strerror(errno));
            pmi_free(pmi);
            return false;
        }
        pmi->rank[pmi->ranks].here = ends[0];
        pmi->rank[pmi->ranks].there = ends[1];
    }
    launch->pmi = pmi;
    return true;
}

/* ---- the answers */

static void say(struct pmi *pmi, uint32_t rank, const char *text)
{
    size_t bytes = strlen(text), done = 0;
    while (done < bytes) {
        ssize_t n = send(pmi->rank[rank].here, text + done, bytes - done, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) {
            return; /* it has ended */
        }
        done += n > 0 ? (size_t)n : 0;
    }
}

/* The value of a word in a line, up to a blank, or to the end of the line; "" if it is not there. */
static void word(const char *line, const char *name, bool to_the_end, char *to, size_t room)
{
    size_t length = strlen(name);
    const char *at = line;
    to[0] = 0;
    while ((at = strstr(at, name)) != NULL) {
        if ((at == line || at[-1] == ' ') && at[length] == '=') {
            at += length + 1;
            size_t n = to_the_end ? strlen(at) : strcspn(at, " ");
            n = n < room - 1 ? n : room - 1;
            memcpy(to, at, n);
            to[n] = 0;
            return;
        }
        at += length;
    }
}

static struct value *value_of(const struct pmi *pmi, const char *key)
{
    for (size_t i = 0; i < pmi->values; i++) {
        if (strcmp(pmi->value[i].key, key) == 0) {
            return &pmi->value[i];
        }
    }
    return NULL;
}

static void put(struct pmi *pmi, uint32_t rank, const char *line)
{
    char key[KEY_MOST], text[VALUE_MOST];
    word(line, "key", false, key, sizeof key);
    word(line, "value", true, text, sizeof text);
    bool good = value_of(pmi, key) == NULL && grow(&pmi->value, &pmi->room, pmi->values + 1, sizeof *pmi->value);
    if (good) {
        struct value value = {strdup(key), strdup(text)};
        pmi->value[pmi->values++] = value;
        good = value.key != NULL && value.value != NULL;
        pmi->values -= !good;
    }
    say(pmi, rank, good ? "cmd=put_result rc=0 msg=success\n" : "cmd=put_result rc=-1 msg=not_stored\n");
}

static void get(struct pmi *pmi, uint32_t rank, const char *line)
{
    char key[KEY_MOST], text[VALUE_MOST + 64];
    word(line, "key", false, key, sizeof key);
    const struct value *value = value_of(pmi, key);
    if (value != NULL) {
        snprintf(text, sizeof text, "cmd=get_result rc=0 msg=success value=%s\n", value->value);
    }
    say(pmi, rank, value != NULL ? text : "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
}

static void barrier(struct pmi *pmi, uint32_t rank)
{
    pmi->inside += !pmi->rank[rank].inside;
    pmi->rank[rank].inside = true;
    if (pmi->inside < pmi->ranks) {
        return;
    }
    pmi->inside = 0;
    for (uint32_t i = 0; i < pmi->ranks; i++) {
        pmi->rank[i].inside = false;
        say(pmi, i, "cmd=barrier_out rc=0\n");
    }
}

static void abort_all(struct pmi *pmi, uint32_t rank, const char *line)
{
    char code[16];
    word(line, "exitcode", false, code, sizeof code);
    if (!pmi->aborted && atomic_load(&pmi->launch->job->shared->poison) == 0) { /* else a death came first, and is told */
        fprintf(stderr, "vicrun: --mpi: rank %u has called MPI_Abort(%s): all ranks end\n", rank, code);
        pmi->code = atoi(code) & 255;
        pmi->aborted = true;
    }
    children_signal(pmi->launch, SIGKILL); /* its own exit() runs into what MPI has left */
}

static void answer(struct pmi *pmi, uint32_t rank, const char *line)
{
    char command[64], text[128];
    word(line, "cmd", false, command, sizeof command);
    text[0] = 0;
    if (strcmp(command, "init") == 0) {
        strcpy(text, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
    } else if (strcmp(command, "get_maxes") == 0) {
        snprintf(text, sizeof text, "cmd=maxes rc=0 kvsname_max=64 keylen_max=%d vallen_max=%d\n", KEY_MOST, VALUE_MOST);
    } else if (strcmp(command, "get_appnum") == 0) {
        uint32_t program = 0;
        while (&pmi->launch->options->program[program] != program_of(pmi->launch->options, rank)) {
            program++;
        }
        snprintf(text, sizeof text, "cmd=appnum rc=0 appnum=%u\n", program);
    } else if (strcmp(command, "get_my_kvsname") == 0) {
        strcpy(text, "cmd=my_kvsname rc=0 kvsname=vicrun\n");
    } else if (strcmp(command, "get_universe_size") == 0) {
        snprintf(text, sizeof text, "cmd=universe_size rc=0 size=%u\n", pmi->ranks);
    } else if (strcmp(command, "put") == 0) {
        put(pmi, rank, line);
    } else if (strcmp(command, "get") == 0) {
        get(pmi, rank, line);
    } else if (strcmp(command, "barrier_in") == 0) {
        barrier(pmi, rank);
    } else if (strcmp(command, "finalize") == 0) {
        strcpy(text, "cmd=finalize_ack rc=0\n");
    } else if (strcmp(command, "abort") == 0) {
        abort_all(pmi, rank, line);
    } else if (strcmp(command, "publish_name") == 0 || strcmp(command, "unpublish_name") == 0 ||
               strcmp(command, "lookup_name") == 0) {
        snprintf(text, sizeof text, "cmd=%.40s_result rc=-1 msg=not_supported\n", command);
    } else if (strncmp(line, "mcmd=spawn", 10) == 0) {
        fprintf(stderr, "vicrun: --mpi: rank %u: MPI_Comm_spawn is not supported: a job has the cards it begins with\n", rank);
        strcpy(text, "cmd=spawn_result rc=-1 msg=not_supported\n");
    }
    say(pmi, rank, text);
}

/* False: it has ended. */
static bool hear(struct pmi *pmi, uint32_t rank)
{
    struct rank *from = &pmi->rank[rank];
    ssize_t n = read(from->here, from->line + from->used, sizeof from->line - 1 - from->used);
    if (n <= 0) {
        return n < 0 && errno == EINTR;
    }
    from->asked = true;
    from->used += (size_t)n;
    from->line[from->used] = 0;
    char *begin = from->line, *end;
    while ((end = strchr(begin, '\n')) != NULL) {
        *end = 0;
        answer(pmi, rank, begin);
        begin = end + 1;
    }
    from->used -= (size_t)(begin - from->line);
    memmove(from->line, begin, from->used);
    return from->used < sizeof from->line - 1; /* else: no line of PMI-1 is so long */
}

static void *serve(void *what)
{
    struct pmi *pmi = what;
    struct pollfd *watched = calloc((size_t)pmi->ranks + 1, sizeof *watched);
    for (uint32_t i = 0; watched != NULL && i <= pmi->ranks; i++) {
        watched[i] = (struct pollfd){.fd = i < pmi->ranks ? pmi->rank[i].here : pmi->stop[0], .events = POLLIN};
    }
    while (watched != NULL && watched[pmi->ranks].revents == 0) {
        if (poll(watched, (nfds_t)pmi->ranks + 1, -1) < 0 && errno != EINTR) {
            break;
        }
        for (uint32_t i = 0; i < pmi->ranks; i++) {
            if (watched[i].revents != 0 && !hear(pmi, i)) {
                watched[i].fd = -1;
            }
            watched[i].revents = 0;
        }
    }
    free(watched);
    return NULL;
}

bool pmi_start(struct launch *launch)
{
    struct pmi *pmi = launch->pmi;
    if (pmi == NULL) {
        return true;
    }
    for (uint32_t i = 0; i < pmi->ranks; i++) { /* the programs have theirs: its end is seen here */
        close(pmi->rank[i].there);
        pmi->rank[i].there = -1;
    }
    int error = pipe2(pmi->stop, O_CLOEXEC) != 0 ? errno : pthread_create(&pmi->thread, NULL, serve, pmi);
    pmi->runs = error == 0;
    if (error != 0) {
        fprintf(stderr, "vicrun: --mpi: no thread: %s\n", strerror(error));
    }
    return pmi->runs;
}

bool pmi_environment(const struct launch *launch, uint32_t card)
{
    const struct pmi *pmi = launch->pmi;
    if (pmi == NULL) {
        return true;
    }
    char fd[16], rank[16], size[16];
    int there = dup(pmi->rank[card].there); /* not closed by exec */
    snprintf(fd, sizeof fd, "%d", there);
    snprintf(rank, sizeof rank, "%u", card);
    snprintf(size, sizeof size, "%u", pmi->ranks);
    const char *const set[][2] = {
        {"PMI_FD", fd}, {"PMI_RANK", rank}, {"PMI_SIZE", size}, {"PMI_SPAWNED", "0"},
        {"FI_PROVIDER_PATH", pmi->libraries}, {"FI_PROVIDER", "vic"},
        {"MPIR_CVAR_CH4_NETMOD", "ofi"}, {"MPIR_CVAR_NOLOCAL", "1"},        /* MPICH */
        {"I_MPI_FABRICS", "ofi"}, {"I_MPI_OFI_PROVIDER", "vic"},            /* Intel MPI */
        {"SHMEM_OFI_PROVIDER", "vic"}};                                     /* Sandia OpenSHMEM */
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
        if (there < 0 || setenv(set[i][0], set[i][1], 1) != 0) {
            return false;
        }
    }
    if (launch->job->config.mode == 1) { /* MPICH sends pointers: equal ones in each run */
        personality((unsigned long)personality(0xffffffff) | ADDR_NO_RANDOMIZE);
    }
    return true;
}

void pmi_finish(struct launch *launch)
{
    struct pmi *pmi = launch->pmi;
    if (pmi == NULL) {
        return;
    }
    if (pmi->runs) {
        ssize_t told = write(pmi->stop[1], "", 1);
        pthread_join(pmi->thread, NULL);
        (void)told;
        close(pmi->stop[0]);
        close(pmi->stop[1]);
    }
    for (uint32_t i = 0; pmi->runs && i < pmi->ranks; i++) {
        if (!pmi->rank[i].asked) {
            fprintf(stderr, "vicrun: --mpi: card %u: its program did not ask for its rank by PMI-1: it is no MPI program, or one of "
                            "another library than MPICH, Intel MPI or Sandia OpenSHMEM; for Open MPI: mpirun … vicrun --join "
                            "(docs/mpi.md)\n", i);
            break;
        }
    }
    if (pmi->aborted) {
        launch->code = pmi->code != 0 ? pmi->code : 1;
    }
    pmi_free(pmi);
    launch->pmi = NULL;
}
