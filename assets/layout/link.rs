//! The build script: how a release is put together.
//!
//! A page of the program is read and mapped when one function in it is called, and its neighbours come with it. In the
//! order in which a linker finds them, functions that every run calls stand between twice as many that few runs do, so
//! that nearly all of the program ends up in memory. `functions.txt` names those that are called; here the linker is
//! asked to put them side by side. It is also asked to write down in short what has to be put right when the program is
//! loaded, a list that is otherwise read as a whole at every start.
//!
//! Neither changes what the program does, so whatever a linker or a system does not know is left out. `.ci/layout` makes
//! the list anew.

#![expect(clippy::print_stdout, reason = "a build script speaks to cargo by its output")]

use std::collections::BTreeSet;
use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whether the program keeps the names of its functions. A profile could say so as well, but it is part of what the hashes in
/// these names are made from.
const KEEP_NAMES: &str = "CLOTURE_KEEP_NAMES";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=assets/layout");
    println!("cargo:rerun-if-env-changed={KEEP_NAMES}");
    if env::var("PROFILE")? != "release" {
        return Ok(());
    }
    let functions = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("assets/layout/functions.txt");
    let script = PathBuf::from(env::var("OUT_DIR")?).join("layout.ld");
    fs::write(&script, linker_script(&fs::read_to_string(functions)?))?;
    let in_order = [format!("-Wl,-T,{}", script.display())];
    let in_short = ["-Wl,-z,pack-relative-relocs".to_owned()];
    let without_names = ["-Wl,--strip-all".to_owned()];
    let keeps_names = env::var_os(KEEP_NAMES).is_some();
    let trial = Trial::new()?;
    for arguments in [&in_order[..], &in_short[..], &without_names[..]] {
        let is_wanted = !(keeps_names && arguments == without_names);
        if is_wanted && trial.works(arguments)? {
            for argument in arguments {
                println!("cargo:rustc-link-arg-bins={argument}");
            }
        }
    }
    Ok(())
}

/// Puts the functions that are called into a section of their own, before all others.
///
/// A name ends in a hash that is another one as soon as a dependency has another version, and sometimes in a number that
/// tells copies apart. So the very functions come first, and after them whatever has the same name but for that: then a
/// list that is out of date still does most of what it is for. What the compiler takes for unlikely, such as a table that
/// grows, has sections of another name, and is called all the same.
fn linker_script(functions: &str) -> String {
    let mut script = "SECTIONS {\n  .text.called : {\n".to_owned();
    let mut section = |pattern: &str| {
        for name in [".text.", ".text.unlikely."] {
            script.extend(["    *(", name, pattern, ")\n"]);
        }
    };
    functions.lines().for_each(&mut section);
    let names: BTreeSet<&str> = functions.lines().map(without_number).collect();
    for name in names.iter().filter(|name| without_hash(name).is_none()) {
        section(name);
        section(&format!("{name}.*"));
    }
    let names: BTreeSet<&str> = names.into_iter().filter_map(without_hash).collect();
    for name in names {
        section(&format!("{name}17h*"));
    }
    script.push_str("  }\n}\nINSERT BEFORE .text;\n");
    script
}

/// `sqlite3Step.part.0` without what follows the name.
fn without_number(function: &str) -> &str {
    let Some((name, number)) = function.rsplit_once('.') else { return function };
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return function;
    }
    let kinds = [".constprop", ".isra", ".llvm", ".part"];
    kinds.iter().find_map(|kind| name.strip_suffix(kind)).unwrap_or(name)
}

/// `_ZN4core3foo17h0123456789abcdefE` without what follows `foo`; none for a name that has no hash.
fn without_hash(function: &str) -> Option<&str> {
    let (name, hash) = function.strip_suffix('E')?.rsplit_once("17h")?;
    (hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(name)
}

/// The smallest program there is, built as the real one will be.
struct Trial {
    source: PathBuf,
    program: PathBuf,
    target: String,
}

impl Trial {
    fn new() -> Result<Trial, Box<dyn Error>> {
        let folder = PathBuf::from(env::var("OUT_DIR")?);
        let source = folder.join("trial.rs");
        fs::write(&source, "fn main() {}\n")?;
        Ok(Trial { source, program: folder.join("trial"), target: env::var("TARGET")? })
    }

    /// Whether it can be linked so and then runs. What is built for another machine cannot be tried.
    fn works(&self, arguments: &[String]) -> Result<bool, Box<dyn Error>> {
        if env::var("HOST")? != self.target {
            return Ok(false);
        }
        let mut compiler = Command::new(env::var("RUSTC")?);
        compiler.arg(&self.source).arg("-o").arg(&self.program).args(["--target", &self.target]);
        if let Ok(linker) = env::var("RUSTC_LINKER") {
            compiler.arg(format!("-Clinker={linker}"));
        }
        if let Ok(flags) = env::var("CARGO_ENCODED_RUSTFLAGS") {
            compiler.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
        }
        compiler.args(arguments.iter().map(|argument| format!("-Clink-arg={argument}")));
        Ok(succeeds(compiler)? && self.program.exists() && runs(&self.program))
    }
}

fn succeeds(mut command: Command) -> std::io::Result<bool> {
    Ok(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?.success())
}

fn runs(program: &Path) -> bool {
    succeeds(Command::new(program)).unwrap_or(false)
}
