//! A queue whose first item costs no allocation.
//!
//! An engine often lives for one request, and then each of its queues holds one item, ever.

use std::collections::VecDeque;

/// Items in order, the first of them in place.
#[derive(Debug)]
pub(crate) struct InlineQueue<T> {
    /// Empty only when `rest` is.
    first: Option<T>,
    /// Boxed, so that an engine without a second item is small.
    #[expect(
        clippy::box_collection,
        reason = "most queues never have a second item"
    )]
    rest: Option<Box<VecDeque<T>>>,
}

impl<T> InlineQueue<T> {
    /// Adds an item at the end.
    pub(crate) fn push_back(&mut self, item: T) {
        match self.first {
            None => self.first = Some(item),
            Some(_) => self.rest.get_or_insert_default().push_back(item),
        }
    }

    /// Takes the first item.
    #[inline]
    pub(crate) fn pop_front(&mut self) -> Option<T> {
        self.first.as_ref()?;
        let next = self.rest.as_mut().and_then(|rest| rest.pop_front());
        std::mem::replace(&mut self.first, next)
    }

    /// The first item, to change.
    pub(crate) fn first_mut(&mut self) -> Option<&mut T> {
        self.first.as_mut()
    }

    /// The last item, to change.
    pub(crate) fn last_mut(&mut self) -> Option<&mut T> {
        let last = self.rest.as_mut().and_then(|rest| rest.back_mut());
        last.or(self.first.as_mut())
    }

    /// Takes the item at `at`.
    pub(crate) fn remove(&mut self, at: usize) -> Option<T> {
        match at.checked_sub(1) {
            None => self.pop_front(),
            Some(at) => self.rest.as_mut()?.remove(at),
        }
    }

    /// Keeps the items that `kept` picks.
    pub(crate) fn retain(&mut self, mut kept: impl FnMut(&T) -> bool) {
        let keeps_first = self.first.as_ref().is_none_or(&mut kept);
        if let Some(rest) = &mut self.rest {
            rest.retain(kept);
        }
        if !keeps_first {
            self.pop_front();
        }
    }

    /// The item at `at`.
    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        match at.checked_sub(1) {
            None => self.first.as_ref(),
            Some(at) => self.rest.as_ref()?.get(at),
        }
    }

    /// The item at `at`, to change.
    pub(crate) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        match at.checked_sub(1) {
            None => self.first.as_mut(),
            Some(at) => self.rest.as_mut()?.get_mut(at),
        }
    }

    /// Where the item with this key is, when items are in the order of their keys.
    pub(crate) fn position_of<K: Ord>(&self, key: &K, key_of: impl Fn(&T) -> K) -> Option<usize> {
        if key_of(self.first.as_ref()?) == *key {
            return Some(0);
        }
        let at = self.rest.as_ref()?.binary_search_by_key(key, key_of).ok()?;
        Some(at + 1)
    }

    /// The items in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first
            .iter()
            .chain(self.rest.iter().flat_map(|rest| rest.iter()))
    }

    /// How many items there are.
    pub(crate) fn len(&self) -> usize {
        let rest = self.rest.as_ref().map_or(0, |rest| rest.len());
        usize::from(self.first.is_some()) + rest
    }

    /// Whether the queue has no items.
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}

impl<T> Default for InlineQueue<T> {
    fn default() -> Self {
        Self {
            first: None,
            rest: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue_of(items: &[u32]) -> InlineQueue<u32> {
        let mut queue = InlineQueue::default();
        for item in items {
            queue.push_back(*item);
        }
        queue
    }

    fn items(queue: &InlineQueue<u32>) -> Vec<u32> {
        queue.iter().copied().collect()
    }

    #[test]
    fn it_is_a_queue() {
        let mut queue = queue_of(&[1, 2, 3]);
        assert_eq!((queue.len(), queue.pop_front()), (3, Some(1)));
        queue.push_back(4);
        assert_eq!(items(&queue), [2, 3, 4]);
        while queue.pop_front().is_some() {}
        assert!(queue.is_empty());
        queue.push_back(5);
        assert_eq!(items(&queue), [5]);
    }

    #[test]
    fn items_can_be_taken_from_anywhere() {
        for at in 0..4 {
            let mut queue = queue_of(&[0, 1, 2, 3]);
            let item = u32::try_from(at).ok();
            assert_eq!(queue.remove(at), item);
            assert_eq!(queue.len(), 3);
            assert_eq!(queue.iter().find(|left| Some(**left) == item), None);
        }
        assert_eq!(queue_of(&[1]).remove(1), None);
    }

    #[test]
    fn items_are_kept_by_choice() {
        for kept in [[0, 2], [1, 3], [0, 3], [2, 3]] {
            let mut queue = queue_of(&[0, 1, 2, 3]);
            queue.retain(|item| kept.contains(item));
            assert_eq!(items(&queue), kept);
        }
        let mut queue = queue_of(&[0, 1]);
        queue.retain(|_| false);
        assert!(queue.is_empty());
    }

    #[test]
    fn items_in_order_are_found_by_their_key() {
        let queue = queue_of(&[2, 4, 6]);
        for (key, at) in [
            (2, Some(0)),
            (4, Some(1)),
            (6, Some(2)),
            (1, None),
            (5, None),
            (7, None),
        ] {
            assert_eq!(queue.position_of(&key, |item| *item), at);
        }
        assert_eq!(queue_of(&[]).position_of(&1, |item| *item), None);
    }
}
