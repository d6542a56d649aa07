/// The adapters of a service, in order.
public struct RequestAdaptingService: Sendable {
    /// The adapters, in the order in which they run.
    public let adapters: [any RequestAdapter]
    private let steps: [Step]

    /// Creates a service from adapters. Without adapters, requests are sent as their endpoints describe them.
    public init(_ adapters: [any RequestAdapter] = []) {
        self.adapters = adapters
        steps = Step.joined(adapters)
    }

    private enum Step {
        typealias Change = @Sendable (inout HTTPRequest, any Endpoint) throws -> Void

        /// An adapter that may wait.
        case waiting(any RequestAdapter)
        /// Consecutive adapters that never wait, as one closure. A closure is cheaper to copy than a value of a protocol
        /// type for each adapter.
        case immediate(Change)

        static func joined(_ adapters: [any RequestAdapter]) -> [Step] {
            var steps: [Step] = []
            for adapter in adapters {
                let immediate = (adapter as? AdHocAdapter)?.synchronous ?? adapter as? any SynchronousRequestAdapter
                guard let change = immediate?.adapting else {
                    steps.append(.waiting(adapter))
                    continue
                }
                guard case .immediate(let earlier) = steps.last else {
                    steps.append(.immediate(change))
                    continue
                }
                steps[steps.count - 1] = .immediate { request, endpoint in
                    try earlier(&request, endpoint)
                    try change(&request, endpoint)
                }
            }
            return steps
        }
    }

    /// Returns a service with more adapters, which run last.
    func adding(_ last: [any RequestAdapter]) -> RequestAdaptingService {
        last.isEmpty ? self : RequestAdaptingService(adapters + last)
    }

    /// Runs every adapter on the request.
    ///
    /// - Throws: The error of the first adapter that fails. If the call ends while an adapter waits, no further adapter
    ///   runs.
    @inline(__always)  // a function of its own would check twice on which executor it runs
    package func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) async throws {
        for step in steps {
            switch step {
            case .immediate(let change): try change(&request, endpoint)
            case .waiting(let adapter):
                let before = request
                try await adapter.adapt(&request, for: endpoint)
                request = request.adapted(from: before)
                try CallScope.check()
            }
        }
    }

    /// Runs the adapters that never wait, and skips the other adapters.
    func adaptNow(_ request: inout HTTPRequest, for endpoint: any Endpoint) throws {
        for case .immediate(let change) in steps { try change(&request, endpoint) }
    }
}

extension SynchronousRequestAdapter {
    /// A closure that changes the request, and completes a request of the adapter's own.
    fileprivate var adapting: @Sendable (inout HTTPRequest, any Endpoint) throws -> Void {
        guard !(self is any FieldAdapter) else { return { try adapt(&$0, for: $1) } }
        return { request, endpoint in
            let before = request
            try adapt(&request, for: endpoint)
            request = request.adapted(from: before)
        }
    }
}

/// Changes requests before they are sent: adds a header field, a signature or a trace context.
///
/// Set adapters with ``NetworkConfiguration/requestAdaptingService``.
///
/// ## When it is called
///
/// The pipeline calls the adapters in order, after the admission of each attempt. In each attempt, the first adapter
/// receives the request that the endpoint describes, so the adapters compute new values for a retry. The adapter of the
/// session runs last and adds the token. Adapters are not called for redirects.
///
/// The method runs in the task of the call, on any thread. Several calls can run at the same time, so the method can be
/// called concurrently.
///
/// ## What it may do
///
/// An adapter may change everything about the request. A value that the adapter sets replaces the value of the endpoint
/// or of an earlier adapter. An adapter that provides defaults must therefore set only the values that are absent. An
/// adapter may call other endpoints of the same service; such a call needs no permit. To wait, an adapter uses
/// ``withCallCancellation(_:)``, so that the wait ends when the call ends.
///
/// ## Errors
///
/// An error that an adapter throws ends the attempt before anything is sent. The error handlers receive the error.
///
/// ## Example
///
/// An ``AdHocAdapter`` is an adapter that consists of a closure.
///
/// ```swift
/// struct TenantAdapter: RequestAdapter {
///     let tenant: String
///
///     func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
///         request.headers["X-Tenant"] = tenant
///     }
/// }
/// ```
public protocol RequestAdapter: ResetParticipant {
    /// Changes the request of an attempt.
    ///
    /// - Parameters:
    ///   - request: The request. ``HTTPRequest/allHeaders`` also contains the header fields of its body.
    ///   - endpoint: The endpoint of the call.
    /// - Throws: The reason why the request cannot be sent.
    func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) async throws
}

/// An adapter that never waits. It is also called for ``NetworkRequesting/cachedResponse(_:as:with:)``, which is
/// synchronous.
public protocol SynchronousRequestAdapter: RequestAdapter {
    /// Changes the request.
    func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) throws
}

/// An adapter of the library that only changes header fields. After such an adapter has run, the request need not be
/// compared with the earlier request.
protocol FieldAdapter: SynchronousRequestAdapter {}

/// An adapter that sets header fields on every request. Sensitive fields are set only on requests to the origin of the
/// environment; mark a secret of your own as sensitive: `HTTPHeader("PRIVATE-TOKEN", token, isSensitive: true)`.
///
/// ```swift
/// $0.requestAdaptingService = RequestAdaptingService([HeadersAdapter(["X-Client": "ios"])])
/// ```
public struct HeadersAdapter: SynchronousRequestAdapter, FieldAdapter {
    private let headers: HTTPHeaders
    private let rule: HTTPHeaders.MergeRule

    /// Creates an adapter.
    ///
    /// - Parameters:
    ///   - headers: The fields to set.
    ///   - rule: The rule for equal names. Default: the fields of the adapter replace the fields of the request.
    public init(_ headers: HTTPHeaders, _ rule: HTTPHeaders.MergeRule = .overwrite) {
        self.headers = headers
        self.rule = rule
    }

    /// Merges the fields into the header fields of the request.
    public func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
        guard request.isForeign, headers.contains(where: \.isSensitive) else {
            return request.headers.merge(headers, rule)
        }
        request.headers.merge(HTTPHeaders(headers.filter { !$0.isSensitive }), rule)
    }
}
