//! Prices: a dated file that comes with duet, and that the user can replace.

use duetbench_core::fleet::{PriceTable, Rate};

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
/// In words, when it is not, or something in it costs nothing.
pub fn parse(text: &str) -> Result<PriceTable, String> {
    let table: PriceTable = toml::from_str(text).map_err(|e| e.to_string().trim_end().to_owned())?;
    for (region, rate) in &table.regions {
        let Rate { gb_second_x86_64, gb_second_arm64, million_requests } = *rate;
        // Nothing is capped by what costs nothing.
        if ![gb_second_x86_64, gb_second_arm64, million_requests].iter().all(|price| price.is_finite() && *price > 0.0)
        {
            return Err(format!("each price of `{region}` must be a number above 0"));
        }
    }
    Ok(table)
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

    #[test]
    fn prices_by_which_calls_cost_nothing_are_refused() {
        let parsed = |price: &str| {
            let rate = format!("gb_second_x86_64 = 0.1\ngb_second_arm64 = {price}\nmillion_requests = 0.2\n");
            parse(&format!("date = 'd'\nsource = 's'\n[regions.default]\n{rate}")).map(drop)
        };
        assert_eq!(parsed("0.1"), Ok(()));
        for price in ["0.0", "-0.1", "nan", "inf", "-inf"] {
            assert_eq!(parsed(price), Err("each price of `default` must be a number above 0".into()), "{price}");
        }
    }
}
