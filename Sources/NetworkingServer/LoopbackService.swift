package import Foundation
package import Networking

/// A request that a server on 127.0.0.1 has received.
package struct IncomingRequest: Sendable {
    package let method: HTTPMethod
    /// Path and query, as the client sent them.
    package let target: String
    /// The header fields in their order, including duplicates.
    package let fields: [HTTPHeader]
    package let body: IncomingBody
    /// The number of the connection, counted from 1.
    package let connection: Int
}

/// What a server on 127.0.0.1 does with its requests.
package protocol LoopbackService: Sendable {
    associatedtype Answer: Sendable

    /// The maximum number of connections at the same time. Further connections are closed at once. Default: no limit.
    var mostConnections: Int { get }
    /// The maximum time that a read waits for a client that sends nothing, in seconds. Default: nil, no limit.
    var mostSecondsOfSilence: Int? { get }
    /// The maximum length of the head of a request, in bytes. If a head is longer, the connection is closed. Default: 1
    /// MiB.
    var longestHead: Int { get }

    /// Returns the answer to a request. It is called in a task of its own.
    func answer(_ request: IncomingRequest) async -> Answer

    /// Writes an answer. The method is called on the thread of the connection, and may block this thread.
    ///
    /// - Parameters:
    ///   - unread: The bytes that have arrived after the request.
    ///   - isStopped: Whether the server was stopped.
    /// - Returns: Whether the connection can be used for another request.
    func write(
        _ answer: Answer, on socket: LoopbackSocket, after unread: Data, isStopped: @escaping @Sendable () -> Bool
    ) throws -> Bool
}

extension LoopbackService {
    package var mostConnections: Int { .max }
    package var mostSecondsOfSilence: Int? { nil }
    package var longestHead: Int { 1 << 20 }
}
