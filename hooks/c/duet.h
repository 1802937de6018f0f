/* Takes part in measurements by duet: for programs that have a loop of their own (C99 or C++, Linux, GCC or Clang).
 *
 *     while (more_to_do()) {
 *         duet_begin();
 *         ... one iteration ...
 *         duet_end(operations_that_it_did);
 *     }
 *
 * Call these from one thread. A program that is not being measured runs as if they were not there. Several files may include
 * this one, anywhere, with any standard and feature macros.
 *
 * The behaviour is defined by "Iterations of a loop of its own" in hooks/protocol/PROTOCOL.md. */
#ifndef DUET_H
#define DUET_H

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#ifndef __cplusplus
/* Whoever asked for plain C before this was included hides what POSIX and Linux have: these are their declarations again. */
struct timespec;
extern int clock_gettime(int clock, struct timespec *t);
extern int kill(pid_t process, int signal);
extern long syscall(long number, ...);
extern int unsetenv(const char *name);
#endif

enum {
    DUET_HEADER_BYTES = 4096,
    DUET_VERSION = 1,
    DUET_STYLE_ITERATION = 5,
    DUET_MODE_DUET = 0,
    DUET_MODE_INTERLEAVED = 1,
    DUET_ALIVE = 1,
    DUET_DONE = 2,
    DUET_FLAG_WARM_UP = 1,
    DUET_FLAG_CPU = 16,
    DUET_SPIN_NS = 200 * 1000,
    DUET_SPIN_LOOKS = 64, /* between two readings of the clock */
    DUET_SLEEP_NS = 50 * 1000 * 1000,
    DUET_ARRIVE_NS = 1000 * 1000, /* who waits for its peer's start looks often: it may come without a call that wakes */
    DUET_CLOCK_MONOTONIC = 1,     /* numbers of Linux's clocks */
    DUET_CLOCK_PROCESS = 2,
    DUET_PROCESSORS = 8192,
    DUET_WORD_BITS = 8 * sizeof(long)
};

/* The kernel's `struct timespec`, which plain C may hide. */
struct duet_time {
    long seconds, nanoseconds;
};

struct duet_side {
    uint32_t state, style, arrive, asleep;
    uint64_t k, k_ns, k_bytes, gc_period;
    uint32_t resets, records, parallelism, left_early;
    uint64_t slice_ns, gc_cost_ns, background_ns;
    uint32_t ended;
    uint8_t unused[164];
};

struct duet_header {
    uint8_t magic[8];
    uint32_t version, mode;
    uint64_t seed, slice_ns, trial_ns;
    uint32_t warmup_slices, capacity, block_slices, stretch;
    uint64_t k_hint;
    uint32_t core_0, core_1, swap, slices;
    uint64_t gc_ns;
    uint8_t unused_1[40];
    uint32_t stop;
    uint8_t unused_2[60];
    uint32_t turn;
    uint8_t unused_3[60];
    struct duet_side sides[2];
};

struct duet_record {
    uint32_t slice, flags;
    uint64_t invocations, wall_ns, cpu_ns, allocs, bytes, start_ns;
    uint32_t gcs, block;
};

/* The trial as this process knows it; all zero until the first call. */
struct duet_trial {
    struct duet_header *header; /* null: not measured */
    struct duet_side *own, *peer;
    struct duet_record *records;
    uint32_t side, total, next, barrier;
    uint64_t opened_ns, opened_cpu_ns;
    long parent;
    pid_t process;
    int looked_up, arrived, open, over, holds;
};

/* Weak, so that all files that include this share one. */
__attribute__((weak)) struct duet_trial duet_trial;

/* The side that runs first in a slice of an interleaved trial. */
static inline uint32_t duet_lead(uint64_t seed, uint64_t slice) {
    uint64_t z = seed + slice + 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) & 1);
}

/* The turn in which a side runs a slice. */
static inline uint32_t duet_turn(uint64_t seed, uint32_t slice, uint32_t side) {
    return 2 + 2 * slice + (duet_lead(seed, slice) == side ? 0 : 1);
}

/* The side whose turn it is. */
static inline uint32_t duet_owner(uint64_t seed, uint32_t turn) {
    return turn < 2 ? turn : duet_lead(seed, (turn - 2) / 2) ^ (turn & 1);
}

static inline uint64_t duet_clock(int clock) {
    struct duet_time t;
#if __SIZEOF_LONG__ == 8
    clock_gettime(clock, (struct timespec *)&t);
#else
    /* The library's own structure may have longer fields there. */
    syscall(SYS_clock_gettime, clock, &t);
#endif
    return (uint64_t)t.seconds * 1000000000u + (uint64_t)t.nanoseconds;
}

static inline uint32_t duet_load(const uint32_t *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }

static inline void duet_store(uint32_t *word, uint32_t value) { __atomic_store_n(word, value, __ATOMIC_SEQ_CST); }

static inline void duet_wake(uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0); }

/* Sleeps while the word is as it was seen; other reasons to wake up do no harm. */
static inline void duet_sleep(uint32_t *word, uint32_t seen, long limit_ns) {
    struct duet_time limit;
    limit.seconds = 0;
    limit.nanoseconds = limit_ns;
    syscall(SYS_futex, word, FUTEX_WAIT, seen, &limit, NULL, 0);
}

/* Whether the controller has died. Its child is told by the kernel; a grandchild has to look. */
static inline int duet_is_orphan(void) {
    return duet_trial.parent > 0 && kill((pid_t)duet_trial.parent, 0) != 0 && errno == ESRCH;
}

/* Whether waiting has become useless. */
static inline int duet_is_broken(void) {
    return duet_load(&duet_trial.header->stop) != 0 || duet_load(&duet_trial.peer->state) >= DUET_DONE;
}

/* Sleeps until the word is at least, or exactly, this; 0 when it never will be. */
static inline int duet_wait(uint32_t *word, uint32_t value, int exactly, long limit_ns) {
    for (;;) {
        uint32_t seen = duet_load(word);
        if (exactly ? seen == value : seen >= value) return 1;
        if (duet_is_broken() || duet_is_orphan()) {
            /* The peer may have done its part and left before it was looked at. */
            seen = duet_load(word);
            return exactly ? seen == value : seen >= value;
        }
        duet_sleep(word, seen, limit_ns);
    }
}

/* Waits for the peer's barrier without giving up the core, as long as that is shorter than falling asleep and waking up. */
static inline int duet_spin(uint32_t barrier) {
    uint64_t start = duet_clock(DUET_CLOCK_MONOTONIC);
    do {
        for (int look = 0; look < DUET_SPIN_LOOKS; look++) {
            if (duet_load(&duet_trial.peer->arrive) >= barrier) return 1;
        }
    } while (duet_clock(DUET_CLOCK_MONOTONIC) - start < DUET_SPIN_NS && !duet_is_broken());
    return 0;
}

static inline int duet_meet(void) {
    struct duet_trial *t = &duet_trial;
    uint32_t barrier = ++t->barrier;
    duet_store(&t->own->arrive, barrier);
    if (duet_load(&t->peer->asleep) != 0) duet_wake(&t->own->arrive);
    if (duet_spin(barrier)) return 1;
    /* First say that this side sleeps, then look, then sleep: the peer first arrives and then looks who sleeps. */
    duet_store(&t->own->asleep, 1);
    int met = duet_wait(&t->peer->arrive, barrier, 0, DUET_SLEEP_NS);
    duet_store(&t->own->asleep, 0);
    return met;
}

static inline int duet_await(uint32_t turn) { return duet_wait(&duet_trial.header->turn, turn, 1, DUET_SLEEP_NS); }

static inline void duet_pass(uint32_t turn) {
    struct duet_trial *t = &duet_trial;
    uint32_t following = turn + 1;
    duet_store(&t->header->turn, following);
    if (following == 2 + 2 * t->total || duet_owner(t->header->seed, following) != t->side) duet_wake(&t->header->turn);
}

/* Passes the turn in which the last slice ran. It is held until the next one begins: what a program does between two iterations would
 * else take time from the peer's. */
static inline void duet_hand_on(void) {
    struct duet_trial *t = &duet_trial;
    if (!t->holds) return;
    t->holds = 0;
    duet_pass(duet_turn(t->header->seed, t->next - 1, t->side));
}

/* Ends the trial for this side; its peer need not wait for it any more. */
static inline void duet_leave(void) {
    struct duet_trial *t = &duet_trial;
    t->over = 1;
    duet_hand_on();
    if (!t->arrived) return;
    duet_store(&t->own->state, DUET_DONE);
    duet_wake(&t->own->state);
    duet_wake(&t->own->arrive);
    duet_wake(&t->header->turn);
}

/* A child that this process has forked ends without saying that the trial is over. */
static inline void duet_at_exit(void) {
    if (duet_trial.process == getpid()) duet_leave();
}

static inline void duet_leave_early(void) {
    /* Where nobody said how many iterations there are, the side with the fewest says it. */
    if (duet_trial.header->slices != 0 || duet_load(&duet_trial.header->stop) != 0) duet_trial.own->left_early = 1;
    duet_leave();
}

static inline void duet_refuse(const char *path, const char *why) {
    fprintf(stderr, "duet: `%s` %s\n", path, why);
    exit(1);
}

/* Sees to it that this process ends with the controller. */
static inline void duet_die_with_parent(void) {
    const char *parent = getenv("DUET_PARENT");
    duet_trial.parent = parent == NULL ? 0 : strtol(parent, NULL, 10);
    if (duet_trial.parent == getppid()) prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!duet_is_orphan()) return;
    /* It died before that, or cannot be seen from here: then this process's own parent stands for it. */
    duet_trial.parent = getppid();
    if (duet_trial.parent == 1) {
        fprintf(stderr, "duet: the controller has ended, or cannot be seen from here\n");
        _exit(1);
    }
}

static inline void duet_map(const char *path) {
    struct duet_trial *t = &duet_trial;
    struct stat about;
    int file = open(path, O_RDWR);
    if (file < 0 || fstat(file, &about) != 0) duet_refuse(path, "cannot be opened");
    if (about.st_size < DUET_HEADER_BYTES) duet_refuse(path, "is not a page: it is too short");
    void *page = mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (page == MAP_FAILED) duet_refuse(path, "cannot be mapped");
    struct duet_header *header = (struct duet_header *)page;
    if (memcmp(header->magic, "DUETPAG1", 8) != 0 || header->version != DUET_VERSION)
        duet_refuse(path, "is not a page of version 1: take the duet.h that belongs to this duet");
    uint64_t capacity = header->capacity;
    if (capacity <= header->warmup_slices ||
        (uint64_t)about.st_size < DUET_HEADER_BYTES + 2 * capacity * sizeof(struct duet_record))
        duet_refuse(path, "has no room for a slice that counts");
    t->records = (struct duet_record *)((char *)page + DUET_HEADER_BYTES) + t->side * capacity;
    t->own = &header->sides[t->side];
    t->peer = &header->sides[1 - t->side];
    uint64_t asked = header->slices == 0 ? capacity : (uint64_t)header->warmup_slices + header->slices;
    t->total = (uint32_t)(asked < capacity ? asked : capacity);
    t->header = header;
}

/* Finds out, once, whether this process is being measured. */
static inline int duet_is_measured(void) {
    struct duet_trial *t = &duet_trial;
    const char *path, *side;
    if (t->looked_up) return t->header != NULL;
    t->looked_up = 1;
    path = getenv("DUET_PAGE");
    if (path == NULL) return 0;
    side = getenv("DUET_SIDE");
    t->side = side != NULL && strcmp(side, "1") == 0;
    duet_map(path);
    duet_die_with_parent();
    /* Programs that this one starts take no part. */
    unsetenv("DUET_PAGE");
    unsetenv("DUET_SIDE");
    unsetenv("DUET_PARENT");
    t->process = getpid();
    atexit(duet_at_exit);
    return 1;
}

/* Processors that this thread may use. */
static inline uint32_t duet_processors(void) {
    unsigned long words[DUET_PROCESSORS / DUET_WORD_BITS];
    long bytes = syscall(SYS_sched_getaffinity, 0, sizeof words, words);
    uint32_t count = 0;
    for (long word = 0; word < bytes / (long)sizeof *words; word++) count += (uint32_t)__builtin_popcountl(words[word]);
    return count > 0 ? count : 1;
}

static inline int duet_arrive(void) {
    struct duet_trial *t = &duet_trial;
    if (t->arrived) return 1;
    t->arrived = 1;
    t->own->k = t->own->k_ns = 1;
    t->own->parallelism = duet_processors();
    t->own->style = DUET_STYLE_ITERATION;
    duet_store(&t->own->state, DUET_ALIVE);
    duet_wake(&t->own->state);
    if (t->header->mode != DUET_MODE_DUET && t->header->mode != DUET_MODE_INTERLEAVED) return 1;
    if (!duet_wait(&t->peer->state, DUET_ALIVE, 0, DUET_ARRIVE_NS)) return 0;
    if (t->header->mode == DUET_MODE_DUET) return duet_meet();
    if (!duet_await(t->side)) return 0;
    duet_pass(t->side);
    return 1;
}

static inline int duet_may_open(void) {
    struct duet_trial *t = &duet_trial;
    if (t->header->mode == DUET_MODE_DUET) return duet_meet();
    if (t->header->mode == DUET_MODE_INTERLEAVED) return duet_await(duet_turn(t->header->seed, t->next, t->side));
    return duet_load(&t->header->stop) == 0;
}

/* Waits for the peer to have run its last slice too. */
static inline int duet_together(void) {
    struct duet_trial *t = &duet_trial;
    if (t->header->mode == DUET_MODE_DUET) return duet_meet();
    return t->header->mode != DUET_MODE_INTERLEAVED || duet_await(2 + 2 * t->total);
}

/* Waits until this process may run its next iteration, and reads the clock last. */
static inline void duet_begin(void) {
    struct duet_trial *t = &duet_trial;
    if (!duet_is_measured() || t->over) return;
    duet_hand_on();
    if (!t->open && !(duet_arrive() && duet_may_open())) {
        duet_leave_early();
        return;
    }
    t->open = 1;
    t->opened_cpu_ns = duet_clock(DUET_CLOCK_PROCESS);
    t->opened_ns = duet_clock(DUET_CLOCK_MONOTONIC);
}

/* Reads the clock first, after an iteration that did so many operations (at least 1, or it does not count). */
static inline void duet_end(uint64_t operations) {
    struct duet_trial *t = &duet_trial;
    if (!t->open) return;
    uint64_t closed_ns = duet_clock(DUET_CLOCK_MONOTONIC);
    uint64_t closed_cpu_ns = duet_clock(DUET_CLOCK_PROCESS);
    t->open = 0;
    if (operations == 0) {
        fprintf(stderr, "duet: iteration %u did 0 operations: it does not count\n", t->next);
    } else if (t->own->records < t->header->capacity) {
        struct duet_record *record = &t->records[t->own->records];
        memset(record, 0, sizeof *record);
        record->slice = t->next;
        record->flags = DUET_FLAG_CPU | (t->next < t->header->warmup_slices ? DUET_FLAG_WARM_UP : 0);
        record->invocations = operations;
        record->wall_ns = closed_ns - t->opened_ns;
        record->cpu_ns = closed_cpu_ns - t->opened_cpu_ns;
        record->start_ns = t->opened_ns;
        duet_store(&t->own->records, t->own->records + 1); /* last: it counts as written when this has passed it */
    }
    t->holds = t->header->mode == DUET_MODE_INTERLEAVED;
    if (++t->next < t->total) return;
    duet_hand_on();
    if (duet_together()) {
        duet_leave();
    } else {
        duet_leave_early();
    }
}

/* Iterations that are asked for, warm-up included; 0: as many as the program has, or it is not being measured. */
static inline uint32_t duet_wanted(void) {
    return duet_is_measured() && duet_trial.header->slices != 0 ? duet_trial.total : 0;
}

/* Whether the program is being measured and not all that was asked for has been run. */
static inline int duet_active(void) { return duet_is_measured() && !duet_trial.over; }

#endif
