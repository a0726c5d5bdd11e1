/* Are headers that once mattered read as they should be? Arguments: files of corpus/message. Their first word
 * says if a frame begins there ("frame" or "nothing"), then come numbers: the place, the words of the header
 * without the tag, which this program sets, as it is right in all of them. Bytes that were never written are
 * never read. */
#include "../../../emulator/src/message/hash.c"
#include "../../../emulator/src/message/wire.c"
#include "harness.h"

static void look(const char *name, const struct layout *layout)
{
    FILE *file = fopen(name, "r");
    char kind[16];
    unsigned long long place, word[HEADER];
    CHECK(file != NULL);
    CHECK(fscanf(file, "%15s %llu %llx %llx %llx", kind, &place, &word[0], &word[1], &word[2]) == 5);
    fclose(file);
    uint64_t stream = stream_key(layout, 0, 1, 1, 77), header[HEADER] = {word[0], word[1], word[2]};
    struct frame frame = {0};
    header[0] = position_key(stream, (uint32_t)place) >> 32 << 32 | (header[0] & UINT32_MAX);
    bool is_frame = frame_read(layout, stream, (uint32_t)place, header, &frame);
    if (is_frame != (strcmp(kind, "frame") == 0)) {
        fprintf(stderr, "FAILED %s: %s\n", name, is_frame ? "taken for a frame" : "not taken for a frame");
        exit(1);
    }
    if (is_frame) {
        unsigned char *data = calloc(1, frame.bytes > 0 ? frame.bytes : 1);
        CHECK(data != NULL && frame.bytes <= piece_most(layout) && frame.offset + frame.bytes <= frame.total);
        CHECK(frame.kind == FRAME_SKIP || frame_units(frame.bytes) <= rest_of(layout, (uint32_t)place));
        CHECK(!frame_is_whole(stream, (uint32_t)place, header, &frame, data)); /* that of another frame */
        free(data);
    }
    header[0] ^= UINT64_C(1) << 32;
    CHECK(!frame_read(layout, stream, (uint32_t)place, header, &frame)); /* the tag of another place */
}

int main(int argc, char **argv)
{
    struct layout layout = {.base = 0, .cards = 2, .units = 64};
    layout_set_key(&layout, 1 << 20, 0, 3, 0);
    for (int i = 1; i < argc; i++) {
        look(argv[i], &layout);
    }
    return 0;
}
