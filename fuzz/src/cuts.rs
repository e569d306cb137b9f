//! Where an input is cut: places that follow from its own bytes, so that an input says everything.

/// Cuts the bytes into chunks of sizes drawn from the bytes themselves.
pub(crate) fn chunks(bytes: &[u8]) -> Vec<&[u8]> {
    let mut state = digest(bytes);
    let mut rest = bytes;
    let mut chunks = Vec::new();
    while !rest.is_empty() {
        state = next(state);
        // Mostly small, since it is the cut inside a token that goes wrong; at times none at all.
        let size = match state >> 60 {
            0..10 => state % 8,
            10..14 => state % 64,
            _ => state % 1024,
        };
        let size = usize::try_from(size).unwrap_or(0).min(rest.len());
        let (chunk, after) = rest.split_at(size);
        chunks.push(chunk);
        rest = after;
    }
    chunks
}

/// A number drawn from the bytes, the same for the same bytes: FNV-1a.
pub(crate) fn digest(bytes: &[u8]) -> u64 {
    let mix = |state: u64, byte: &u8| (state ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    // Never zero, from which the next number would be zero for ever.
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix) | 1
}

/// The number after this one: xorshift64*.
pub(crate) fn next(mut state: u64) -> u64 {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    state.wrapping_mul(0x2545_f491_4f6c_dd1d) | 1
}
