import Foundation

/// The call that opens one connection of a ``WebSocket``, and its hello.
struct WebSocketCall {
    /// A connection that is open.
    struct Connection: Sendable {
        let channel: any WebSocketChannel
        /// Whether the handshake has carried a token of the session.
        let carriesToken: Bool
        /// Maps an error of the connection as an error of the call.
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

    /// The scope of the call, by which it can be ended.
    var scope: CallScope { pipeline.scope }

    /// Makes the call, and says hello.
    ///
    /// - Throws: ``RequestPipeline/Failure``; the error of the hello.
    func connect(isFirst: Bool) async throws -> Connection {
        let (response, carriesToken) = try await handshake()
        guard let channel = order.take() else {
            throw NetworkError(
                .invalidRequest,
                reason: "WebSocket: the transport opens none; expected CurlTransport, found a response with status "
                    + "\(response.status.code) without a connection")
        }
        let mapping = pipeline.mappingAfterCall(response)
        if let hello = core.hello {
            try await hello(WebSocket.Connection(channel, response: response, isFirst: isFirst))
        }
        return Connection(channel: channel, carriesToken: carriesToken, mapping: mapping)
    }

    private func handshake() async throws -> (HTTPResponse, Bool) {
        var carriesToken = false
        let outcome = try await pipeline.runReporting { response, _ in
            carriesToken = response.request.tokenGeneration != nil
        }
        return (outcome.response.leavingCall(), carriesToken)
    }
}

extension ResponseValidator {
    /// Accepts the response to a handshake that opens a WebSocket. The error for a redirect names its target.
    fileprivate static let switchesProtocols = ResponseValidator.status([.switchingProtocols]) { response in
        let location = response.headers[.location].map { " to \(URL.withoutSecrets($0))" } ?? ""
        return "\(response.status)\(location), expected \(HTTPStatus.switchingProtocols) for a WebSocket"
    }
}
