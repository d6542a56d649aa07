import Foundation

/// Sets `traceparent` and `tracestate` ([W3C Trace Context](https://www.w3.org/TR/trace-context/)), so that servers can
/// tell what belongs together.
///
/// A call is one trace, or part of the one in ``TraceContext/current``; each of its attempts is a span with an id of
/// its own. Requests to another server than the environment's get none unless that is asked for, and a redirect to
/// another origin leaves both fields behind; put it after adapters that change the URL. A `traceparent` that is there
/// already is left alone.
public struct TraceContextAdapter: SynchronousRequestAdapter {
    private let isSampled: Bool
    private let includesOtherOrigins: Bool
    private let random: RandomSource

    /// Makes an adapter.
    ///
    /// - Parameters:
    ///   - isSampled: Whether a trace that begins here is recorded; one that goes on stays as it is.
    ///   - includesOtherOrigins: Whether requests to other servers than the environment's get the fields, too.
    ///   - random: Where ids come from.
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

    /// The id by which observers know the call, so that logs and traces can be laid side by side.
    private var callID: String {
        let id = CallScope.current?.id(using: random) ?? random.uuid()
        return id.uuidString.replacingOccurrences(of: "-", with: "").lowercased()
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
