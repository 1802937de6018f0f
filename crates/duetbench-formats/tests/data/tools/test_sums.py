import pytest

@pytest.mark.parametrize("size", [10, 1000])
def test_sum(benchmark, size):
    benchmark(sum, range(size))

def test_sorted(benchmark):
    benchmark.pedantic(sorted, args=([3, 1, 2],), rounds=5, iterations=10, warmup_rounds=1)
