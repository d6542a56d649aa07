import Foundation

/// The position of a request in a distributed trace, [W3C Trace Context](https://www.w3.org/TR/trace-context/).
///
/// A server that receives a `traceparent` uses this value as the parent of the requests that it sends:
///
/// ```swift
/// let parent = TraceContext(traceparent: request.headers["traceparent"], tracestate: request.headers["tracestate"])
/// try await TraceContext.$current.withValue(parent) {
///     try await payments.request(PaymentEndpoint.capture(id))
/// }
/// ```
public struct TraceContext: Hashable, Sendable {
    /// The parent of the requests that the current task sends. If it is nil, each call begins a new trace.
    @TaskLocal public static var current: TraceContext?

    /// The id of the trace: 32 hexadecimal digits, not all zero.
    public let traceID: String
    /// The id of the span that is the parent of the next span: 16 hexadecimal digits, not all zero.
    public let spanID: String
    /// Whether the trace is recorded.
    let isSampled: Bool
    /// The value of `tracestate`, unchanged. Other systems of the trace add their members to this value.
    let state: String?

    /// Creates a context. Returns nil if an id does not have the required form.
    init?(traceID: String, spanID: String, isSampled: Bool = true, state: String? = nil) {
        guard TraceContext.isID(traceID, digits: 32), TraceContext.isID(spanID, digits: 16) else { return nil }
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
        self.state = state.flatMap { TraceContext.isState($0) ? $0 : nil }
    }

    /// Parses the fields of a request. Returns nil if `traceparent` is not valid, even if `tracestate` is valid
    /// (section 3.3).
    public init?(traceparent: String?, tracestate: String? = nil) {
        let parts = traceparent?.split(separator: "-", omittingEmptySubsequences: false).map(String.init) ?? []
        // Later versions may have more parts at the end (section 4). Version 00 has four parts, and ff is not a
        // version.
        guard parts.count == 4 || parts.count > 4 && parts[0] != "00", parts[0] != "ff",
            TraceContext.isHexadecimal(parts[0], digits: 2), TraceContext.isHexadecimal(parts[3], digits: 2),
            let flags = UInt8(parts[3], radix: 16)
        else { return nil }
        self.init(traceID: parts[1], spanID: parts[2], isSampled: flags & 1 == 1, state: tracestate)
    }

    /// The value of the `traceparent` field: `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
    public var traceparent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

    /// Whether a text is a valid `tracestate` (section 3.3.1): up to 32 members `key=value`, separated by commas. A
    /// member may be empty.
    private static func isState(_ text: String) -> Bool {
        guard !text.isEmpty, text.utf8.count <= 512, HTTPGrammar.isFieldValue(text) else { return false }
        let members = text.split(separator: ",", omittingEmptySubsequences: false)
        return members.count <= 32
            && members.allSatisfy { member in
                let parts = member.trimmingCharacters(in: .whitespaces).split(
                    separator: "=", omittingEmptySubsequences: false)
                return parts == [""] || parts.count == 2 && !parts[0].isEmpty && !parts[1].isEmpty
            }
    }

    private static func isID(_ text: String, digits: Int) -> Bool {
        isHexadecimal(text, digits: digits) && text.utf8.contains { $0 != UInt8(ascii: "0") }
    }

    private static func isHexadecimal(_ text: String, digits: Int) -> Bool {
        text.utf8.count == digits && text.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }
}

extension TraceContext {
    /// An adapter that sets `traceparent` and `tracestate` ([W3C Trace Context](https://www.w3.org/TR/trace-context/)),
    /// so that servers can detect which requests belong together.
    ///
    /// A call belongs to the trace in ``TraceContext/current``. If there is none, the call begins a new trace. Each
    /// attempt of the call is a span with a new id. By default, only requests to the server of the environment get the
    /// fields. A redirect to another origin removes both fields. The adapter does not change an existing `traceparent`.
    /// Put this adapter after adapters that change the URL.
    public struct Adapter: SynchronousRequestAdapter, FieldAdapter {
        private let isSampled: Bool
        private let includesOtherOrigins: Bool
        private let random: RandomSource

        /// Creates an adapter.
        ///
        /// - Parameters:
        ///   - isSampled: Whether a new trace is recorded. A request that continues a trace keeps the value of that
        ///     trace. Default: true.
        ///   - includesOtherOrigins: Whether requests to other servers also get the fields. Default: false; only
        ///     requests to the server of the environment get them.
        ///   - random: The source of the ids.
        public init(isSampled: Bool = true, includesOtherOrigins: Bool = false, random: RandomSource = .system) {
            self.isSampled = isSampled
            self.includesOtherOrigins = includesOtherOrigins
            self.random = random
        }

        /// Sets the fields.
        public func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
            guard includesOtherOrigins || !request.isForeign, !request.headers.contains(.traceparent),
                let context = span(of: TraceContext.current)
            else { return }
            request.headers[.traceparent] = context.traceparent
            request.headers[.tracestate] = context.state
        }

        private func span(of parent: TraceContext?) -> TraceContext? {
            let spanID = TraceContext.Adapter.hexadecimal(max(random.next(), 1))
            let traceID = parent?.traceID ?? callID
            return TraceContext(
                traceID: traceID, spanID: spanID, isSampled: parent?.isSampled ?? isSampled, state: parent?.state)
        }

        /// The id of the call. It is the id that observers receive, so that logs and traces can be compared.
        private var callID: String {
            let id = CallScope.current?.id(using: random) ?? random.uuid()
            return id.uuidString.replacingOccurrences(of: "-", with: "").lowercased()
        }

        private static func hexadecimal(_ number: UInt64) -> String {
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
    }
}
