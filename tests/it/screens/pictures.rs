//! The pictures that people see before they run the program are its own screens, and stay so.

use super::world::{self, drawn, press};
use cloture::config;
use cloture::tui::Model;
use cloture::tui::svg::svg;
use std::path::PathBuf;

/// Set this to write the pictures instead of comparing them.
const WRITE: &str = "CLOTURE_WRITE_PICTURES";

fn model() -> Model {
    let (seen, now) = world::snapshots();
    let views = seen.iter().map(|snapshot| world::view(snapshot.clone(), *now, &world::making()));
    world::model(world::board(views, *now), *now, config::ThemeName::Dark)
}

/// The name of the file, what is shown, the keys that lead there, and how large the window is.
const PICTURES: [(&str, &str, &str, (u16, u16)); 5] = [
    ("watch", "cloture: pull requests, their loops and threads", "jjl", (120, 34)),
    ("watch-wide", "cloture: the same with room", "jjl", (180, 36)),
    ("thread", "cloture: one thread, its code and what was said", "2\n", (112, 44)),
    ("inbox", "cloture: what waits for a person", "2", (112, 20)),
    ("handoff", "cloture: what goes to coding agents at merge", "3", (112, 20)),
];

#[test]
fn the_pictures_show_the_screens_as_they_are() {
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
        "{} no longer shows what the program shows. Look at the change, then write the pictures again: \
         {WRITE}=1 cargo test --test it screens::pictures",
        stale.join(", ")
    );
}
