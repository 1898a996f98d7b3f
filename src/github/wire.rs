//! The shapes of GitHub's answers. A field that GitHub's schema allows to be null is an `Option`. Values of
//! enumerations stay text, because GitHub adds new ones.

mod polling;
mod reading;
mod writing;

pub(crate) use polling::*;
pub(crate) use reading::*;
pub(crate) use writing::*;

use super::error::Error;
use serde::Deserialize;
use std::collections::BTreeSet;

/// A page of a list. GitHub allows the list and each of its elements to be null.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound = "T: Deserialize<'de>")]
pub(crate) struct WireConnection<T> {
    pub(crate) nodes: Option<Vec<Option<T>>>,
    pub(crate) page_info: Option<PageInfo>,
    pub(crate) total_count: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageInfo {
    #[serde(default)]
    pub(crate) has_next_page: bool,
    pub(crate) end_cursor: Option<String>,
    #[serde(default)]
    pub(crate) has_previous_page: bool,
    pub(crate) start_cursor: Option<String>,
}

impl<T> WireConnection<T> {
    /// The elements that are not null.
    pub(crate) fn into_items(self) -> impl Iterator<Item = T> {
        self.nodes.into_iter().flatten().flatten()
    }

    /// The cursor of the next page. Without a cursor there is none, whatever `hasNextPage` says: asking again
    /// from the start would loop for ever.
    pub(crate) fn next(&self) -> Option<String> {
        self.page_info.as_ref().filter(|page| page.has_next_page)?.end_cursor.clone()
    }

    /// The cursor of the page before this one, for lists that are read from their end.
    pub(crate) fn previous(&self) -> Option<String> {
        self.page_info.as_ref().filter(|page| page.has_previous_page)?.start_cursor.clone()
    }
}

/// The cursors of one list that were followed. A server that repeats one, or always has another page, would be
/// followed for ever.
#[derive(Debug, Default)]
pub(crate) struct CursorTrail(BTreeSet<String>);

impl CursorTrail {
    /// With 100 entries on a page, ten times the longest list that a pull request can be read with in an hour.
    const MOST_PAGES: usize = 1000;

    /// The cursor, if it leads to a page that was not read yet. `what` is what the list is read for.
    pub(crate) fn follow(&mut self, next: Option<String>, what: &str) -> Result<Option<String>, Error> {
        let Some(next) = next else { return Ok(None) };
        let detail = if self.0.contains(&next) {
            "the list of pages leads back to a page that was read".to_owned()
        } else if self.0.len() >= Self::MOST_PAGES {
            format!("it has more than {} pages", Self::MOST_PAGES)
        } else {
            self.0.insert(next.clone());
            return Ok(Some(next));
        };
        Err(Error::Malformed { what: what.to_owned(), detail })
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct WireNode<T> {
    pub(crate) node: Option<T>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireActor {
    #[serde(rename = "__typename")]
    pub(crate) kind: String,
    pub(crate) login: String,
    pub(crate) database_id: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct WireOid {
    pub(crate) oid: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Id {
    pub(crate) id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NameWithOwner {
    pub(crate) name_with_owner: String,
}
