import Foundation
public import Networking

/// A transport that remembers what passes through it.
public final class RecordingTransport: Transport, @unchecked Sendable {  // because of the lock around the exchanges
    /// One request and what became of it.
    public struct Exchange: Sendable {
        /// The request as it went to the base.
        public let request: HTTPRequest
        /// The response, or what was thrown. Of a body that is pulled nothing is kept: its reader is the only one.
        public let result: Result<HTTPResponse, any Error>
    }

    private let base: any Transport
    private let lock = NSLock()
    private var recorded: [Exchange] = []

    /// Wraps a transport.
    public init(_ base: any Transport) {
        self.base = base
    }

    /// What has passed so far, in the order it ended.
    public var exchanges: [Exchange] { lock.withLock { recorded } }

    /// Has the base send the request, and remembers.
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
