//! The making of everything that follows from the rows of the table: groups for the command line, a layer, and the list of keys.

use super::Layer;
use super::value::Setting;

/// One row of the table, as documents and checks want it.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The key in `duet.toml`, from which the names of the option and of the variable follow.
    pub key: &'static str,
    /// Lines of help.
    pub(super) help: &'static [&'static str],
    /// The type of the field.
    pub kind: &'static str,
}

impl Row {
    /// The variable.
    pub fn variable(&self) -> String {
        format!("DUET_{}", self.key.to_uppercase())
    }

    /// The help, on one line.
    pub fn help(&self) -> String {
        self.help.concat().trim().to_owned()
    }
}

/// Options that are typed together.
pub trait Group {
    /// Sets in a layer what was typed.
    fn put(&self, layer: &mut Layer);
}

/// A field as the command line fills it.
pub(crate) trait Typed {
    /// The option's value.
    type Value: Setting;

    /// The value, if it was typed.
    fn typed(&self) -> Option<Self::Value>;
}

impl<T: Setting + Clone> Typed for Option<T> {
    type Value = T;

    fn typed(&self) -> Option<T> {
        self.clone()
    }
}

impl Typed for bool {
    type Value = bool;

    fn typed(&self) -> Option<bool> {
        self.then_some(true)
    }
}

impl Typed for Vec<String> {
    type Value = Vec<String>;

    fn typed(&self) -> Option<Vec<String>> {
        (!self.is_empty()).then(|| self.clone())
    }
}

/// Makes of rows a struct for each group, as clap takes it, the [`Layer`] and the list `OPTIONS`.
macro_rules! options {
    ($($(#[$about:meta])* $group:ident {
        $($(#[doc = $help:literal])+ #[arg($($arg:tt)*)] $key:ident: $field:ty,)+
    })+) => {
        $(
            $(#[$about])*
            #[derive(Debug, Clone, Default, Args)]
            pub struct $group {
                $($(#[doc = $help])+ #[arg($($arg)*)] pub $key: $field,)+
            }

            impl Group for $group {
                fn put(&self, layer: &mut Layer) {
                    $(layer.$key = self.$key.typed();)+
                }
            }
        )+

        /// One source of options: the command line, the environment, or a file. Absent: the next source decides.
        #[derive(Debug, Clone, Default, PartialEq, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Layer {
            $($(#[serde(deserialize_with = "some")] pub(crate) $key: Option<<$field as Typed>::Value>,)+)+
            /// A table, so the file alone can hold it.
            pub(crate) jmh: Option<JmhSpec>,
            /// Likewise, but for what `--command` makes of what is typed.
            pub(crate) command: Option<Vec<CommandSpec>>,
            /// Likewise.
            pub(crate) rule: Option<Vec<RuleTable>>,
        }

        /// All rows, in the order of the table.
        pub static OPTIONS: &[Row] = &[$($(
            Row {
                key: stringify!($key),
                help: &[$($help),+],
                kind: stringify!($field),
            },
        )+)+];
    };
}
pub(super) use options;
