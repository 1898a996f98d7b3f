//! The fault matrix: every fault at every operation. For each cell the test asserts three things: the forge
//! and every other receiver end exactly as without the fault, a sentence tells the person at the screen what
//! happened, and nothing is retried without end. The test prints the matrix as a table.
#![cfg(unix)]

mod author;
mod dispatches;
mod hook;
mod journal;
mod poll;
mod programs;
mod stage;
mod state;
mod table;
mod trouble;
mod without_journal;
mod writes;

use crate::support::simulated;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use table::{Cell, Table, Told};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use trouble::Trouble;

/// Cells wait more than they compute: for answers that never come, and for the disk.
const AT_ONCE: usize = 48;
/// Whole programs compute more, but those that hang for half a minute compute nothing.
const PROGRAMS_AT_ONCE: usize = 10;

type Running = Pin<Box<dyn Future<Output = Told> + Send>>;

/// An operation: its name, and a cell for each fault, or the reason why that fault cannot happen to it.
pub(crate) struct Operation {
    pub(crate) name: String,
    pub(crate) runs_programs: bool,
    pub(crate) under: Box<dyn Fn(Trouble) -> Result<Running, &'static str> + Send + Sync>,
}

async fn operations() -> Vec<Operation> {
    let mut all = vec![poll::operation().await];
    all.extend(programs::operations());
    all.extend(writes::operations().await);
    all.push(dispatches::reviewer().await);
    all.push(author::operation().await);
    all.extend(dispatches::targets().await);
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_is_lost_and_nothing_done_twice_whatever_fails() {
    let (cells, programs) = (Semaphore::new(AT_ONCE), Semaphore::new(PROGRAMS_AT_ONCE));
    let (cells, programs) = (Arc::new(cells), Arc::new(programs));
    let mut table = Table::default();
    let mut running = JoinSet::new();
    let operations = operations().await;
    for (row, operation) in operations.iter().enumerate() {
        table.operations.push(operation.name.clone());
        for trouble in Trouble::ALL {
            match (operation.under)(trouble) {
                Err(why) => table.set(row, trouble, Cell::Nonsense(why)),
                Ok(cell) => {
                    let gate = Arc::clone(if operation.runs_programs { &programs } else { &cells });
                    running.spawn(async move {
                        let _turn = gate.acquire().await.unwrap();
                        // A cell that panics has failed, and the table still shows the others.
                        let told = tokio::spawn(cell).await;
                        (row, trouble, told.unwrap_or_else(|error| Told::broken(format!("{error}"))))
                    });
                }
            }
        }
    }
    while let Some(finished) = running.join_next().await {
        let (row, trouble, told) = finished.unwrap();
        table.set(row, trouble, Cell::Ran(told));
    }
    simulated::show(&table.to_string());
    let broken = table.broken();
    assert!(broken.is_empty(), "{} cells are broken:\n{}", broken.len(), broken.join("\n"));
    assert_eq!(table.len(), operations.len() * Trouble::ALL.len(), "every cell is there");
}
