import Testing

/// The tests on real sockets. They run one after another, because Foundation on Linux serves all sessions of a process
/// from one queue (L21): parallel tests would distort each other's times.
@Suite("Loopback", .serialized)
enum Loopback {}
