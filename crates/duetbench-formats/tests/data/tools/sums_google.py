import google_benchmark as benchmark
from google_benchmark import Counter

@benchmark.register
@benchmark.option.range(8, 64)
def sums(state):
    while state:
        sum(range(state.range(0)))
    state.items_processed = state.iterations * state.range(0)
    state.bytes_processed = state.iterations * state.range(0) * 8
    state.counters["nodes"] = 17
    state.counters["rate"] = Counter(state.iterations, Counter.kIsRate)

@benchmark.register
@benchmark.option.unit(benchmark.kMicrosecond)
@benchmark.option.use_real_time()
def sorts(state):
    while state:
        sorted([3, 1, 2])

@benchmark.register
def fails(state):
    state.skip_with_error("no data")
    while state:
        pass

if __name__ == "__main__":
    benchmark.main()
