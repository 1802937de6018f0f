use criterion::{criterion_group, criterion_main, Criterion};
use factorial::{factorial, FACTORS};

fn factorial_benchmark(c: &mut Criterion) {
    c.bench_function("factorial", |b| b.iter(|| factorial(FACTORS)));
}

criterion_group!(benches, factorial_benchmark);
criterion_main!(benches);
