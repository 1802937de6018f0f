use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

fn text(words: usize) -> String {
    (0..words).map(|n| format!("word{} ", n * 7919 % 97)).collect()
}

fn counting(c: &mut Criterion) {
    let mut group = c.benchmark_group("count");
    for words in [10, 1000] {
        let text = text(words);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_with_input(BenchmarkId::from_parameter(words), &text, |b, text| b.iter(|| tally::count(text)));
    }
    group.finish();
}

fn others(c: &mut Criterion) {
    let text = text(200);
    c.bench_function("letters", |b| b.iter(|| tally::letters(&text)));
    let words: Vec<&str> = text.split_whitespace().collect();
    c.bench_function("sort by length", |b| {
        b.iter_batched(|| words.clone(), |mut words| tally::by_length(&mut words), BatchSize::SmallInput)
    });
}

criterion_group!(benches, counting, others);
criterion_main!(benches);
