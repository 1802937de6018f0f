//! A database may come from anybody. Whether it is a store of ours is told by looking, before anything in it is used; and reading one comes to an
//! end, whatever somebody put into it.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use duetbench_core::foreign::percent_encoded;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use super::format::{APPLICATION, BUSY_MAX, FORMAT, Unusable};

/// Tables that every store has.
const TABLES: [&str; 3] = ["runs", "samples", "trials"];
/// Largest value that is read: the plan of 200,000 benchmarks has less than half of it.
const VALUE_BYTES_MAX: i32 = 256 << 20;
/// Steps of SQLite's machine that reading may take beside those for what is in the file; a row takes about one for each of its bytes.
const STEPS_FREE: u64 = 100_000_000;
const STEPS_PER_BYTE: u64 = 20;
/// Steps after which they are counted.
const STEPS_AT_ONCE: i32 = 100_000;

/// Kind of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing yet: a store can be made of it.
    Empty,
    /// A store of this format.
    Ours,
}

/// Counts what reading takes.
#[derive(Debug, Clone, Default)]
pub(super) struct Effort(Arc<AtomicU64>);

impl Effort {
    /// Begins anew: what is allowed is so for each thing that is asked for.
    pub(super) fn begin(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    fn limit(&self, connection: &mut Connection, path: &Path) -> rusqlite::Result<()> {
        let bytes = length(path).saturating_add(length(&log_of(path)));
        let most = STEPS_FREE.saturating_add(bytes.saturating_mul(STEPS_PER_BYTE));
        let (steps, each) = (self.0.clone(), u64::from(STEPS_AT_ONCE.unsigned_abs()));
        connection.progress_handler(
            STEPS_AT_ONCE,
            Some(move || steps.fetch_add(each, Ordering::Relaxed).saturating_add(each) > most),
        )
    }
}

/// Refuses what can be told to be no store of ours without changing it or making anything beside it. The rest is for whoever opens it.
///
/// # Errors
/// When it is no store of ours.
pub(super) fn examine(path: &Path) -> Result<(), Unusable> {
    if length(path) == 0 {
        return Ok(());
    }
    let reading = Reading::of(path);
    let found = open_to_read(path, reading, &Effort::default()).map_err(Unusable::from).and_then(|c| look(&c));
    match found {
        // Somebody else is making a store of it at this moment.
        _ if reading.is_over(path) => Ok(()),
        Ok(_) | Err(Unusable::Sqlite(_)) => Ok(()),
        Err(other) => Err(other),
    }
}

/// Way of opening a database that is only read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// As a file that nobody writes to, since there is no log: so nothing is made beside it. Until it has another [`Stamp`].
    Alone(Stamp),
    /// Beside those who write, by the index that all who use the log share.
    Shared,
}

/// State of a database's files: a change shows that somebody wrote into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    log: u64,
}

impl Stamp {
    pub(super) fn of(path: &Path) -> Stamp {
        let metadata = std::fs::metadata(path).ok();
        let modified = metadata.as_ref().and_then(|metadata| metadata.modified().ok());
        Stamp { length: metadata.map_or(0, |m| m.len()), modified, log: length(&log_of(path)) }
    }
}

impl Reading {
    /// The way that suits the database as it is now.
    pub(super) fn of(path: &Path) -> Reading {
        let stamp = Stamp::of(path);
        if stamp.log == 0 { Reading::Alone(stamp) } else { Reading::Shared }
    }

    /// Whether somebody may have written into it meanwhile, unseen.
    pub(super) fn is_over(self, path: &Path) -> bool {
        matches!(self, Reading::Alone(stamp) if stamp != Stamp::of(path))
    }
}

/// Opens a database only to read.
pub(super) fn open_to_read(path: &Path, reading: Reading, effort: &Effort) -> rusqlite::Result<Connection> {
    let mut connection = connect(path, reading != Reading::Shared)?;
    effort.limit(&mut connection, path)?;
    Ok(connection)
}

/// A connection that writes nothing; `alone` as [`Reading::Alone`] says.
fn connect(path: &Path, alone: bool) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(address(path, if alone { "immutable=1" } else { "mode=ro" }), flags)?;
    connection.busy_timeout(BUSY_MAX)?;
    harden(&connection)?;
    Ok(connection)
}

/// Keeps a database from doing more than holding data.
pub(super) fn harden(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX).map(drop)
}

/// Kind of a database, by its numbers and its tables, all at one moment: another duet may be making its tables.
///
/// # Errors
/// When it is no store, or one of another format.
pub(super) fn look(connection: &Connection) -> Result<Kind, Unusable> {
    // Ends when it is dropped. Within a transaction there is one moment anyway.
    let _moment = connection.is_autocommit().then(|| connection.unchecked_transaction()).transpose()?;
    tell(connection)
}

fn tell(connection: &Connection) -> Result<Kind, Unusable> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let mut named = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")?;
    let tables: Vec<String> = named.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    if application == 0 && version == 0 && tables.is_empty() {
        return Ok(Kind::Empty);
    }
    let ours = TABLES.iter().filter(|name| tables.iter().any(|table| table == *name)).count();
    match (application == i64::from(APPLICATION), version) {
        (false, _) if application != 0 => Err(Unusable::Foreign("it belongs to another program".into())),
        (true, version) if version != FORMAT => Err(Unusable::Format { version }),
        (false, version) if ours > 0 && version != FORMAT && version != 0 => Err(Unusable::Format { version }),
        (_, FORMAT) => strange(connection)?.map_or(Ok(Kind::Ours), |what| Err(Unusable::Foreign(what))),
        _ => Err(Unusable::Foreign("it is a database of something else".into())),
    }
}

/// An object that no store has and that would do something when it is read or written to, or a table that is missing.
fn strange(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let looks = [
        ("view", "SELECT name FROM sqlite_schema WHERE type = 'view'"),
        ("trigger", "SELECT name FROM sqlite_schema WHERE type = 'trigger'"),
        ("virtual table", "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'virtual'"),
        (
            "computed column",
            "SELECT c.name FROM pragma_table_list t, pragma_table_xinfo(t.name) c WHERE t.schema = 'main' AND c.hidden > 1",
        ),
    ];
    for (kind, look) in looks {
        if let Some(name) = connection.prepare(look)?.query_map([], |row| row.get::<_, String>(0))?.next() {
            return Ok(Some(format!("the {kind} `{}` is none of ours", name?)));
        }
    }
    let there = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    for table in TABLES {
        if connection.query_row(there, [table], |row| row.get::<_, i64>(0))? == 0 {
            return Ok(Some(format!("it has no table `{table}`")));
        }
    }
    Ok(None)
}

/// The write-ahead log of a database. SQLite keeps it beside the file itself, not beside a link to it.
fn log_of(path: &Path) -> PathBuf {
    let mut name = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()).into_os_string();
    name.push("-wal");
    name.into()
}

/// Bytes of a file; 0 where there is none.
fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// A path as the address that SQLite wants where more than the path is said.
fn address(path: &Path, how: &str) -> String {
    let path = percent_encoded(path.as_os_str().as_bytes(), b"/");
    // Two slashes at the start would be a host.
    let no_host = if path.starts_with("//") { "//" } else { "" };
    format!("file:{no_host}{path}?{how}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_any_letters_is_an_address() {
        assert_eq!(address(Path::new("a b?/ü#.db"), "mode=ro"), "file:a%20b%3F/%C3%BC%23.db?mode=ro");
        assert_eq!(address(Path::new("/a.db"), "mode=ro"), "file:/a.db?mode=ro");
        assert_eq!(address(Path::new("//a.db"), "mode=ro"), "file:////a.db?mode=ro");
    }
}
