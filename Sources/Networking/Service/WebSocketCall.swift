import Foundation

/// The call that opens one connection of a ``WebSocket``, and the hello on this connection.
struct WebSocketCall {
    /// A connection that is open.
    struct Connection: Sendable {
        let channel: any WebSocketChannel
        /// The response to the handshake.
        let response: HTTPResponse
        /// Maps an error of the connection in the same way as an error of the call.
        let mapping: @Sendable (any Error) -> any Error
    }

    private let core: WebSocketCore
    private let order: WebSocketOrder
    private let pipeline: RequestPipeline

    init(_ core: WebSocketCore, inSession session: Int?) {
        let options = core.options
        let order = WebSocketOrder(
            subprotocols: options.subprotocols, maximumMessageSize: options.maximumMessageSize,
            compresses: options.compresses)
        self.core = core
        self.order = order
        var settings = core.settings
        settings.orders[WebSocketOrder.self] = order
        settings.validators = [.switchesProtocols]
        settings.redirects = .ignore
        settings.caching = .reload
        settings.progress = nil
        pipeline = core.client.pipeline(core.endpoint, as: .void, with: settings, inSession: session)
    }

    /// The scope of the call. It can end the call.
    var scope: CallScope { pipeline.scope }

    /// Makes the call.
    ///
    /// - Throws: ``RequestPipeline/Failure``; an error if the transport opens no WebSockets.
    func connect() async throws -> Connection {
        let report = pipeline.events?.reporterAfterCall
        let outcome: RequestPipeline.Outcome
        do { outcome = try await pipeline.runReporting { _, _ in } } catch {
            withExtendedLifetime(order.take()) {}  // the call may have been interrupted after the handshake
            throw error
        }
        let response = outcome.response.leavingCall()
        guard let channel = order.take() else {
            throw NetworkError(
                .invalidRequest,
                reason: "WebSocket: the transport opens none; expected CurlTransport, found a response with status "
                    + "\(response.status.code) without a connection")
        }
        let date = core.client.clock.date
        let observed = report.map { ObservedWebSocketChannel(channel, date: date, report: $0) } ?? channel
        return Connection(channel: observed, response: response, mapping: pipeline.mappingAfterCall(response))
    }
}

extension ResponseValidator {
    /// Accepts the response to a handshake that opens a WebSocket. If the server redirects the handshake, the error
    /// names the target of the redirect.
    fileprivate static let switchesProtocols = ResponseValidator.status([.switchingProtocols]) { response in
        guard response.status != .unauthorized else { return nil }  // the reason is about the token
        let location = response.headers[.location].map { " to \(URL.withoutSecrets($0))" } ?? ""
        return "\(response.status)\(location), expected \(HTTPStatus.switchingProtocols) for a WebSocket"
    }
}
