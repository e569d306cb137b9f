//! Fake AI providers that fail on demand, over real sockets, in each provider's own wire shapes.
