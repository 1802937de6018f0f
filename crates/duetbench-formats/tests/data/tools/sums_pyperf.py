import pyperf
runner = pyperf.Runner()
runner.timeit("sorted", stmt="sorted(data)", setup="data = list(range(1000))")
runner.timeit("sum", stmt="sum(data)", setup="data = list(range(1000))")
