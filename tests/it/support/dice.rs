//! Random numbers from a seed (`SplitMix64`), so that a failed run can be repeated.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to below `count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let count = u64::try_from(count.max(1)).unwrap();
        usize::try_from(self.next() % count).unwrap()
    }

    /// A number between the two, both included.
    pub(crate) fn between(&mut self, first: usize, last: usize) -> usize {
        first + self.below(last - first + 1)
    }

    pub(crate) fn is_in(&mut self, of_thousand: usize) -> bool {
        self.below(1000) < of_thousand
    }

    /// One of the items; there must be at least one.
    pub(crate) fn any<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    pub(crate) fn one<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }

    /// One of the items, by weight.
    pub(crate) fn weighed<T: Copy>(&mut self, of: &[(usize, T)]) -> T {
        let mut rest = self.below(of.iter().map(|(weight, _)| weight).sum());
        for (weight, what) in of {
            match rest.checked_sub(*weight) {
                None => return *what,
                Some(less) => rest = less,
            }
        }
        of[0].1
    }
}
