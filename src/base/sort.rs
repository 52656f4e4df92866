//! Sorting for lists that are short or rarely sorted. All of them share one compiled sort of places; the methods of
//! slices are compiled for each type and comparison, which takes 5 KB of the program each.

use std::cmp::Ordering;

/// Sorts `items` with `compare`. The sort is stable.
pub(crate) fn by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let order = places(items.len(), &|one, other| compare(&items[one], &items[other]));
    arrange(items, order);
}

/// Sorts `items` by a key. The sort is stable.
pub(crate) fn by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    let order = places(items.len(), &|one, other| key(&items[one]).cmp(&key(&items[other])));
    arrange(items, order);
}

/// Sorts `items` by a key that is computed once for each item. The sort is stable.
pub(crate) fn by_cached_key<T, K: Ord>(items: &mut [T], key: impl FnMut(&T) -> K) {
    let keys: Vec<K> = items.iter().map(key).collect();
    arrange(items, places(keys.len(), &|one, other| keys[one].cmp(&keys[other])));
}

/// Sorts places by their times, newest first. `compare` orders those of the same time, and none of them are equal. An
/// unstable sort needs no memory.
pub(crate) fn newest_first(timed: &mut [(i64, u32)], compare: &dyn Fn(u32, u32) -> Ordering) {
    timed.sort_unstable_by(|&(time_a, a), &(time_b, b)| time_b.cmp(&time_a).then_with(|| compare(a, b)));
}

/// Returns the places from 0 to `count` in the order of `compare`.
fn places(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|&one, &other| compare(one, other));
    places
}

/// Moves each item to the place at which `order` has its old place.
fn arrange<T>(items: &mut [T], mut order: Vec<usize>) {
    for first in 0..order.len() {
        let mut at = first;
        loop {
            let from = std::mem::replace(&mut order[at], at);
            if from == first {
                break;
            }
            items.swap(at, from);
            at = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sorts_like_the_standard_library(values in prop::collection::vec(0..20_u8, 0..60)) {
            let items: Vec<(u8, usize)> = values.into_iter().enumerate().map(|(at, value)| (value, at)).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            let sorted = |sort: fn(&mut [(u8, usize)])| {
                let mut items = items.clone();
                sort(&mut items);
                items
            };
            prop_assert_eq!(&sorted(|items| by(items, |one, other| one.0.cmp(&other.0))), &expected);
            prop_assert_eq!(&sorted(|items| by_key(items, |item| item.0)), &expected);
            prop_assert_eq!(&sorted(|items| by_cached_key(items, |item| item.0)), &expected);
        }
    }
}
