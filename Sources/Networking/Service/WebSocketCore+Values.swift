import Foundation

/// The values in the messages.
extension WebSocketCore {
    private var resolved: RequestSettings { client.resolved(settings, for: endpoint) }

    /// Returns the message for a value.
    func message(of value: some Encodable) throws -> WebSocketMessage {
        do { return .text(String(decoding: try resolved.bodyEncoder.encode(value), as: UTF8.self)) } catch {
            throw NetworkError(
                .bodyNotEncodable, reason: "the message cannot be encoded: \(type(of: error))", underlying: error)
        }
    }

    /// Returns the value of a message.
    func value<Value: Decodable & Sendable>(of message: WebSocketMessage) async throws -> Value {
        let (data, decoder) = (message.data, resolved.bodyDecoder)
        do {
            guard LargeBody.isLarge(data) else { return try decoder.read(Value.self, from: data) }
            return try await LargeBody.reading(data) { try decoder.read(Value.self, from: $0) }
        } catch let interruption as Interruption {
            throw NetworkError.wrapping(interruption)
        } catch {
            let fault = UndecodableBody.describe(error, reading: Value.self, from: data)
            throw NetworkError(.undecodableBody, reason: "message: \(fault)", underlying: error)
        }
    }
}
