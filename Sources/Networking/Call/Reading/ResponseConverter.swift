public import Foundation

/// Reads a response as a value.
///
/// ```swift
/// let count = ResponseConverter<Int> { response in
///     guard let count = response.headers["X-Total"].flatMap(Int.init) else { throw MissingCount() }
///     return count
/// }
/// let total = try await service.request(.head("users"), as: count)
/// ```
///
/// What the closure throws becomes the cause of a ``NetworkError/Kind/undecodableBody`` that keeps the response. It
/// runs in the call, never on the callback queue.
public struct ResponseConverter<Value: Sendable>: Sendable {
    private enum Reading: Sendable {
        case whole(@Sendable (HTTPResponse, JSONDecoder) throws -> Value)
        case pulled(@Sendable (HTTPResponse, IncomingBody, JSONDecoder) async throws -> Value)
    }

    private var reading: Reading
    /// How the body is wanted.
    public private(set) var delivery: BodyDelivery
    /// Has a say in how the request is carried, for a converter that asks for more than a response.
    private var carrying: (@Sendable (any Transport) -> any Transport)?
    /// What the request says where nobody else says anything about it.
    private var asked: HTTPHeaders = []
    /// What the request says, whatever anybody else says about it.
    private var insisted: HTTPHeaders = []
    /// The same converter for what stands somewhere in JSON, where it reads that.
    private var atPath: (@Sendable (JSONPath) -> ResponseConverter)?

    private init(_ reading: Reading, _ delivery: BodyDelivery) {
        self.reading = reading
        self.delivery = delivery
    }

    /// Makes a converter of a closure, which finds the body in memory.
    public init(_ read: @escaping @Sendable (HTTPResponse) throws -> Value) {
        self.init(.whole { response, _ in try read(response) }, .memory)
    }

    /// Makes a converter of a closure, which finds the body in memory and is given the JSON decoder that holds for
    /// the call.
    public init(decoding read: @escaping @Sendable (HTTPResponse, JSONDecoder) throws -> Value) {
        self.init(.whole(read), .memory)
    }

    /// Makes a converter that pulls the body, which is never in memory as a whole. It is called at the head, once the
    /// response has been judged.
    ///
    /// - Parameters:
    ///   - delivery: ``BodyDelivery/file`` where the closure reads to the end, so that the call goes on until then;
    ///     ``BodyDelivery/stream`` where it hands the body on.
    ///   - read: Reads. An error of the body's own, such as a lost connection, is the call's error.
    public init(
        pulling delivery: BodyDelivery, _ read: @escaping @Sendable (HTTPResponse, IncomingBody) async throws -> Value
    ) {
        self.init(.pulled { response, body, _ in try await read(response, body) }, delivery)
    }

    init(
        pulling delivery: BodyDelivery,
        decoding read: @escaping @Sendable (HTTPResponse, IncomingBody, JSONDecoder) async throws -> Value
    ) {
        self.init(.pulled(read), delivery)
    }

    /// A converter whose requests are carried through a transport of its own.
    func through(_ carrying: @escaping @Sendable (any Transport) -> any Transport) -> ResponseConverter {
        var converter = self
        converter.carrying = carrying
        return converter
    }

    /// A converter whose requests carry these fields, each where environment and endpoint have none of its name: what
    /// it can read (`Accept`), for example. An `Accept` that was only asked for in this way is not held against the
    /// answer.
    public func asking(_ headers: HTTPHeaders) -> ResponseConverter {
        var converter = self
        converter.asked = asked.isEmpty ? headers : asked.merging(headers)
        return converter
    }

    /// A converter whose requests carry these fields in the place of others of their names.
    func insisting(on headers: HTTPHeaders) -> ResponseConverter {
        var converter = self
        converter.insisted = headers
        return converter
    }

    /// A converter that can read what stands somewhere in JSON without parsing twice.
    func located(_ atPath: @escaping @Sendable (JSONPath) -> ResponseConverter) -> ResponseConverter {
        var converter = self
        converter.atPath = atPath
        return converter
    }

    /// The converter for what stands at a path; nil if it is none of JSON.
    func reading(at path: JSONPath) -> ResponseConverter? {
        guard var located = atPath?(path) else { return nil }
        located.asked = located.asked.merging(asked)
        located.insisted = located.insisted.merging(insisted)
        located.carrying = carrying
        return located
    }

    /// A converter that reads a changed response.
    func after(_ change: @escaping @Sendable (HTTPResponse) throws -> HTTPResponse) -> ResponseConverter {
        reading { read in
            { try read(change($0), $1) }
        } pulled: { _ in
            { _, _, _ in throw UndecodableBody("what stands somewhere in JSON cannot be had of a body that is pulled") }
        }
    }

    /// A converter that calls a closure for the value if this one fails.
    func recovering(_ fallback: @escaping @Sendable (any Error) -> Value) -> ResponseConverter {
        var converter = reading { read in
            { do { return try read($0, $1) } catch { return fallback(error) } }
        } pulled: { read in
            read
        }
        if let atPath { converter.atPath = { atPath($0).recovering(fallback) } }
        return converter
    }

    /// A converter that reads in another way what is asked for and carried in the same.
    private func reading<Other: Sendable>(
        whole:
            (@escaping @Sendable (HTTPResponse, JSONDecoder) throws -> Value) ->
            @Sendable (HTTPResponse, JSONDecoder) throws -> Other,
        pulled:
            (@escaping @Sendable (HTTPResponse, IncomingBody, JSONDecoder) async throws -> Value) ->
            @Sendable (HTTPResponse, IncomingBody, JSONDecoder) async throws -> Other
    ) -> ResponseConverter<Other> {
        var converter =
            switch reading {
            case .whole(let read): ResponseConverter<Other>(.whole(whole(read)), delivery)
            case .pulled(let read): ResponseConverter<Other>(.pulled(pulled(read)), delivery)
            }
        converter.carrying = carrying
        converter.asked = asked
        converter.insisted = insisted
        return converter
    }

    /// Whether it is a download that its own transport can begin again.
    var canBePaused: Bool { delivery == .file && carrying != nil }

    /// What carries the request.
    func carrier(over base: any Transport) -> any Transport {
        carrying?(base) ?? base
    }

    /// Puts what is asked for on a request.
    func dress(_ request: inout HTTPRequest) {
        for field in insisted { request.headers.set(field) }
        for field in asked where !request.headers.contains(field.name) {
            request.headers.append(field)
            if field.name == .accept { request[option: DerivedAccept.self] = field.value }
        }
    }

    /// Reads a response.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - decoder: What decodes JSON where the converter has no decoder of its own.
    /// - Throws: ``NetworkError``: as the closure threw it, or of kind ``NetworkError/Kind/undecodableBody`` with
    ///   another error of the closure underlying.
    public func convert(_ response: HTTPResponse, decoder: JSONDecoder = JSONDecoder()) async throws -> Value {
        do {
            switch reading {
            case .whole(let read): return try read(response, decoder)
            case .pulled(let read): return try await read(response, try response.content.stream, decoder)
            }
        } catch let error as Interruption {
            throw error
        } catch let error as NetworkError {
            throw error.completed(request: response.request, response: response.withoutStream)
        } catch {
            throw NetworkError(
                .undecodableBody,
                reason: UndecodableBody.words(error, reading: Value.self, response.headers.contentType),
                request: response.request, response: response.withoutStream, underlying: error)
        }
    }

    /// Reads a response that is in memory, without waiting; nil for a converter that pulls.
    func convertNow(_ response: HTTPResponse, _ decoder: JSONDecoder) throws -> Value? {
        if case .whole(let read) = reading { try read(response, decoder) } else { nil }
    }

    /// A converter that changes what this one reads.
    public func map<Other: Sendable>(
        _ transform: @escaping @Sendable (Value) throws -> Other
    ) -> ResponseConverter<Other> {
        var converter = reading { read in
            { try transform(try read($0, $1)) }
        } pulled: { read in
            { try transform(try await read($0, $1, $2)) }
        }
        if let atPath { converter.atPath = { atPath($0).map(transform) } }
        return converter
    }

    /// Reads an empty body as nil, and everything else with another converter.
    public static func optional<Wrapped: Sendable>(
        _ converter: ResponseConverter<Wrapped>
    ) -> ResponseConverter<Wrapped?> where Value == Wrapped? {
        var result = converter.reading { read in
            { $0.data.isEmpty ? nil : try read($0, $1) }
        } pulled: { read in
            { try await read($0, $1, $2) }
        }
        if let atPath = converter.atPath { result.atPath = { .optional(atPath($0)) } }
        return result
    }
}

/// The `Accept` that a converter asked for, and nobody else.
enum DerivedAccept: RequestOption {
    static var defaultOption: String? { nil }
}

extension ResponseConverter where Value == Void {
    /// Reads nothing: the body, empty or not, is dropped.
    public static var void: ResponseConverter { ResponseConverter { _ in } }
}

extension ResponseConverter where Value == Data {
    /// The body's bytes.
    public static var data: ResponseConverter { ResponseConverter { $0.data } }
}

extension ResponseConverter where Value == HTTPResponse {
    /// The response itself.
    public static var response: ResponseConverter { ResponseConverter { $0 } }
}

extension ResponseConverter where Value == String {
    /// The body as text, in the charset that its `Content-Type` names.
    ///
    /// Without a charset JSON is UTF-8 (RFC 8259), and other text is UTF-8 where it is valid UTF-8, else ISO Latin 1.
    public static var string: ResponseConverter {
        ResponseConverter { try $0.text() }.located { .keyPath($0, .json()) }
    }

    /// The body as text in an encoding of your choice, whatever the response says.
    public static func string(encoding: String.Encoding) -> ResponseConverter {
        ResponseConverter { response in
            guard let text = String(data: response.data, encoding: encoding) else {
                throw UndecodableBody("the body is no text in \(encoding)")
            }
            return text
        }
    }
}
