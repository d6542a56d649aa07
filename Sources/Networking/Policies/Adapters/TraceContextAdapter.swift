import Foundation

/// An adapter that sets `traceparent` and `tracestate` ([W3C Trace Context](https://www.w3.org/TR/trace-context/)), so
/// that servers can detect which requests belong together.
///
/// A call belongs to the trace in ``TraceContext/current``. If there is none, the call begins a new trace. Each attempt
/// of the call is a span with a new id. By default, only requests to the server of the environment get the fields. A
/// redirect to another origin removes both fields. The adapter does not change an existing `traceparent`. Put this
/// adapter after adapters that change the URL.
public struct TraceContextAdapter: SynchronousRequestAdapter, FieldAdapter {
    private let isSampled: Bool
    private let includesOtherOrigins: Bool
    private let random: RandomSource

    /// Creates an adapter.
    ///
    /// - Parameters:
    ///   - isSampled: Whether a new trace is recorded. A request that continues a trace keeps the value of that trace.
    ///     Default: true.
    ///   - includesOtherOrigins: Whether requests to other servers also get the fields. Default: false; only requests
    ///     to the server of the environment get them.
    ///   - random: The source of the ids.
    public init(isSampled: Bool = true, includesOtherOrigins: Bool = false, random: RandomSource = .system) {
        self.isSampled = isSampled
        self.includesOtherOrigins = includesOtherOrigins
        self.random = random
    }

    /// Sets the fields.
    public func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
        guard includesOtherOrigins || !request.isForeign, !request.headers.contains(.traceparent) else {
            return
        }
        guard let context = span(of: TraceContext.current) else { return }
        request.headers[.traceparent] = context.traceparent
        request.headers[.tracestate] = context.state
    }

    private func span(of parent: TraceContext?) -> TraceContext? {
        let spanID = TraceContextAdapter.hexadecimal(max(random.next(), 1))
        let traceID = parent?.traceID ?? callID
        return TraceContext(
            traceID: traceID, spanID: spanID, isSampled: parent?.isSampled ?? isSampled, state: parent?.state)
    }

    /// The id of the call as observers see it, so that logs and traces can be compared.
    private var callID: String {
        let id = CallScope.current?.id(using: random) ?? random.uuid()
        return id.uuidString.replacingOccurrences(of: "-", with: "").lowercased()
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
