//! The size of a program without its symbols.

use std::path::Path;

use super::Result;

/// Length of the header of a file of ELF64.
const HEADER: usize = 64;
/// The type of a segment that is loaded.
const LOAD: u64 = 1;

/// Returns the bytes of the file up to the end of its last loaded segment. Symbols are after it.
pub(crate) fn loaded_bytes(program: &Path) -> Result<u64> {
    let file = std::fs::read(program)?;
    loaded(&file).ok_or_else(|| "the program is not a file of ELF64".into())
}

fn loaded(file: &[u8]) -> Option<u64> {
    file.get(..HEADER)
        .filter(|head| head.starts_with(b"\x7fELF\x02\x01"))?;
    let start = usize::try_from(number(file, 32, 8)?).ok()?;
    let (size, count) = (number(file, 54, 2)?, number(file, 56, 2)?);
    let segments = (0..count).map(|index| start + (index * size) as usize);
    let ends = segments.filter(|at| number(file, *at, 4) == Some(LOAD));
    ends.map(|at| Some(number(file, at + 8, 8)? + number(file, at + 32, 8)?))
        .try_fold(0, |most, end| Some(most.max(end?)))
}

/// Reads a number of `length` bytes, the least significant first.
fn number(file: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = file.get(at..at.checked_add(length)?)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |number, byte| number << 8 | u64::from(*byte)),
    )
}
