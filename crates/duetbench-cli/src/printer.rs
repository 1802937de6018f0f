//! The only place that prints: the report is data and goes to standard output or a file, everything else is for people
//! and goes to standard error.

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use duetbench_core::analysis::Seen;
use duetbench_core::foreign::lines;
use duetbench_core::{BenchmarkId, Report};
use duetbench_formats::Content;

use crate::failure::Failure;
use crate::options::Format;
use crate::render::document::Document;
use crate::render::format::one_line;
use crate::render::live::Room;
use crate::render::palette::Palette;
use crate::render::text::Look;
use crate::render::{annotation, ascii, csv, gobench, html, json, live, markdown, sarif, text};
use crate::settings::{Settings, check_link, real};
use crate::sites;

/// Where a page is written when nothing else is said.
pub const PAGE: &str = "duet-report.html";

/// Decides what is shown, where and how.
#[derive(Debug, Clone)]
pub struct Printer {
    format: Format,
    output: Option<PathBuf>,
    /// The database of runs, which no output replaces.
    store: PathBuf,
    quiet: bool,
    colour: bool,
    /// Whether intervals are drawn, where that was said.
    plot: Option<bool>,
    /// Whether long tables are shown whole.
    all: bool,
    /// Whether text is written without the signs that an old terminal does not have.
    ascii: bool,
}

impl Printer {
    /// A printer that follows the settings in a directory.
    pub fn new(settings: &Settings, cwd: &Path) -> Printer {
        let set = |name| std::env::var_os(name).is_some_and(|v| !v.is_empty());
        let colour = !settings.no_color() && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|t| t != "dumb");
        let (format, output) = (settings.format(), settings.output());
        let (plot, all, store) = (settings.plot(), settings.all(), settings.store(cwd));
        Printer { format, output, store, quiet: settings.quiet(), colour, plot, all, ascii: ascii::is_wanted() }
    }

    /// Checks that the output file can be made: nobody wants to measure for minutes to learn that it cannot. The folder of a database
    /// is made with that, unless nothing is kept.
    ///
    /// # Errors
    /// When there is no folder for it, it cannot be written, it is the database, or a link leads out of the checkout in its place.
    pub fn check_destination(&self, db: Option<&Path>) -> Result<(), Failure> {
        if self.format == Format::Html {
            self.place_of_page()?;
        }
        let Some(output) = self.output.as_deref() else { return Ok(()) };
        self.spare_store(output)?;
        let cannot = |why: String| Failure::usage(format!("the report cannot be written: {why}"));
        if output.is_dir() {
            return Err(cannot(format!("`{}` is a folder", output.display())).hint("name a file in it with `--output`"));
        }
        let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
        match folder {
            Some(folder) if db.is_some_and(|db| db.starts_with(folder)) => Ok(()),
            Some(folder) => Err(cannot(format!("there is no folder `{}`", folder.display()))
                .hint("make it, or name another file with `--output`")),
            None => try_out(output)
                .map_err(|e| cannot(format!("`{}`: {e}", output.display())).hint("name another file with `--output`")),
        }
    }

    /// Refuses to write over the database of runs.
    fn spare_store(&self, path: &Path) -> Result<(), Failure> {
        let cwd = std::env::current_dir()?;
        let (Some(file), Some(store)) = (real(path, &cwd), real(&self.store, &cwd)) else { return Ok(()) };
        let name = |path: &Path| path.as_os_str().to_string_lossy().into_owned();
        match name(&file).strip_prefix(&name(&store)) {
            // SQLite keeps what is new beside it.
            Some("" | "-wal" | "-shm" | "-journal") => {
                let what = format!("the report cannot be written: `{}` holds the stored runs", path.display());
                Err(Failure::usage(what).hint("name another file with `--output`"))
            }
            _ => Ok(()),
        }
    }

    /// Writes a finished report in the chosen form.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn report(&self, report: &Report, exit_code: u8) -> Result<(), Failure> {
        let palette = self.palette();
        let width = if self.is_on_terminal() { terminal_width() } else { None };
        self.rendered(&match self.format {
            Format::Text => {
                let plot = self.plot.unwrap_or(self.is_on_terminal());
                text::render(report, &palette, Look { width, plot, all: self.all })
            }
            Format::Json => json::render(report, exit_code),
            Format::Markdown => markdown::render(report),
            Format::Csv => csv::render(report),
            Format::Go => gobench::render(report),
            Format::Sarif => sarif::render(report, &sites::of(report)),
            Format::Html => html::render(report),
        })
    }

    /// Writes what a command says in the chosen form.
    ///
    /// # Errors
    /// When it cannot be written, or not in that form.
    pub fn document(&self, document: &Document) -> Result<(), Failure> {
        let width = if self.is_on_terminal() { terminal_width() } else { None };
        self.rendered(&document.write(self.format, &self.palette(), width)?)
    }

    /// Writes what is in the chosen form.
    fn rendered(&self, text: &str) -> Result<(), Failure> {
        if self.format == Format::Html { self.page(text) } else { self.data(text) }
    }

    /// Writes a page for the browser to the output file and says where it is. A terminal shows no page: a file in the current directory
    /// takes its place.
    fn page(&self, page: &str) -> Result<(), Failure> {
        let Some(path) = self.place_of_page()? else { return to_output(page.as_bytes()) };
        self.file(&path, page)?;
        self.note(&format!("`{}` ({} kB): open it in a browser", path.display(), page.len().div_ceil(1000)));
        Ok(())
    }

    /// The file for a page. Under our own name there may lie a link of the repository's, and looking overwrites nothing outside of it.
    fn place_of_page(&self) -> Result<Option<PathBuf>, Failure> {
        let instead = self.is_on_terminal().then(|| PathBuf::from(PAGE));
        let path = self.output.clone().or(instead);
        if let Some(path) = path.as_deref().filter(|path| *path == Path::new(PAGE)) {
            check_link(path, &std::env::current_dir()?)?;
        }
        Ok(path)
    }

    fn is_on_terminal(&self) -> bool {
        self.output.is_none() && io::stdout().is_terminal()
    }

    /// The colours: none unless a terminal shows them.
    fn palette(&self) -> Palette {
        if self.colour && self.is_on_terminal() { Palette::coloured() } else { Palette::plain() }
    }

    /// Writes data that are no page to the output file or standard output; a reader that has gone away is no error.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn data(&self, text: &str) -> Result<(), Failure> {
        // Where there is no page there is text. In the other forms every line begins with what is ours; a row for people begins with a name.
        let is_text = matches!(self.format, Format::Text | Format::Html);
        let is_ours = !is_text || self.palette() != Palette::plain();
        let text = if is_ours { text.to_owned() } else { lines(text) };
        let text = if self.ascii && is_text { ascii::written(&text) } else { text };
        match &self.output {
            Some(path) => self.file(path, &text),
            None => to_output(text.as_bytes()),
        }
    }

    /// Writes what was made of a recording: to standard output or the output file, a folder's files below that.
    ///
    /// # Errors
    /// When it cannot be written, a folder has no name, or a terminal would show bytes that are no text.
    pub fn written(&self, content: &Content) -> Result<(), Failure> {
        match (content, &self.output) {
            (_, Some(path)) => {
                self.spare_store(path)?;
                Ok(content.save(path)?)
            }
            (Content::Folder(_), None) => Err(Failure::usage("the form is a folder: name it with `--output DIR`")),
            (Content::File(bytes), None) if self.is_on_terminal() && std::str::from_utf8(bytes).is_err() => {
                Err(Failure::usage("the form is no text: name a file with `--output FILE`"))
            }
            (Content::File(bytes), None) => to_output(bytes),
        }
    }

    fn file(&self, path: &Path, text: &str) -> Result<(), Failure> {
        self.spare_store(path)?;
        fs::write(path, text).map_err(|e| io::Error::new(e.kind(), format!("`{}`: {e}", path.display())).into())
    }

    /// Tells people what they must know of data that are written, even if they want quiet.
    pub fn warning(&self, text: &str) {
        to_people(&format!("warning: {}", one_line(text)));
    }

    /// Tells GitHub Actions, where it runs us, what stops the change.
    pub fn annotate(&self, report: &Report) {
        if std::env::var_os("GITHUB_ACTIONS").is_some_and(|set| set == "true") {
            annotation::render(report).iter().for_each(|line| to_error(line));
        }
    }

    /// Tells people something on standard error, unless they want quiet.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            to_people(&if self.ascii { ascii::written(text) } else { text.to_owned() });
        }
    }

    /// Tells people why the command of a program ends.
    pub fn failure(program: &str, failure: &Failure) {
        let hint = failure.advice().map_or_else(String::new, |hint| format!("\nhint: {hint}"));
        to_people(&format!("{program}: {failure}{hint}"));
    }

    /// Whether a live display makes sense.
    pub fn is_live(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// The table of a comparison that is being measured, for the terminal that people look at meanwhile; absent before the first look.
    pub fn live_table(&self, benchmarks: &[&BenchmarkId], answers: &[Option<Seen>]) -> Option<String> {
        let size = rustix::termios::tcgetwinsize(io::stderr()).ok().filter(|size| size.ws_col > 0)?;
        let room = Room { width: size.ws_col.into(), height: size.ws_row.into() };
        let palette = if self.colour { Palette::coloured() } else { Palette::plain() };
        let table = live::table(benchmarks, answers, &palette, room)?;
        Some(if self.ascii { ascii::written(&table) } else { table })
    }

    /// Whether nothing but the report is wanted.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }
}

/// Finds out whether a file can be written, and leaves everything as it is. What is no ordinary file, as a pipe, would notice.
fn try_out(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if there.is_file() => OpenOptions::new().append(true).open(path).map(drop),
        Err(_) if path.symlink_metadata().is_err() => {
            OpenOptions::new().append(true).create_new(true).open(path)?;
            fs::remove_file(path)
        }
        _ => Ok(()),
    }
}

/// Writes to standard output; a reader that has gone away is no error.
fn to_output(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    // Bytes behind the last line's end would be written as the program ends, when nobody hears of a full disk.
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(e.into()),
        _ => Ok(()),
    }
}

/// Names, revisions and what programs said are in it.
fn to_people(text: &str) {
    to_error(&lines(text));
}

fn to_error(text: &str) {
    // Nothing can be done when standard error is closed.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

fn terminal_width() -> Option<usize> {
    rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0)
}
