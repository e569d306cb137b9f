//! Calls to AI APIs that survive bad minutes.
