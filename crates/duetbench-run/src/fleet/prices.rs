//! Prices: a dated file that comes with duet, and that the user can replace.

use duetbench_core::fleet::PriceTable;

/// The file that comes with duet.
const KNOWN: &str = include_str!("prices.toml");

/// The prices that duet knows.
///
/// # Panics
/// Never: a test reads them.
pub fn known() -> PriceTable {
    #[expect(clippy::expect_used, reason = "the file is compiled in, and a test reads it")]
    parse(KNOWN).expect("the prices that come with duet can be read")
}

/// Prices from a file of that form.
///
/// # Errors
/// In words, when it is not.
pub fn parse(text: &str) -> Result<PriceTable, String> {
    toml::from_str(text).map_err(|e| e.to_string().trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_with_duet_knows_every_region() {
        let table = known();
        assert!(table.rate("us-east-1").is_some_and(|rate| rate.gb_second_x86_64 > 1e-5));
        assert!(table.rate("a region of next year").is_some());
        assert!(parse("date = 'x'").unwrap_err().contains("missing field"));
    }
}
