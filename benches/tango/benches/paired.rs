use factorial::{factorial, FACTORS};
use tango_bench::{benchmark_fn, tango_benchmarks, IntoBenchmarks};

fn factorial_benchmarks() -> impl IntoBenchmarks {
    [benchmark_fn("factorial", |b| b.iter(|| factorial(FACTORS)))]
}

tango_benchmarks!(factorial_benchmarks());
