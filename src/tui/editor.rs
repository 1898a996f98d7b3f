//! Opens a text in the person's own editor.

use crate::github::token;
use std::env;
use std::io::Write;
use std::process::Stdio;
use tokio::process::Command;

/// The editor if the environment names none.
const DEFAULT_EDITOR: &str = "vi";

/// Runs the editor on a private file with this text, and returns the edited text or a sentence about the
/// failure. Dropping the future ends the editor.
pub(super) async fn edit(text: &str) -> Result<String, String> {
    let command =
        ["VISUAL", "EDITOR"].iter().find_map(|name| env::var(name).ok().filter(|it| !it.trim().is_empty()));
    let command = command.unwrap_or_else(|| DEFAULT_EDITOR.to_owned());
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or(DEFAULT_EDITOR);
    let file = tempfile::Builder::new().prefix("cloture-").suffix(".md").tempfile();
    let mut file = file.map_err(|error| format!("Cannot make a file for the editor: {error}"))?;
    file.write_all(text.as_bytes())
        .map_err(|error| format!("Cannot write the text to a file for the editor: {error}"))?;
    let mut editor = Command::new(program);
    editor.args(words).arg(file.path());
    // S2: an editor runs plug-ins, which need no token.
    for name in token::VARIABLES {
        editor.env_remove(name);
    }
    editor.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit()).kill_on_drop(true);
    let ended = editor.status().await;
    let ended = ended
        .map_err(|error| format!("Cannot start the editor `{program}`: {error}. Set VISUAL or EDITOR."))?;
    if !ended.success() {
        return Err(format!("The editor `{program}` ended with {ended}. The text is unchanged."));
    }
    // Some editors replace the file, so read it by its name.
    let text = std::fs::read(file.path()).map_err(|error| format!("Cannot read the edited text: {error}"))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
