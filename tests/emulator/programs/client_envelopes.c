/* Whatever bytes stand there: is it refused, or the envelope that packs to the same bytes? The room is exactly
 * as large as the bytes, so that a sanitizer sees a read outside. Arguments: files to look at before chance has
 * its turn. */
#include "client.h"

enum { ROUNDS = 200 * 1000, MOST = 120 };

static unsigned long sound;

static void look(const unsigned char *data, size_t bytes)
{
    unsigned char *exact = malloc(bytes > 0 ? bytes : 1), *again = malloc(bytes > 0 ? bytes : 1);
    struct vic_envelope e;
    size_t packed = 0;
    CHECK(exact != NULL && again != NULL);
    memcpy(exact, data, bytes);
    int status = vic_envelope_unpack(exact, bytes, &e);
    if (status == VIC_OK) {
        sound++;
        for (size_t i = 0; e.kind == VIC_CONFIRM && i < vic_envelope_ids(&e); i++) {
            CHECK(i > 0 || vic_envelope_id(&e, i) == e.id);
        }
        OK(vic_envelope_pack(again, bytes, &e, &packed));
        CHECK(packed == bytes && memcmp(exact, again, bytes) == 0);
    } else {
        IS(status, VIC_EINVAL);
        CHECK(e.kind == 0 && e.key == NULL && e.body == NULL && e.bytes == 0);
    }
    free(exact);
    free(again);
}

int main(int argc, char **argv)
{
    unsigned char data[MOST];
    uint64_t chance = 1;
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        CHECK(file != NULL);
        look(data, fread(data, 1, MOST, file));
        fclose(file);
    }
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t x = draw(&chance);
        size_t bytes = x % (MOST + 1);
        for (size_t k = 0; k < bytes; k++) {
            data[k] = (unsigned char)draw(&chance);
        }
        if (bytes >= 8 && x >> 63 != 0) { /* nearly one */
            uint64_t first = (x >> 8 & 15) | 1 << 8 | (x >> 16) % 20 << 32;
            vic_envelope_put_word(data, first | ((x >> 24) % 4 == 0 ? x & 0x7f0000 : 0));
        }
        look(data, bytes);
    }
    CHECK(sound > ROUNDS / 100);
    return 0;
}
