// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// The signatures of swift-distributed-tracing that `Example/Bridges` uses: apple/swift-distributed-tracing 1.4.1,
// Sources/Tracing/Tracer.swift and SpanProtocol.swift.

public import ServiceContextModule

public enum SpanKind {
    case server, client, producer, consumer, `internal`
}

public protocol SpanAttributeConvertible {}
extension String: SpanAttributeConvertible {}
extension Int64: SpanAttributeConvertible {}
extension Bool: SpanAttributeConvertible {}

public struct SpanAttributes {
    public subscript(_ name: String) -> (any SpanAttributeConvertible)? {
        get { nil }
        set {}
    }
}

public protocol Span: Sendable {
    var attributes: SpanAttributes { get nonmutating set }
}

private struct NoSpan: Span {
    var attributes: SpanAttributes {
        get { SpanAttributes() }
        nonmutating set {}
    }
}

public func withSpan<T>(
    _ operationName: String, context: @autoclosure () -> ServiceContext = .current ?? .topLevel,
    ofKind kind: SpanKind = .internal, isolation: isolated (any Actor)? = #isolation, function: String = #function,
    file fileID: String = #fileID, line: UInt = #line, _ operation: (any Span) async throws -> T
) async rethrows -> T {
    try await operation(NoSpan())
}
