//! A series of cuckoo filters in an image: the shape, and a file for each filter.

use super::link::{Link, full_rate};
use super::series::{Series, Shape};
use crate::arrived::Arrived;
use crate::image::{File, Header, Kind};
use bloomline::definition::cuckoo::{MAX_KICKS, SLOTS};
use bloomline::{CuckooFilter, Error};

/// A line and a footer.
const LEAST_FILE: u64 = 128;

impl Series {
    /// One filter, which does not grow.
    pub(crate) fn of_file(filter: CuckooFilter) -> Series {
        let params = filter.params();
        let shape = Shape {
            capacity: params.slots(),
            bucket_size: SLOTS,
            max_iterations: u64::from(MAX_KICKS),
            expansion: 0,
            max_links: 1,
            rate: full_rate(params),
            seed: params.seed(),
        };
        Series { shape, links: vec![Link::of(vec![filter])], deleted: 0 }
    }

    /// Its numbers: the shape, items removed, and for each link the number of its filters.
    pub(crate) fn header(&self) -> Header {
        let Shape { capacity, bucket_size, max_iterations, expansion, max_links, rate, seed } =
            self.shape;
        let mut numbers = vec![capacity, bucket_size, max_iterations, expansion, max_links];
        numbers.extend([rate.to_bits(), seed, self.deleted]);
        numbers.extend(self.links.iter().map(|link| link.shards.len() as u64));
        Header::new(Kind::Cuckoo, numbers, &self.files())
    }

    pub(crate) fn files(&self) -> Vec<File<'_>> {
        self.links.iter().flat_map(|link| link.shards.iter().map(File::Cuckoo)).collect()
    }

    pub(crate) fn from_image(header: &Header, body: &mut Arrived) -> Result<Series, Error> {
        let Some((&numbers, counts)) = header.numbers.split_first_chunk() else {
            return Err(Error::NotAFilter);
        };
        let [capacity, bucket_size, max_iterations, expansion, max_links, rate, seed, deleted] =
            numbers;
        let rate = f64::from_bits(rate);
        // All files have the same length.
        let filters = counts.iter().try_fold(0, |sum: u64, &count| sum.checked_add(count));
        let filters = filters.filter(|&filters| filters > 0).ok_or(Error::NotAFilter)?;
        let len = body.left() / filters;
        let whole = len >= LEAST_FILE && len * filters == body.left();
        if !(rate > 0.0 && rate < 1.0) || capacity == 0 || !whole {
            return Err(Error::NotAFilter);
        }
        let mut series = Series {
            shape: Shape {
                capacity,
                bucket_size,
                max_iterations,
                expansion,
                max_links,
                rate,
                seed,
            },
            links: Vec::new(),
            deleted,
        };
        let mut before = 1;
        let no_memory = |_| Error::OutOfMemory;
        series.links.try_reserve_exact(counts.len()).map_err(no_memory)?;
        for (i, &count) in counts.iter().enumerate() {
            // As it grows: what removing rests on.
            let expected = if i == 0 { Some(1) } else { expansion.checked_mul(before) };
            if expected != Some(count) || count == 0 {
                return Err(Error::NotAFilter);
            }
            let mut shards: Vec<CuckooFilter> = Vec::new();
            shards.try_reserve_exact(count as usize).map_err(no_memory)?;
            for _ in 0..count {
                let filter = CuckooFilter::load_from(body.take(len)?)?;
                let first = series.links.first().map_or(&shards, |link| &link.shards).first();
                let alike = first.is_none_or(|first| first.params() == filter.params());
                if filter.params().seed() != seed || !alike {
                    return Err(Error::Mismatch);
                }
                shards.push(filter);
            }
            before = count;
            series.links.push(Link::of(shards));
        }
        Ok(series)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::Limit;
    use bloomline::hash::hash_u64;

    #[test]
    fn an_image_is_the_same_series() {
        let shape = Shape {
            capacity: 100,
            bucket_size: 2,
            max_iterations: 20,
            expansion: 2,
            max_links: 32,
            rate: 0.01,
            seed: 3,
        };
        let mut series = Series::new(shape, Limit::none()).unwrap();
        for i in 0..500 {
            series.insert(hash_u64(i, 0), Limit::none()).unwrap();
        }
        series.remove(hash_u64(1, 0));
        let mut body = Vec::new();
        for file in series.files() {
            file.write_to(&mut body).unwrap();
        }
        let header = series.header();
        let again = Series::from_image(&header, &mut Arrived::of(&body)).unwrap();
        assert_eq!(again.header(), header);
        assert_eq!((series.items(), series.links.len()), (again.items(), again.links.len()));
        assert!((0..500).filter(|&i| i != 1).all(|i| again.contains(hash_u64(i, 0))));
        assert!(Series::from_image(&header, &mut Arrived::of(&body[64..])).is_err());
        body[5] ^= 1;
        assert!(Series::from_image(&header, &mut Arrived::of(&body)).is_err());
    }
}
