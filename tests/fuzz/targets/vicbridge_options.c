/* The command line of vicbridge, its environment, URLs and files of credentials. The input: a file up to a 0, then
 * arguments, one a line; "@" is that file; a line such as VICBRIDGE_URL=x goes into the environment. */
#define _GNU_SOURCE
#include "../fuzz.h"
#include "../../../emulator/bridge/options.h"

#include <sanitizer/lsan_interface.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARGUMENTS = 40 };

static void set_environment(char *line)
{
    char *equals = strchr(line, '=');
    *equals = 0;
    setenv(line, equals + 1, 1);
}

static void look(const struct options *options)
{
    CHECK(options->urls >= 1 && options->urls <= MOST_URLS && options->queues <= MOST_QUEUES);
    CHECK(options->connections >= 1 && options->connections <= MOST_CONNECTIONS && options->window >= 1);
    CHECK(options->reconnect_least_ns <= options->reconnect_most_ns && options->prefetch <= 65535);
    CHECK(getenv("VICBRIDGE_PASSWORD") == NULL && getenv("VICBRIDGE_USER") == NULL);
    for (size_t i = 0; i < options->urls; i++) {
        const struct url *url = &options->url[i];
        CHECK(*url->host != 0 && *url->vhost != 0 && url->port >= 0 && url->port <= 65535);
        CHECK((url->user == NULL) == (url->password == NULL) && strstr(url->shown, url->host) != NULL);
    }
}

static void forget(struct options *options)
{
    for (size_t i = 0; i < options->urls; i++) {
        free(options->url[i].text);
    }
    for (size_t i = 0; i < options->queues; i++) {
        free((void *)(uintptr_t)options->queue[i].name);
    }
    free(options->user);
    free(options->password);
    unsetenv("VICBRIDGE_URL");
    unsetenv("VICBRIDGE_USER");
    unsetenv("VICBRIDGE_PASSWORD");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char name[40], *text = malloc(bytes + 1), *argument[ARGUMENTS + 1];
    static struct options options;
    int count = 0;
    CHECK(text != NULL);
    memcpy(text, data, bytes);
    text[bytes] = 0;
    size_t before = strlen(text);
    int file = memfd_create("credentials", 0);
    CHECK(file >= 0 && fchmod(file, 0600) == 0 && write(file, text, before) == (ssize_t)before);
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    argument[count++] = "vicbridge";
    char *line = text + (before < bytes ? before + 1 : before);
    while (count < ARGUMENTS && *line != 0) {
        char *end = line + strcspn(line, "\n");
        char *next = end + (*end != 0);
        *end = 0;
        if (strncmp(line, "VICBRIDGE_", 10) == 0 && strchr(line, '=') != NULL) {
            set_environment(line);
        } else {
            argument[count++] = strcmp(line, "@") == 0 ? name : line;
        }
        line = next;
    }
    argument[count] = NULL;
    __lsan_disable(); /* what is given twice is kept twice, until the program ends */
    quiet(true);
    int code = options_read(count, argument, &options);
    quiet(false);
    __lsan_enable();
    CHECK(code == -1 || code == 0 || code == 2);
    if (code == -1) {
        look(&options);
    }
    forget(&options);
    close(file);
    free(text);
    return 0;
}
