//! What several tests share: the program, run with a clean environment, and small recordings.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A folder for one test, with the program to run in it.
pub struct Bench {
    dir: TempDir,
}

/// What a run printed.
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Bench {
    pub fn new() -> Self {
        Self { dir: TempDir::new().unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The program with a cleared environment, in this folder.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_btfdb"));
        command.current_dir(self.path()).env_clear().env("COLUMNS", "100").env("TMPDIR", self.path());
        command
    }

    pub fn run(&self, args: &[&str]) -> Run {
        Run::of(self.command().args(args).output().unwrap(), self.path())
    }

    /// Runs btfdb with a text on its standard input.
    pub fn run_with_input(&self, args: &[&str], text: &str) -> Run {
        let piped = self
            .command()
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = piped.unwrap();
        let mut input = child.stdin.take().unwrap();
        // A program that stops early does not read the rest.
        let _ = input.write_all(text.as_bytes());
        drop(input);
        Run::of(child.wait_with_output().unwrap(), self.path())
    }

    /// Runs and insists on success.
    pub fn ok(&self, args: &[&str]) -> Run {
        let run = self.run(args);
        assert_eq!(run.code, Some(0), "{args:?}\n{}{}", run.stdout, run.stderr);
        run
    }

    /// Copies the recording that ships with the project into this folder.
    pub fn demo(&self) -> PathBuf {
        let to = self.path().join("recording");
        copy_dir(&root().join("demo/recording"), &to);
        to
    }

    /// A folder with that recording, and with `engine.db`, which holds it.
    pub fn engine() -> Self {
        let bench = Self::new();
        bench.demo();
        bench.ok(&["ingest", "engine.db", "recording", "-q"]);
        bench
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Run {
    pub fn of(output: Output, dir: &Path) -> Self {
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8_lossy(&bytes).replace(&dir.display().to_string(), "$DIR");
            // Times differ from run to run.
            let line =
                |l: &str| if l.starts_with("done in ") { "done in $TIME".into() } else { l.to_owned() };
            text.lines().map(line).collect::<Vec<String>>().join("\n")
        };
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Everything, for a snapshot.
    pub fn all(&self) -> String {
        format!("exit {}\n--- stdout\n{}\n--- stderr\n{}", self.code.unwrap_or(-1), self.stdout, self.stderr)
    }
}

/// The Rust files below a folder of the project: path from the root, and text.
pub fn rust_files(dir: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut open = vec![root().join(dir)];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push((relative(&path), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(files.len() > 1, "no sources below {dir}");
    files.sort();
    files
}

/// A path from the root of the project on.
pub fn relative(path: &Path) -> String {
    let path: PathBuf = path.strip_prefix(root()).unwrap().into();
    path.to_string_lossy().replace('\\', "/")
}

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub fn copy_dir(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_dir(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Every file below `dir` with a hash of its bytes, by path: the state of a database. The lock file names its
/// last owner, which is no state.
pub fn tree(dir: &Path) -> Vec<(PathBuf, u64)> {
    let mut files = Vec::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if !path.ends_with(".lock") {
                let mut hash = DefaultHasher::new();
                std::fs::read(&path).unwrap().hash(&mut hash);
                files.push((path, hash.finish()));
            }
        }
    }
    files.sort();
    files
}
