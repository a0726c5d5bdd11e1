/* What was done, as JSON. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>

#include "clock.h"
#include "load.h"

#define N(x) ((unsigned long long)(x))

bool report_write(const struct load *load)
{
    if (load->report == NULL) {
        return true;
    }
    FILE *file = fopen(load->report, "w");
    bool good = file != NULL;
    if (good) {
        const struct vic_client_count *count = &load->count;
        fprintf(file, "{\"messages\": %llu, \"bytes\": %llu, \"digest\": \"%016llx\", ", N(load->done),
                N(load->done_bytes), N(load->digest));
        fprintf(file, "\"duplicates\": %llu, \"confirmed\": %llu, \"returned\": %llu, \"refused\": %llu, ",
                N(load->duplicates), N(count->confirmed), N(count->returned), N(count->refused));
        fprintf(file, "\"repeated\": %llu, \"unconfirmed\": %llu, \"wall_ns\": %llu, ", N(count->repeated),
                N(count->unconfirmed), N(load->wall_ns));
        fprintf(file, "\"cpu_ns\": %llu, ", N(clock_ns(CLOCK_PROCESS_CPUTIME_ID)));
        fprintf(file, "\"session\": \"%016llx\"}\n", N(count->session));
        int lost = ferror(file);
        good = (fclose(file) | lost) == 0;
    }
    if (!good) {
        fprintf(stderr, "vicload: --report: '%s' cannot be written\n", load->report);
    }
    return good;
}
