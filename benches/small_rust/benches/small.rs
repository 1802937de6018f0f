use criterion::{criterion_group, criterion_main, BatchSize, Criterion};
use small::work;

fn benchmarks(c: &mut Criterion) {
    let mut x = 1;
    c.bench_function("count", |b| {
        b.iter(|| {
            x = work(x);
            x
        })
    });
    c.bench_function("allocates", |b| b.iter(|| Vec::<u8>::with_capacity(1024)));
    c.bench_function("batched", |b| b.iter_batched(|| 1, work, BatchSize::SmallInput));
}

criterion_group!(benches, benchmarks);
criterion_main!(benches);
