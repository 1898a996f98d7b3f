//! The shapes of GitHub's answers. Whatever its schema lets be null is an `Option`; fields we did not ask for
//! are ignored; words of its enumerations stay text, since it adds new ones.

mod polling;
mod reading;
mod writing;

pub(crate) use polling::*;
pub(crate) use reading::*;
pub(crate) use writing::*;

use serde::Deserialize;

/// A page of a list. GitHub lets the list itself and each element of it be null.
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
    /// The elements that are there.
    pub(crate) fn into_items(self) -> impl Iterator<Item = T> {
        self.nodes.into_iter().flatten().flatten()
    }

    /// Where the next page begins. A server that promises more without saying where has no more: asking again
    /// from the start would never end.
    pub(crate) fn next(&self) -> Option<String> {
        self.page_info.as_ref().filter(|page| page.has_next_page)?.end_cursor.clone()
    }

    /// Where the page before this one ends, for lists read from their end.
    pub(crate) fn previous(&self) -> Option<String> {
        self.page_info.as_ref().filter(|page| page.has_previous_page)?.start_cursor.clone()
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
