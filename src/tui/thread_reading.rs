//! Where in a thread somebody reads. A thread can have ten thousand comments, so there is no number of lines to scroll by:
//! the place is an item and a line of it, and only the items around it are laid out, each once.

use super::markdown::{self, MarkdownLines, MarkdownOptions};
use super::model::{Model, Screen};
use super::rows::page::{PostedText, ThreadScreenPage, page};
use super::theme::Theme;
use super::view;
use crate::domain::vocabulary::ThreadId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is kept between two messages while a thread is on the screen.
#[derive(Debug, Clone, Default)]
pub(super) struct ThreadReading {
    /// What is at the top, and how many lines of it are above that.
    pub(super) at: ScrollPosition,
    kept: Option<CachedPage>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ScrollPosition {
    pub(super) item: usize,
    pub(super) line: usize,
}

/// The parts of a page that scroll, in order: where it stands, if there is no room for that above; the code; the comments.
pub(super) const HEADER: usize = 0;
pub(super) const CODE: usize = 1;
pub(super) const FIRST_COMMENT: usize = 2;

/// Items that stay laid out; more than any screen shows.
const KEPT_ITEMS: usize = 256;

#[derive(Debug, Clone)]
struct CachedPage {
    id: ThreadId,
    columns: u16,
    unfolded: bool,
    theme: Theme,
    page: Arc<ThreadScreenPage>,
    laid: BTreeMap<usize, Arc<PageItem>>,
}

/// A part of the page, as lines.
#[derive(Debug, Clone, Default)]
pub(super) struct PageItem {
    pub(super) laid: MarkdownLines,
    /// Who said it, for a comment: its age is known only when it is drawn.
    pub(super) said: Option<PostedText>,
}

impl PageItem {
    /// A comment has an empty line and its heading above it.
    pub(super) fn height(&self) -> usize {
        self.laid.lines.len() + if self.said.is_some() { 2 } else { 0 }
    }
}

impl ThreadReading {
    pub(super) fn page(&self) -> Option<&ThreadScreenPage> {
        self.kept.as_ref().map(|kept| &*kept.page)
    }

    /// How many items there are.
    pub(super) fn count(&self) -> usize {
        self.page().map_or(0, |page| FIRST_COMMENT + page.len())
    }

    /// Brings what is kept up to date with the model, for so many columns. False where there is no such thread.
    pub(super) fn refresh(&mut self, model: &Model, columns: u16) -> bool {
        let Screen::Thread { address, id, .. } = &model.screen else {
            *self = ThreadReading::default();
            return false;
        };
        let Some(pull) = model.pulls.get(address) else { return false };
        let (unfolded, theme) = (model.unfolded, model.theme);
        if self.kept.as_ref().is_some_and(|kept| kept.id != *id) {
            *self = ThreadReading::default();
        }
        if let Some(kept) = &mut self.kept
            && kept.page.is_of(&pull.view)
        {
            if (kept.columns, kept.unfolded, kept.theme) != (columns, unfolded, theme) {
                (kept.columns, kept.unfolded, kept.theme) = (columns, unfolded, theme);
                kept.laid.clear();
            }
            return true;
        }
        let page = page(&pull.view, id).map(Arc::new);
        self.kept = page.map(|page| CachedPage {
            id: id.clone(),
            columns,
            unfolded,
            theme,
            page,
            laid: BTreeMap::new(),
        });
        self.kept.is_some()
    }

    /// A part of the page, laid out now if it was not before.
    pub(super) fn item(&mut self, model: &Model, index: usize) -> Arc<PageItem> {
        let around = self.at.item;
        let Some(kept) = &mut self.kept else { return Arc::default() };
        if kept.laid.len() > KEPT_ITEMS {
            let near = around.saturating_sub(KEPT_ITEMS / 4)..around + KEPT_ITEMS / 2;
            kept.laid.retain(|item, _| near.contains(item));
        }
        let (page, columns) = (Arc::clone(&kept.page), kept.columns);
        Arc::clone(kept.laid.entry(index).or_insert_with(|| Arc::new(laid(model, &page, index, columns))))
    }

    /// Goes so many lines up or down, and no further than to the last page.
    pub(super) fn step(&mut self, model: &Model, by: isize, height: usize) {
        if by < 0 {
            let mut left = by.unsigned_abs();
            while left > self.at.line && self.at.item > 0 {
                left -= self.at.line;
                // A long way up ends at the top without laying out everything between.
                if left > FAR {
                    self.at = ScrollPosition::default();
                    return;
                }
                self.at.item -= 1;
                self.at.line = self.item(model, self.at.item).height();
            }
            self.at.line = self.at.line.saturating_sub(left);
        } else {
            let last = self.last(model, height);
            if self.at >= last {
                return;
            }
            let by = by.unsigned_abs();
            let to = if by > FAR {
                last
            } else {
                ScrollPosition { line: self.at.line.saturating_add(by), ..self.at }
            };
            self.at = self.settled(model, to).min(last);
        }
    }

    /// Goes to the beginning of another comment.
    pub(super) fn jump(&mut self, by: isize) {
        let last = self.count().saturating_sub(1);
        let inside = self.at.line > 0 && by < 0;
        let item = if inside { self.at.item } else { self.at.item.saturating_add_signed(by) };
        let item = if by > 0 { item.max(FIRST_COMMENT) } else { item };
        // Above the first comment there is only the top.
        self.at = ScrollPosition { item: if item < FIRST_COMMENT { 0 } else { item.min(last) }, line: 0 };
    }

    /// Where the page ends exactly with the screen.
    fn last(&mut self, model: &Model, height: usize) -> ScrollPosition {
        let mut left = height;
        for item in (0..self.count()).rev() {
            let tall = self.item(model, item).height();
            if tall >= left {
                return ScrollPosition { item, line: tall - left };
            }
            left -= tall;
        }
        ScrollPosition::default()
    }

    /// Whether all of it is on the screen.
    pub(super) fn fits(&mut self, model: &Model, height: usize) -> bool {
        if self.at != ScrollPosition::default() {
            return false;
        }
        let mut left = height;
        for item in 0..self.count() {
            match left.checked_sub(self.item(model, item).height()) {
                Some(rest) => left = rest,
                None => return false,
            }
        }
        true
    }

    /// The same place with a line that its item has.
    fn settled(&mut self, model: &Model, mut at: ScrollPosition) -> ScrollPosition {
        while at.item + 1 < self.count() {
            let tall = self.item(model, at.item).height();
            if at.line < tall {
                break;
            }
            at = ScrollPosition { item: at.item + 1, line: at.line - tall };
        }
        at
    }

    /// Lays out what is on the screen, so that drawing finds it.
    pub(super) fn settle(&mut self, model: &Model, height: usize) {
        self.at.item = self.at.item.min(self.count().saturating_sub(1));
        let tall = self.item(model, self.at.item).height();
        self.at.line = self.at.line.min(tall.saturating_sub(1));
        let mut shown = tall - self.at.line;
        for item in self.at.item + 1..self.count() {
            if shown >= height {
                break;
            }
            shown += self.item(model, item).height();
        }
    }
}

/// More lines than anybody steps at once; beyond that, the ends are meant.
const FAR: usize = 10_000;

fn laid(model: &Model, page: &ThreadScreenPage, index: usize, columns: u16) -> PageItem {
    match index {
        HEADER => PageItem { laid: view::thread_header_in_page(model, columns), said: None },
        CODE => PageItem { laid: view::thread_code(model, page, columns), said: None },
        _ => comment(model, page, index - FIRST_COMMENT, columns),
    }
}

/// Wider than that, prose is hard to read.
const WIDEST: usize = 100;

fn comment(model: &Model, page: &ThreadScreenPage, index: usize, columns: u16) -> PageItem {
    let Some(said) = page.said(index, &model.making) else { return PageItem::default() };
    let columns = (columns as usize).saturating_sub(4).min(WIDEST);
    let replaced = page.code.meant();
    let look = MarkdownOptions {
        columns,
        theme: model.theme,
        unfolded: model.unfolded,
        path: &page.path,
        replaced: &replaced,
    };
    let mut laid = markdown::lay(&said.body, &look);
    if said.minimized.is_some() && !model.unfolded {
        // Whoever hid it on the forge did so for everybody who reads.
        laid.folded += laid.lines.len();
        laid.lines.clear();
    }
    PageItem { laid, said: Some(said) }
}
