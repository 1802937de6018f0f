//! Who takes part in a suite run, where benchmarks have different numbers of trials left.

use rand::Rng;

use super::stream::Stream;

/// Chooses the benchmarks of one suite run after the other, so that every suite run is as mixed as any can be.
///
/// Interleaving only helps as long as there is something to interleave with (µOpTime, section 5: ensure a minimal mixture). If all
/// took part until they have what they need, the last suite runs would hold the one benchmark with the most trials, alone. So one
/// with `n` trials left takes part in `n` of the `R` suite runs that are left, where `R` is the most that any has left: with share
/// `n / R` in each, as evenly as the others allow. Each suite run then holds `⌊Σ n / R⌋` different benchmarks or one more, and
/// what is left afterwards is at least as mixed. When a benchmark ends early, those still open are mixed anew.
#[derive(Debug, Clone)]
pub struct Mixture {
    /// By benchmark: the sum of its shares, less the suite runs it took part in.
    lags: Vec<f64>,
}

impl Mixture {
    /// A mixture of so many benchmarks. When each of them has its first turn is drawn.
    pub fn new(seed: u64, benchmarks: usize) -> Mixture {
        let mut rng = Stream::Mixture.of(seed, 0);
        Mixture { lags: (0..benchmarks).map(|_| rng.random()).collect() }
    }

    /// Who takes part in the next suite run, given how many trials everyone has left.
    pub fn next(&mut self, left: &[u32]) -> Vec<bool> {
        let mut chosen = vec![false; left.len()];
        let most = left.iter().copied().max().unwrap_or(0);
        if most == 0 {
            return chosen;
        }
        let mut waiting: Vec<usize> = (0..left.len().min(self.lags.len())).filter(|i| left[*i] > 0).collect();
        waiting.iter().for_each(|i| self.lags[*i] += f64::from(left[*i]) / f64::from(most));
        // Whoever has the most left must take part every time from now on; there are never more of them than places.
        let must = |i: usize| left[i] == most;
        waiting.sort_by(|a, b| must(*b).cmp(&must(*a)).then(self.lags[*b].total_cmp(&self.lags[*a])).then(a.cmp(b)));
        let all: u64 = left.iter().map(|n| u64::from(*n)).sum();
        let (mut places, rest) = ((all / u64::from(most)) as usize, all % u64::from(most));
        if rest > 0 && waiting.get(places).is_some_and(|i| self.lags[*i] >= 1.0) {
            places += 1;
        }
        for i in waiting.into_iter().take(places) {
            self.lags[i] -= 1.0;
            chosen[i] = true;
        }
        chosen
    }
}
