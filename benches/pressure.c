/* Four artificial workloads that each press on one resource, as in section 4.4 of Bulej et al., "Duet Benchmarking":
 *
 *     pressure KIND OPERATIONS ITERATIONS     so many iterations of so many operations each, measured by duet if it is there
 *     pressure KIND --calibrate               prints how many operations take a tenth of a second here
 *
 * KIND: integer and float compute in the first-level cache, cache walks through 4 MiB in order, memory through 64 MiB at
 * random. Time is proportional to OPERATIONS, so that the true ratio of two runs is known.
 *
 *     cc -O2 -I hooks/c benches/pressure.c -o pressure */
#define _GNU_SOURCE
#include "duet.h"

enum { SMALL = 1024, LINE = 64, CACHE_BYTES = 4 << 20, MEMORY_BYTES = 64 << 20 };

static const uint64_t CALIBRATED_NS = 100 * 1000 * 1000;

/* Random but the same every time. */
static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint64_t run_integer(void *memory, uint64_t operations) {
    uint64_t *words = (uint64_t *)memory, sum = 1;
    for (uint64_t i = 0; i < operations; i++) {
        sum = sum * 6364136223846793005u + words[i % SMALL];
        words[i % SMALL] = sum >> 3;
    }
    return sum;
}

static uint64_t run_float(void *memory, uint64_t operations) {
    double *numbers = (double *)memory, sum = 0;
    for (uint64_t i = 0; i < operations; i++) {
        sum = sum * 0.75 + numbers[i % SMALL];
        numbers[i % SMALL] = sum * 0.25;
    }
    return (uint64_t)(sum * 1e6);
}

/* An operation is one line of the cache. */
static uint64_t run_cache(void *memory, uint64_t operations) {
    const uint64_t *words = (const uint64_t *)memory;
    const uint64_t step = LINE / sizeof *words, lines = CACHE_BYTES / LINE;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < operations; i++) sum += words[i % lines * step];
    return sum;
}

/* An operation is one jump; where it leads is only known when it has been made. */
static uint64_t run_memory(void *memory, uint64_t operations) {
    const uint64_t *jumps = (const uint64_t *)memory;
    uint64_t at = 0;
    for (uint64_t i = 0; i < operations; i++) at = jumps[at];
    return at;
}

static void fill_small(void *memory) {
    double *numbers = (double *)memory;
    for (int i = 0; i < SMALL; i++) numbers[i] = 1.0 + i;
}

static void fill_cache(void *memory) {
    uint64_t *words = (uint64_t *)memory;
    for (uint64_t i = 0; i < CACHE_BYTES / sizeof *words; i++) words[i] = i;
}

/* One circle through all places (Sattolo's algorithm), so that no walk is caught in a short one. */
static void fill_memory(void *memory) {
    uint64_t *jumps = (uint64_t *)memory, state = 42;
    const uint64_t places = MEMORY_BYTES / sizeof *jumps;
    for (uint64_t i = 0; i < places; i++) jumps[i] = i;
    for (uint64_t i = places - 1; i > 0; i--) {
        uint64_t other = next_random(&state) % i, kept = jumps[i];
        jumps[i] = jumps[other];
        jumps[other] = kept;
    }
}

struct kind {
    const char *name;
    size_t bytes;
    void (*fill)(void *memory);
    uint64_t (*run)(void *memory, uint64_t operations);
};

static const struct kind KINDS[] = {
    {"integer", SMALL * sizeof(uint64_t), fill_small, run_integer},
    {"float", SMALL * sizeof(double), fill_small, run_float},
    {"cache", CACHE_BYTES, fill_cache, run_cache},
    {"memory", MEMORY_BYTES, fill_memory, run_memory},
};

static uint64_t timed(const struct kind *kind, void *memory, uint64_t operations, uint64_t *sum) {
    uint64_t start = duet_clock(DUET_CLOCK_MONOTONIC);
    *sum += kind->run(memory, operations);
    return duet_clock(DUET_CLOCK_MONOTONIC) - start;
}

/* The fastest of several tries: what disturbs only ever takes time. */
static uint64_t calibrate(const struct kind *kind, void *memory, uint64_t *sum) {
    uint64_t operations = 1, best = UINT64_MAX;
    while (timed(kind, memory, operations, sum) < CALIBRATED_NS / 2) operations *= 2;
    for (int i = 0; i < 5; i++) {
        uint64_t ns = timed(kind, memory, operations, sum);
        if (ns < best) best = ns;
    }
    return (uint64_t)((double)operations * (double)CALIBRATED_NS / (double)best);
}

int main(int argc, char **argv) {
    const struct kind *kind = NULL;
    uint64_t sum = 0;
    for (size_t i = 0; argc > 1 && i < sizeof KINDS / sizeof *KINDS; i++)
        if (strcmp(argv[1], KINDS[i].name) == 0) kind = &KINDS[i];
    int calibrating = argc == 3 && strcmp(argv[2], "--calibrate") == 0;
    if (kind == NULL || !(calibrating || argc == 4)) {
        fprintf(stderr, "usage: pressure integer|float|cache|memory OPERATIONS ITERATIONS, or --calibrate for both\n");
        return 2;
    }
    void *memory = aligned_alloc(LINE, kind->bytes);
    if (memory == NULL) {
        fprintf(stderr, "pressure: no room for %zu bytes\n", kind->bytes);
        return 1;
    }
    kind->fill(memory);
    if (calibrating) {
        /* The sum decides nothing, but the compiler cannot know that. */
        uint64_t operations = calibrate(kind, memory, &sum);
        printf("%llu\n", (unsigned long long)(sum == 0 ? operations + 1 : operations));
    } else {
        const uint64_t operations = strtoull(argv[2], NULL, 10), iterations = strtoull(argv[3], NULL, 10);
        for (uint64_t i = 0; i < iterations; i++) {
            duet_begin();
            sum += kind->run(memory, operations);
            /* The whole iteration is what is compared: per operation, more of them would make no difference. */
            duet_end(1);
        }
        printf("%llu\n", (unsigned long long)sum);
    }
    free(memory);
    return 0;
}
