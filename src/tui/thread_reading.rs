//! The scroll position in a thread. A thread can have ten thousand comments, so the position is an item and a
//! line in it, and only the items around it are laid out, each once.

use super::markdown::{self, MarkdownLines, MarkdownOptions};
use super::model::{Model, Screen};
use super::rows::page::{PostedText, ThreadScreenPage, page};
use super::theme::Theme;
use super::view;
use crate::domain::vocabulary::ThreadId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Kept between two messages while a thread is on the screen.
#[derive(Debug, Clone, Default)]
pub(super) struct ThreadReading {
    /// The item at the top of the screen, and how many of its lines are scrolled away.
    pub(super) at: ScrollPosition,
    cached: Option<CachedPage>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ScrollPosition {
    pub(super) item: usize,
    pub(super) line: usize,
}

/// The items of a page, in order: the header, if it does not fit above; the code; the comments.
pub(super) const HEADER: usize = 0;
pub(super) const CODE: usize = 1;
pub(super) const FIRST_COMMENT: usize = 2;

/// How many items stay laid out; more than any screen shows.
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

#[derive(Debug, Clone, Default)]
pub(super) struct PageItem {
    pub(super) laid: MarkdownLines,
    /// The comment, if the item is one; its heading is drawn later, because the age in it changes.
    pub(super) comment: Option<PostedText>,
}

impl PageItem {
    /// A comment also has an empty line and a heading.
    pub(super) fn height(&self) -> usize {
        self.laid.lines.len() + if self.comment.is_some() { 2 } else { 0 }
    }
}

impl ThreadReading {
    pub(super) fn page(&self) -> Option<&ThreadScreenPage> {
        self.cached.as_ref().map(|cached| &*cached.page)
    }

    /// The number of items.
    pub(super) fn count(&self) -> usize {
        self.page().map_or(0, |page| FIRST_COMMENT + page.len())
    }

    /// Updates the cached page from the model. Returns false if the thread is gone.
    pub(super) fn refresh(&mut self, model: &Model, columns: u16) -> bool {
        let Screen::Thread { address, id, .. } = &model.screen else {
            *self = ThreadReading::default();
            return false;
        };
        let Some(pull) = model.data.pulls.get(address) else { return false };
        let (unfolded, theme) = (model.page.unfolded, model.theme);
        if self.cached.as_ref().is_some_and(|cached| cached.id != *id) {
            *self = ThreadReading::default();
        }
        if let Some(cached) = &mut self.cached
            && cached.page.is_of(&pull.view)
        {
            if (cached.columns, cached.unfolded, cached.theme) != (columns, unfolded, theme) {
                (cached.columns, cached.unfolded, cached.theme) = (columns, unfolded, theme);
                cached.laid.clear();
            }
            return true;
        }
        let page = page(&pull.view, id).map(Arc::new);
        self.cached = page.map(|page| CachedPage {
            id: id.clone(),
            columns,
            unfolded,
            theme,
            page,
            laid: BTreeMap::new(),
        });
        self.cached.is_some()
    }

    /// An item of the page, laid out on first use.
    pub(super) fn item(&mut self, model: &Model, index: usize) -> Arc<PageItem> {
        let around = self.at.item;
        let Some(cached) = &mut self.cached else { return Arc::default() };
        if cached.laid.len() > KEPT_ITEMS {
            let near = around.saturating_sub(KEPT_ITEMS / 4)..around + KEPT_ITEMS / 2;
            cached.laid.retain(|item, _| near.contains(item));
        }
        let (page, columns) = (Arc::clone(&cached.page), cached.columns);
        Arc::clone(
            cached.laid.entry(index).or_insert_with(|| Arc::new(lay_out(model, &page, index, columns))),
        )
    }

    /// Scrolls up or down, at most to the last page.
    pub(super) fn step(&mut self, model: &Model, by: isize, height: usize) {
        if by < 0 {
            let mut left = by.unsigned_abs();
            while left > self.at.line && self.at.item > 0 {
                left -= self.at.line;
                // Do not lay out everything on the way to the top.
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
            self.at = self.normalized(model, to).min(last);
        }
    }

    /// Goes to the start of another comment.
    pub(super) fn jump(&mut self, by: isize) {
        let last = self.count().saturating_sub(1);
        let inside = self.at.line > 0 && by < 0;
        let item = if inside { self.at.item } else { self.at.item.saturating_add_signed(by) };
        let item = if by > 0 { item.max(FIRST_COMMENT) } else { item };
        // Above the first comment comes the top of the page.
        self.at = ScrollPosition { item: if item < FIRST_COMMENT { 0 } else { item.min(last) }, line: 0 };
    }

    /// The position at which the page ends at the bottom of the screen.
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

    /// Whether the whole page is on the screen.
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

    /// The same place, as a line that its item has.
    fn normalized(&mut self, model: &Model, mut at: ScrollPosition) -> ScrollPosition {
        while at.item + 1 < self.count() {
            let tall = self.item(model, at.item).height();
            if at.line < tall {
                break;
            }
            at = ScrollPosition { item: at.item + 1, line: at.line - tall };
        }
        at
    }

    /// Lays out the items on the screen, so drawing need not.
    pub(super) fn lay_out_visible(&mut self, model: &Model, height: usize) {
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

/// A longer step goes to the first or last page.
const FAR: usize = 10_000;

fn lay_out(model: &Model, page: &ThreadScreenPage, index: usize, columns: u16) -> PageItem {
    match index {
        HEADER => PageItem { laid: view::thread_header_in_page(model, columns), comment: None },
        CODE => PageItem { laid: view::thread_code(model, page, columns), comment: None },
        _ => comment(model, page, index - FIRST_COMMENT, columns),
    }
}

/// Wider prose is hard to read.
const WIDEST: usize = 100;

fn comment(model: &Model, page: &ThreadScreenPage, index: usize, columns: u16) -> PageItem {
    let Some(comment) = page.comment_text(index, &model.row_builder) else { return PageItem::default() };
    let columns = (columns as usize).saturating_sub(4).min(WIDEST);
    let replaced = page.code.lines_to_replace();
    let options = MarkdownOptions {
        columns,
        theme: model.theme,
        unfolded: model.page.unfolded,
        path: &page.path,
        replaced: &replaced,
    };
    let mut laid = markdown::render(&comment.body, &options);
    if comment.minimized.is_some() && !model.page.unfolded {
        // Hidden on GitHub, so folded here.
        laid.folded += laid.lines.len();
        laid.lines.clear();
    }
    PageItem { laid, comment: Some(comment) }
}
