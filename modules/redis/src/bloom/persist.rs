//! A series of filters in an image: the plan, the capacity of each link, a file for each.

use super::chain::{Chain, Link};
use super::layout::Layout;
use super::plan::{MAX_EXPANSION, Plan};
use crate::allocator::memory_of;
use crate::arrived::Arrived;
use crate::image::{File, Header, Kind};
use bloomline::{Error, Filter};

impl Chain {
    /// Its numbers: rate, capacity, expansion with the layout above its 32 bits, seed, and for each
    /// link capacity and bytes. Layout 0 is that of the files.
    pub(crate) fn header(&self) -> Header {
        let Plan { rate, capacity, expansion, seed, layout } = self.plan;
        let growth = u64::from(expansion) | (layout as u64) << 32;
        let mut numbers = vec![rate.to_bits(), capacity, growth, seed];
        for link in &self.links {
            numbers.extend([link.capacity, link.filter.encoded_len() as u64]);
        }
        Header::new(Kind::Bloom, numbers, &self.files())
    }

    pub(crate) fn files(&self) -> Vec<File<'_>> {
        self.links.iter().map(|link| File::Plain(&link.filter)).collect()
    }

    pub(crate) fn from_image(header: &Header, body: &mut Arrived) -> Result<Chain, Error> {
        let Some((&[rate, capacity, growth, seed], sizes)) = header.numbers.split_first_chunk()
        else {
            return Err(Error::NotAFilter);
        };
        let rate = f64::from_bits(rate);
        let (expansion, layout) = (growth as u32, Layout::of_number(growth >> 32));
        let layout = layout.filter(|_| expansion <= MAX_EXPANSION).ok_or(Error::NotAFilter)?;
        let (sizes, rest) = sizes.as_chunks::<2>();
        if !(rate > 0.0 && rate < 1.0) || capacity == 0 || sizes.is_empty() || !rest.is_empty() {
            return Err(Error::NotAFilter);
        }
        let mut plan = Plan { rate, capacity, expansion, seed, layout };
        let mut links = Vec::new();
        // As many as a series that has grown has: the same memory.
        links.try_reserve_exact(sizes.len()).map_err(|_| Error::OutOfMemory)?;
        for &[capacity, len] in sizes {
            let filter = Filter::load_from(body.take(len)?)?;
            if links.is_empty() && plan.layout == Layout::Lines {
                plan.layout = Layout::of(&filter);
            }
            if filter.params().seed() != seed || !plan.layout.suits(&filter) {
                return Err(Error::Mismatch);
            }
            links.push(Link { filter, capacity });
        }
        if body.left() == 0 { Ok(Chain { plan, links }) } else { Err(Error::NotAFilter) }
    }

    /// The bytes it asks for: the same on every server.
    pub(crate) fn size(&self) -> usize {
        self.bytes() + self.links.len() * size_of::<Link>()
    }

    /// The bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        let lines: usize = self.links.iter().map(|link| memory_of(link.filter.lines())).sum();
        lines + self.links.len() * size_of::<Link>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::Limit;
    use bloomline::hash::hash_u64;

    #[test]
    fn an_image_is_the_same_filter_and_goes_on_growing() {
        for layout in Layout::ALL {
            check(layout);
        }
    }

    #[test]
    fn layout_0_is_that_of_the_file_and_others_must_suit_it() {
        let plan = |layout| Plan { rate: 0.01, capacity: 50, expansion: 0, seed: 9, layout };
        for layout in Layout::ALL {
            let chain = Chain::new(plan(layout), Limit::none()).unwrap();
            let (mut header, mut body) = (chain.header(), Vec::new());
            chain.links[0].filter.write_to(&mut body).unwrap();
            for number in 0..4 {
                header.numbers[2] = number << 32;
                let read = Chain::from_image(&header, &mut Arrived::of(&body));
                let expected = match Layout::of_number(number) {
                    Some(Layout::Lines) => Some(Layout::of(&chain.links[0].filter)),
                    Some(named) if named.suits(&chain.links[0].filter) => Some(named),
                    _ => None,
                };
                assert_eq!(read.ok().map(|chain| chain.plan.layout), expected, "{number}");
            }
        }
    }

    fn check(layout: Layout) {
        let plan = Plan { rate: 0.01, capacity: 50, expansion: 2, seed: 9, layout };
        let mut chain = Chain::new(plan, Limit::none()).unwrap();
        let hashes: Vec<u64> = (0..1000).map(|i| hash_u64(i, 0)).collect();
        chain.insert(&hashes[..700], Limit::none(), |_| ()).unwrap();
        let mut body = Vec::new();
        for file in chain.files() {
            file.write_to(&mut body).unwrap();
        }
        let header = chain.header();
        assert_eq!(header.body, body.len() as u64);
        let mut again = Chain::from_image(&header, &mut Arrived::of(&body)).unwrap();
        for chain in [&mut chain, &mut again] {
            chain.insert(&hashes, Limit::none(), |_| ()).unwrap();
        }
        assert_eq!(chain.header(), again.header());
        assert!(chain.links.iter().zip(&again.links).all(|(a, b)| a.filter == b.filter));
        for i in (0..body.len()).step_by(37) {
            let mut damaged = body.clone();
            damaged[i] ^= 1;
            assert!(Chain::from_image(&header, &mut Arrived::of(&damaged)).is_err(), "byte {i}");
        }
        assert!(Chain::from_image(&header, &mut Arrived::of(&body[1..])).is_err());
    }
}
