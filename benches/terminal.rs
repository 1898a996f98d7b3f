//! Measures the terminal: the release program in a pseudo-terminal, over a simulator in another process.
//!
//! ```sh
//! cargo bench --bench terminal                 # everything, some minutes
//! cargo bench --bench terminal -- start keys   # parts: size, start, keys, idle, demo
//! ```
//!
//! It prints each figure with its limit, and fails if one is exceeded. Nothing else should run on the
//! machine. With `CLOTURE_PROGRAM` it measures that program instead of building one.

#![expect(clippy::unwrap_used, reason = "a benchmark whose set-up fails has nothing to measure")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
#![expect(clippy::cast_precision_loss, reason = "figures are printed with a digit or two")]

#[cfg(unix)]
#[path = "terminal/pty.rs"]
mod pty;
#[cfg(unix)]
#[path = "terminal/world.rs"]
mod world;

fn main() {
    #[cfg(unix)]
    measure::run();
    #[cfg(not(unix))]
    println!("pseudo-terminals are measured on Unix only");
}

/// The program to measure.
#[cfg(unix)]
fn program() -> String {
    std::env::var("CLOTURE_PROGRAM").unwrap_or_else(|_| env!("CARGO_BIN_EXE_cloture").to_owned())
}

#[cfg(unix)]
mod measure {
    use super::program;
    use super::pty::Pty;
    use super::world::World;
    use std::time::{Duration, Instant};

    /// The names of the parts.
    const PARTS: [&str; 5] = ["size", "start", "keys", "idle", "demo"];

    const STARTS: usize = 30;
    const KEYS: usize = 300;
    /// The pace of a person who types fast.
    const BETWEEN_KEYS: Duration = Duration::from_millis(70);
    const IDLE: Duration = Duration::from_mins(1);

    const PULL_REQUESTS: usize = 500;
    const THREADS: usize = 40;

    pub(super) fn run() {
        let named: Vec<String> = std::env::args().skip(1).filter(|part| !part.starts_with('-')).collect();
        for part in &named {
            assert!(PARTS.contains(&part.as_str()), "{part} is not one of {}", PARTS.join(", "));
        }
        let is_selected = |part: &str| named.is_empty() || named.iter().any(|name| name == part);
        let mut table = Table::default();
        if is_selected("size") {
            let size = std::fs::metadata(program()).unwrap().len();
            table.row("release program", size as f64 / 1e6, "MB", Some(25.0));
        }
        if is_selected("start") {
            starts("12 pull requests", &World::new(12, 6, false), 12, &mut table, Some(20.0));
        }
        if is_selected("demo") {
            demo(&mut table);
        }
        if is_selected("start") || is_selected("keys") || is_selected("idle") {
            large(&is_selected, &mut table);
        }
        println!("\n{}", table.text);
        assert!(table.broken.is_empty(), "limits exceeded: {}", table.broken.join(", "));
    }

    /// The time from exec to the first frame and to all pull requests, with a journal that holds them.
    fn starts(what: &str, world: &World, rows: usize, table: &mut Table, limit: Option<f64>) {
        world.warm();
        let (mut bytes, mut frames) = (Vec::new(), Vec::new());
        for _ in 0..STARTS {
            let mut shown = world.start();
            let first = shown.until("its first bytes", vt100::Screen::alternate_screen);
            let frame = shown.until("a pull request", |screen| screen.contents().contains("acme/shop#"));
            bytes.push(first);
            frames.push(frame);
            shown.until("all of them", |screen| {
                screen.contents().matches("acme/shop#").count() >= rows.min(10)
            });
            shown.quit();
        }
        table.row(&format!("first bytes, {what}, median"), median(&mut bytes), "ms", None);
        table.row(&format!("first frame, {what}, median"), median(&mut frames), "ms", limit);
        table.row(&format!("first frame, {what}, p99"), percentile(&mut frames, 99), "ms", None);
    }

    fn demo(table: &mut Table) {
        let folder = tempfile::tempdir().unwrap();
        let mut shown = Pty::start(&program(), &["demo"], folder.path(), &[]);
        shown.until("the demo", |screen| screen.contents().contains("acme/shop#"));
        shown.read_for(Duration::from_secs(20));
        table.row("resident memory, demo after 20 s", shown.resident(), "MB", Some(26.0));
        // By then the demo has shown everything once.
        shown.read_for(Duration::from_secs(100));
        table.row("resident memory, demo, at most in two minutes", shown.most_resident(), "MB", Some(26.0));
        shown.quit();
    }

    fn large(is_selected: &impl Fn(&str) -> bool, table: &mut Table) {
        let what = format!("{PULL_REQUESTS} pull requests × {THREADS} threads");
        let world = World::new(PULL_REQUESTS, THREADS, true);
        world.warm();
        if is_selected("start") {
            starts(&what, &world, PULL_REQUESTS, table, None);
        }
        let mut shown = world.start();
        shown.until("everything", |screen| screen.contents().contains("next poll in"));
        if is_selected("keys") {
            let mut painted = Vec::new();
            let before = shown.received();
            let began = Instant::now();
            for round in 0..KEYS {
                // Down and up again, so that the cursor never reaches the end.
                let key = if (round / 20) % 2 == 0 { "j" } else { "k" };
                painted.push(shown.painted(key));
                shown.read_for(BETWEEN_KEYS);
            }
            let streamed = shown.received() - before;
            println!("{streamed} bytes in {:.0} s of keys", began.elapsed().as_secs_f64());
            table.row(
                &format!("key to painted frame, {what}, p50"),
                percentile(&mut painted, 50),
                "ms",
                None,
            );
            table.row(
                &format!("key to painted frame, {what}, p99"),
                percentile(&mut painted, 99),
                "ms",
                Some(16.0),
            );
            table.row(
                &format!("key to painted frame, {what}, most"),
                percentile(&mut painted, 100),
                "ms",
                None,
            );
        }
        table.row(&format!("resident memory, {what}"), shown.resident(), "MB", Some(120.0));
        shown.quit();
        if is_selected("idle") {
            let quiet = World::new(12, 6, false);
            quiet.warm();
            let mut shown = quiet.start();
            shown.until("everything", |screen| screen.contents().contains("next poll in"));
            shown.read_for(Duration::from_secs(5));
            let (bytes, cpu) = (shown.received(), shown.processor_time());
            shown.read_for(IDLE);
            let seconds = IDLE.as_secs_f64();
            let (bytes, cpu) = (shown.received() - bytes, shown.processor_time() - cpu);
            table.row("idle output", bytes as f64 / seconds, "B/s", Some(100.0));
            table.row("idle processor time", 100.0 * cpu / seconds, "%", Some(0.5));
            table.row("resident memory, 12 pull requests", shown.resident(), "MB", None);
            shown.quit();
        }
    }

    fn median(values: &mut [f64]) -> f64 {
        percentile(values, 50)
    }

    fn percentile(values: &mut [f64], percent: usize) -> f64 {
        values.sort_by(f64::total_cmp);
        let index = (values.len() * percent).div_ceil(100).clamp(1, values.len()) - 1;
        values[index]
    }

    #[derive(Default)]
    struct Table {
        text: String,
        broken: Vec<String>,
    }

    impl Table {
        fn row(&mut self, what: &str, value: f64, unit: &str, limit: Option<f64>) {
            let shown = limit.map_or_else(String::new, |limit| format!("≤ {limit} {unit}"));
            let line = format!("{what:<70} {value:>9.2} {unit:<4} {shown}");
            println!("{line}");
            self.text.push_str(&line);
            self.text.push('\n');
            if limit.is_some_and(|limit| value > limit) {
                self.broken.push(what.to_owned());
            }
        }
    }
}
