//! Any text as each of the other things that duet reads. `DUET_FUZZ` says as which.

#![no_main]
#![allow(dead_code, reason = "one of the two programs has the rest")]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

mod parsers;

fuzz_target!(|bytes: &[u8]| {
    static PARSER: OnceLock<fn(&[u8])> = OnceLock::new();
    let parser = PARSER.get_or_init(|| {
        let name = std::env::var("DUET_FUZZ").expect("DUET_FUZZ names a parser");
        parsers::PARSERS.iter().find(|(known, _)| *known == name).expect("DUET_FUZZ names a parser that there is").1
    });
    parser(bytes);
});
