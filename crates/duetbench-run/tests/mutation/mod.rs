//! Good files made bad, for seeing that whoever reads them does not panic.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "several tests include it; a test may")]

/// A small generator of numbers, so that failures can be repeated.
pub struct Draw(pub u64);

impl Draw {
    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end.max(1) as u64).unwrap()
    }

    /// The text with one to four things changed.
    pub fn spoilt(&mut self, text: &[u8]) -> Vec<u8> {
        let mut bytes = text.to_vec();
        for _ in 0..=self.below(4) {
            bytes = if bytes.is_empty() { bytes } else { self.mutated(&bytes) };
        }
        bytes
    }

    /// The text with one of its numbers made another, so that nearly everything is still understood.
    pub fn renumbered(&mut self, text: &[u8]) -> Vec<u8> {
        let is_digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
        let starts: Vec<usize> =
            (0..text.len()).filter(|at| is_digit(*at) && (*at == 0 || !is_digit(at - 1))).collect();
        let at = starts[self.below(starts.len())];
        let end = (at..).find(|end| !is_digit(*end)).unwrap();
        let number = ["0", "1", "2", "255", "4294967295", "9223372036854775808", "18446744073709551615"][self.below(7)];
        [&text[..at], number.as_bytes(), &text[end..]].concat()
    }

    /// The text with one thing changed: a byte, a piece lost, a piece said twice, or a number made another.
    pub fn mutated(&mut self, text: &[u8]) -> Vec<u8> {
        let mut bytes = text.to_vec();
        let at = self.below(bytes.len());
        let end = (at + self.below(40)).min(bytes.len());
        let number = ["9999", "99999999", "99999999999", "-", "0."][self.below(5)];
        match self.below(5) {
            0 => bytes[at] = u8::try_from(self.below(256)).unwrap(),
            1 => drop(bytes.drain(at..end)),
            2 => drop(bytes.splice(at..at, text[at..end].to_vec())),
            3 => drop(bytes.splice(at..at, number.bytes())),
            _ => bytes.truncate(at),
        }
        bytes
    }
}
