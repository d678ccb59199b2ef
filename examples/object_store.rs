//! Which segments of a log in an object store may have a key, by range reads: one for all segments
//! in place of one for each.
//!
//!     cargo run --release --example object_store [SEGMENTS]      512 unless told
//!
//! Every segment has a filter of its keys. They are stored twice: each as an object, and all of them as
//! one object, a matrix. The store is an HTTP server in this process with range reads, as S3, GCS and
//! Azure have them. A lookup reads
//!
//! * with filters, the line of the key in the filter of every segment: a request for each;
//! * with the matrix, one group, 64 bytes for each segment, verified by its checksum; or
//! * its k rows, a bit for each segment: k small requests, which no checksum covers.
//!
//! A batch reads the groups of all its keys, neighbours with one request. All requests name the version
//! of the matrix, so a matrix that was replaced meanwhile is an error, not a wrong answer.
//!
//! Exit status: not 0 if a segment was missed that has a key, if too many were found that have not, or
//! if damage or a replaced object went unnoticed.

use bloomline::definition::line::line_index;
use bloomline::hash::hash_u64;
use bloomline::{Bitmap, Error, Filter, Matrix, MatrixShape, Params};
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::thread;

const KEYS: u64 = 20_000; // of a segment
const RATE: f64 = 0.01;

/// A key of a segment: a trace id.
fn key(segment: usize, number: u64) -> u64 {
    hash_u64((segment as u64) << 32 | number, 1)
}

// ---- the store: GET with Range and If-Match, by HTTP/1.1 ----

/// Objects by their names, each with a version that is its ETag.
type Objects = Arc<Mutex<HashMap<String, (u64, Arc<Vec<u8>>)>>>;

fn serve(objects: Objects) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let objects = objects.clone();
            thread::spawn(move || answer_all(stream, &objects));
        }
    });
    Ok(address)
}

/// Answers the requests of a connection, until it ends.
fn answer_all(stream: TcpStream, objects: &Objects) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some((first, headers)) = read_head(&mut reader)? {
        let name = first.split(' ').nth(1).unwrap_or("");
        let object = objects.lock().map_err(|_| io::ErrorKind::Other)?.get(name).cloned();
        let mut head = String::from("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        let mut body: &[u8] = &[];
        let bytes;
        if let Some((version, object)) = object {
            let tag = format!("\"{version}\"");
            bytes = object;
            let range = headers.get("range").and_then(|range| range_of(range, bytes.len()));
            if headers.get("if-match").is_some_and(|wanted| *wanted != tag) {
                head = head.replace("404 Not Found", "412 Precondition Failed");
            } else if let Some(range) = range {
                head = format!(
                    "HTTP/1.1 206 Partial Content\r\nETag: {tag}\r\nContent-Range: bytes {}-{}/{}\r\n\
                     Content-Length: {}\r\n\r\n",
                    range.start,
                    range.end - 1,
                    bytes.len(),
                    range.len()
                );
                body = &bytes[range];
            }
        }
        (&stream).write_all(&[head.as_bytes(), body].concat())?;
    }
    Ok(())
}

/// `bytes=FIRST-LAST`, or `bytes=-COUNT` for the last bytes.
fn range_of(header: &str, len: usize) -> Option<Range<usize>> {
    let (first, last) = header.strip_prefix("bytes=")?.split_once('-')?;
    let range = match first {
        "" => len.saturating_sub(last.parse().ok()?)..len,
        first => first.parse().ok()?..(last.parse::<usize>().ok()? + 1).min(len),
    };
    (!range.is_empty()).then_some(range)
}

/// The first line of a request or a response, and its headers; None at the end of the connection.
fn read_head(reader: &mut impl BufRead) -> io::Result<Option<(String, HashMap<String, String>)>> {
    let (mut first, mut headers) = (String::new(), HashMap::new());
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else { return Ok(Some((first, headers))) };
        headers.insert(name.to_ascii_lowercase(), value.trim().into());
    }
}

// ---- a client ----

/// A connection, and what went over it.
struct Client {
    reader: BufReader<TcpStream>,
    requests: u64,
    bytes: u64,
}

impl Client {
    fn new(store: SocketAddr) -> io::Result<Client> {
        let stream = TcpStream::connect(store)?;
        stream.set_nodelay(true)?;
        Ok(Client { reader: BufReader::new(stream), requests: 0, bytes: 0 })
    }

    /// Reads a range of an object, of this version if one is given. Returns the bytes, the length of the
    /// object, and its version.
    fn get(&mut self, name: &str, range: &str, tag: &str) -> io::Result<(Vec<u8>, u64, String)> {
        let matching = if tag.is_empty() { String::new() } else { format!("If-Match: {tag}\r\n") };
        let request =
            format!("GET {name} HTTP/1.1\r\nHost: store\r\nRange: bytes={range}\r\n{matching}\r\n");
        self.reader.get_mut().write_all(request.as_bytes())?;
        let head = read_head(&mut self.reader)?;
        let (first, headers) = head.ok_or(io::ErrorKind::UnexpectedEof)?;
        let header = |name: &str| headers.get(name).map_or("", |value| value.as_str());
        let mut bytes = Vec::new();
        let len = header("content-length").parse().map_err(io::Error::other)?;
        (&mut self.reader).take(len).read_to_end(&mut bytes)?;
        if !first.contains(" 206 ") {
            return Err(io::Error::other(first.trim().to_string()));
        }
        (self.requests, self.bytes) = (self.requests + 1, self.bytes + bytes.len() as u64);
        let all = header("content-range").rsplit('/').next().unwrap_or("");
        Ok((bytes, all.parse().map_err(io::Error::other)?, header("etag").to_string()))
    }

    fn read(&mut self, name: &str, range: &Range<u64>, tag: &str) -> io::Result<Vec<u8>> {
        Ok(self.get(name, &format!("{}-{}", range.start, range.end - 1), tag)?.0)
    }

    /// The requests and bytes since the last call.
    fn used(&mut self) -> (u64, u64) {
        let used = (self.requests, self.bytes);
        (self.requests, self.bytes) = (0, 0);
        used
    }
}

/// A matrix in the store: its shape, the checksums of its groups, and its version.
struct Remote {
    shape: MatrixShape,
    checksums: Vec<u8>,
    tag: String,
}

const MATRIX: &str = "/matrix";

impl Remote {
    /// Reads the footer, and the checksums, 8 bytes for each line of a filter.
    fn open(client: &mut Client) -> Result<Remote, Box<dyn std::error::Error>> {
        let (footer, len, tag) = client.get(MATRIX, "-64", "")?;
        let footer = footer.as_slice().try_into().map_err(|_| "a short answer")?;
        let shape = MatrixShape::read(footer, len)?;
        let checksums = client.read(MATRIX, &shape.checksum_bytes(), &tag)?;
        Ok(Remote { shape, checksums, tag })
    }

    fn verify(&self, range: &Range<u64>, group: &[u8]) -> Result<(), Error> {
        let (sum, all) = (self.shape.checksum_of(range), self.shape.checksum_bytes());
        let sum =
            self.checksums.get((sum.start - all.start) as usize..(sum.end - all.start) as usize);
        self.shape.verify_range(range, group, sum.unwrap_or(&[]))
    }

    /// One request: the group of the key.
    fn by_group(
        &self,
        client: &mut Client,
        hash: u64,
        maybe: &mut Bitmap,
    ) -> Result<usize, Failed> {
        let range = self.shape.range(hash);
        let group = client.read(MATRIX, &range, &self.tag)?;
        self.verify(&range, &group)?;
        Ok(self.shape.contains_in(&group, hash, maybe)?)
    }

    /// k requests: the rows of the key.
    fn by_rows(&self, client: &mut Client, hash: u64, maybe: &mut Bitmap) -> Result<usize, Failed> {
        let mut rows = Vec::new();
        for range in self.shape.row_ranges(hash) {
            rows.extend(client.read(MATRIX, &range, &self.tag)?);
        }
        Ok(self.shape.contains_in_rows(&rows, hash, maybe)?)
    }

    /// The groups of many keys, those at most `gap` bytes apart with one request. Passes on the answer
    /// about each key, by its number.
    fn batch(
        &self,
        client: &mut Client,
        hashes: &[u64],
        gap: u64,
        mut each: impl FnMut(usize, &Bitmap),
    ) -> Result<(), Failed> {
        let mut maybe = Bitmap::new();
        for read in self.shape.ranges(hashes, gap) {
            let bytes = client.read(MATRIX, &read, &self.tag)?;
            for (number, &hash) in hashes.iter().enumerate() {
                let range = self.shape.range(hash);
                if !(read.start..read.end).contains(&range.start) {
                    continue;
                }
                let here = (range.start - read.start) as usize..(range.end - read.start) as usize;
                let group = bytes.get(here).unwrap_or(&[]);
                self.verify(&range, group)?;
                self.shape.contains_in(group, hash, &mut maybe)?;
                each(number, &maybe);
            }
        }
        Ok(())
    }
}

type Failed = Box<dyn std::error::Error>;

fn main() -> Result<ExitCode, Failed> {
    let segments: usize = std::env::args().nth(1).map_or(Ok(512), |count| count.parse())?.max(2);
    let params = Params::for_rate(KEYS, RATE)?;

    // Whoever writes the segments stores the filter of each, and the matrix of all.
    let objects = Objects::default();
    let put = |name: String, version: u64, bytes: Vec<u8>| {
        let mut objects = objects.lock().map_err(|_| "the store failed")?;
        objects.insert(name, (version, Arc::new(bytes)));
        Ok::<_, Failed>(())
    };
    let mut filters = Vec::new();
    for segment in 0..segments {
        let mut filter = Filter::new(params)?;
        filter.insert_iter((0..KEYS).map(|number| key(segment, number)));
        put(format!("/segment/{segment}"), 1, filter.to_bytes()?)?;
        filters.push(filter);
    }
    let mut matrix = Matrix::new(params, segments)?;
    matrix.set_columns(0, filters.iter().map(Filter::view), 0)?;
    matrix.set_checksums(true);
    let bytes = matrix.to_bytes()?;
    let whole = bytes.len();
    put(MATRIX.into(), 1, bytes.clone())?;

    let mut client = Client::new(serve(objects.clone())?)?;
    let remote = Remote::open(&mut client)?;
    let (requests, read) = client.used();
    println!("matrix    {segments} segments of {KEYS} keys, {whole} bytes");
    println!("open      {requests} requests, {read} bytes: the footer and the checksums");

    // Keys of some segment, and of none.
    let asked: Vec<(Option<usize>, u64)> = (0..200)
        .map(|i| {
            let segment = (i % 2 == 0).then_some(hash_u64(i, 2) as usize % segments);
            (segment, remote.shape.hash(&key(segment.unwrap_or(segments), i)))
        })
        .collect();
    let hashes: Vec<u64> = asked.iter().map(|&(_, hash)| hash).collect();
    let (mut missed, mut wrong, mut maybe) = (0, 0, Bitmap::new());
    let mut check = |segment: Option<usize>, maybe: &Bitmap| {
        let others = maybe.ones().filter(|&found| Some(found) != segment).count();
        wrong += others;
        missed += usize::from(segment.is_some_and(|segment| !maybe[segment]));
    };
    let show = |what: &str, keys: usize, (requests, bytes): (u64, u64)| {
        let each = |total: u64| total as f64 / keys as f64;
        println!("{what:<9} {:.2} requests, {:.0} bytes for a key", each(requests), each(bytes));
    };

    // One line of each filter: 64 bytes of each object.
    let few = &asked[..asked.len().min(5)];
    for &(segment, hash) in few {
        let line = line_index(hash, params.line_count());
        let mut lines = Vec::new();
        for number in 0..segments {
            lines.push(client.read(
                &format!("/segment/{number}"),
                &(64 * line..64 * line + 64),
                "",
            )?);
        }
        let has = |line: &Vec<u8>| bloomline::definition::line::contains(line, params.k(), hash);
        check(segment, &lines.iter().map(has).collect());
    }
    show("filters", few.len(), client.used());
    for &(segment, hash) in &asked {
        remote.by_group(&mut client, hash, &mut maybe)?;
        check(segment, &maybe);
    }
    show("group", asked.len(), client.used());
    for &(segment, hash) in &asked {
        remote.by_rows(&mut client, hash, &mut maybe)?;
        check(segment, &maybe);
    }
    show("rows", asked.len(), client.used());
    let group = remote.shape.range(0).end;
    let mut unanswered = 0;
    for gap in [0, 2 * group] {
        let mut answered = 0;
        remote.batch(&mut client, &hashes, gap, |number, maybe| {
            check(asked[number].0, maybe);
            answered += 1;
        })?;
        unanswered += asked.len() - answered;
        show(if gap == 0 { "batch" } else { "merged" }, asked.len(), client.used());
    }
    missed += unanswered;
    let probes = (segments * (few.len() + 4 * asked.len())) as f64;
    let (rate, expected) = (wrong as f64 / probes, filters[0].estimated_rate());
    println!("wrong     {:.2} % of segments; {:.2} % expected", 100.0 * rate, 100.0 * expected);

    // A bit that turned in the store, and an object that was replaced.
    let mut damaged = bytes.clone();
    damaged[remote.shape.range(hashes[0]).start as usize] ^= 1;
    put(MATRIX.into(), 1, damaged)?;
    let found = remote.by_group(&mut client, hashes[0], &mut maybe).is_err();
    put(MATRIX.into(), 2, bytes)?;
    let replaced = remote.by_group(&mut client, hashes[0], &mut maybe).is_err();
    println!("damage    {}", if found { "found by the checksum" } else { "NOT FOUND" });
    println!("replaced  {}", if replaced { "refused by the store" } else { "NOT REFUSED" });
    println!("missed    {missed} segments");
    let good = missed == 0 && found && replaced && rate < 1.3 * expected + 0.001;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
