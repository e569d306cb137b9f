//! Bytes in, server-sent events out: any split of the input, capped, no copy beyond the data.
