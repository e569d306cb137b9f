//! Files that are named on the command line.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Reads a file that must not be longer than so many MiB: a path given by mistake may name
/// anything, `/dev/zero` included.
pub(crate) fn read(path: &Path, most_mib: u64) -> Result<Vec<u8>, Unread> {
    let most = most_mib.saturating_mul(1024 * 1024);
    let unread = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => Unread::Missing(error.to_string()),
        _ => Unread::Other(error.to_string()),
    };
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(most.saturating_add(1)).read_to_end(&mut bytes))
        .map_err(unread)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > most) {
        return Err(Unread::Other(format!("longer than {most_mib} MiB")));
    }
    Ok(bytes)
}

/// Why a file was not read, in a few words.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It is not there.
    Missing(String),
    Other(String),
}

impl Unread {
    pub(crate) fn why(&self) -> &str {
        let (Self::Missing(why) | Self::Other(why)) = self;
        why
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_told_from_what_cannot_be_read() {
        assert!(matches!(
            read(Path::new("no/such"), 1),
            Err(Unread::Missing(_))
        ));
        assert!(matches!(read(Path::new("src"), 1), Err(Unread::Other(_))));
        assert!(read(Path::new("src/file.rs"), 1).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_without_end_is_left_off() {
        let unread = read(Path::new("/dev/zero"), 1).unwrap_err();
        assert_eq!(unread.why(), "longer than 1 MiB");
    }
}
