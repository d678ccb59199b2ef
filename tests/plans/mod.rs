//! The ways in which a batch can prefetch its lines: all of them with the feature `internals`,
//! otherwise the library's choice alone.
#![allow(dead_code, reason = "not every test inserts")]

#[cfg(feature = "internals")]
pub(crate) use with_internals::*;
#[cfg(not(feature = "internals"))]
pub(crate) use without::*;

#[cfg(feature = "internals")]
mod with_internals {
    use bloomline::internals::Prefetch;
    use bloomline::{Filter, View};

    pub(crate) type Plan = Prefetch;

    pub(crate) const PLANS: [Plan; 3] = [Prefetch::None, Prefetch::Far, Prefetch::FarAndNear];

    pub(crate) fn insert(filter: &mut Filter, hashes: &[u64], plan: Plan) {
        filter.insert_hashes_with(hashes, plan);
    }

    pub(crate) fn contains(
        view: View<'_>,
        hashes: &[u64],
        plan: Plan,
        bitmap: &mut [u64],
    ) -> usize {
        view.contains_hashes_with(hashes, plan, bitmap)
    }
}

#[cfg(not(feature = "internals"))]
mod without {
    use bloomline::{Filter, View};

    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Plan;

    pub(crate) const PLANS: [Plan; 1] = [Plan];

    pub(crate) fn insert(filter: &mut Filter, hashes: &[u64], _: Plan) {
        filter.insert_hashes(hashes);
    }

    pub(crate) fn contains(view: View<'_>, hashes: &[u64], _: Plan, bitmap: &mut [u64]) -> usize {
        view.contains_hashes(hashes, bitmap)
    }
}
