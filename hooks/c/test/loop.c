/* A program with a loop of its own: `loop ITERATIONS MICROSECONDS [BETWEEN]`, the length of each and of the work between two, of which it
 * then says when that was. */
#include "duet.h"

static void spin(uint64_t ns) {
    uint64_t start = duet_clock(DUET_CLOCK_MONOTONIC);
    while (duet_clock(DUET_CLOCK_MONOTONIC) - start < ns) {
    }
}

int main(int argc, char **argv) {
    int iterations = argc > 1 ? atoi(argv[1]) : 1;
    uint64_t ns = argc > 2 ? strtoull(argv[2], NULL, 10) * 1000 : 0;
    uint64_t between = argc > 3 ? strtoull(argv[3], NULL, 10) * 1000 : 0;
    alarm(120); /* should the test be killed, nobody else ends a loop that waits for its peer */
    printf("wanted %u active %s\n", duet_wanted(), duet_active() ? "true" : "false");
    fflush(stdout);
    for (int i = 0; i < iterations; i++) {
        duet_begin();
        spin(ns);
        duet_end(7);
        if (between == 0 || i == iterations - 1) continue;
        uint64_t start = duet_clock(DUET_CLOCK_MONOTONIC);
        spin(between);
        uint64_t end = duet_clock(DUET_CLOCK_MONOTONIC);
        printf("between %llu %llu\n", (unsigned long long)start, (unsigned long long)end);
    }
    printf("active %s\n", duet_active() ? "true" : "false");
    return 0;
}
