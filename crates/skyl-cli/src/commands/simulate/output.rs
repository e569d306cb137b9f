//! Files with what came out.

use std::fs;
use std::path::Path;

use skyl_sim::{CSV_HEADER, Report};

use crate::args::SimulateArgs;
use crate::failure::Failure;
use crate::stderr::{Stderr, Tone};

/// Writes the files that were asked for, and says which they are.
pub(super) fn write(
    args: &SimulateArgs,
    reports: &[Report],
    stderr: &Stderr,
) -> Result<(), Failure> {
    // The folder first: the other files may go into it, too.
    if let Some(folder) = &args.svg {
        fs::create_dir_all(folder).map_err(|error| unwritten(folder, &error))?;
        for picture in reports.iter().flat_map(Report::pictures) {
            to_file(&folder.join(picture.file_name()), picture.svg(), stderr)?;
        }
    }
    if let Some(path) = args.csv.as_deref().filter(|path| *path != Path::new("-")) {
        to_file(path, &csv(reports), stderr)?;
    }
    if let Some(path) = &args.html {
        to_file(path, &skyl_sim::html(reports), stderr)?;
    }
    Ok(())
}

/// The rows of all reports under one header.
pub(super) fn csv(reports: &[Report]) -> String {
    let mut csv = format!("{CSV_HEADER}\n");
    for report in reports {
        report.write_csv(&mut csv);
    }
    csv
}

fn to_file(path: &Path, text: &str, stderr: &Stderr) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| unwritten(path, &error))?;
    stderr.line(Tone::Aside, &format!("wrote {}", path.display()));
    Ok(())
}

fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    Failure::internal(format!("cannot write {}: {error}", path.display()))
}
