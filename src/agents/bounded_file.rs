//! Reads files up to a limit. A file in a checkout or in a shared folder may be a link to a device that never ends,
//! or to a pipe that nobody writes to.

use std::fs::{self, File};
use std::io::{self, BufRead, Read};
use std::path::Path;

/// The content of a file that a person named. It may be a pipe, as a shell's `<(…)` is.
pub(crate) fn read(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path)?.take(limit(most) + 1).read_to_end(&mut content)?;
    if content.len() > most { Err(too_large(most)) } else { Ok(content) }
}

/// The content of a file that others can put there: a regular file, or a link to one.
pub(crate) fn read_regular(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    // Opening a pipe would wait for its writer, so the kind is checked first.
    if fs::metadata(path)?.is_file() { read(path, most) } else { Err(not_regular()) }
}

/// [`read`] for text.
pub(crate) fn read_text(path: &Path, most: usize) -> io::Result<String> {
    String::from_utf8(read(path, most)?).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
}

/// Reads a line with its break. None at the end of the input.
pub(crate) fn read_line(input: &mut impl BufRead, most: usize) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let size = input.take(limit(most) + 1).read_until(b'\n', &mut line)?;
    match size {
        0 => Ok(None),
        size if size > most => Err(too_large(most)),
        _ => Ok(Some(line)),
    }
}

pub(crate) fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is a folder, a pipe or a device and not a regular file")
}

pub(crate) fn too_large(most: usize) -> io::Error {
    let size = if most >= MIB { format!("{} MiB", most / MIB) } else { format!("{} KiB", most / 1024) };
    io::Error::new(
        io::ErrorKind::FileTooLarge,
        format!("it is larger than {size}, which is more than Cloture reads"),
    )
}

const MIB: usize = 1024 * 1024;

fn limit(most: usize) -> u64 {
    u64::try_from(most).unwrap_or(u64::MAX - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "12345").unwrap();
        assert_eq!(read_regular(&file, 5).unwrap(), b"12345");
        assert_eq!(read(&file, 4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read_regular(folder.path(), 5).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        let mut lines = &b"12\n\n345"[..];
        assert_eq!(read_line(&mut lines, 3).unwrap().as_deref(), Some(&b"12\n"[..]));
        assert_eq!(read_line(&mut lines, 3).unwrap().as_deref(), Some(&b"\n"[..]));
        assert_eq!(read_line(&mut &b"1234"[..], 3).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read_line(&mut lines, 3).unwrap().as_deref(), Some(&b"345"[..]));
        assert_eq!(read_line(&mut lines, 3).unwrap(), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_no_file() {
        let zero = Path::new("/dev/zero");
        assert_eq!(read_regular(zero, 5).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert_eq!(
            read(zero, 5).unwrap_err().to_string(),
            "it is larger than 0 KiB, which is more than Cloture reads"
        );
    }
}
