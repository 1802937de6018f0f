//! Files that are built into a program.

/// Texts of a folder's files, each behind its name: `sources!("page/": "dom.js", "app.js")`. The folder is seen from where this stands.
#[macro_export]
macro_rules! sources {
    ($folder:literal: $($name:literal),+) => {
        [$(($name, include_str!(concat!($folder, $name)))),+]
    };
}
