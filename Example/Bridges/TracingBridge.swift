import Instrumentation
import Networking
import ServiceContextModule
import Tracing

/// Adds the fields of the current trace to each attempt, as the process's `InstrumentationSystem.instrument` defines
/// them: `RequestAdaptingService([TracingAdapter()])`.
struct TracingAdapter: SynchronousRequestAdapter {
    private struct Fields: Injector {
        func inject(_ value: String, forKey key: String, into headers: inout HTTPHeaders) {
            headers[HTTPHeader.Name(key)] = value
        }
    }

    func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
        guard let context = ServiceContext.current else { return }
        InstrumentationSystem.instrument.inject(context, into: &request.headers, using: Fields())
    }
}

extension NetworkRequesting {
    /// Makes a call inside of a span, which has the attributes of the call's report.
    func traced<Value: Decodable & Sendable>(_ endpoint: some Endpoint, as type: Value.Type) async throws -> Value {
        try await withSpan("\(endpoint.method) \(endpoint.urlTemplate)", ofKind: .client) { span in
            let task = task(endpoint, as: .json(type))
            defer {
                let attributes = task.report?.attributes ?? [:]
                for (name, value) in attributes { span.attributes[name] = value.spanAttribute }
            }
            return try await task.value
        }
    }
}

extension JSONValue {
    fileprivate var spanAttribute: (any SpanAttributeConvertible)? {
        switch self {
        case .string(let text): text
        case .int(let number): number
        case .bool(let value): value
        default: nil
        }
    }
}
