/* Says what a wait for nothing says, and how often its card was opened: at once, and after each line on standard
 * input. */
#include "harness.h"

static void say(vic_t *card)
{
    struct self self = self_of(card);
    uint64_t opens;
    OK(vic_counter_set(card, 0, 1));
    int status = vic_counter_wait(card, 0, 300000000);
    OK(vic_peer_opens(card, self.me, &opens));
    printf("%s, opens %llu\n", vic_strerror(status), (unsigned long long)opens);
    fflush(stdout);
}

int main(void)
{
    vic_t *card;
    OK(vic_open(&card));
    say(card);
    for (int c; (c = getchar()) != EOF;) {
        if (c == '\n') {
            say(card);
        }
    }
    OK(vic_close(card));
    return 0;
}
