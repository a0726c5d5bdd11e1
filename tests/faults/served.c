/* A broker for a command, for as long as that runs: `served COMMAND ARGUMENT ...` has VICBRIDGE_URL lead to it, and
 * prints at the end which messages it has received. Exit code: that of the command. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fuzz/amqp_server.h"

int main(int argc, char **argv)
{
    static const struct input says_what_is_right[PARTS];
    char url[64];
    int status;
    snprintf(url, sizeof url, "amqp://127.0.0.1:%d/%%2f", server_listen());
    pid_t command = argc > 1 ? fork() : -1;
    if (command < 0) {
        perror("served");
        return 1;
    }
    if (command == 0) {
        setenv("VICBRIDGE_URL", url, 1);
        execvp(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    server_start(says_what_is_right);
    waitpid(command, &status, 0);
    server_stop();
    for (int i = 0; server_id(i) != NULL; i++) {
        bool again = false; /* published twice, as a connection broke */
        for (int j = 0; j < i && !again; j++) {
            again = strcmp(server_id(j), server_id(i)) == 0;
        }
        if (!again) {
            printf("received %s\n", server_id(i));
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
