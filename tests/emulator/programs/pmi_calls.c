/* A rank that speaks PMI-1 with the launcher: puts, a barrier, gets; then "abort" calls off the job. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *in;
static int fd;

static const char *ask(const char *line)
{
    static char answer[4096];
    dprintf(fd, "%s\n", line);
    if (fgets(answer, sizeof answer, in) == NULL) {
        exit(9);
    }
    answer[strcspn(answer, "\n")] = 0;
    return answer;
}

static void is(const char *line, const char *what)
{
    const char *answer = ask(line);
    if (strcmp(answer, what) != 0) {
        fprintf(stderr, "%s: %s\n", line, answer);
        exit(1);
    }
}

int main(int argc, char **argv __attribute__((unused)))
{
    char line[256], what[256];
    int rank = atoi(getenv("PMI_RANK")), size = atoi(getenv("PMI_SIZE"));
    fd = atoi(getenv("PMI_FD"));
    in = fdopen(dup(fd), "r");
    is("cmd=init pmi_version=1 pmi_subversion=1", "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0");
    is("cmd=get_my_kvsname", "cmd=my_kvsname rc=0 kvsname=vicrun");
    snprintf(what, sizeof what, "cmd=universe_size rc=0 size=%d", size);
    is("cmd=get_universe_size", what);
    snprintf(line, sizeof line, "cmd=put kvsname=vicrun key=k%d value=of %d = key=1", rank, rank);
    is(line, "cmd=put_result rc=0 msg=success");
    is(line, "cmd=put_result rc=-1 msg=not_stored"); /* once only */
    is("cmd=barrier_in", "cmd=barrier_out rc=0");
    for (int i = 0; i < size; i++) {
        snprintf(line, sizeof line, "cmd=get kvsname=vicrun key=k%d", i);
        snprintf(what, sizeof what, "cmd=get_result rc=0 msg=success value=of %d = key=1", i);
        is(line, what);
    }
    is("cmd=get kvsname=vicrun key=none", "cmd=get_result rc=-1 msg=key_not_found value=unknown");
    is("mcmd=spawn", "cmd=spawn_result rc=-1 msg=not_supported");
    is("cmd=barrier_in", "cmd=barrier_out rc=0");
    if (argc > 1 && rank == size - 1) {
        ask("cmd=abort exitcode=7");
    }
    is("cmd=finalize", "cmd=finalize_ack rc=0");
    while (argc > 1) {
        pause();
    }
    return 0;
}
