//! Counts how often the nominal 99 % intervals hold the centre of normal values, for the table of section 13 of
//! docs/statistics/13-bootstrap.md. The number of experiments is the first argument, 100,000 if there is none.

#[path = "../tests/noise_support/mod.rs"]
mod noise_support;

use std::error::Error;
use std::io::{Write, stdout};

use duetbench_stats::{Interval, StatsError, mean_interval, median_interval, studentised_interval, trimmed_t};
use noise_support::Noise;
use rayon::prelude::{IntoParallelIterator, ParallelIterator};

const SIZES: [usize; 12] = [3, 4, 5, 6, 7, 8, 9, 10, 15, 25, 50, 75];
const METHODS: [Method; 4] = [median, mean, studentised, trimmed];

type Method = fn(&[f64]) -> Result<Interval, StatsError>;

fn median(values: &[f64]) -> Result<Interval, StatsError> {
    median_interval(values, 0.99)
}

fn mean(values: &[f64]) -> Result<Interval, StatsError> {
    mean_interval(values, 0.99)
}

fn studentised(values: &[f64]) -> Result<Interval, StatsError> {
    studentised_interval(values, 0.99)
}

fn trimmed(values: &[f64]) -> Result<Interval, StatsError> {
    let (low, high) = trimmed_t(values)?.interval(0.01)?;
    Ok(Interval { low, high })
}

/// By method, whether the interval of `n` values holds their centre.
fn experiment(n: usize, number: u64) -> Result<[u32; 4], StatsError> {
    let mut noise = Noise::new(number);
    let values: Vec<f64> = (0..n).map(|_| noise.normal()).collect();
    let mut holds = [0; 4];
    for (holds, method) in holds.iter_mut().zip(METHODS) {
        let interval = method(&values)?;
        *holds = u32::from(interval.low <= 0.0 && 0.0 <= interval.high);
    }
    Ok(holds)
}

fn main() -> Result<(), Box<dyn Error>> {
    let experiments: u64 = std::env::args().nth(1).as_deref().unwrap_or("100000").parse()?;
    let mut out = stdout().lock();
    writeln!(out, "| values | median | mean | studentised mean | trimmed t of section 3 |")?;
    writeln!(out, "| --- | --- | --- | --- | --- |")?;
    for n in SIZES {
        let add = |a: [u32; 4], b: [u32; 4]| Ok([a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]]);
        let all = (0..experiments).into_par_iter().map(|number| experiment(n, number));
        let held: Result<[u32; 4], StatsError> = all.try_reduce(|| [0; 4], add);
        let percent = held?.map(|count| format!("{:.2} %", 100.0 * f64::from(count) / experiments as f64));
        writeln!(out, "| {n} | {} |", percent.join(" | "))?;
    }
    Ok(())
}
