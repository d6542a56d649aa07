public import Foundation

/// A decoder of response bodies, such as `JSONDecoder`. A type of the app can decode another format, or decode JSON in
/// another way.
///
/// ```swift
/// struct PropertyListFormat: BodyDecoder, BodyEncoder {
///     let mediaType = MediaType("application", "x-plist")
///
///     func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
///         try PropertyListDecoder().decode(type, from: data)
///     }
///
///     func encode<Value: Encodable>(_ value: Value) throws -> Data { try PropertyListEncoder().encode(value) }
/// }
///
/// let settings = RequestSettings {
///     $0.decoder = PropertyListFormat()
///     $0.encoder = PropertyListFormat()
/// }
/// ```
///
/// `request(_:)` then decodes values with this decoder, and sends the decoder's media type in `Accept`. An API that
/// names JSON, such as ``ResponseConverter/json(_:decoder:)``, uses the decoder of the call only if that decoder reads
/// JSON.
public protocol BodyDecoder: Sendable {
    /// The media type that the decoder reads. If the decoder reads the response of a request, this type is sent as the
    /// request's `Accept` field, unless the request already has one.
    var mediaType: MediaType { get }

    /// Decodes a value from a whole body. It may be called on several threads at once.
    ///
    /// - Throws: Any error. The call then ends with ``NetworkError/Kind/undecodableBody``, whose underlying error is
    ///   this error.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

/// An encoder of request bodies, such as `JSONEncoder`: see ``HTTPBody/encoded(_:encoder:)``. See ``BodyDecoder`` for
/// an example.
public protocol BodyEncoder: Sendable {
    /// The media type that the encoder writes: the `Content-Type` of the body.
    var mediaType: MediaType { get }

    /// Encodes a value as a whole body. It may be called on several threads at once.
    ///
    /// - Throws: Any error. The call then ends with ``NetworkError/Kind/bodyNotEncodable``, whose underlying error is
    ///   this error.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension JSONDecoder: BodyDecoder {
    /// JSON, `application/json`.
    public var mediaType: MediaType { .json }
}

extension JSONEncoder: BodyEncoder {
    /// JSON, `application/json`.
    public var mediaType: MediaType { .json }
}

extension BodyDecoder where Self == JSONDecoder {
    /// Returns a decoder for JSON with other strategies than Foundation's:
    /// `$0.settings.decoder = .json { $0.keyDecodingStrategy = .convertFromSnakeCase }`.
    public static func json(_ configure: (JSONDecoder) -> Void) -> JSONDecoder {
        let decoder = JSONDecoder()
        configure(decoder)
        return decoder
    }
}

extension BodyEncoder where Self == JSONEncoder {
    /// Returns an encoder for JSON with other strategies than Foundation's:
    /// `$0.settings.encoder = .json { $0.dateEncodingStrategy = .iso8601 }`.
    public static func json(_ configure: (JSONEncoder) -> Void) -> JSONEncoder {
        let encoder = JSONEncoder()
        configure(encoder)
        return encoder
    }
}

extension BodyDecoder {
    /// Whether the decoder reads JSON.
    var readsJSON: Bool { self is JSONDecoder || mediaType.isJSON }
}

extension (any BodyEncoder)? {
    /// Returns this encoder. If it is nil, returns the encoder of the call if that encoder writes JSON, otherwise a
    /// `JSONEncoder`.
    ///
    /// - Throws: An error if this encoder does not write JSON.
    func json(or shared: any BodyEncoder) throws -> any BodyEncoder {
        guard let own = self else { return shared.writesJSON ? shared : JSONEncoder() }
        guard own.writesJSON else {
            throw NetworkError.bodyNotEncodable("expected a JSON encoder, found an encoder for \(own.mediaType)")
        }
        return own
    }
}

extension BodyEncoder {
    /// Whether the encoder writes JSON.
    var writesJSON: Bool { self is JSONEncoder || mediaType.isJSON }
}
