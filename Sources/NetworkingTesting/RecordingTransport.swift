import Foundation
public import Networking

/// A transport that forwards requests to another transport, and records the requests and their results.
public final class RecordingTransport: Transport, @unchecked Sendable {  // because of the lock around the exchanges
    /// One request and its result.
    public struct Exchange: Sendable {
        /// The request as the base transport received it.
        public let request: HTTPRequest
        /// The response, or the error that was thrown. The body of a streamed response is recorded as empty, because
        /// it can be read only once.
        public let result: Result<HTTPResponse, any Error>
    }

    private let base: any Transport
    private let lock = NSLock()
    private var recorded: [Exchange] = []

    /// Creates a transport that forwards every request to `base`.
    public init(_ base: any Transport) {
        self.base = base
    }

    /// The exchanges that have ended so far, in the order in which they ended.
    public var exchanges: [Exchange] { lock.withLock { recorded } }

    /// Sends the request through the base transport, and records the result.
    public func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        do {
            let response = try await base.send(request, delivering: delivery)
            var kept = response
            if case .stream = response.content { kept.content = .data(Data()) }
            note(Exchange(request: request, result: .success(kept)))
            return response
        } catch {
            note(Exchange(request: request, result: .failure(error)))
            throw error
        }
    }

    private func note(_ exchange: Exchange) {
        lock.withLock { recorded.append(exchange) }
    }
}
