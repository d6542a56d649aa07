import Foundation

/// A connection whose messages are reported to the observers of the call that opened it.
final class ObservedWebSocketChannel: WebSocketChannel {
    private let channel: any WebSocketChannel
    private let date: @Sendable () -> Date
    private let report: @Sendable (RequestEvent) -> Void

    init(
        _ channel: any WebSocketChannel, date: @escaping @Sendable () -> Date,
        report: @escaping @Sendable (RequestEvent) -> Void
    ) {
        self.channel = channel
        self.date = date
        self.report = report
    }

    func receive() async throws -> WebSocketMessage? {
        let message = try await channel.receive()
        if let message { report(.messageReceived(message, date())) }
        return message
    }

    func send(_ message: WebSocketMessage) async throws {
        let date = date()
        try await channel.send(message)
        report(.messageSent(message, date))
    }

    var subprotocol: String? { channel.subprotocol }
    func ping() { channel.ping() }
    func close(_ close: WebSocketClose) { channel.close(close) }
    func fail(_ error: NetworkError) { channel.fail(error) }
    var outcome: Result<WebSocketClose, any Error>? { channel.outcome }
    var activity: WebSocketActivity { channel.activity }
    func observeOutcome(_ action: @escaping @Sendable () -> Void) { channel.observeOutcome(action) }
    func observeClosure(_ action: @escaping @Sendable () -> Void) { channel.observeClosure(action) }
}
