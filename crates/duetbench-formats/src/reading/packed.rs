//! Files that were packed by `gzip`, as `pyperf` and many uploads are.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::MultiGzDecoder;

use crate::bounded::RESULTS_MAX;
use crate::error::Wrong;

/// The first bytes of what `gzip` made.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The bytes as they were before packing; those of a file that is not packed as they are.
pub(crate) fn unpacked(bytes: &[u8]) -> Result<Cow<'_, [u8]>, Wrong> {
    if !bytes.starts_with(&MAGIC) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut whole = Vec::new();
    let unpacking = MultiGzDecoder::new(bytes).take(RESULTS_MAX + 1).read_to_end(&mut whole);
    unpacking.map_err(|e| Wrong::in_file(format!("cannot be unpacked: {e}")))?;
    if whole.len() as u64 > RESULTS_MAX {
        return Err(Wrong::in_file("is larger than 1 GiB when unpacked: unpack it yourself"));
    }
    Ok(Cow::Owned(whole))
}
