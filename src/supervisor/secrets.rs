//! The secrets that Cloture knows, so that no text with one of them leaves (S2).

use crate::agents::secret::SecretScanner;
use crate::config::{Config, TargetKind};
use crate::github::{Client, token};
use crate::journal::JournalAddress;
use crate::reviewers::adapters::{Adapter, ApiKey, Program};
use std::path::Path;
use tokio::io::AsyncReadExt;

/// Bytes that are read of a file with secrets.
const LARGEST_FILE: u64 = 64 * 1024;
/// The shortest word of a sign-in file that counts as a secret.
const SHORTEST_WORD: usize = 20;

/// The token, the variables that the configuration passes on, and the keys and sign-in files that it names.
/// Files that cannot be read are left out: whoever needs them says so.
pub async fn scanner(
    config: &Config,
    client: &Client,
    environment: &(dyn Fn(&str) -> Option<String> + Sync),
) -> SecretScanner {
    let own = client.clone();
    let mut secrets =
        SecretScanner::default().knowing_later("Cloture's own GitHub token", move || own.token());
    // Whether Cloture uses it or not.
    for name in token::VARIABLES {
        if let Some(value) = environment(name) {
            secrets = secrets.knowing(format!("the value of the variable {name}"), &value);
        }
    }
    if let Some(text) = read(config.github.token_file.as_deref()).await {
        secrets = secrets.knowing("the token in the token file", &text);
    }
    for password in config.journal.server.iter().flat_map(JournalAddress::passwords) {
        secrets = secrets.knowing("the password of the journal's database", password);
    }
    for reviewer in &config.reviewers {
        let name = &reviewer.name;
        match &reviewer.adapter {
            Some(Adapter::OpenAi(endpoint)) => {
                let key = match &endpoint.api_key {
                    Some(ApiKey::Variable(variable)) => environment(variable),
                    Some(ApiKey::File(file)) => read(Some(file)).await,
                    None => None,
                };
                secrets = secrets.knowing(format!("the API key of {name}"), &key.unwrap_or_default());
            }
            Some(Adapter::Program(program)) => secrets = with_variables(secrets, program, environment),
            Some(Adapter::Claude(agent) | Adapter::Codex(agent)) => {
                secrets = with_variables(secrets, &agent.program, environment);
            }
            None => {}
        }
        for file in reviewer.adapter.iter().flat_map(Adapter::sign_in_files) {
            let text = read(Some(&file)).await.unwrap_or_default();
            let is_apart = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '=' | '\\');
            for word in text.split(is_apart).filter(|word| word.len() >= SHORTEST_WORD) {
                secrets = secrets.knowing(format!("a part of {name}'s sign-in file"), word);
            }
        }
    }
    if let Some(agent) = &config.author.agent {
        secrets = with_variables(secrets, &agent.program, environment);
    }
    for kind in config.targets.values() {
        match kind {
            TargetKind::Command { program, .. } => secrets = with_variables(secrets, program, environment),
            TargetKind::Webhook { secret_env: Some(variable), .. } => {
                let secret = environment(variable).unwrap_or_default();
                secrets = secrets.knowing(format!("the value of the variable {variable}"), &secret);
            }
            TargetKind::Webhook { .. }
            | TargetKind::Issue { .. }
            | TargetKind::RepositoryDispatch { .. }
            | TargetKind::Comment { .. } => {}
        }
    }
    secrets
}

fn with_variables(
    secrets: SecretScanner,
    program: &Program,
    environment: &(dyn Fn(&str) -> Option<String> + Sync),
) -> SecretScanner {
    program.env.iter().fold(secrets, |secrets, name| {
        let value = environment(name).unwrap_or_default();
        secrets.knowing_variable(name, &value)
    })
}

async fn read(path: Option<&Path>) -> Option<String> {
    // A pipe or a device could keep the start waiting for ever.
    tokio::fs::metadata(path?).await.ok().filter(std::fs::Metadata::is_file)?;
    let file = tokio::fs::File::open(path?).await.ok()?;
    let mut text = Vec::new();
    file.take(LARGEST_FILE).read_to_end(&mut text).await.ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}
