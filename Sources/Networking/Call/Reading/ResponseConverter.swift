public import Foundation

/// A converter that reads a response as a value.
///
/// ```swift
/// let count = ResponseConverter<Int> { response in
///     guard let count = response.headers["X-Total"].flatMap(Int.init) else { throw MissingCount() }
///     return count
/// }
/// let total = try await service.request(.head("users"), as: count)
/// ```
///
/// An error that the closure throws is the error of the call, as with adapters and validators. Only a `DecodingError`
/// or an `EncodingError` is replaced: the call then ends with ``NetworkError/Kind/undecodableBody``. That error
/// contains the response, and its underlying error is the thrown error. The closure runs in the call, never on the
/// callback queue.
public struct ResponseConverter<Value: Sendable>: Sendable {
    private(set) var reading: Reading
    private(set) var requirements: ConverterRequirements

    private init(_ reading: Reading, _ target: BodyTarget) {
        self.reading = reading
        requirements = ConverterRequirements(target: target)
    }

    /// Creates a converter from a closure that gets the body in memory.
    public init(_ read: @escaping @Sendable (HTTPResponse) throws -> Value) {
        self.init(.buffered({ response, _, _ in try read(response) }, readsPaths: false), .memory)
    }

    /// Creates a converter from a closure that gets the body in memory, and the decoder of the call.
    public init(decoding read: @escaping @Sendable (HTTPResponse, any BodyDecoder) throws -> Value) {
        self.init(.buffered({ response, decoder, _ in try read(response, decoder) }, readsPaths: false), .memory)
    }

    /// Creates a converter from a closure that reads the body in chunks. The closure is called after the head of the
    /// response has been validated.
    ///
    /// - Parameters:
    ///   - readsToEnd: Whether the closure reads the whole body. If true, the call, its permit and its deadline last
    ///     until the closure returns. Default: false; the call ends after the head, and the value may read the body
    ///     later.
    ///   - read: Reads the body. An error of the transfer, such as a lost connection, is an error of the call.
    public init(
        streaming readsToEnd: Bool = false,
        _ read: @escaping @Sendable (HTTPResponse, IncomingBody) async throws -> Value
    ) {
        self.init(.streamed { response, body, _ in try await read(response, body) }, readsToEnd ? .file : .stream)
    }

    /// Creates a converter from a closure that gets the body in memory, and reads the whole body or the value at a path
    /// in its JSON.
    init(readingPaths read: @escaping @Sendable (HTTPResponse, any BodyDecoder, JSONValue.Path?) throws -> Value) {
        self.init(.buffered(read, readsPaths: true), .memory)
        requirements.keepsResponse = false
    }

    /// Returns a converter with a closure of the library. The closure gets the body in memory, and only reads it.
    static func reading(_ read: @escaping @Sendable (HTTPResponse, any BodyDecoder) throws -> Value)
        -> ResponseConverter
    {
        ResponseConverter(decoding: read).requiring { $0.keepsResponse = false }
    }

    init(decodingStream read: @escaping @Sendable (HTTPResponse, IncomingBody, any BodyDecoder) async throws -> Value) {
        self.init(.streamed(read), .stream)
    }

    /// Returns a converter whose requests are downloads into a file.
    func downloading(to file: FileDestination) -> ResponseConverter { requiring { $0.download = CopyOnWrite(file) } }

    /// Returns a converter whose requests have these header fields, unless the environment or the endpoint has a field
    /// of the same name. Example: `Accept` with the types that the converter reads. The standard validators do not
    /// compare such an `Accept` with the media type of the response.
    public func defaultHeaders(_ headers: HTTPHeaders) -> ResponseConverter {
        requiring { $0.defaultHeaders = $0.defaultHeaders.isEmpty ? headers : $0.defaultHeaders.merging(headers) }
    }

    /// Returns a converter whose requests have these header fields in place of fields with the same names.
    func overridingHeaders(_ headers: HTTPHeaders) -> ResponseConverter {
        requiring { $0.overridingHeaders = headers }
    }

    /// Returns the converter of a value that the decoder of the call reads.
    func usingDecoder() -> ResponseConverter { requiring { $0.usesDecoder = true } }

    /// Returns a converter with changed requirements.
    private func requiring(_ change: (inout ConverterRequirements) -> Void) -> ResponseConverter {
        var converter = self
        change(&converter.requirements)
        return converter
    }

    /// Returns the converter for the value at a path in the JSON; nil for a converter that does not read JSON.
    func converter(at path: JSONValue.Path) -> ResponseConverter? {
        guard case .buffered(let read, readsPaths: true) = reading else { return nil }
        var converter = self
        converter.reading = .buffered({ try read($0, $1, $2.map { $0.appending(path) } ?? path) }, readsPaths: true)
        if !requirements.usesDecoder {
            converter.requirements.defaultHeaders = HTTPHeaders.json.merging(requirements.defaultHeaders)
        }
        return converter
    }

    /// Returns a converter that passes each response to `change`, and reads the changed response.
    func after(_ change: @escaping @Sendable (HTTPResponse) throws -> HTTPResponse) -> ResponseConverter {
        reading(readsPaths: false) { read in
            { response, decoder, _ in try read(change(response), decoder, nil) }
        } streamed: { _ in
            { _, _, _ in
                throw UndecodableBody("`transformingJSON` needs a body in memory, but the converter reads a stream")
            }
        }
    }

    /// Returns a converter that returns a fallback value if this converter fails. The errors of a converter that reads
    /// the body in chunks are not replaced.
    public func replacingErrors(with fallback: Value) -> ResponseConverter {
        reading { read in
            { (try? read($0, $1, $2)) ?? fallback }
        } streamed: { read in
            read
        }
    }

    /// Returns a converter with another closure, and the same requirements.
    ///
    /// - Parameter readsPaths: Whether the new closure can read the value at a path, if this converter can. Default:
    ///   true.
    private func reading<Other: Sendable>(
        readsPaths: Bool = true, buffered: (@escaping Buffered<Value>) -> Buffered<Other>,
        streamed: (@escaping Streamed<Value>) -> Streamed<Other>
    ) -> ResponseConverter<Other> {
        let other: ResponseConverter<Other>.Reading =
            switch reading {
            case .buffered(let read, let canReadPaths):
                .buffered(buffered(read), readsPaths: canReadPaths && readsPaths)
            case .streamed(let read): .streamed(streamed(read))
            }
        var converter = ResponseConverter<Other>(other, requirements.target)
        converter.requirements = requirements
        return converter
    }

    /// Reads a response.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - decoder: The decoder, unless the converter has a decoder of its own. Default: a `JSONDecoder` with
    ///     Foundation's settings.
    /// - Throws: The closure's error. A `DecodingError` or `EncodingError` is the underlying error of a
    ///   ``NetworkError`` of kind ``NetworkError/Kind/undecodableBody``.
    public func convert(_ response: HTTPResponse, decoder: any BodyDecoder = JSONDecoder()) async throws -> Value {
        try await reading.convert(response, decoder: decoder)
    }

    /// Returns a converter that transforms the value of this converter.
    public func map<Other: Sendable>(
        _ transform: @escaping @Sendable (Value) throws -> Other
    ) -> ResponseConverter<Other> {
        reading { read in
            { try transform(try read($0, $1, $2)) }
        } streamed: { read in
            { try transform(try await read($0, $1, $2)) }
        }
    }

    /// Reads an empty body in memory as nil, and every other body with another converter. If that converter reads JSON,
    /// a body that contains only white space counts as empty, too.
    public static func optional<Wrapped: Sendable>(
        _ converter: ResponseConverter<Wrapped>
    ) -> ResponseConverter<Wrapped?> where Value == Wrapped? {
        let requirements = converter.requirements
        let readsJSON = requirements.defaultHeaders.accept.contains(where: \.isJSON)
        return converter.reading { read in
            { response, decoder, path in
                let isJSON = readsJSON || requirements.usesDecoder && decoder.readsJSON
                let isEmpty = isJSON ? response.data.isEmptyJSON : response.data.isEmpty
                return isEmpty ? nil : try read(response, decoder, path)
            }
        } streamed: { read in
            { try await read($0, $1, $2) }
        }
    }
}

/// The destination into which a converter reads the body of a response.
enum BodyTarget: Hashable, Sendable {
    /// The body is read into memory, up to the maximum response size of the call.
    case memory
    /// The body is written to a file, chunk by chunk. When the file is complete, the permit is released and the call
    /// returns.
    case file
    /// The body is delivered to the caller, chunk by chunk. When the head is received, the permit is released and the
    /// call returns. From then on, only the idle timeout and the caller can end the transfer.
    case stream

    /// Returns how the transport delivers the body.
    func delivery(limit: Int) -> BodyDelivery {
        self == .memory ? .buffered(limit: limit) : .streamed
    }
}
