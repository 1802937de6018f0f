//! Compares the bootstrap intervals with resampling, for `benches/exact_intervals.py`.
//!
//! Reads samples, one a line, as numbers separated by blanks. For every statistic of every sample it writes a line: the
//! number of values, the statistic, by how many standard errors of the resampling the tails beyond the 99 % interval are off
//! (the worse end), the time of the interval and that of 10,000 resamples, microseconds. The number of resamples is the first
//! argument.

#![expect(clippy::disallowed_methods, reason = "how long an interval takes is measured here, and decides nothing")]

use std::error::Error;
use std::io::{BufRead, Write, stdin, stdout};
use std::time::Instant;

use duetbench_stats::{Interval, StatsError, mean_interval, median_interval, studentised_interval};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::{IntoParallelIterator, ParallelIterator};

const CONFIDENCE: f64 = 0.99;
const TIMED_DRAWS: usize = 10_000;

type Method = fn(&[f64], f64) -> Result<Interval, StatsError>;
/// From a resample, given as ranks of the values in ascending order.
type Statistic = fn(&Sample, &mut [u32]) -> f64;

const STATISTICS: [(&str, Method, Statistic); 3] = [
    ("median", median_interval, Sample::median),
    ("mean", mean_interval, Sample::mean),
    ("studentised mean", studentised_interval, Sample::studentised),
];

struct Sample {
    ascending: Vec<f64>,
    mean: f64,
    sd: f64,
}

impl Sample {
    fn of(line: &str) -> Result<Sample, Box<dyn Error + Send + Sync>> {
        let mut ascending: Vec<f64> = line.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        ascending.sort_by(f64::total_cmp);
        let n = ascending.len() as f64;
        let mean = ascending.iter().sum::<f64>() / n;
        let sd = (ascending.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
        Ok(Sample { ascending, mean, sd })
    }

    fn mean(&self, ranks: &mut [u32]) -> f64 {
        ranks.iter().map(|rank| self.ascending[*rank as usize]).sum::<f64>() / ranks.len() as f64
    }

    fn median(&self, ranks: &mut [u32]) -> f64 {
        let n = ranks.len();
        let (below, middle, _) = ranks.select_nth_unstable(n / 2);
        let upper = self.ascending[*middle as usize];
        if n % 2 == 1 {
            return upper;
        }
        let lower = below.iter().max().map_or(upper, |rank| self.ascending[*rank as usize]);
        lower.midpoint(upper)
    }

    /// The end of an interval that the t of a resample stands for, turned round so that a lower one belongs to a lower t.
    fn studentised(&self, ranks: &mut [u32]) -> f64 {
        let n = ranks.len() as f64;
        let first = self.ascending[ranks[0] as usize];
        let differences = || ranks.iter().map(|rank| self.ascending[*rank as usize] - first);
        let mean = differences().sum::<f64>() / n;
        let variance = (differences().map(|d| d * d).sum::<f64>() / n - mean * mean).max(0.0);
        let distance = first + mean - self.mean;
        if distance.abs() < 1e-12 * self.sd { self.mean } else { self.mean - distance / variance.sqrt() * self.sd }
    }

    /// Standard errors by which the worse tail is off, and seconds.
    fn compare(&self, method: Method, statistic: Statistic, draws: usize) -> Result<[f64; 3], StatsError> {
        let began = Instant::now();
        let mut interval = method(&self.ascending, CONFIDENCE)?;
        for _ in 1..10 {
            interval = method(&self.ascending, CONFIDENCE)?;
        }
        let exact_us = began.elapsed().as_secs_f64() / 10.0 * 1e6;
        let mut random = ChaCha8Rng::seed_from_u64(20_190_409);
        let mut ranks = vec![0; self.ascending.len()];
        // The same sum in another order may differ in its last digits, so values this near to each other count as one.
        let grain = 1e-9 * if interval.width().is_finite() { interval.width().max(self.sd) } else { self.sd };
        let mut counts = [0.0; 4];
        let began = Instant::now();
        for _ in 0..draws {
            ranks.iter_mut().for_each(|rank| *rank = random.random_range(0..self.ascending.len() as u32));
            let found = statistic(self, &mut ranks);
            let is = [
                found < interval.low - grain,
                found <= interval.low + grain,
                found > interval.high + grain,
                found >= interval.high - grain,
            ];
            counts.iter_mut().zip(is).for_each(|(count, is)| *count += f64::from(u8::from(is)));
        }
        let resampling_us = began.elapsed().as_secs_f64() / draws as f64 * TIMED_DRAWS as f64 * 1e6;
        let tail = (1.0 - CONFIDENCE) / 2.0;
        let error = (tail * (1.0 - tail) / draws as f64).sqrt();
        let [below, at_most, above, at_least] = counts.map(|count| count / draws as f64);
        let off = [below - tail, tail - at_most, above - tail, tail - at_least, 0.0];
        Ok([off.into_iter().fold(0.0, f64::max) / error, exact_us, resampling_us])
    }
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let argument = std::env::args().nth(1).unwrap_or_default();
    let mut out = stdout().lock();
    if argument == "--version" {
        return Ok(writeln!(out, "exact_intervals {}", env!("CARGO_PKG_VERSION"))?);
    }
    let draws: usize = argument.parse().map_err(|_| "usage: exact_intervals RESAMPLES < SAMPLES")?;
    let lines: Vec<String> = stdin().lock().lines().collect::<Result<_, _>>()?;
    let answers = lines.into_par_iter().map(|line| {
        let sample = Sample::of(&line)?;
        let mut text = String::new();
        for (name, method, statistic) in STATISTICS {
            let [off, exact_us, resampling_us] = sample.compare(method, statistic, draws)?;
            text += &format!("{}\t{name}\t{off}\t{exact_us}\t{resampling_us}\n", sample.ascending.len());
        }
        Ok(text)
    });
    let answers: Result<Vec<String>, Box<dyn Error + Send + Sync>> = answers.collect();
    Ok(out.write_all(answers?.concat().as_bytes())?)
}
