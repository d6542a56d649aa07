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
    func value<Value: Decodable>(of message: WebSocketMessage) throws -> Value {
        let data = message.data
        do { return try resolved.bodyDecoder.read(Value.self, from: data) } catch {
            let fault = UndecodableBody.describe(error, reading: Value.self, from: data)
            throw NetworkError(.undecodableBody, reason: "message: \(fault)", underlying: error)
        }
    }
}
