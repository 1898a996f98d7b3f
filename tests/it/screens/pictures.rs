//! The pictures in the documentation show the program's real screens.

use super::world::{self, drawn, press};
use cloture::config;
use cloture::tui::Model;
use cloture::tui::svg::svg;
use std::path::PathBuf;

/// Set this to write the pictures instead of comparing them.
const WRITE: &str = "CLOTURE_WRITE_PICTURES";

fn model() -> Model {
    let (seen, now) = world::snapshots();
    let views = seen.iter().map(|snapshot| world::view(snapshot.clone(), *now, &world::row_builder()));
    world::model(world::board(views, *now), *now, config::ThemeName::Dark)
}

/// File name, title, keys that lead to the screen, and window size.
const PICTURES: [(&str, &str, &str, (u16, u16)); 5] = [
    ("watch", "cloture: pull requests, their loops and threads", "jjl", (120, 34)),
    ("watch-wide", "cloture: pull requests on a wide terminal", "jjl", (180, 36)),
    ("thread", "cloture: one thread with its code and comments", "2\n", (112, 44)),
    ("inbox", "cloture: the inbox", "2", (112, 20)),
    ("handoff", "cloture: tasks for coding agents at merge", "3", (112, 20)),
];

#[test]
fn the_pictures_show_the_current_screens() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("assets/pictures");
    let writes = std::env::var_os(WRITE).is_some();
    let mut stale = Vec::new();
    for (name, title, keys, (width, height)) in PICTURES {
        let mut model = model();
        drawn(&mut model, width, height);
        press(&mut model, keys);
        let picture = svg(&drawn(&mut model, width, height), title);
        let path = folder.join(format!("{name}.svg"));
        if writes {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, picture).unwrap();
        } else if std::fs::read_to_string(&path).unwrap_or_default() != picture {
            stale.push(name);
        }
    }
    assert!(
        stale.is_empty(),
        "{} no longer match the screens. Look at the change, then write the pictures again: \
         {WRITE}=1 cargo test --test it screens::pictures",
        stale.join(", ")
    );
}
