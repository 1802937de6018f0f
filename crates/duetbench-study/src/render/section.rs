//! Sections of a study, which all studies are made of.

use duetbench_cli::render::document::{Block, Document, Line, Table, Title};

/// Tables below a title, with sentences on them.
pub(super) struct Section {
    /// The title; empty where the study's own says all.
    pub(super) title: String,
    /// The tables; those without rows are not shown.
    pub(super) tables: Vec<Table>,
    /// Sentences below them.
    pub(super) lines: Vec<String>,
}

/// A study in words and tables.
pub(super) struct Told {
    /// The command and the study's subject.
    pub(super) title: Title,
    /// Its sections in reading order.
    pub(super) sections: Vec<Section>,
    /// Warnings about the whole.
    pub(super) warnings: Vec<String>,
    /// A caution below everything.
    pub(super) note: Option<&'static str>,
}

impl Told {
    /// The document for people.
    pub(super) fn document(self) -> Document {
        let mut blocks: Vec<Block> = self.sections.into_iter().flat_map(Section::blocks).collect();
        let note = self.note.map(|note| Line::Small("note", note.to_owned()));
        let last: Vec<Line> = self.warnings.into_iter().map(Line::warning).chain(note).collect();
        blocks.push(Block::Lines(last));
        Document { title: self.title, blocks, ..Document::default() }
    }
}

impl Section {
    fn blocks(self) -> Vec<Block> {
        let heading = (!self.title.is_empty()).then(|| Block::Lines(vec![Line::Heading(self.title)]));
        let tables = self.tables.into_iter().filter(|table| !table.is_empty()).map(Block::Table);
        let lines = Block::Lines(self.lines.into_iter().map(Line::Sentence).collect());
        heading.into_iter().chain(tables).chain([lines]).collect()
    }
}
