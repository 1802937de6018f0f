/* A program with a loop of its own: `loop ITERATIONS MICROSECONDS`, the length of each. */
#include "duet.h"

int main(int argc, char **argv) {
    int iterations = argc > 1 ? atoi(argv[1]) : 1;
    uint64_t ns = argc > 2 ? strtoull(argv[2], NULL, 10) * 1000 : 0;
    alarm(120); /* should the test be killed, nobody else ends a loop that waits for its peer */
    printf("wanted %u active %s\n", duet_wanted(), duet_active() ? "true" : "false");
    fflush(stdout);
    for (int i = 0; i < iterations; i++) {
        duet_begin();
        uint64_t start = duet_clock(DUET_CLOCK_MONOTONIC);
        while (duet_clock(DUET_CLOCK_MONOTONIC) - start < ns) {
        }
        duet_end(7);
    }
    printf("active %s\n", duet_active() ? "true" : "false");
    return 0;
}
