public import Foundation

extension ResponseConverter where Value: Decodable {
    /// The body decoded from JSON. An empty body is an error; say `as: .optional(…)` where it may be.
    ///
    /// - Parameters:
    ///   - type: The type to read, where it is not known from the context.
    ///   - decoder: The decoder; by default the one that holds for the call.
    public static func json(
        _ type: Value.Type = Value.self, decoder: JSONDecoder? = nil
    ) -> ResponseConverter {
        ResponseConverter(decoding: { try (decoder ?? $1).decode(type, from: $0.nonEmpty()) })
            .readingPaths { path in
                let located = decoder?.at(path)
                return ResponseConverter(decoding: {
                    try (located ?? $1.at(path)).decodeLocated(type, from: $0.nonEmpty())
                })
            }
            .defaultHeaders(.json)
    }
}

extension ResponseConverter {
    /// What another converter reads of the value at a path: `.keyPath("data.user", .json())`.
    ///
    /// Where that reads JSON, the body is parsed once. Where nothing stands at the path the error names it. The
    /// path's names are as the decoder makes them: with `.convertFromSnakeCase`, `"userData"` finds `user_data`.
    public static func keyPath(_ path: JSONValue.Path, _ converter: ResponseConverter) -> ResponseConverter {
        if let located = converter.converter(at: path) { return located }
        return .transformingJSON(
            { json in
                guard let value = json[path] else { throw UndecodableBody("\"\(path)\" is missing") }
                return value
            }, converter)
    }

    /// What another converter reads of the JSON that a closure makes of the body's; nil from it is an error.
    public static func transformingJSON(
        _ transform: @escaping @Sendable (JSONValue) throws -> JSONValue?, _ converter: ResponseConverter
    ) -> ResponseConverter {
        converter.after { response in
            guard let value = try transform(response.json()) else {
                throw UndecodableBody("the body's JSON was turned into nothing")
            }
            var changed = response
            changed.content = .data(try JSONEncoder().encode(value))
            changed.headers.contentType = .json
            return changed
        }
        .defaultHeaders(.json)
    }

    /// The same, with a value in the place of one that cannot be read.
    public func replacingErrors(with fallback: Value) -> ResponseConverter {
        recovering { _ in fallback }
    }
}

extension ResponseConverter {
    /// The elements of a JSON array that can be read; those that cannot are left out, all of them where none can. Use
    /// it where a server adds kinds of elements that an old app does not know.
    public static func tolerantArray<Element: Decodable & Sendable>(
        _ type: Element.Type = Element.self, decoder: JSONDecoder? = nil
    ) -> ResponseConverter where Value == [Element] {
        ResponseConverter<[Tolerant<Element>]>.json(decoder: decoder).map { $0.compactMap(\.value) }
    }
}

/// An element that may be anything, and is nil if it is not what was wanted.
private struct Tolerant<Element: Decodable & Sendable>: Decodable, Sendable {
    let value: Element?

    init(from decoder: any Decoder) {
        value = try? decoder.singleValueContainer().decode(Element.self)
    }
}

extension ResponseConverter where Value == [String: any Sendable] {
    /// The body as a JSON object whose members are `String`, `Bool`, `Int`, `Double`, arrays and objects of these;
    /// null members are left out. Another root than an object is an error.
    public static var jsonObject: ResponseConverter {
        ResponseConverter<JSONValue>.json().map { value in
            guard let object = value.untyped as? [String: any Sendable] else {
                throw UndecodableBody("the body is JSON, but its root is not an object")
            }
            return object
        }
    }
}

extension ResponseConverter where Value == [any Sendable] {
    /// The body as a JSON array whose elements are as those of ``jsonObject``. Another root than an array is an error.
    public static var jsonArray: ResponseConverter {
        ResponseConverter<JSONValue>.json().map { value in
            guard let array = value.untyped as? [any Sendable] else {
                throw UndecodableBody("the body is JSON, but its root is not an array")
            }
            return array
        }
    }
}

extension HTTPHeaders {
    /// JSON is what can be read.
    static let json: HTTPHeaders = [HTTPHeader.accept(.json)]
}

extension HTTPResponse {
    /// What a converter reads of the response, at once; for one that is kept, or in a validator or handler.
    ///
    /// - Throws: ``NetworkError/Kind/undecodableBody``, also for a converter that pulls.
    public func read<Value: Sendable>(
        as converter: ResponseConverter<Value>, decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        do {
            if let value = try converter.convertNow(self, decoder) { return value }
            throw UndecodableBody("the converter pulls, and the body is there already")
        } catch let error as NetworkError {
            throw error.completed(request: request, response: self)
        } catch {
            throw NetworkError(
                .undecodableBody, reason: UndecodableBody.describe(error, reading: Value.self, headers.contentType),
                request: request,
                response: self, underlying: error)
        }
    }

    func nonEmpty() throws -> Data {
        guard !data.isEmpty else { throw UndecodableBody("the body is empty") }
        return data
    }

    fileprivate func json() throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: nonEmpty())
    }
}
