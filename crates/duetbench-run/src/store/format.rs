//! The marks of a store in its file, and what is said of a database without them.

use std::time::Duration;

/// Longest wait for another duet.
pub(super) const BUSY_MAX: Duration = Duration::from_secs(10);
/// Format of the tables, kept in `user_version`.
pub(super) const FORMAT: i64 = 2;
/// Value of a store's `application_id`. Stores from before it was written have 0, as most databases do.
pub(super) const APPLICATION: i32 = i32::from_be_bytes(*b"duet");

/// Why a database cannot be used.
pub(super) enum Unusable {
    /// It was written by another duet.
    Format {
        /// Its format.
        version: i64,
    },
    /// It is no store; what tells so.
    Foreign(String),
    /// SQLite refuses.
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Unusable {
    fn from(e: rusqlite::Error) -> Self {
        Unusable::Sqlite(e)
    }
}

/// Whether a format is newer than this duet's.
pub(super) fn is_newer(version: i64) -> bool {
    version > FORMAT
}
