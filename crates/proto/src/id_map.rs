//! Rows by number, where numbers are issued in order.
//!
//! Mostly a row is inserted last and removed among the first. A queue in the order of the numbers
//! therefore searches and moves as little as a tree, and allocates nothing once it has grown.

use std::collections::VecDeque;

/// How many rows there is room for when nothing is left to keep.
const KEPT_ROWS: usize = 16;

/// Rows in the order of their numbers.
#[derive(Debug)]
pub(crate) struct IdMap<T> {
    rows: VecDeque<(u64, T)>,
}

impl<T> IdMap<T> {
    /// Puts a row where its number belongs. A number that is there already gets the new row.
    pub(crate) fn insert(&mut self, number: u64, row: T) {
        match self.place_of(number) {
            Ok(at) => self.rows[at].1 = row,
            Err(at) => self.rows.insert(at, (number, row)),
        }
    }

    /// Takes a row.
    pub(crate) fn remove(&mut self, number: u64) -> Option<T> {
        let at = self.place_of(number).ok()?;
        let (_, row) = self.rows.remove(at)?;
        if self.rows.is_empty() && self.rows.capacity() > KEPT_ROWS {
            self.rows = VecDeque::new();
        }
        Some(row)
    }

    pub(crate) fn get(&self, number: u64) -> Option<&T> {
        let at = self.place_of(number).ok()?;
        self.rows.get(at).map(|(_, row)| row)
    }

    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let at = self.place_of(number).ok()?;
        self.rows.get_mut(at).map(|(_, row)| row)
    }

    /// The rows with their numbers, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.rows.iter().map(|(number, row)| (*number, row))
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the place of a row, or the place where it would be. The place without gaps and the
    /// end are tried before a search.
    fn place_of(&self, number: u64) -> Result<usize, usize> {
        let (Some((first, _)), Some((last, _))) = (self.rows.front(), self.rows.back()) else {
            return Err(0);
        };
        let without_gaps = number.wrapping_sub(*first) as usize;
        match self.rows.get(without_gaps) {
            Some((found, _)) if *found == number => Ok(without_gaps),
            _ if *last < number => Err(self.rows.len()),
            _ if *last == number => Ok(self.rows.len() - 1),
            _ => self
                .rows
                .binary_search_by_key(&number, |(number, _)| *number),
        }
    }
}

impl<T> Default for IdMap<T> {
    fn default() -> Self {
        Self {
            rows: VecDeque::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(rows: &IdMap<char>) -> String {
        rows.iter().map(|(_, row)| row).collect()
    }

    #[test]
    fn rows_are_in_order_however_they_came() {
        let mut rows = IdMap::default();
        for (number, row) in [(3, 'c'), (1, 'a'), (4, 'd'), (2, 'b'), (4, 'D')] {
            rows.insert(number, row);
        }
        assert_eq!((numbers(&rows).as_str(), rows.len()), ("abcD", 4));
        assert_eq!(rows.remove(2), Some('b'));
        assert_eq!((rows.remove(2), rows.get(5)), (None, None));
        if let Some(row) = rows.get_mut(3) {
            *row = 'C';
        }
        assert_eq!((rows.get(3), numbers(&rows).as_str()), (Some(&'C'), "aCD"));
    }

    #[test]
    fn the_memory_of_removed_rows_is_released() {
        let mut rows = IdMap::default();
        (0..1_000).for_each(|number| rows.insert(number, 'x'));
        (0..1_000).for_each(|number| assert_eq!(rows.remove(number), Some('x')));
        assert!(rows.is_empty() && rows.rows.capacity() <= KEPT_ROWS);
    }
}
