//! Speed of reading a result file of another tool, for `benches/read_speed.py`.
//!
//! Reads the file that is named first as often as the number beside it says, its bytes already in memory, and writes a line for each
//! time: bytes, values that are judged, values beside them, seconds.

use std::error::Error;
use std::io::{Write, stdout};
use std::time::Instant;

use duetbench_formats::parse;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("name a file")?;
    let times: u32 = arguments.next().map_or(Ok(1), |times| times.parse())?;
    let bytes = std::fs::read(file)?;
    for _ in 0..times {
        let began = Instant::now();
        let imported = parse(&bytes).map_err(|wrong| wrong.to_string())?;
        let took_s = began.elapsed().as_secs_f64();
        let judged: usize = imported.recording.benchmarks.iter().map(|recorded| recorded.grid.cells().len()).sum();
        let beside: usize = imported.beside.iter().map(|metric| metric.recorded.grid.cells().len()).sum();
        writeln!(stdout(), "{} {judged} {beside} {took_s}", bytes.len())?;
    }
    Ok(())
}
