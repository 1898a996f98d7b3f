//! A text in the person's own editor.

use std::env;
use std::io::Write;
use std::process::Stdio;
use tokio::process::Command;

/// What is used where the environment names none.
const USUAL: &str = "vi";

/// Runs the editor on a private file with this text, and gives what it left; a sentence where that does not work. Whoever
/// stops waiting ends the editor.
pub(super) async fn edit(text: &str) -> Result<String, String> {
    let command =
        ["VISUAL", "EDITOR"].iter().find_map(|name| env::var(name).ok().filter(|it| !it.trim().is_empty()));
    let command = command.unwrap_or_else(|| USUAL.to_owned());
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or(USUAL);
    let file = tempfile::Builder::new().prefix("cloture-").suffix(".md").tempfile();
    let mut file = file.map_err(|error| format!("no file could be made for the editor: {error}"))?;
    file.write_all(text.as_bytes())
        .map_err(|error| format!("the text could not be put into a file: {error}"))?;
    let mut editor = Command::new(program);
    editor.args(words).arg(file.path());
    editor.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit()).kill_on_drop(true);
    let ended = editor.status().await;
    let ended = ended.map_err(|error| format!("the editor `{program}` could not be started: {error}"))?;
    if !ended.success() {
        return Err(format!("the editor `{program}` ended with {ended}; the text is as it was"));
    }
    // Editors may put another file in its place, so it is opened again by its name.
    let text =
        std::fs::read(file.path()).map_err(|error| format!("the text could not be read back: {error}"))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
