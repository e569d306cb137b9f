//! Running the program, and a server for it to call.

#[cfg(unix)]
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use serde_json::Value;
use skyl_sandbox::{JournalEntry, Sandbox, SandboxBuilder};
use tokio::runtime::Runtime;

/// A run of the program, in an environment with nothing in it.
pub(crate) struct Skyl {
    command: Command,
    input: Option<Vec<u8>>,
}

/// What a run left.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn skyl<const N: usize>(args: [&str; N]) -> Skyl {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skyl"));
    command.env_clear().args(args);
    Skyl {
        command,
        input: None,
    }
}

impl Skyl {
    pub(crate) fn args<const N: usize>(mut self, args: [&str; N]) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// An argument that may be no text.
    #[cfg(unix)]
    pub(crate) fn os_arg(mut self, arg: &OsStr) -> Self {
        self.command.arg(arg);
        self
    }

    /// A variable that may be no text.
    #[cfg(unix)]
    pub(crate) fn os_env(mut self, name: &str, value: &OsStr) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn input(mut self, input: &[u8]) -> Self {
        self.input = Some(input.to_vec());
        self
    }

    pub(crate) fn run(mut self) -> Ran {
        let stdin = if self.input.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        };
        let mut child = self
            .command
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        if let (Some(input), Some(mut stdin)) = (self.input, child.stdin.take()) {
            // A program that is used wrongly ends before it reads.
            if let Err(error) = stdin.write_all(&input) {
                assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
            }
        }
        let output = child.wait_with_output().unwrap();
        Ran {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs with nobody at the other end of standard output.
    pub(crate) fn nobody_reads(self) -> Ran {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        self.stdout_to(writer)
    }

    /// Runs with nobody at the other end of standard error.
    pub(crate) fn nobody_reads_diagnostics(mut self) -> Ran {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = self
            .command
            .stdin(Stdio::null())
            .stderr(writer)
            .output()
            .unwrap();
        Ran {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::new(),
        }
    }

    /// Runs with standard output going elsewhere.
    pub(crate) fn stdout_to(mut self, to: impl Into<Stdio>) -> Ran {
        let output = self
            .command
            .stdin(Stdio::null())
            .stdout(to)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        Ran {
            code: output.status.code().unwrap(),
            stdout: String::new(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Starts the program and leaves it running.
    pub(crate) fn start(self) -> Running {
        self.spawn(Stdio::null())
    }

    /// Starts the program, and returns once it has taken this from a standard input that stays open.
    pub(crate) fn start_with(self, input: &[u8]) -> Running {
        let mut running = self.spawn(Stdio::piped());
        let stdin = running.child.stdin.as_mut().unwrap();
        stdin.write_all(input).unwrap();
        running
    }

    fn spawn(mut self, stdin: Stdio) -> Running {
        let mut child = self
            .command
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Running {
            stdout: BufReader::new(Box::new(child.stdout.take().unwrap())),
            stderr: BufReader::new(Box::new(child.stderr.take().unwrap())),
            child,
        }
    }
}

impl Ran {
    /// The one object on standard output; panics if there is anything else.
    #[track_caller]
    pub(crate) fn object(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "{self:?}");
        assert!(self.stdout.ends_with('\n'), "{self:?}");
        let value: Value = serde_json::from_str(&self.stdout).unwrap();
        assert!(value.is_object(), "{self:?}");
        value
    }

    /// The lines that tell of attempts.
    pub(crate) fn attempts(&self) -> Vec<&str> {
        self.stderr
            .lines()
            .filter(|line| line.starts_with("attempt "))
            .collect()
    }
}

/// A program that runs until it is told to stop, or the test ends.
pub(crate) struct Running {
    child: Child,
    stdout: BufReader<Box<dyn Read>>,
    stderr: BufReader<Box<dyn Read>>,
}

impl Running {
    /// The next line of standard output; empty at the end.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Reads standard output up to this text, which need not end a line.
    pub(crate) fn read_to(&mut self, text: &str) {
        let mut seen = Vec::new();
        let mut byte = [0];
        while !seen.ends_with(text.as_bytes()) {
            self.stdout.read_exact(&mut byte).unwrap();
            seen.push(byte[0]);
        }
    }

    /// Reads standard error up to the line that holds the word.
    pub(crate) fn wait_for(&mut self, word: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(
                self.stderr.read_line(&mut line).unwrap() > 0,
                "ended without {word:?}"
            );
            if line.contains(word) {
                return line;
            }
        }
    }

    /// Ends the program where it stands, without a chance to do anything about it.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by name and waits for the end.
    #[cfg(unix)]
    pub(crate) fn signal(mut self, name: &str) -> Ran {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(
            Command::new("sh")
                .args(["-c", &kill])
                .status()
                .unwrap()
                .success()
        );
        let code = self.child.wait().unwrap().code().unwrap();
        let mut ran = Ran {
            code,
            stdout: String::new(),
            stderr: String::new(),
        };
        self.stdout.read_to_string(&mut ran.stdout).unwrap();
        self.stderr.read_to_string(&mut ran.stderr).unwrap();
        ran
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Already gone is as good.
        let _gone = self.child.kill().is_err();
        let _reaped = self.child.wait().is_err();
    }
}

/// A sandbox in this process, for looking at what reached it.
pub(crate) struct Server {
    sandbox: Sandbox,
    // Serves for as long as it lives; dropped after the sandbox.
    _runtime: Runtime,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::with(|builder| builder)
    }

    pub(crate) fn with(build: impl FnOnce(SandboxBuilder) -> SandboxBuilder) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let sandbox = runtime.block_on(build(Sandbox::builder()).start()).unwrap();
        Self {
            sandbox,
            _runtime: runtime,
        }
    }

    pub(crate) fn url(&self) -> String {
        self.sandbox.base_url("/openai/v1")
    }

    pub(crate) fn journal(&self) -> Vec<JournalEntry> {
        self.sandbox.journal()
    }

    pub(crate) fn typesafe_url(&self) -> String {
        self.sandbox.base_url("/typesafe")
    }

    /// Questions to this server as TypeSafe.
    pub(crate) fn ask<const N: usize>(&self, args: [&str; N]) -> Skyl {
        self.as_typesafe(skyl(["ask"])).args(args)
    }

    /// The same, begun by a shell that says something first.
    #[cfg(unix)]
    pub(crate) fn ask_in_shell<const N: usize>(&self, first: &str, args: [&str; N]) -> Skyl {
        let mut command = Command::new("sh");
        let line = format!("{first}; exec \"$0\" ask \"$@\"");
        command
            .env_clear()
            .args(["-c", &line, env!("CARGO_BIN_EXE_skyl")]);
        let shell = Skyl {
            command,
            input: None,
        };
        self.as_typesafe(shell).args(args)
    }

    fn as_typesafe(&self, run: Skyl) -> Skyl {
        run.args(["--provider", "typesafe", "--base-url", &self.typesafe_url()])
            .args(["--retry-base", "1ms"])
            .env("TYPESAFE_API_KEY", "sandbox-key")
    }

    /// A chat with this server as OpenAI.
    pub(crate) fn chat<const N: usize>(&self, args: [&str; N]) -> Skyl {
        skyl(["chat", "--provider", "openai", "--base-url", &self.url()])
            .args(["--retry-base", "1ms"])
            .args(args)
            .env("OPENAI_API_KEY", "sandbox-key")
    }
}

/// A server that answers each connection with bytes of its own, whatever they are.
pub(crate) struct Canned {
    url: String,
    served: JoinHandle<Vec<String>>,
}

impl Canned {
    /// Takes as many requests as there are answers.
    pub(crate) fn serve(answers: Vec<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let served = std::thread::spawn(move || {
            let answered = answers.into_iter().map(|answer| {
                let (mut stream, _) = listener.accept().unwrap();
                let request = request(&mut stream);
                stream.write_all(&answer).unwrap();
                request
            });
            answered.collect()
        });
        Self { url, served }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The requests that came, once all have.
    pub(crate) fn requests(self) -> Vec<String> {
        self.served.join().unwrap()
    }
}

/// Reads a request to the end of its body.
fn request(stream: &mut TcpStream) -> String {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&request).to_lowercase();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return String::from_utf8(request).unwrap();
            }
        }
        let read = stream.read(&mut piece).unwrap();
        assert!(read > 0, "half a request: {text}");
        request.extend_from_slice(&piece[..read]);
    }
}

/// A whole answer; `headers` are lines that end in `\r\n`.
pub(crate) fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         {headers}content-length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// A file that is gone when the test is over.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str, content: &[u8]) -> Self {
        // Tests run beside each other and may like the same name.
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("{}-{number}-{name}", std::process::id()));
        std::fs::write(&path, content).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    pub(crate) fn read(&self) -> String {
        std::fs::read_to_string(&self.0).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _gone = std::fs::remove_file(&self.0).is_err();
    }
}
