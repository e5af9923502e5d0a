//! Frames: one record, one line of JSON, one zstd frame with its size and checksum.

use std::io::{self, Read};
use zstd::zstd_safe;

/// Longest record in bytes of JSON, its line feed included: the bound of a reader's memory.
pub const MAX_RECORD: usize = gipf_core::record::MAX_RECORD_BYTES;

/// Most bytes that a frame of such a record takes.
const MAX_FRAME: usize = MAX_RECORD + MAX_RECORD / 128 + 1024;

/// Bytes asked of the file at a time.
const CHUNK: usize = 256 << 10;

/// First bytes of every zstd frame.
pub(super) const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Makes frames.
pub(crate) struct Encoder(zstd::bulk::Compressor<'static>);

impl Encoder {
    pub(crate) fn new(level: i32) -> io::Result<Self> {
        let mut compressor = zstd::bulk::Compressor::new(level)?;
        compressor.set_parameter(zstd_safe::CParameter::ChecksumFlag(true))?;
        compressor.set_parameter(zstd_safe::CParameter::ContentSizeFlag(true))?;
        Ok(Self(compressor))
    }

    /// Appends the frame of a line to `out`.
    pub(crate) fn encode(&mut self, line: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        out.extend_from_slice(&self.0.compress(line)?);
        Ok(())
    }
}

/// What a reader finds next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame<'a> {
    /// A whole frame with a good checksum, from this byte to the next frame's; its content.
    Whole { offset: u64, content: &'a [u8] },
    /// No whole frame begins at this byte.
    Broken { offset: u64, reason: String },
    /// The file ends with the frame before.
    End,
}

/// Reads frame by frame, in bounded memory whatever the file holds.
pub(crate) struct FrameReader<R> {
    input: R,
    buffer: Vec<u8>,
    /// Bytes of the buffer before this one are used up.
    start: usize,
    /// File offset of `buffer[start]`.
    offset: u64,
    at_end: bool,
    decompressor: zstd::bulk::Decompressor<'static>,
    content: Vec<u8>,
}

impl<R: Read> FrameReader<R> {
    pub(crate) fn new(input: R) -> io::Result<Self> {
        Ok(Self {
            input,
            buffer: Vec::new(),
            start: 0,
            offset: 0,
            at_end: false,
            decompressor: zstd::bulk::Decompressor::new()?,
            content: Vec::new(),
        })
    }

    /// The next frame; after a broken one the same again.
    pub(crate) fn next(&mut self) -> io::Result<Frame<'_>> {
        let offset = self.offset;
        let broken = |reason: &str| Ok(Frame::Broken { offset, reason: reason.to_owned() });
        let Some(size) = self.find_frame()? else {
            return if self.start == self.buffer.len() {
                Ok(Frame::End)
            } else {
                broken("no whole frame")
            };
        };
        let bytes = &self.buffer[self.start..self.start + size];
        let length = match zstd_safe::get_frame_content_size(bytes) {
            Ok(Some(length)) if length <= MAX_RECORD as u64 => length as usize,
            Ok(Some(_)) => return broken("a longer record than any game has"),
            _ => return broken("a frame without its size"),
        };
        self.content.clear();
        self.content.reserve(length);
        if let Err(error) = self.decompressor.decompress_to_buffer(bytes, &mut self.content) {
            return broken(&error.to_string());
        }
        self.start += size;
        self.offset += size as u64;
        Ok(Frame::Whole { offset, content: &self.content })
    }

    /// The length of the frame at the start of the buffer, once it is there as a whole.
    fn find_frame(&mut self) -> io::Result<Option<usize>> {
        loop {
            let bytes = &self.buffer[self.start..];
            if !bytes.is_empty()
                && let Ok(size) = zstd_safe::find_frame_compressed_size(bytes)
            {
                return Ok(Some(size));
            }
            let hopeless = bytes.len() >= MAGIC.len() && bytes[..MAGIC.len()] != MAGIC;
            if self.at_end || hopeless || bytes.len() >= MAX_FRAME || !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// Reads more of the file; false at its end.
    fn fill(&mut self) -> io::Result<bool> {
        self.buffer.drain(..self.start);
        self.start = 0;
        let held = self.buffer.len();
        // Doubling keeps the total work linear when one frame spans many reads.
        let read = (&mut self.input).take(CHUNK.max(held) as u64).read_to_end(&mut self.buffer)?;
        self.at_end = read == 0;
        Ok(read > 0)
    }

    /// Whether a whole frame begins anywhere behind the broken one.
    pub(super) fn whole_frame_follows(&mut self) -> io::Result<bool> {
        loop {
            self.start += usize::from(self.start < self.buffer.len());
            let found = loop {
                let bytes = &self.buffer[self.start..];
                if let Some(place) = bytes.windows(MAGIC.len()).position(|window| window == MAGIC) {
                    self.start += place;
                    break true;
                }
                // The magic number may straddle two reads.
                self.start = self.buffer.len().saturating_sub(MAGIC.len() - 1).max(self.start);
                if self.at_end || !self.fill()? {
                    break false;
                }
            };
            if !found {
                return Ok(false);
            }
            if matches!(self.next()?, Frame::Whole { .. }) {
                return Ok(true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(lines: &[&[u8]]) -> Vec<u8> {
        let mut encoder = Encoder::new(3).expect("an encoder");
        let mut out = Vec::new();
        for line in lines {
            encoder.encode(line, &mut out).expect("encodes");
        }
        out
    }

    #[test]
    fn frames_come_back_one_by_one() {
        let long = vec![b'x'; 3 * CHUNK];
        let noise: Vec<u8> =
            (0..900_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let bytes = frames(&[b"one\n", &long, &noise, b"four\n"]);
        let mut reader = FrameReader::new(&bytes[..]).expect("a reader");
        for line in [b"one\n", &long[..], &noise[..], b"four\n"] {
            match reader.next().expect("reads") {
                Frame::Whole { content, .. } => assert!(content == line),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(reader.next().expect("reads"), Frame::End);
        assert_eq!(reader.next().expect("reads"), Frame::End);
    }

    #[test]
    fn every_flipped_byte_is_noticed() {
        let bytes = frames(&[b"a line of some length, a line of some length\n"]);
        for index in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[index] ^= 0x10;
            let mut reader = FrameReader::new(&bytes[..]).expect("a reader");
            match reader.next().expect("reads") {
                Frame::Whole { content, .. } => {
                    // A flag that the decoder ignores is no damage.
                    assert_eq!(content, b"a line of some length, a line of some length\n");
                }
                Frame::Broken { offset: 0, .. } => {}
                other => panic!("byte {index}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_frame_that_claims_too_much_is_refused() {
        let huge = vec![b'x'; MAX_RECORD + 1];
        let bytes = frames(&[&huge]);
        let mut reader = FrameReader::new(&bytes[..]).expect("a reader");
        assert!(matches!(reader.next().expect("reads"), Frame::Broken { offset: 0, .. }));
    }

    #[test]
    fn a_whole_frame_behind_damage_is_found() {
        let mut bytes = frames(&[b"one\n", b"two\n"]);
        let second = frames(&[b"one\n"]).len();
        bytes[6] ^= 0xFF;
        let mut reader = FrameReader::new(&bytes[..]).expect("a reader");
        assert!(matches!(reader.next().expect("reads"), Frame::Broken { .. }));
        assert!(reader.whole_frame_follows().expect("reads"));
        let mut reader = FrameReader::new(&bytes[..second]).expect("a reader");
        assert!(matches!(reader.next().expect("reads"), Frame::Broken { .. }));
        assert!(!reader.whole_frame_follows().expect("reads"));
    }
}
