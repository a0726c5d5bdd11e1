/* hosts_start.c: vichost is started on a host, by ssh or what else reaches it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher.h"
#include "vic.h"

enum { WORDS_MOST = 64 };

bool host_program(char path[4096], const char *option)
{
    ssize_t n = readlink("/proc/self/exe", path, 4000);
    if (n < 0) {
        fprintf(stderr, "vicrun: %s: cannot find vichost: /proc/self/exe: %s\n", option, strerror(errno));
        return false;
    }
    path[n] = 0;
    char *slash = strrchr(path, '/');
    if (slash != NULL) {
        strcpy(slash + 1, "vichost");
    }
    bool there = slash != NULL && access(path, X_OK) == 0;
    if (!there) {
        fprintf(stderr, "vicrun: %s: this one was built without libfabric: install libfabric-dev, then dvsim once more\n", option);
    }
    return there;
}

static void free_words(char **word)
{
    for (size_t i = 0; word != NULL && word[i] != NULL; i++) {
        free(word[i]);
    }
    free(word);
}

/* A word of --launch-with, {host} replaced; NULL: no memory. */
static char *word_for(const char *text, const struct host *host)
{
    const char *place = strstr(text, "{host}");
    char *word;
    if (place == NULL) {
        return strdup(text);
    }
    return asprintf(&word, "%.*s%s%s", (int)(place - text), text, host->name, place + 6) < 0 ? NULL : word;
}

/* A path in quotes if a shell would change it; NULL: no memory. ssh hands its command to a shell of the host. */
static char *quoted(const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-";
    if (path[strspn(path, plain)] == '\0') {
        return strdup(path);
    }
    char *word = malloc(4 * strlen(path) + 3), *end = word;
    if (word == NULL) {
        return NULL;
    }
    *end++ = '\'';
    for (; *path != '\0'; path++) {
        if (*path == '\'') {
            end = stpcpy(end, "'\\''");
        } else {
            *end++ = *path;
        }
    }
    strcpy(end, "'");
    return word;
}

static bool is_ssh(const char *command)
{
    const char *slash = strrchr(command, '/');
    return strcmp(slash == NULL ? command : slash + 1, "ssh") == 0;
}

/* The words of --launch-with and the program behind them; NULL: errno says why. */
static char **command_for(const char *launch_with, const char *vichost, const struct host *host)
{
    char **word = calloc(WORDS_MOST + 2, sizeof *word), *text = strdup(launch_with), *rest = NULL;
    bool good = word != NULL && text != NULL;
    size_t count = 0;
    for (char *at = good ? strtok_r(text, " \t", &rest) : NULL; good && at != NULL; at = strtok_r(NULL, " \t", &rest)) {
        good = count < WORDS_MOST && (word[count++] = word_for(at, host)) != NULL;
    }
    free(text);
    if (good) {
        word[count] = count > 0 && is_ssh(word[0]) ? quoted(vichost) : strdup(vichost);
        good = word[count] != NULL;
    }
    if (good) {
        return word;
    }
    free_words(word);
    errno = count == WORDS_MOST ? E2BIG : ENOMEM;
    return NULL;
}

/* In the child. In a group of its own: a terminal's signals are passed on by vicrun alone. */
static void become(char **word, const int in[2], const int out[2], pid_t parent)
{
    sigset_t none;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (getppid() == parent) {
        if (dup2(in[0], 0) >= 0 && dup2(out[1], 1) >= 0) {
            execvp(word[0], word);
        }
        fprintf(stderr, "vicrun: --launch-with: cannot run '%s': %s\n", word[0], strerror(errno));
    }
    _exit(127);
}

/* The ends of the child, or all of them. */
static void close_all(bool all, const int to[2], const int from[2])
{
    const int ends[] = {to[0], from[1], all ? to[1] : -1, all ? from[0] : -1};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (ends[i] >= 0) {
            close(ends[i]);
        }
    }
}

pid_t host_start(const char *launch_with, const char *vichost, const struct host *host, struct line_to_host *in, int *out)
{
    int to[2] = {-1, -1}, from[2] = {-1, -1};
    char **word = command_for(launch_with, vichost, host);
    pid_t parent = getpid(), pid = -1;
    if (word != NULL && pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0) {
        pid = fork();
        if (pid == 0) {
            become(word, to, from, parent);
        }
    }
    const int why = errno;
    free_words(word);
    close_all(pid < 0, to, from);
    line_open(in, pid < 0 ? -1 : to[1]);
    *out = pid < 0 ? -1 : from[0];
    errno = why;
    return pid;
}

/* Append a text and the 0 behind it. */
static char *put(char *to, const char *text)
{
    return stpcpy(to, text) + 1;
}

/* The hosts stand first in its command line: a file that names them need not be there. */
bool host_greet(struct line_to_host *in, const struct options *options, uint32_t host, const unsigned char key[HOSTS_KEY],
                char **argv)
{
    const struct hosts *hosts = &options->hosts;
    char folder[4096] = "/";
    size_t bytes = sizeof(struct host_hello) + sizeof folder + HOST_NAME + 64 + (size_t)hosts->count * (HOST_NAME + 8);
    for (size_t i = 0; argv[i] != NULL; i++) {
        bytes += strlen(argv[i]) + 1;
    }
    char *text = calloc(1, bytes);
    if (text == NULL || getcwd(folder, sizeof folder) == NULL) {
        free(text);
        return false;
    }
    struct host_hello hello = {.version = VIC_VERSION, .layout = JOB_LAYOUT, .host = host};
    memcpy(hello.key, key, sizeof hello.key);
    memcpy(text, &hello, sizeof hello);
    char *at = put(put(put(text + sizeof hello, hosts->host[host].name), folder), argv[0]);
    at = put(at, "--hosts");
    for (uint32_t i = 0; i < hosts->count; i++) {
        at += sprintf(at, "%s%s:%u", i > 0 ? "," : "", hosts->host[i].name, hosts->host[i].cards);
    }
    at++;
    for (size_t i = 1; argv[i] != NULL; i++) {
        at = put(at, argv[i]);
    }
    line_say(in, HOST_HELLO, text, (size_t)(at - text)); /* a command that does not hear it ends, which is seen */
    free(text);
    return true;
}

void host_kill(pid_t pid)
{
    if (kill(-pid, SIGKILL) != 0) { /* the child has not come to make its group */
        kill(pid, SIGKILL);
    }
}

int host_code(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
