use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion, SamplingMode, Throughput};
use std::hint::black_box;
use std::time::Duration;

fn sums(criterion: &mut Criterion) {
    criterion.bench_function("one sum", |b| b.iter(|| sums::sum(black_box(10))));
    let mut group = criterion.benchmark_group("sums");
    group.sampling_mode(SamplingMode::Flat);
    for size in [10_u64, 100] {
        group.throughput(Throughput::Elements(size));
        group.bench_with_input(BenchmarkId::new("sum", size), &size, |b, size| b.iter(|| sums::sum(black_box(*size))));
    }
    group.finish();
}

fn quick() -> Criterion {
    Criterion::default().warm_up_time(Duration::from_millis(10)).measurement_time(Duration::from_millis(50)).sample_size(10).without_plots()
}

criterion_group! { name = all; config = quick(); targets = sums }
criterion_main!(all);
