use divan::{black_box, Bencher};

fn main() {
    divan::main();
}

#[divan::bench(args = [10, 1000])]
fn fold(rounds: u64) -> u64 {
    tally::fold(rounds)
}

#[divan::bench(consts = [20, 200])]
fn of_const<const ROUNDS: u64>() -> u64 {
    tally::fold(ROUNDS)
}

#[divan::bench(types = [u8, String])]
fn of_type<T: Default>() -> T {
    black_box(tally::fold(500));
    T::default()
}

#[divan::bench(threads = [1, 2])]
fn threads() -> u64 {
    tally::fold(1000)
}

mod forms {
    use super::*;
    use divan::counter::BytesCount;

    #[divan::bench(name = "other name")]
    fn renamed() -> u64 {
        tally::fold(100)
    }

    #[divan::bench(ignore)]
    fn ignored() -> u64 {
        tally::fold(100)
    }

    #[divan::bench]
    fn local(bencher: Bencher) {
        let mut calls = 0;
        bencher.bench_local(|| {
            calls += 1;
            tally::fold(2000) + calls
        });
    }

    #[divan::bench]
    fn values(bencher: Bencher) {
        bencher.with_inputs(|| vec![1u8; 100]).bench_values(|bytes| (tally::fold(2000), bytes));
    }

    #[divan::bench(sample_size = 3, sample_count = 4)]
    fn refs(bencher: Bencher) {
        let bencher = bencher.counter(BytesCount::new(100u32)).with_inputs(|| vec![1u8; 100]);
        bencher.bench_refs(|bytes| tally::fold(1900 + bytes.len() as u64));
    }
}
