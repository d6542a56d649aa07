import Foundation

/// Where a request stands in a distributed trace, [W3C Trace Context](https://www.w3.org/TR/trace-context/).
///
/// A server that has been asked with a `traceparent` makes it the parent of what it asks others:
///
/// ```swift
/// let parent = TraceContext(traceparent: request.headers["traceparent"], tracestate: request.headers["tracestate"])
/// try await TraceContext.$current.withValue(parent) {
///     try await payments.request(PaymentEndpoint.capture(id))
/// }
/// ```
public struct TraceContext: Hashable, Sendable {
    /// The parent of the requests that the current task makes; nil begins a trace with each call.
    @TaskLocal public static var current: TraceContext?

    /// The trace: 32 hexadecimal digits, not all zero.
    public let traceID: String
    /// The span that the next one is a child of: 16 hexadecimal digits, not all zero.
    public let spanID: String
    /// Whether the trace is recorded.
    let isSampled: Bool
    /// What systems on the way have added, as it came: `tracestate`.
    let state: String?

    /// Makes a context; nil if an id has not the form that it must have.
    init?(traceID: String, spanID: String, isSampled: Bool = true, state: String? = nil) {
        guard TraceContext.isID(traceID, digits: 32), TraceContext.isID(spanID, digits: 16) else { return nil }
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
        self.state = state.flatMap { TraceContext.isState($0) ? $0 : nil }
    }

    /// Reads the fields of a request; nil if `traceparent` is none, and then `tracestate` is nothing either
    /// (section 3.3).
    public init?(traceparent: String?, tracestate: String? = nil) {
        let parts = traceparent?.split(separator: "-", omittingEmptySubsequences: false).map(String.init) ?? []
        // Later versions may have more at the end (section 4); version 00 has four parts, and ff is none.
        guard parts.count == 4 || parts.count > 4 && parts[0] != "00", parts[0] != "ff",
            TraceContext.isHexadecimal(parts[0], digits: 2), TraceContext.isHexadecimal(parts[3], digits: 2),
            let flags = UInt8(parts[3], radix: 16)
        else { return nil }
        self.init(traceID: parts[1], spanID: parts[2], isSampled: flags & 1 == 1, state: tracestate)
    }

    /// The field's value: `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
    public var traceparent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

    /// Section 3.3.1: up to 32 members `key=value`, which may be empty, between commas.
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
