//! Pages of a list, and the opaque cursors between them.
//!
//! A cursor names the last key that was served, not how many were. So a list may grow and shrink
//! between two pages: entries that stay are served exactly once, entries that go are skipped.
//! The caller keeps its keys sorted; nothing is remembered here.

use std::num::NonZeroUsize;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pintle_model::{Error, errors};

/// The first byte of every cursor, which distinguishes this form from later ones.
const VERSION: u8 = 1;

/// The first byte of a cursor into the list of a provider.
const PROVIDER_VERSION: u8 = 2;

/// The longest cursor that is decoded, in bytes: a key of 64 KiB, the longest URI that is served.
const MAX_CURSOR: usize = 88 * 1024;

/// One page: which entries it holds, and how to ask for the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageSpan {
    /// The entries of this page, as indices into the keys.
    pub range: Range<usize>,
    /// The cursor of the next page; `None` on the last one.
    pub next: Option<String>,
}

errors! {
    /// A cursor that this server did not make. It is the peer's mistake: invalid params (-32602).
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct CursorError
        => "the cursor is not one of this list; ask for the first page again";
}

impl From<CursorError> for Error {
    fn from(cursor: CursorError) -> Self {
        Self::invalid_params(cursor.to_string())
    }
}

/// Finds the page after `cursor`, or the first one.
///
/// `keys` must be sorted in ascending order, without duplicates. A cursor whose key has been
/// removed continues where the key would be.
///
/// # Errors
///
/// [`CursorError`] if the cursor was not made by this function. The empty string is a cursor, and
/// never one of ours.
///
/// Spec: [2026-07-28, Pagination][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
pub fn paginate<K: AsRef<str>>(
    keys: &[K],
    cursor: Option<&str>,
    size: NonZeroUsize,
) -> Result<PageSpan, CursorError> {
    let key_at = |index: usize| keys[index].as_ref().to_owned();
    paginate_by(keys.len(), &key_at, cursor, size)
}

/// Finds the page after `cursor`, or the first one, in a list of `len` entries.
///
/// `key_at` makes the key of an entry. It is called only for entries that the page depends on, because
/// most lists have one page. The keys and the errors are those of [`paginate`].
pub(crate) fn paginate_by(
    len: usize,
    key_at: &dyn Fn(usize) -> String,
    cursor: Option<&str>,
    size: NonZeroUsize,
) -> Result<PageSpan, CursorError> {
    let start = match cursor {
        Some(cursor) => first_after(len, key_at, &key_of(cursor)?),
        None => 0,
    };
    let end = start.saturating_add(size.get()).min(len);
    let is_last = end == len || start == end;
    Ok(PageSpan {
        range: start..end,
        next: (!is_last).then(|| cursor_of(&key_at(end - 1))),
    })
}

/// The place of a page in the lists of several providers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProviderPage {
    /// The index of the provider.
    pub(crate) index: u16,
    /// The provider's own cursor; `None` for its first page.
    pub(crate) cursor: Option<String>,
}

impl ProviderPage {
    /// The first page of a provider.
    pub(crate) const fn first(index: u16) -> Self {
        Self {
            index,
            cursor: None,
        }
    }

    /// Reads a cursor that [`Self::encode`] wrote; `None` for a cursor of the server's own list.
    pub(crate) fn decode(cursor: &str) -> Option<Self> {
        let bytes = (cursor.len() <= MAX_CURSOR).then(|| URL_SAFE_NO_PAD.decode(cursor));
        let bytes = bytes?.ok()?;
        let (&[PROVIDER_VERSION, high, low, has_cursor], text) = bytes.split_first_chunk()? else {
            return None;
        };
        let text = String::from_utf8(text.to_vec()).ok()?;
        Some(Self {
            index: u16::from_be_bytes([high, low]),
            cursor: (has_cursor == 1).then_some(text),
        })
    }

    /// Returns the place as a cursor, or `None` if it is too long.
    pub(crate) fn encode(&self) -> Option<String> {
        let [high, low] = self.index.to_be_bytes();
        let mut bytes = vec![PROVIDER_VERSION, high, low, u8::from(self.cursor.is_some())];
        bytes.extend_from_slice(self.cursor.as_deref().unwrap_or_default().as_bytes());
        let cursor = URL_SAFE_NO_PAD.encode(bytes);
        (cursor.len() <= MAX_CURSOR).then_some(cursor)
    }
}

fn first_after(len: usize, key_at: &dyn Fn(usize) -> String, key: &str) -> usize {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low.midpoint(high);
        match key_at(middle).as_str() <= key {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

/// The cursor of the page after a key.
pub(crate) fn cursor_of(key: &str) -> String {
    let mut bytes = Vec::with_capacity(key.len() + 1);
    bytes.push(VERSION);
    bytes.extend_from_slice(key.as_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The key that a cursor names.
pub(crate) fn key_of(cursor: &str) -> Result<String, CursorError> {
    if cursor.len() > MAX_CURSOR {
        return Err(CursorError);
    }
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| CursorError)?;
    match bytes.split_first() {
        Some((&VERSION, key)) => String::from_utf8(key.to_vec()).map_err(|_| CursorError),
        _ => Err(CursorError),
    }
}

#[cfg(test)]
mod tests {
    use pintle_model::ErrorCode;
    use proptest::prelude::*;

    use super::*;

    fn size(size: usize) -> NonZeroUsize {
        NonZeroUsize::new(size).expect("test sizes are not zero")
    }

    fn walk(keys: &[String], page: usize) -> Vec<String> {
        let mut seen = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let span = paginate(keys, cursor.as_deref(), size(page)).unwrap();
            seen.extend_from_slice(&keys[span.range]);
            match span.next {
                Some(next) => cursor = Some(next),
                None => return seen,
            }
        }
    }

    #[test]
    fn a_list_of_one_page_needs_no_keys() {
        let unused = |index: usize| unreachable!("the key of entry {index}");
        let span = paginate_by(2, &unused, None, size(2)).unwrap();
        assert_eq!((span.range, span.next), (0..2, None));
    }

    // spec: 2025-11-25 PAGE-01
    // spec: 2026-07-28 N-PAGE-01, N-PAGE-04
    #[test]
    fn the_last_page_has_no_cursor() {
        let span = paginate(&["a", "b", "c"], None, size(2)).unwrap();
        assert_eq!(span.range, 0..2);
        let last = paginate(&["a", "b", "c"], span.next.as_deref(), size(2)).unwrap();
        assert_eq!((last.range, last.next), (2..3, None));
    }

    #[test]
    fn a_full_last_page_promises_no_empty_one() {
        assert_eq!(paginate(&["a", "b"], None, size(2)).unwrap().next, None);
    }

    #[test]
    fn an_empty_list_is_one_empty_page() {
        let span = paginate::<&str>(&[], None, size(10)).unwrap();
        assert_eq!((span.range, span.next), (0..0, None));
    }

    // spec: 2025-11-25 PAGE-04
    // spec: 2026-07-28 N-PAGE-05
    #[test]
    fn a_page_continues_at_its_key_when_entries_come_and_go() {
        let first = paginate(&["b", "d", "f", "h"], None, size(2)).unwrap();
        // "d", where the first page ended, is gone; "a" and "e" are new.
        let keys = ["a", "b", "e", "f", "h"];
        let second = paginate(&keys, first.next.as_deref(), size(2)).unwrap();
        assert_eq!(&keys[second.range], &["e", "f"]);
    }

    #[test]
    fn a_cursor_past_the_end_is_an_empty_page() {
        let first = paginate(&["y", "z"], None, size(1)).unwrap();
        let span = paginate(&["a"], first.next.as_deref(), size(1)).unwrap();
        assert_eq!((span.range, span.next), (1..1, None));
    }

    // spec: 2025-11-25 PAGE-08
    // spec: 2026-07-28 N-PAGE-03, N-PAGE-05
    // hardening: H-111
    #[test]
    fn garbage_is_not_a_cursor() {
        let huge = "A".repeat(MAX_CURSOR + 4);
        let version_2 = URL_SAFE_NO_PAD.encode(b"\x02a");
        let not_text = URL_SAFE_NO_PAD.encode(b"\x01\xFF");
        let padded = format!("{}==", cursor_of("a"));
        for cursor in [
            "", "2", "!!", "\u{0}", &huge, &version_2, &not_text, &padded,
        ] {
            assert_eq!(paginate(&["a"], Some(cursor), size(1)), Err(CursorError));
        }
        assert_eq!(Error::from(CursorError).code, ErrorCode::INVALID_PARAMS);
    }

    proptest! {
        // spec: 2026-07-28 N-PAGE-05
        #[test]
        fn every_entry_is_served_once(
            keys in proptest::collection::btree_set("\\PC{0,8}", 0..40),
            page in 1usize..7,
        ) {
            let keys: Vec<String> = keys.into_iter().collect();
            prop_assert_eq!(walk(&keys, page), keys);
        }

        // hardening: H-111
        #[test]
        fn any_text_is_a_page_or_a_typed_error(cursor in "\\PC{0,64}") {
            let _ = paginate(&["a", "b"], Some(&cursor), size(1));
        }
    }

    #[test]
    fn a_place_in_a_provider_is_read_again() {
        for cursor in [None, Some(String::new()), Some("é".to_owned())] {
            let page = ProviderPage { index: 258, cursor };
            let text = page.encode().expect("short");
            assert_eq!(ProviderPage::decode(&text), Some(page));
        }
        assert_eq!(ProviderPage::decode(&cursor_of("one")), None);
        assert_eq!(
            key_of(&ProviderPage::first(0).encode().expect("short")),
            Err(CursorError)
        );
    }

    #[test]
    fn a_cursor_of_a_provider_has_a_limit() {
        let page = |len| ProviderPage {
            index: 0,
            cursor: Some("x".repeat(len)),
        };
        assert!(page(60 * 1024).encode().is_some());
        assert_eq!(page(MAX_CURSOR).encode(), None);
        assert_eq!(ProviderPage::decode(&"A".repeat(MAX_CURSOR + 4)), None);
    }
}
