//! The browser in a pseudo-terminal: the time until text is drawn, and its memory.

use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// The time after which a benchmark gives up.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Browser {
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    screen: vt100::Parser,
    started: Instant,
    /// Kept open until the browser has exited.
    _master: Box<dyn MasterPty + Send>,
}

impl Browser {
    pub(crate) fn open(home: &Path, sessions: &Path) -> Self {
        let pair = native_pty_system().openpty(PtySize { rows: 30, cols: 100, ..PtySize::default() }).unwrap();
        let mut command = CommandBuilder::new(crate::program());
        command.env_clear();
        command.env("HOME", home);
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        command.args(["--dir".as_ref(), sessions.as_os_str()]);
        let (mut reader, keys) = (pair.master.try_clone_reader().unwrap(), pair.master.take_writer().unwrap());
        let (send, output) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 1 << 16];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                let _ = send.send(bytes[..count].to_vec());
            }
        });
        let started = Instant::now();
        let child = pair.slave.spawn_command(command).unwrap();
        let screen = vt100::Parser::new(NonZero::new(30).unwrap(), NonZero::new(100).unwrap(), 0);
        Self { child, keys, output, screen, started, _master: pair.master }
    }

    /// Waits until the screen fulfills a condition. Returns the time since the start or the last key.
    pub(crate) fn wait(&mut self, is_drawn: impl Fn(&str) -> bool) -> Duration {
        loop {
            if is_drawn(&self.screen.screen().contents()) {
                return self.started.elapsed();
            }
            let left = PATIENCE.saturating_sub(self.started.elapsed());
            let Ok(bytes) = self.output.recv_timeout(left) else {
                panic!("not drawn:\n{}", self.screen.screen().contents())
            };
            // The browser asks for the background color and the device, and waits briefly for answers.
            if bytes.windows(4).any(|four| four == b"]11;") {
                self.keys.write_all(b"\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\").unwrap();
            }
            if bytes.windows(3).any(|three| three == b"\x1b[c") {
                self.keys.write_all(b"\x1b[?62c").unwrap();
            }
            self.screen.process(&bytes);
        }
    }

    /// Waits until nothing is drawn for a second.
    pub(crate) fn settle(&mut self) {
        while let Ok(bytes) = self.output.recv_timeout(Duration::from_secs(1)) {
            self.screen.process(&bytes);
        }
    }

    pub(crate) fn keys(&mut self, keys: &str) {
        self.started = Instant::now();
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
