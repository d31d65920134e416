//! Rules for the number of tools.

use pintle_surface::{EntryKind, Surface};

use crate::hit::Hit;

pub(crate) fn more_than_80(surface: &Surface) -> Vec<Hit> {
    more_than(surface, 80)
}

pub(crate) fn more_than_128(surface: &Surface) -> Vec<Hit> {
    more_than(surface, 128)
}

pub(crate) fn more_than_512(surface: &Surface) -> Vec<Hit> {
    more_than(surface, 512)
}

fn more_than(surface: &Surface, most: usize) -> Vec<Hit> {
    let count = surface.definitions(EntryKind::Tool).len();
    match count > most {
        true => vec![Hit::new("", format!("{count} tools"))],
        false => Vec::new(),
    }
}
