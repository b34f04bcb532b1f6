//! Tests of [`super::Source`]: the same content gives the same chunks from files, pipes and compressed files.

use std::io::{Seek, Write};

use proptest::prelude::*;

use super::*;
use crate::error::ErrorKind;

/// A reader that gives at most `step` bytes at a time and is interrupted before each piece.
struct Drip {
    content: io::Cursor<Vec<u8>>,
    step: usize,
    interrupted: bool,
}

impl Read for Drip {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.interrupted = !self.interrupted;
        if self.interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let step = self.step.min(buffer.len());
        self.content.read(&mut buffer[..step])
    }
}

fn drip(content: &[u8], step: usize) -> Source {
    let reader = Drip { content: io::Cursor::new(content.to_vec()), step, interrupted: false };
    Source::from_reader(Box::new(reader), Path::new("drip"), None).unwrap()
}

fn chunks(mut source: Source) -> (Vec<Chunk>, Provenance) {
    let mut all = Vec::new();
    while let Some(chunk) = source.next_chunk().unwrap() {
        all.push(chunk);
    }
    (all, source.finish().unwrap())
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// Lines of many lengths, more than four chunks long.
fn long_text() -> Vec<u8> {
    let mut text = Vec::new();
    for n in 0..160_000u64 {
        text.extend(std::iter::repeat_n(b'a' + (n % 26) as u8, (n * 7919 % 120) as usize));
        text.push(b'\n');
    }
    text.extend(b"the end has no line end");
    text
}

#[test]
fn content_alone_decides_the_chunks() {
    let text = long_text();
    let (expected, provenance) = chunks(drip(&text, usize::MAX));
    assert_eq!(expected.len(), 5);
    assert_eq!(expected.concat_bytes(), text);
    assert!(expected.iter().all(|c| c.last == (c.index == 4) && c.last != c.bytes.ends_with(b"\n")));
    assert_eq!(expected[1].offset, expected[0].bytes.len() as u64);
    assert_eq!(provenance.bytes, text.len() as u64);

    let (head, tail) = text.split_at(1_000_000);
    let members = [gzip(head), gzip(tail)].concat();
    let frames = [zstd::encode_all(head, 1).unwrap(), zstd::encode_all(tail, 1).unwrap()].concat();
    for (name, raw) in [("plain", text), ("gzip", members), ("zstd", frames)] {
        for step in [4099, usize::MAX] {
            let mut source = drip(&raw, step);
            assert_eq!(source.head().unwrap(), &expected[0].bytes[..HEAD_BYTES]);
            let (same, provenance) = chunks(source);
            assert!(same == expected, "{name} in steps of {step}");
            assert_eq!(provenance.bytes, raw.len() as u64, "{name}");
            assert_eq!(provenance.digest, Some(blake3_of(&raw)), "{name}");
        }
    }
}

fn blake3_of(raw: &[u8]) -> String {
    format!("blake3:{}", blake3::hash(raw))
}

/// The digests of nothing, which is the first of the published test vectors, and of `abc`.
#[test]
fn digests_are_those_of_the_specification() {
    let nothing = "blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
    assert_eq!(chunks(drip(b"", 1)).1.digest.as_deref(), Some(nothing));
    let abc = "blake3:6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85";
    assert_eq!(chunks(drip(b"abc", 1)).1.digest.as_deref(), Some(abc));
}

#[test]
fn a_chunk_that_just_fits_is_the_last() {
    let mut text = vec![b'x'; CHUNK_BYTES];
    for at in (0..CHUNK_BYTES).step_by(100) {
        text[at] = b'\n';
    }
    text[CHUNK_BYTES - 1] = b'\n';
    let (one, _) = chunks(drip(&text, 65_536));
    assert_eq!(one.iter().map(|c| (c.bytes.len(), c.last)).collect::<Vec<_>>(), [(CHUNK_BYTES, true)]);
    text.push(b'y');
    let (two, _) = chunks(drip(&text, 65_536));
    assert_eq!(
        two.iter().map(|c| (c.bytes.len(), c.last)).collect::<Vec<_>>(),
        [(CHUNK_BYTES, false), (1, true)]
    );
}

#[test]
fn endless_lines_do_not_grow_memory() {
    let mut text = b"short\n".to_vec();
    text.resize(11_000_000, b'z');
    text.extend(b"\nshort again\n");
    let (all, _) = chunks(drip(&text, 1 << 20));
    // A line that is too long to be carried over ends with its piece.
    assert!(all.iter().all(|c| c.bytes.len() <= CHUNK_BYTES + MAX_LINE));
    assert_eq!(all[0].bytes.len(), CHUNK_BYTES);
    assert_eq!(all.concat_bytes(), text);
}

#[test]
fn compressed_data_unpack_to_so_many_bytes_at_most() {
    let text = long_text();
    let bytes_of = |content: &[u8], most: u64| {
        let mut source = drip(content, 1 << 20);
        source.unpack_at_most(most);
        let mut bytes = 0;
        while let Some(chunk) = source.next_chunk()? {
            bytes += chunk.bytes.len();
        }
        Ok(bytes)
    };
    let all = text.len() as u64;
    assert_eq!(bytes_of(&gzip(&text), all).unwrap(), text.len());
    assert_eq!(bytes_of(&text, 1).unwrap(), text.len(), "what is not compressed is no larger than its file");
    let error: Error = bytes_of(&gzip(&text), all - 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.to_string().contains(&format!("unpacks to more than {} bytes", all - 1)), "{error}");
    assert!(error.hints()[0].contains("--max-unpacked"), "{error:?}");
}

#[test]
fn a_file_that_is_written_over_while_it_is_read_is_refused() {
    let text = long_text();
    let read = |change: &dyn Fn(&mut File), digest: bool| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&text).unwrap();
        // The system counts the times of files in steps of some milliseconds.
        std::thread::sleep(std::time::Duration::from_millis(30));
        let mut source = Source::open(file.path()).unwrap();
        if !digest {
            source.skip_digest();
        }
        source.next_chunk().unwrap().unwrap();
        change(file.as_file_mut());
        while source.next_chunk().unwrap().is_some() {}
        source.finish()
    };
    let over = |file: &mut File| {
        file.seek(io::SeekFrom::Start(text.len() as u64 - 9)).unwrap();
        file.write_all(b"XXXX").unwrap();
    };
    let behind = |file: &mut File| file.write_all(b"more").unwrap();
    let early = |file: &mut File| {
        file.rewind().unwrap();
        file.write_all(b"X").unwrap();
    };
    for (change, digest) in [(&early as &dyn Fn(&mut File), true), (&over, false), (&behind, false)] {
        let error = read(change, digest).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input);
        assert!(error.to_string().contains("written to while it was read"), "{error}");
    }
    assert!(read(&over, true).is_ok(), "all of it is from after the change");
    assert_eq!(read(&behind, true).unwrap().bytes, text.len() as u64, "what comes behind is not read");
    assert!(read(&|_| {}, true).is_ok() && read(&|_| {}, false).is_ok());
}

trait Concat {
    fn concat_bytes(&self) -> Vec<u8>;
}

impl Concat for Vec<Chunk> {
    fn concat_bytes(&self) -> Vec<u8> {
        self.iter().flat_map(|c| c.bytes.iter().copied()).collect()
    }
}

#[test]
fn recycled_buffers_leak_no_old_content() {
    let text = long_text();
    let (expected, _) = chunks(drip(&text, usize::MAX));
    let mut source = drip(&text, usize::MAX);
    for chunk in expected {
        let same = source.next_chunk().unwrap().unwrap();
        assert!(same == chunk);
        source.recycle(same.bytes);
    }
    assert_eq!(source.next_chunk().unwrap(), None);
}

#[test]
fn the_pieces_of_an_input_are_its_chunks_and_its_end() {
    let text = long_text();
    let (expected, _) = chunks(drip(&text, usize::MAX));
    for raw in [text.clone(), gzip(&text)] {
        let (mut pieces, used) = drip(&raw, 1 << 20).pieces();
        let mut counted = 0;
        for chunk in &expected {
            let Some(Ok(Piece::Chunk { chunk: same, raw })) = pieces.next() else { panic!("no chunk") };
            assert!(same == *chunk);
            counted += raw;
            used.give(same.bytes);
        }
        let Some(Ok(Piece::End(provenance))) = pieces.next() else { panic!("no end") };
        assert_eq!((provenance.bytes, provenance.digest), (raw.len() as u64, Some(blake3_of(&raw))));
        assert!(pieces.next().is_none());
        assert!(counted <= raw.len() as u64 && counted > 0);
    }
    // Damage is an error in its place, and nothing follows.
    let whole = gzip(&text);
    let (pieces, _used) = drip(&whole[..whole.len() / 2], 1 << 20).pieces();
    let read: Vec<_> = pieces.collect();
    let (last, before) = read.split_last().unwrap();
    assert!(before.len() > 1 && before.iter().all(|piece| matches!(piece, Ok(Piece::Chunk { .. }))));
    assert_eq!(last.as_ref().unwrap_err().kind(), ErrorKind::Input);
}

#[test]
fn an_empty_input_has_no_chunk() {
    let (all, provenance) = chunks(drip(b"", 1));
    assert_eq!(all, []);
    assert_eq!(provenance.bytes, 0);
    assert_eq!(provenance.digest, Some(blake3_of(b"")));
    assert_eq!(drip(b"", 1).head().unwrap(), b"");
}

#[test]
fn the_digest_covers_what_was_not_read() {
    let text = long_text();
    for raw in [text.clone(), gzip(&text)] {
        let mut source = drip(&raw, 1 << 20);
        source.head().unwrap();
        let provenance = source.finish().unwrap();
        assert_eq!((provenance.bytes, provenance.digest), (raw.len() as u64, Some(blake3_of(&raw))));
    }
}

#[test]
fn a_digest_that_is_not_wanted_is_not_made() {
    let text = long_text();
    for raw in [text.clone(), gzip(&text), zstd::encode_all(text.as_slice(), 1).unwrap()] {
        let mut source = drip(&raw, 1 << 20);
        source.head().unwrap();
        source.skip_digest();
        let (all, provenance) = chunks(source);
        assert_eq!(all.iter().map(|c| c.bytes.len()).sum::<usize>(), text.len());
        assert_eq!((provenance.bytes, provenance.digest), (raw.len() as u64, None));
    }
}

#[test]
fn damaged_compression_is_an_input_error() {
    let whole = gzip(&long_text());
    let mut noisy = whole.clone();
    noisy[1000] ^= 0x55;
    for raw in [whole[..whole.len() / 2].to_vec(), noisy, [whole, b"tail".to_vec()].concat()] {
        let mut source = drip(&raw, 1 << 20);
        let error = loop {
            match source.next_chunk() {
                Ok(chunk) => assert!(chunk.is_some(), "the damage went unnoticed"),
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::Input);
        assert!(error.to_string().contains("gzip"));
    }
}

#[test]
fn files_folders_and_missing_paths() {
    let folder = tempfile::tempdir().unwrap();
    for (path, word) in [(folder.path().to_path_buf(), "folder"), (folder.path().join("x"), "no such")] {
        let error = Source::open(&path).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Input);
        assert!(error.to_string().contains(word) && !error.hints().is_empty());
    }
    // The name says plain, the content says zstd.
    let path = folder.path().join("trace.csv");
    let raw = zstd::encode_all(&b"a\nb\n"[..], 3).unwrap();
    std::fs::write(&path, &raw).unwrap();
    let mut source = Source::open(&path).unwrap();
    assert_eq!(*source.next_chunk().unwrap().unwrap().bytes, *b"a\nb\n");
    assert_eq!(source.progress(), (raw.len() as u64, Some(raw.len() as u64)));
}

#[test]
fn a_line_is_carried_over_as_long_as_it_may_be() {
    for (long, cut) in [(MAX_LINE, CHUNK_BYTES - MAX_LINE), (MAX_LINE + 1, CHUNK_BYTES)] {
        let mut text = vec![b'\n'; CHUNK_BYTES - long];
        text.resize(CHUNK_BYTES + 10, b'z');
        let (all, _) = chunks(drip(&text, usize::MAX));
        let lengths: Vec<_> = all.iter().map(|c| c.bytes.len()).collect();
        assert_eq!(lengths, [cut, text.len() - cut], "{long}");
        assert_eq!(all.concat_bytes(), text);
    }
}

#[test]
fn the_disk_writes_what_the_file_has() {
    let piece = CHUNK_BYTES as u64;
    let mut file = tempfile::tempfile().unwrap();
    let text: Vec<u8> = (0..7 * piece + 100).map(|n| ((n * n) >> 7) as u8).collect();
    file.write_all(&text).unwrap();
    let file = Arc::new(file);
    let mut direct = match Direct::begin(Arc::clone(&file), (piece, text.len() as u64), |_, _| false) {
        Ok(direct) => direct,
        Err(error) => return eprintln!("files cannot be read past the cache here: {error}"),
    };
    for piece in text.chunks_exact(CHUNK_BYTES).skip(1) {
        let Ok(read) = direct.next(Buffer::huge().unwrap()) else { panic!("a piece was not read") };
        assert!(*read == *piece);
    }
    assert!(direct.next(Buffer::huge().unwrap()).is_err());
    direct.leave().unwrap();
    let mut rest = Vec::new();
    (&*file).read_to_end(&mut rest).unwrap();
    assert!(rest == text[text.len() - 100..]);
}

/// A file that is read past the cache from its second piece on, except pieces that are in it by `is_cached`.
fn past_the_cache(path: &Path, is_cached: fn(&File, u64) -> bool) -> Source {
    let mut source = Source::open(path).unwrap();
    source.fill(CHUNK_BYTES).unwrap();
    let file = source.file.take().unwrap();
    // If the system has no such reads (another test says so), the file is read through the cache.
    source.direct = Direct::begin(file.shared(), (CHUNK_BYTES as u64, file.length()), is_cached).ok();
    source
}

#[test]
fn a_file_is_the_same_past_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace");
    let text: Vec<u8> = std::iter::repeat_with(long_text).take(2).flatten().collect();
    let ways: [fn(&File, u64) -> bool; 3] =
        [|_, _| false, |_, _| true, |_, offset| offset / CHUNK_BYTES as u64 % 3 == 1];
    for length in
        [9 * CHUNK_BYTES, 8 * CHUNK_BYTES + 1, 8 * CHUNK_BYTES - 1, 4 * CHUNK_BYTES + 4096, CHUNK_BYTES + 1]
    {
        let text = &text[..length];
        std::fs::write(&path, text).unwrap();
        let (expected, provenance) = chunks(drip(text, usize::MAX));
        for way in ways {
            let (same, same_digest) = chunks(past_the_cache(&path, way));
            assert!(same == expected, "{length}");
            assert_eq!(same_digest, provenance);
            // The provenance covers the whole input, also when only one chunk was asked for.
            let mut source = past_the_cache(&path, way);
            source.next_chunk().unwrap();
            assert_eq!(source.finish().unwrap(), provenance);
        }
        // As it comes, too.
        assert!(chunks(Source::open(&path).unwrap()) == (expected, provenance));
    }
}

/// What is written behind its end afterwards is none of it, wherever it is read from.
#[test]
fn a_file_is_read_as_it_was_when_it_was_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace");
    let text: Vec<u8> = std::iter::repeat_with(long_text).take(2).flatten().collect();
    for length in [8 * CHUNK_BYTES, 7 * CHUNK_BYTES + 17] {
        std::fs::write(&path, &text[..length]).unwrap();
        let mut source = past_the_cache(&path, |_, _| false);
        let mut all = vec![source.next_chunk().unwrap().unwrap()];
        File::options().append(true).open(&path).unwrap().write_all(&text[length..]).unwrap();
        let (rest, provenance) = chunks(source);
        all.extend(rest);
        assert!(all.concat_bytes() == text[..length], "{length}");
        assert!(all.iter().all(|c| c.last == (c.index + 1 == all.len() as u64)));
        assert_eq!((provenance.bytes, provenance.digest), (length as u64, Some(blake3_of(&text[..length]))));
    }
}

#[test]
fn a_file_that_becomes_shorter_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace");
    let text: Vec<u8> = std::iter::repeat_with(long_text).take(2).flatten().collect();
    for length in [7 * CHUNK_BYTES + 17, 7 * CHUNK_BYTES] {
        std::fs::write(&path, &text[..8 * CHUNK_BYTES]).unwrap();
        let mut source = past_the_cache(&path, |_, _| false);
        source.next_chunk().unwrap();
        File::options().write(true).open(&path).unwrap().set_len(length as u64).unwrap();
        let error = std::iter::from_fn(|| source.next_chunk().transpose()).find_map(Result::err);
        assert!(error.unwrap().to_string().contains("shorter"), "{length}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_bytes_come_back(content: Vec<u8>, step in 1usize..9) {
        // A random start that looks packed would rightly be an error.
        let mut raw = Raw::new(Box::new(io::Cursor::new(content.clone())));
        let is_packed = raw.foreign().unwrap().is_some();
        prop_assume!(!is_packed && matches!(Decoder::detect(raw), Ok(Decoder::Plain(_))));
        // Line ends may become those of Unix.
        prop_assume!(!content.contains(&b'\r'));
        let (all, provenance) = chunks(drip(&content, step));
        prop_assert_eq!(all.concat_bytes(), content.clone());
        prop_assert_eq!(provenance.digest, Some(blake3_of(&content)));
    }
}
