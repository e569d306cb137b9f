//! The head of the page of figures: what was measured, where, and how to do it again.

use std::process::Command;

/// Says how the figures were taken.
pub(crate) fn head() -> String {
    let commit = said("git", &["rev-parse", "--short", "HEAD"]);
    let is_clean = said("git", &["status", "--porcelain"]).is_empty();
    let changes = if is_clean { "" } else { " with changes on top" };
    format!(
        "# Figures\n\n\
         Taken on {date} at commit `{commit}`{changes}: {cores} cores of {processor}, {system}, {rust}.\n\n\
         ```console\n\
         $ cargo xtask figures                        # this page\n\
         $ cargo run --release -p bench               # every table, without the peers that take long to build\n\
         $ cargo run --release -p bench -- engine     # one of them\n\
         ```\n\n\
         Contenders take turns within a run, and the median of nine rounds is shown. Quote the ratios, which\n\
         are taken within a round, against the first row, and shown with the lowest and the highest of them;\n\
         times belong to that machine on that day. Allocations are counted in a run of their own, since a\n\
         counter slows whoever allocates.\n",
        date = said("date", &["-u", "+%F"]),
        cores = std::thread::available_parallelism().map_or(0, usize::from),
        processor = processor(),
        system = said("uname", &["-sr"]),
        rust = said("rustc", &["--version"]),
    )
}

/// What a program prints; nothing where there is no such program.
fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let text = output.map_or_else(|_| Vec::new(), |output| output.stdout);
    String::from_utf8_lossy(&text).trim().to_owned()
}

fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or_else(|| "a processor".to_owned(), |(_, name)| name.to_owned())
}
