/// The pings of one connection of a ``WebSocket``: if no byte arrives for some time, a ping is sent. If still no byte
/// arrives, the connection counts as lost. The time during which the connection is not read does not count.
final class WebSocketPings: Sendable {
    private let task: Task<Void, Never>

    /// - Returns: Nil if the options disable pings.
    init?(_ channel: any WebSocketChannel, _ options: WebSocket.Options, _ clock: NetworkClock) {
        guard let interval = options.pingInterval, interval > .zero else { return nil }
        let limit = options.pingTimeout
        task = Task.detached {
            try? await WebSocketPings.watch(channel, every: interval, limit: limit, on: clock)
        }
    }

    func cancel() { task.cancel() }

    private static func watch(
        _ channel: any WebSocketChannel, every interval: Duration, limit: Duration, on clock: NetworkClock
    ) async throws {
        while channel.outcome == nil {
            guard try await isSilent(channel, for: interval, on: clock) else { continue }
            guard try await isSilent(channel, for: limit, on: clock, after: channel.ping) else { continue }
            channel.fail(
                NetworkError(
                    .idleTimedOut, reason: "no bytes arrived for \(limit.shortText) after a ping (pingTimeout)"))
            return
        }
    }

    /// Waits. Returns true if the connection was read meanwhile, but nothing has arrived.
    private static func isSilent(
        _ channel: any WebSocketChannel, for time: Duration, on clock: NetworkClock, after action: () -> Void = {}
    ) async throws -> Bool {
        let before = channel.activity
        action()
        try await clock.sleep(clock.now() + time)
        return !before.isPaused && channel.activity == before
    }
}
