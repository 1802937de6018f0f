/* Prints what this implementation makes of the golden files' questions; the test compares. */
#include "duet.h"

#define OFFSET(part, type, field) printf(part "." #field " %zu\n", offsetof(struct type, field))

static void layout(void) {
    uint64_t magic;
    memcpy(&magic, "DUETPAG1", sizeof magic);
    printf("magic %llu\n", (unsigned long long)magic);
    printf("version %d\n", DUET_VERSION);
    printf("sides_offset %zu\n", offsetof(struct duet_header, sides));
    printf("side_size %zu\n", sizeof(struct duet_side));
    printf("records_offset %d\n", DUET_HEADER_BYTES);
    printf("record_size %zu\n", sizeof(struct duet_record));
    OFFSET("header", duet_header, magic);
    OFFSET("header", duet_header, version);
    OFFSET("header", duet_header, mode);
    OFFSET("header", duet_header, seed);
    OFFSET("header", duet_header, slice_ns);
    OFFSET("header", duet_header, trial_ns);
    OFFSET("header", duet_header, warmup_slices);
    OFFSET("header", duet_header, capacity);
    OFFSET("header", duet_header, block_slices);
    OFFSET("header", duet_header, stretch);
    OFFSET("header", duet_header, k_hint);
    OFFSET("header", duet_header, core_0);
    OFFSET("header", duet_header, core_1);
    OFFSET("header", duet_header, swap);
    OFFSET("header", duet_header, slices);
    OFFSET("header", duet_header, gc_ns);
    OFFSET("header", duet_header, stop);
    OFFSET("header", duet_header, turn);
    OFFSET("side", duet_side, state);
    OFFSET("side", duet_side, style);
    OFFSET("side", duet_side, arrive);
    OFFSET("side", duet_side, asleep);
    OFFSET("side", duet_side, k);
    OFFSET("side", duet_side, k_ns);
    OFFSET("side", duet_side, k_bytes);
    OFFSET("side", duet_side, gc_period);
    OFFSET("side", duet_side, resets);
    OFFSET("side", duet_side, records);
    OFFSET("side", duet_side, parallelism);
    OFFSET("side", duet_side, left_early);
    OFFSET("side", duet_side, slice_ns);
    OFFSET("side", duet_side, gc_cost_ns);
    OFFSET("side", duet_side, background_ns);
    OFFSET("side", duet_side, ended);
    OFFSET("record", duet_record, slice);
    OFFSET("record", duet_record, flags);
    OFFSET("record", duet_record, invocations);
    OFFSET("record", duet_record, wall_ns);
    OFFSET("record", duet_record, cpu_ns);
    OFFSET("record", duet_record, allocs);
    OFFSET("record", duet_record, bytes);
    OFFSET("record", duet_record, start_ns);
    OFFSET("record", duet_record, gcs);
    OFFSET("record", duet_record, block);
}

/* The bytes of a record with these fields, in the order of the protocol. */
static void record(char **fields) {
    uint64_t v[10];
    struct duet_record r;
    unsigned char bytes[sizeof r];
    for (int i = 0; i < 10; i++) v[i] = strtoull(fields[i], NULL, 10);
    r.slice = (uint32_t)v[0], r.flags = (uint32_t)v[1], r.invocations = v[2], r.wall_ns = v[3], r.cpu_ns = v[4];
    r.allocs = v[5], r.bytes = v[6], r.start_ns = v[7], r.gcs = (uint32_t)v[8], r.block = (uint32_t)v[9];
    memcpy(bytes, &r, sizeof r);
    for (size_t i = 0; i < sizeof r; i++) printf("%02x", bytes[i]);
    printf("\n");
}

/* Whose every turn is, and each side's turns. */
static void turns(uint64_t seed, uint32_t slices) {
    for (uint32_t turn = 0; turn < 2 + 2 * slices; turn++) printf("turn %u %u\n", turn, duet_owner(seed, turn));
    for (uint32_t slice = 0; slice < slices; slice++) {
        uint32_t first = duet_lead(seed, slice);
        printf("slice %u %u %u\n", slice, duet_turn(seed, slice, first), duet_turn(seed, slice, 1 - first));
    }
    printf("end %u\n", 2 + 2 * slices);
}

int main(int argc, char **argv) {
    if (argc == 12) {
        record(argv + 2);
    } else if (argc == 4) {
        turns(strtoull(argv[2], NULL, 10), (uint32_t)atoi(argv[3]));
    } else {
        layout();
    }
    return 0;
}
