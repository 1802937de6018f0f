//! Numbers in, numbers out. Imports nothing of ours; every method cites its source and carries one worked number.
