//! NumPy's default generator, for what the published code of µOpTime drew with it.

/// Multiplier of the 128-bit congruential generator (O'Neill, PCG, 2014).
const MULTIPLIER: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;

/// `numpy.random.default_rng(seed)`: PCG64 with the output function XSL-RR, seeded through `SeedSequence`.
#[derive(Debug, Clone)]
pub(super) struct NumpyRng {
    state: u128,
    increment: u128,
    /// The upper half of a draw whose lower half was used.
    half: Option<u32>,
}

impl NumpyRng {
    /// The generator of this seed.
    pub(super) fn of(seed: u64) -> NumpyRng {
        let [a, b, c, d] = seed_words(seed);
        let wide = |high: u64, low: u64| u128::from(high) << 64 | u128::from(low);
        let mut rng = NumpyRng { state: 0, increment: wide(c, d) << 1 | 1, half: None };
        rng.step();
        rng.state = rng.state.wrapping_add(wide(a, b));
        rng.step();
        rng
    }

    fn step(&mut self) {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }

    fn next_u64(&mut self) -> u64 {
        self.step();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    /// Two of these come from each draw of 64 bits, the lower half first.
    fn next_u32(&mut self) -> u32 {
        if let Some(half) = self.half.take() {
            return half;
        }
        let whole = self.next_u64();
        self.half = Some((whole >> 32) as u32);
        whole as u32
    }

    /// `integers(1, end)`: from 1 to the number before `end`, by Lemire's method (Fast random integer generation in an interval, 2019).
    /// NumPy draws nothing where there is one such number; where there is none and NumPy fails, this is 1.
    pub(super) fn one_to_before(&mut self, end: u32) -> u32 {
        let numbers = end.saturating_sub(1);
        if numbers <= 1 {
            return 1;
        }
        let mut product = u64::from(self.next_u32()) * u64::from(numbers);
        if (product as u32) < numbers {
            let too_many = numbers.wrapping_neg() % numbers;
            while (product as u32) < too_many {
                product = u64::from(self.next_u32()) * u64::from(numbers);
            }
        }
        (product >> 32) as u32 + 1
    }
}

/// `SeedSequence(seed).generate_state(4, uint64)`, by the hash of O'Neill's `randutils`.
fn seed_words(seed: u64) -> [u64; 4] {
    let mut pool = [seed as u32, (seed >> 32) as u32, 0, 0];
    let mut hash = Hash { constant: 0x43b0_d7e5, multiplier: 0x931e_8875 };
    pool.iter_mut().for_each(|word| *word = hash.of(*word));
    for from in 0..pool.len() {
        for to in (0..pool.len()).filter(|to| *to != from) {
            pool[to] = mixed(pool[to], hash.of(pool[from]));
        }
    }
    let mut hash = Hash { constant: 0x8b51_f9dd, multiplier: 0x58f3_8ded };
    let mut halves = [0_u32; 8];
    for (half, word) in halves.iter_mut().zip(pool.iter().cycle()) {
        *half = hash.of(*word);
    }
    std::array::from_fn(|i| u64::from(halves[2 * i + 1]) << 32 | u64::from(halves[2 * i]))
}

/// A hash whose constant changes with every use.
struct Hash {
    constant: u32,
    multiplier: u32,
}

impl Hash {
    fn of(&mut self, word: u32) -> u32 {
        let word = word ^ self.constant;
        self.constant = self.constant.wrapping_mul(self.multiplier);
        let word = word.wrapping_mul(self.constant);
        word ^ word >> 16
    }
}

fn mixed(a: u32, b: u32) -> u32 {
    let mixed = a.wrapping_mul(0xca01_f9dd).wrapping_sub(b.wrapping_mul(0x4973_f715));
    mixed ^ mixed >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(end: u32, count: usize) -> Vec<u32> {
        let mut rng = NumpyRng::of(42);
        (0..count).map(|_| rng.one_to_before(end)).collect()
    }

    /// Known answers of NumPy 2.4.
    #[test]
    fn seeds_become_numpys_words() {
        let want = [0x9f1e_2e6d_cd54_0ab7, 0xd578_73dc_79fb_94b6, 0x7d28_2a1b_64d4_20b7, 0x3365_7971_4692_d5ff];
        assert_eq!(seed_words(42), want);
    }

    #[test]
    fn words_are_those_of_pcg64() {
        let check = |seed, want: &[u64]| {
            let mut rng = NumpyRng::of(seed);
            want.iter().for_each(|want| assert_eq!(rng.next_u64(), *want, "{seed}"));
        };
        check(42, &[14_276_969_152_011_380_360, 8_095_878_257_575_067_585, 15_838_336_090_824_644_132]);
        check(0, &[11_749_869_230_777_074_271, 4_976_686_463_289_251_617]);
        check((1 << 40) + 7, &[15_307_346_044_642_009_514, 4_709_548_916_763_817_589]);
    }

    #[test]
    fn integers_are_those_of_numpy() {
        assert_eq!(drawn(3, 12), [1, 2, 2, 1, 1, 2, 1, 2, 1, 1, 2, 2]);
        assert_eq!(drawn(100, 8), [9, 77, 65, 44, 43, 86, 9, 70]);
        // So many numbers that draws are rejected.
        let want = [267_752_862, 2_321_868_146, 1_963_714_556, 1_316_635_319, 2_575_793_760, 282_532_044];
        assert_eq!(drawn(3_000_000_001, 6), want);
    }

    #[test]
    fn one_number_takes_no_draw() {
        let mut rng = NumpyRng::of(42);
        let numbers = [2, 1, 0].map(|end| rng.one_to_before(end));
        assert_eq!((numbers, rng.one_to_before(100)), ([1, 1, 1], 9));
    }
}
