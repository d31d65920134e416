//! Writing a value around a large base64, which is not copied.

use bytes::Bytes;

use super::WriteError;
use crate::Base64;

/// Adds `value` to `out`. The base64 that `find` returns is not copied: `out` ends before it, and the returned texts
/// are the base64 with its quotes, which shares its memory, and the JSON after it.
///
/// `find` returns the same base64 at every call. `write` writes it at most once. `value` is unchanged afterwards, unless
/// `write` panics.
///
/// # Errors
///
/// As `write`.
pub fn write_around<T>(
    out: &mut Vec<u8>,
    value: &mut T,
    find: impl Fn(&mut T) -> Option<&mut Base64>,
    write: impl Fn(&T, &mut Vec<u8>) -> Result<(), WriteError>,
) -> Result<Option<(Bytes, Vec<u8>)>, WriteError> {
    if find(value).is_none() {
        return write(value, out).map(|()| None);
    }
    write_parts(out, &mut Parts { value, find, write })
}

/// A value with a large base64. A trait, so that one function is compiled for all types of values.
trait WithLarge {
    fn find(&mut self) -> Option<&mut Base64>;

    fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError>;
}

struct Parts<'a, T, F, W> {
    value: &'a mut T,
    find: F,
    write: W,
}

impl<T, F, W> WithLarge for Parts<'_, T, F, W>
where
    F: Fn(&mut T) -> Option<&mut Base64>,
    W: Fn(&T, &mut Vec<u8>) -> Result<(), WriteError>,
{
    fn find(&mut self) -> Option<&mut Base64> {
        (self.find)(self.value)
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        (self.write)(self.value, out)
    }
}

fn write_parts(
    out: &mut Vec<u8>,
    value: &mut dyn WithLarge,
) -> Result<Option<(Bytes, Vec<u8>)>, WriteError> {
    let Some(place) = value.find() else {
        return value.write(out).map(|()| None);
    };
    let base64 = place.replace_by_mark();
    let begin = out.len();
    let written = value.write(out);
    if let Some(place) = value.find() {
        place.clone_from(&base64);
    }
    written?;
    let Some(at) = only_mark(&out[begin..]) else {
        out.truncate(begin);
        return value.write(out).map(|()| None);
    };
    let rest = &out[begin + at + Base64::MARK.len()..];
    // A result gets the end of its envelope, and a vector that is full becomes `Bytes` without an allocation.
    let mut after = Vec::with_capacity(rest.len() + 1);
    after.extend_from_slice(rest);
    out.truncate(begin + at);
    Ok(Some((base64.into_json(), after)))
}

/// Returns the position of the mark, if there is one. JSON that was read as raw text may contain others.
fn only_mark(json: &[u8]) -> Option<usize> {
    let mut marks = memchr::memmem::find_iter(json, Base64::MARK);
    let first = marks.next()?;
    marks.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests;
