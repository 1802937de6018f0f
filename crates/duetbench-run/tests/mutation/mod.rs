//! Good files made bad, for seeing that whoever reads them does not panic.

#![allow(unreachable_pub, clippy::unwrap_used, reason = "several tests include it; a test may")]

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

    /// The text with one thing changed: a byte, a piece lost, a piece said twice, or a number made another.
    fn mutated(&mut self, text: &[u8]) -> Vec<u8> {
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
