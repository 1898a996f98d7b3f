//! The world of the soak: repositories, accounts, Cloture's configuration and the programs that it runs.

use crate::support::harness::Place;
use cloture::simulator::Scenario;
use std::fmt::Write as _;

/// The size and the seed of a soak.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) seed: u64,
    pub(crate) pulls: usize,
    /// Hours of virtual time.
    pub(crate) hours: i64,
}

impl Size {
    /// The size for CI, unless the environment chooses another.
    pub(crate) fn of_environment() -> Size {
        fn said(name: &str) -> Option<u64> {
            let text = std::env::var(name).ok()?;
            Some(text.parse().unwrap_or_else(|_| panic!("{name} must be a number, and is {text}")))
        }
        Size {
            seed: said("CLOTURE_SOAK_SEED").unwrap_or(20_260_302),
            pulls: usize::try_from(said("CLOTURE_SOAK_PULLS").unwrap_or(220)).unwrap(),
            hours: i64::try_from(said("CLOTURE_SOAK_HOURS").unwrap_or(6)).unwrap(),
        }
    }
}

/// A repository and its share of the pull requests, in percent.
pub(crate) struct Repository {
    pub(crate) name: &'static str,
    share: usize,
    /// The bots that review by themselves.
    pub(crate) bots: &'static [&'static str],
    /// Its part of the configuration.
    config: &'static str,
}

pub(crate) const REPOSITORIES: [Repository; 6] = [
    Repository {
        name: "acme/shop",
        share: 30,
        bots: &["coderabbitai", "chatgpt-codex-connector"],
        config: "drive = true\nauthor = false\nreviewers = ['coderabbit', 'codex']\n",
    },
    Repository {
        name: "acme/fleet",
        share: 26,
        bots: &["copilot-pull-request-reviewer", "gemini-code-assist"],
        config: "drive = true\nauthor = false\nreviewers = ['copilot', 'gemini']\n",
    },
    // Only watched, and without named reviewers: every reviewer that shows itself is expected.
    Repository {
        name: "oss/parser",
        share: 18,
        bots: &["coderabbitai", "gemini-code-assist"],
        config: "drive = false\n",
    },
    // The author here never fixes anything, so that rounds are used up.
    Repository {
        name: "acme/billing",
        share: 10,
        bots: &["coderabbitai"],
        config: "drive = true\nauthor = true\nreviewers = ['coderabbit']\n",
    },
    Repository {
        name: "acme/mail",
        share: 8,
        bots: &[],
        config: "drive = true\nauthor = false\nreviewers = ['orange']\n",
    },
    Repository {
        name: "acme/post",
        share: 8,
        bots: &[],
        config: "drive = true\nauthor = false\nreviewers = ['lemon']\n",
    },
];

/// Our account. Nobody else uses it, so everything it wrote is Cloture's.
pub(crate) const VIEWER: &str = "dana";

/// A pull request as the other accounts know it.
#[derive(Debug)]
pub(crate) struct Pull {
    /// `owner/name#number`
    pub(crate) name: String,
    pub(crate) bots: &'static [&'static str],
    pub(crate) author: &'static str,
    /// The threads that bots opened: the scenario's name and the bot.
    pub(crate) threads: Vec<(String, &'static str)>,
    pub(crate) pushes: usize,
}

pub(crate) const FILES: [&str; 3] = ["src/cart.rs", "src/stock.rs", "src/price.rs"];

/// A version of a file. Each push moves some lines and leaves others, so that some findings lose their place.
pub(crate) fn file(version: usize) -> String {
    let mut text = String::new();
    for line in 1..=24 {
        if version > 0 && line == version % 7 * 3 {
            let _infallible = writeln!(text, "// Inserted by version {version}.");
        }
        let state = if version > 0 && line % 6 == version % 6 { version } else { 0 };
        let _infallible =
            writeln!(text, "pub fn step_{line}(total: u64) -> u64 {{ total - {line} * {state} }}");
    }
    text
}

/// The scenario, and its pull requests as the other accounts know them.
pub(crate) fn scenario(size: Size) -> (Scenario, Vec<Pull>) {
    let mut text = String::from(
        "title = 'A soak'\nstart = '2026-03-02T09:00:00Z'\nviewer = 'dana'\n\
         [[account]]\nlogin = 'dana'\n[[account]]\nlogin = 'erin'\n[[account]]\nlogin = 'mika'\n\
         [[account]]\nlogin = 'mallory'\n[[account]]\nlogin = 'fixer'\nkind = 'bot'\nid = 4100200\n\
         [[account]]\nlogin = 'coderabbitai'\nkind = 'bot'\nid = 136622811\n\
         [[account]]\nlogin = 'chatgpt-codex-connector'\nkind = 'bot'\nid = 199175422\n\
         [[account]]\nlogin = 'copilot-pull-request-reviewer'\nkind = 'bot'\nid = 175728472\n\
         [[account]]\nlogin = 'gemini-code-assist'\nkind = 'bot'\nid = 176961590\n",
    );
    let mut pulls = Vec::new();
    for repository in &REPOSITORIES {
        let name = repository.name;
        let _infallible = write!(
            text,
            "[[repository]]\nname = '{name}'\nmembers = {{ dana = 'owner', erin = 'collaborator', mika = 'member' }}\n\
             labels = ['cloture:break-glass', 'bug']\n[repository.files]\n'README.md' = 'Nothing yet.'\n"
        );
        for number in 1..=(size.pulls * repository.share / 100).max(1) {
            let author = ["erin", "mika", "fixer"][number % 3];
            let _infallible = write!(
                text,
                "[[pull_request]]\nrepository = '{name}'\nnumber = {number}\ntitle = 'Change {number}'\n\
                 author = '{author}'\ncreated = '-5m'\nbranch = 'change-{number}'\n[pull_request.files]\n"
            );
            for path in FILES {
                let _infallible = writeln!(text, "'{path}' = '''\n{}'''", file(0));
            }
            let (bots, threads) = (repository.bots, Vec::new());
            pulls.push(Pull { name: format!("{name}#{number}"), bots, author, threads, pushes: 0 });
        }
    }
    (Scenario::parse(&text, "soak.toml").unwrap(), pulls)
}

/// A reviewer with random answers, the same for the same question. It converges, never yields, changes its
/// mind, leaves threads out, repeats itself, answers nonsense, fails, or does not answer in time.
const REVIEWER: &str = r#"
exec awk -v seed="$SEED" -v protocol="$PROTOCOL" '
function number(text, name) { if (!match(text, "\"" name "\": *[0-9]+")) return 0; text = substr(text, RSTART, RLENGTH); sub(/.*: */, "", text); return text + 0 }
function chance(below) { return int(rand() * below) }
function finding(n,  title, severity) {
  split("The subtraction underflows|Two writers lose an update|An empty list panics|The retry never ends", title, "|")
  split("critical|high|medium|low", severity, "|")
  return sprintf("{\"path\": \"src/%s.rs\", \"line\": %d, \"end_line\": %d, \"title\": \"%s\", \"body\": \"It breaks. Fix it.\", \"severity\": \"%s\", \"category\": \"bug\", \"suggestion\": null}", n % 2 ? "cart" : "stock", 3 + n * 5, 3 + n * 5, title[n], severity[1 + chance(4)])
}
{ all = all $0 " " }
END {
  match(all, /"cycle": *[{][^}]*[}]/); cycle = substr(all, RSTART, RLENGTH)
  match(all, /"pull_request": *[{][^}]*[}]/); pull = substr(all, RSTART, RLENGTH)
  srand(seed + number(cycle, "number") * 7919 + number(cycle, "attempt") * 104729 + number(pull, "number") * 31)
  fate = chance(100)
  if (fate < 4) { print "I think that it is fine."; exit 0 }
  if (fate < 7) exit 3
  if (fate < 9) exit 0
  if (fate < 10) { system("sleep 5"); exit 0 }
  threads = all; sub(/.*"threads": *\[/, "", threads); sub(/\], *"settled".*/, "", threads)
  actions = ""
  while (protocol == "actions" && match(threads, /"id": *"[^"]*"/)) {
    id = substr(threads, RSTART, RLENGTH); threads = substr(threads, RSTART + RLENGTH); sub(/"id": *"/, "", id); sub(/"$/, "", id)
    if (fate < 14 && actions == "") { actions = " "; continue }
    if (fate < 17) id = id "x"
    choice = chance(100); stance = "seeks_change"; action = "reply"
    if (choice < 30) { stance = "accepts"; action = "resolve" }
    else if (choice < 42) stance = "accepts"
    else if (choice < 48) action = "veto"
    else if (choice < 54) action = "escalate"
    actions = actions (actions ~ /[{]/ ? ", " : "") sprintf("{\"thread\": \"%s\", \"action\": \"%s\", \"stance\": \"%s\", \"body\": \"Look %d: %s.\"}", id, action, stance, number(cycle, "number"), action)
  }
  findings = ""
  for (n = 1; n <= 4; n++) if (chance(100) < (protocol == "findings" ? 45 : number(cycle, "number") == 1 ? 50 : 8)) findings = findings (findings == "" ? "" : ", ") finding(n)
  if (protocol == "actions") printf "{\"actions\": [%s], ", actions; else printf "{"
  printf "\"findings\": [%s], \"summary\": \"Look %d.\"}", findings, number(cycle, "number")
}'
"#;

/// Cloture's configuration.
pub(crate) fn config(place: &Place, size: Size) -> String {
    let reviewer = |name: &str, protocol: &str| {
        let settings = format!("SEED={} PROTOCOL={protocol}", size.seed % 1_000_000);
        let command = place.script(name, &format!("{settings}\n{REVIEWER}"));
        format!(
            "[[reviewers]]\nname = '{name}'\nkind = 'program'\nprotocol = '{protocol}'\ncommand = ['{command}']\n\
             timeout = 2\n"
        )
    };
    let agent = place.script("agent", "cat > /dev/null; echo \"$CLOTURE_TASK_KEY\" >> \"$here/tasks\"");
    let author = place.script("author", "cat > /dev/null");
    let checkout = place.path("checkout");
    std::fs::create_dir_all(&checkout).unwrap();
    let mut config = format!(
        "[author]\nkind = 'program'\ncommand = ['{author}']\ncheckout = '{}'\n{}{}\
         [handoff]\nmode = 'threshold_auto'\n\
         [[handoff.targets]]\nname = 'default'\nkind = 'issue'\nlabels = ['ai-fix']\n\
         [[handoff.targets]]\nname = 'workflow'\nkind = 'repository_dispatch'\nevent_type = 'fix'\n\
         [[handoff.targets]]\nname = 'mention'\nkind = 'comment'\nbody = '@agent fix these'\n\
         [[handoff.targets]]\nname = 'agent'\nkind = 'command'\ncommand = ['{agent}']\n\
         [[handoff.routes]]\ntarget = 'workflow'\npaths = ['src/stock.rs']\nmin_severity = 'critical'\n\
         [[handoff.routes]]\ntarget = 'agent'\npaths = ['src/stock.rs']\n\
         [[handoff.routes]]\ntarget = 'mention'\npaths = ['src/price.rs']\n",
        checkout.display(),
        reviewer("orange", "actions"),
        reviewer("lemon", "findings"),
    );
    for repository in &REPOSITORIES {
        let _infallible =
            write!(config, "[[repositories]]\nname = '{}'\n{}", repository.name, repository.config);
    }
    config
}
