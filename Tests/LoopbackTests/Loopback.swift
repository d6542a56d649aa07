import Testing

/// Every test on real sockets, one after another: Foundation on Linux serves all sessions of a process from one queue
/// (L21), so that tests side by side would measure each other.
@Suite("Loopback", .serialized)
enum Loopback {}
