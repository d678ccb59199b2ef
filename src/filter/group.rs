//! Many filters, prepared once to be probed together.

use super::select::{RUN, Room, Row, SMALL_RUN, last_row, refine_answered, select_answered};
use super::view::View;
use crate::bitmap::{Answers, all_present, answers_of_rows};
use crate::error::Error;
pub(crate) use crate::kernel::Members;
use crate::kernel::Owned;
use crate::key::Key;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Filters that are asked together many times: those of the tables of an LSM tree, of shards, of
/// partitions. It is made once, when the set of tables changes, and probed by any number of threads.
/// [`views_contain_hash`](crate::views_contain_hash) answers the same for views that differ from call
/// to call; a group takes about half its time.
///
/// The members may be of any kinds, sizes and seeds. Plain filters of one k and one seed are the
/// fastest, and filters of RocksDB of one k: the bits of a key are computed once for all of them. Faster still are
/// [columns](crate::Matrix::column_view) of one matrix, which a few cache lines answer for all. A group is a slice
/// of its members, so answer `i` is about `group[i]`.
///
/// ```
/// use bloomline::{Bitmap, Filter, Group, Swap};
/// use std::sync::Arc;
///
/// struct Table {
///     filter: Filter,
///     rows: Vec<&'static str>,
/// }
///
/// let table = |rows: &[&'static str]| {
///     Ok::<_, bloomline::Error>(Arc::new(Table {
///         filter: Filter::from_keys(rows, 0.001)?,
///         rows: rows.to_vec(),
///     }))
/// };
/// let tables = vec![table(&["apple", "pear"])?, table(&["plum"])?];
/// // A version of the tree. The next one is published in its place.
/// let version = Swap::new(Group::of(tables, |table| table.filter.view())?);
///
/// let group = version.load();
/// let mut maybe = Bitmap::new();
/// group.contains("plum", &mut maybe);
/// assert!(maybe.ones().any(|i| group[i].rows.contains(&"plum")));
/// # Ok::<(), bloomline::Error>(())
/// ```
pub struct Group<T>(Owned<[T]>);

impl<'a> Group<View<'a>> {
    /// Creates a group of views.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn new(views: impl IntoIterator<Item = View<'a>>) -> Result<Group<View<'a>>, Error> {
        Group::of(views.into_iter().collect::<Vec<_>>(), |view| *view)
    }
}

impl<T> Group<T> {
    /// Creates a group that owns its members: [`OwnedView`](crate::OwnedView)s, filters, or whatever
    /// holds them, such as an `Arc` of a table. `view` returns the filter of each.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn of(
        members: impl Into<Arc<[T]>>,
        view: impl for<'m> Fn(&'m T) -> View<'m>,
    ) -> Result<Group<T>, Error> {
        Group::of_optional(members, |member| Some(view(member)))
    }

    /// As [`Group::of`], where members need not have a filter, such as tables that were written without one.
    /// Every key may be present in a member without.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// ```
    /// use bloomline::{Bitmap, Filter, Group};
    ///
    /// let tables = vec![Some(Filter::from_keys(["apple"], 0.001)?), None];
    /// let group = Group::of_optional(tables, |table| table.as_ref().map(Filter::view))?;
    /// let mut maybe = Bitmap::new();
    /// group.contains("plum", &mut maybe);
    /// assert_eq!(maybe.ones().collect::<Vec<_>>(), [1]);
    /// # Ok::<(), bloomline::Error>(())
    /// ```
    pub fn of_optional(
        members: impl Into<Arc<[T]>>,
        view: impl for<'m> Fn(&'m T) -> Option<View<'m>>,
    ) -> Result<Group<T>, Error> {
        let members = Owned::new(members.into(), |members: &[T]| {
            Members::new(members.iter().map(|member| view(member).map(|view| view.member())))
        });
        members.map(Group)
    }

    /// Returns how many words the answers about one key take: a bit for each member.
    pub fn words(&self) -> usize {
        self.0.members().words()
    }

    /// Probes all members for a key. Answer `i` is true if the key may be present in member `i`.
    /// Returns how many are. The key is hashed once for all members that hash alike.
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`].
    pub fn contains<K: Key + ?Sized>(
        &self,
        key: &K,
        answers: &mut (impl Answers + ?Sized),
    ) -> usize {
        let members = self.0.members();
        one_key(members, key.key_bytes().as_ref(), answers.words(members.len()))
    }

    /// As [`Group::contains`], for the hash of a key. The members must hash keys alike: one format,
    /// one seed. If they do not, the key may be present in every member.
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`].
    #[inline]
    pub fn contains_hash(&self, hash: u64, answers: &mut (impl Answers + ?Sized)) -> usize {
        let members = self.0.members();
        one_hash(members, hash, answers.words(members.len()))
    }

    /// Probes all members for many keys, by their hashes, as [`Group::contains_hash`]. The answers
    /// about each key begin in a word of their own: those about key `j` are the
    /// [`words`](Group::words) from `j * words` on. Returns how many answers are true.
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`].
    pub fn contains_hashes(&self, hashes: &[u64], answers: &mut (impl Answers + ?Sized)) -> usize {
        let members = self.0.members();
        rows(members, hashes, answers.words(answers_of_rows(members.words(), hashes.len())))
    }

    /// Probes all members for many keys, by their hashes, as [`Group::contains_hashes`], but writes the
    /// answers member by member. Those of each begin in a word of their own, those of member `i` at word
    /// `i * hashes.len().div_ceil(64)`. Returns how many answers are true.
    ///
    /// It is for many keys. Each member is probed for all of them as by its own
    /// [`contains_hashes`](View::contains_hashes), but lines are prefetched by the size of all members
    /// together: of filters that do not fit in the cache together, none is still there when its turn comes. For
    /// columns of one matrix [`Group::contains_hashes`] is faster.
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`].
    pub fn contains_hashes_by_member(
        &self,
        hashes: &[u64],
        answers: &mut (impl Answers + ?Sized),
    ) -> usize {
        let members = self.0.members();
        let all = answers_of_rows(hashes.len().div_ceil(64), members.len());
        by_member(members, hashes, answers.words(all))
    }

    /// Probes all members for any of many keys, by their hashes. Answer `i` is true if at least one of the
    /// keys may be present in member `i`. Returns how many are. It is what a query with `IN` asks of files
    /// or partitions. A member is asked for no more than some thousand keys after the first one that may be
    /// present, so this takes less time than all answers would. The members must hash keys alike: see
    /// [`Group::contains_hash`].
    ///
    /// # Panics
    /// If `answers` is too short: see [`Answers`].
    ///
    /// ```
    /// use bloomline::{Filter, Group, hash::hash};
    ///
    /// let files = [["apple", "pear"], ["plum", "fig"]].map(|keys| Filter::from_keys(keys, 0.0001));
    /// let files = files.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// let group = Group::new(files.iter().map(Filter::view))?;
    ///
    /// let asked = ["pear", "quince"].map(|key| hash(key, 0));
    /// let mut read = [0u64; 1];
    /// assert_eq!(group.contains_any_hash(&asked, &mut read), 1);
    /// assert_eq!(read[0], 0b01); // the first file only
    /// # Ok::<(), bloomline::Error>(())
    /// ```
    pub fn contains_any_hash(
        &self,
        hashes: &[u64],
        answers: &mut (impl Answers + ?Sized),
    ) -> usize {
        let members = self.0.members();
        any(members, hashes, answers.words(members.len()))
    }

    /// Probes one member for each key: member `members[i]` for the key of hash `hashes[i]`, as that member
    /// hashes it. Answer `i` is true if the key may be present there, or there is no such member. Returns how
    /// many are. It is for looking up many keys, each in its own table.
    ///
    /// # Panics
    /// If there are not as many hashes as members; if `answers` is too short: see [`Answers`].
    #[inline]
    pub fn contains_pairs(
        &self,
        members: &[u32],
        hashes: &[u64],
        answers: &mut (impl Answers + ?Sized),
    ) -> usize {
        self.0.members().answer_pairs(members, hashes, answers.words(hashes.len()))
    }

    /// As [`Group::contains_pairs`], for a column: writes the numbers of the rows that may be present to
    /// `rows`, in order, as [`Select::select_hashes`](crate::Select::select_hashes) does for one filter.
    /// Returns how many. What is behind these in `rows` is of no use. A join whose build side is in
    /// partitions can so ask, for each row, the filter of the row's partition.
    ///
    /// # Panics
    /// If there are not as many hashes as members; if `rows` is shorter than they are; if the type of `rows`
    /// is too narrow for the number of the last row.
    ///
    /// ```
    /// use bloomline::{Filter, Group, Params, hash, shard_of};
    ///
    /// // The build side of a join in four partitions, and a filter for each.
    /// let part_of = |key: u64| shard_of(hash::hash_u64(key, 0), 4) as usize;
    /// let mut partitions = Vec::new();
    /// for _ in 0..4 {
    ///     partitions.push(Filter::new(Params::for_rate(100, 0.0001)?)?);
    /// }
    /// for key in [7u64, 8, 9] {
    ///     partitions[part_of(key)].insert(&key);
    /// }
    /// let group = Group::new(partitions.iter().map(Filter::view))?;
    ///
    /// let column = [9u64, 10, 7, 11];
    /// let (mut hashes, mut rows) = ([0; 4], [0u32; 4]);
    /// hash::hash_u64_batch(&column, 0, &mut hashes);
    /// let members = column.map(|key| part_of(key) as u32);
    /// let count = group.select_pairs(&members, &hashes, &mut rows);
    /// assert_eq!(rows[..count], [0, 2]);
    /// # Ok::<(), bloomline::Error>(())
    /// ```
    pub fn select_pairs<R: Row>(&self, members: &[u32], hashes: &[u64], rows: &mut [R]) -> usize {
        select_pairs(self.0.members(), members, hashes, rows.into())
    }

    /// Keeps those rows of a selection that may be present, in their order, at its front, as
    /// [`Select::refine_hashes`](crate::Select::refine_hashes) does for one filter: row `i` is probed in member
    /// `members[i]`, by `hashes[i]`. Returns how many. What is behind these in `rows` is of no use.
    ///
    /// # Panics
    /// If there are not as many hashes as members; if these lack a row of the selection. Then the selection is
    /// unchanged.
    ///
    /// ```
    /// use bloomline::{Filter, Group, hash};
    ///
    /// let partitions = [Filter::from_keys([7u64], 0.0001)?, Filter::from_keys([8u64], 0.0001)?];
    /// let group = Group::new(partitions.iter().map(Filter::view))?;
    /// let mut hashes = [0; 4];
    /// hash::hash_u64_batch(&[7, 8, 8, 8], 0, &mut hashes);
    /// let mut rows = [0u32, 1, 3]; // selected before, by something else
    /// let count = group.refine_pairs(&[0, 0, 1, 1], &hashes, &mut rows);
    /// assert_eq!(rows[..count], [0, 3]);
    /// # Ok::<(), bloomline::Error>(())
    /// ```
    pub fn refine_pairs<R: Row>(&self, members: &[u32], hashes: &[u64], rows: &mut [R]) -> usize {
        let all = check_members(members, hashes);
        if let Some(last) = last_row(rows) {
            assert!(last < all, "row {last} of a column of {all}");
        }
        refine_pairs(self.0.members(), members, hashes, rows)
    }
}

/// [`Group::select_pairs`].
pub(crate) fn select_pairs<R: Row>(
    members: &Members<'_>,
    numbers: &[u32],
    hashes: &[u64],
    rows: Room<'_, R>,
) -> usize {
    select_answered(check_members(numbers, hashes), rows, |range, words| {
        members.answer_pairs(&numbers[range.clone()], &hashes[range], words);
    })
}

/// [`Group::refine_pairs`], of rows that there are.
pub(crate) fn refine_pairs<R: Row>(
    members: &Members<'_>,
    numbers: &[u32],
    hashes: &[u64],
    rows: &mut [R],
) -> usize {
    let pairs = (numbers, hashes);
    if rows.len() <= SMALL_RUN {
        let room = (&mut [0; SMALL_RUN][..], &mut [0; SMALL_RUN][..]);
        return refine_in_runs(members, pairs, rows, room, &mut [0]);
    }
    let room = (&mut [0; RUN][..], &mut [0; RUN][..]);
    refine_in_runs(members, pairs, rows, room, &mut [0; RUN / 64])
}

/// The same, with room for the numbers and hashes of a run, and for its answers.
fn refine_in_runs<R: Row>(
    members: &Members<'_>,
    (numbers, hashes): (&[u32], &[u64]),
    rows: &mut [R],
    (own_numbers, own_hashes): (&mut [u32], &mut [u64]),
    words: &mut [u64],
) -> usize {
    refine_answered(rows, words, |picked, words| {
        let (own_numbers, own_hashes) =
            (&mut own_numbers[..picked.len()], &mut own_hashes[..picked.len()]);
        for (i, row) in picked.iter().enumerate() {
            own_numbers[i] = numbers[row.number()];
            own_hashes[i] = hashes[row.number()];
        }
        members.answer_pairs(own_numbers, own_hashes, words);
    })
}

/// How many rows there are, of which each has a member and a hash.
fn check_members(numbers: &[u32], hashes: &[u64]) -> usize {
    assert_eq!(numbers.len(), hashes.len(), "a member for each hash");
    hashes.len()
}

/// One key in all members, hashed anew only where they differ.
pub(crate) fn one_key(members: &Members<'_>, key: &[u8], words: &mut [u64]) -> usize {
    let mut last = None;
    members.answer(words, |how| match last {
        Some((of, hash)) if of == how => hash,
        _ => {
            let hash = how.hash(key);
            last = Some((how, hash));
            hash
        }
    })
}

/// One hash in all members.
#[inline(always)]
pub(crate) fn one_hash(members: &Members<'_>, hash: u64, words: &mut [u64]) -> usize {
    match members.hash() {
        Some(_) => members.answer_hash(hash, words),
        None => all_present(members.len(), words),
    }
}

/// Many hashes, a row of words for each.
pub(crate) fn rows(members: &Members<'_>, hashes: &[u64], words: &mut [u64]) -> usize {
    let rows = words.chunks_exact_mut(members.words().max(1));
    hashes.iter().zip(rows).map(|(&hash, row)| one_hash(members, hash, row)).sum()
}

/// Many hashes in each member, a row of words for each member.
pub(crate) fn by_member(members: &Members<'_>, hashes: &[u64], words: &mut [u64]) -> usize {
    if members.hash().is_some() {
        return members.answer_by_member(hashes, words);
    }
    let rows = words.chunks_exact_mut(hashes.len().div_ceil(64).max(1));
    rows.map(|row| all_present(hashes.len(), row)).sum()
}

/// Any of many hashes in each member.
pub(crate) fn any(members: &Members<'_>, hashes: &[u64], words: &mut [u64]) -> usize {
    match members.hash() {
        Some(_) => members.answer_any(hashes, words),
        None if hashes.is_empty() => {
            words.fill(0);
            0
        }
        None => all_present(members.len(), words),
    }
}

/// The members.
impl<T> Deref for Group<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.owners()
    }
}

impl<T> fmt::Debug for Group<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("members", &self.len()).finish_non_exhaustive()
    }
}
