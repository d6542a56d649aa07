import Foundation

/// Reads the response of a call and keeps its value. The pipeline does not know the type of the value, so that only
/// this type is generic.
protocol ResponseReading: AnyObject {
    /// Reads a response that is in memory.
    ///
    /// - Returns: False if the converter reads a stream, and has to wait.
    func readNow(_ response: HTTPResponse, _ decoder: JSONDecoder) throws -> Bool
    /// Reads a response, and waits for its body.
    func read(_ response: HTTPResponse, _ decoder: JSONDecoder) async throws
}

/// Reads a response with a converter.
final class ValueReading<Value: Sendable>: ResponseReading {
    private let converter: ResponseConverter<Value>
    private var value: Value?

    init(_ converter: ResponseConverter<Value>) {
        self.converter = converter
    }

    func readNow(_ response: HTTPResponse, _ decoder: JSONDecoder) throws -> Bool {
        value = try converter.convertNow(response, decoder)
        return value != nil
    }

    func read(_ response: HTTPResponse, _ decoder: JSONDecoder) async throws {
        value = try await converter.convert(response, decoder: decoder)
    }

    /// Returns the value, with the response and the record of the call.
    func response(_ outcome: RequestPipeline.Outcome) throws -> Response<Value> {
        // The call has an outcome only after the response was read, so there is a value.
        guard let value else { throw NetworkError(.unknown) }
        return Response(value, outcome.response, record: outcome.record)
    }
}
