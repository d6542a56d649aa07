package import Foundation
package import Networking

/// The content of an entry's file: a line with the format and a checksum, then JSON.
///
/// The record contains the endpoint's own values and the encoded body, so that each repetition sends the same bytes. It
/// contains no token and no field of an adapter.
package struct OutboxRecord: Codable, Hashable, Sendable {
    /// The endpoint of the entry, encoded.
    package struct Call: Codable, Hashable, Sendable {
        package var name: String
        package var version: Int
        package var content: Data

        package init(name: String, version: Int, content: Data) {
            (self.name, self.version, self.content) = (name, version, content)
        }
    }

    /// The encoded body.
    package struct Body: Codable, Hashable, Sendable {
        /// A file next to the entry's file.
        package struct File: Codable, Hashable, Sendable {
            package var name: String
            package var count: Int
            package var checksum: UInt64
        }

        /// The names and values of the fields that describe the body.
        package var headers: [[String]]
        /// The bytes; nil if they are in a file.
        package var bytes: Data?
        package var file: File?
    }

    package enum State: Codable, Hashable, Sendable {
        case waiting
        /// The call has begun, and the entry is not repeated if its response is lost. If the process of the call ends,
        /// the entry is in doubt.
        ///
        /// - Parameter call: The id of the call. Only this call ends the state.
        case sending(call: UUID)
        case inDoubt(reason: String)
        case refused(status: Int?, reason: String, body: Data)
        case sent(status: Int, body: Data)
        case expired
        /// The user has logged out. The record contains no endpoint any more.
        case dropped

        /// Whether the entry is over, and only waits to be acknowledged.
        package var isEnd: Bool {
            switch self {
            case .sent, .expired, .dropped: true
            case .waiting, .sending, .inDoubt, .refused: false
            }
        }
    }

    package let id: UUID
    /// The idempotency key.
    package var key: String
    package let order: String?
    package let owner: String?
    package let enqueued: Date
    package let expires: Date?
    /// Whether the app decides about a lost response.
    package let asks: Bool
    package var call: Call
    /// Nil if the endpoint's body is sent.
    package var body: Body?
    package var state: State
    /// Whether a response was lost. If so, the server may have executed the write, although the entry waits to be sent.
    package var isDoubtful = false

    package init(
        id: UUID, key: String, order: String?, owner: String?, enqueued: Date, expires: Date?, asks: Bool, call: Call,
        body: Body? = nil, state: State = .waiting
    ) {
        (self.id, self.key, self.order, self.owner) = (id, key, order, owner)
        (self.enqueued, self.expires, self.asks) = (enqueued, expires, asks)
        (self.call, self.body, self.state) = (call, body, state)
    }

    /// The number that the entries of one order and one owner have in common; nil if the entry has no order.
    package var lane: UInt64? { order.map { OutboxRecord.lane(of: $0, owner: owner) } }

    /// Returns the number for an order and its owner.
    static func lane(of order: String, owner: String?) -> UInt64 {
        var checksum = Checksum()
        checksum.update((owner.map { "\($0.utf8.count) \($0)" } ?? "").utf8)
        checksum.update([0])
        checksum.update(order.utf8)
        return max(checksum.value, 1)
    }
}

extension OutboxRecord {
    /// The reason why a file is not an entry that this version can read.
    package typealias Fault = SealedText.Fault

    /// The maximum size of an entry's file. Large bodies are stored in files of their own.
    package static let maximumSize = 16 << 20
    private static let form = SealedText("networking-outbox", format: 1, words: "an entry of an outbox")

    /// The bytes of the file.
    package func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return OutboxRecord.sealed(try encoder.encode(self))
    }

    /// Returns the bytes of a file with this content.
    package static func sealed(_ content: Data) -> Data { form.sealed(content) }

    /// Reads the bytes of a file.
    package init(decoding bytes: Data) throws(Fault) {
        let content = try OutboxRecord.form.content(of: bytes)
        do { self = try JSONDecoder().decode(OutboxRecord.self, from: content) } catch {
            throw Fault("the JSON of the entry cannot be decoded: \(OutboxRecord.words(for: error))")
        }
    }

    /// Returns what is wrong with encoded values, without the values.
    static func words(for error: any Error) -> String {
        func path(_ context: DecodingError.Context) -> String {
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            return path.isEmpty ? "the value" : path.onOneLine
        }
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            return "\(key.stringValue.onOneLine) is missing in \(path(context))"
        case DecodingError.typeMismatch(let type, let context): return "\(path(context)) does not have the type \(type)"
        case DecodingError.valueNotFound(_, let context): return "\(path(context)) is null"
        case EncodingError.invalidValue(_, let context):
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            return "\(path.isEmpty ? "the value" : path.onOneLine) cannot be encoded"
        case DecodingError.dataCorrupted(let context): return "\(path(context)) has no valid value"
        default: return "\(type(of: error))"
        }
    }
}

/// The name of an entry's file: the number by which entries are ordered, the lane, and the id.
///
/// The lane is in the name, so that an entry that cannot be read still holds back the entries after it.
package struct OutboxName: Hashable, Comparable, Sendable {
    package let number: UInt64
    /// The number of the order; nil if the entry has none.
    package let lane: UInt64?
    package let id: UUID

    package init(number: UInt64, lane: UInt64?, id: UUID) {
        (self.number, self.lane, self.id) = (number, lane, id)
    }

    /// The largest number. A larger number is not accepted, so that there is always a next number.
    package static let largest = UInt64.max / 2

    /// Reads the name of a file. Returns nil if it is not the name of an entry.
    package init?(_ file: String) {
        guard file.hasSuffix(".entry") else { return nil }
        let parts = file.dropLast(6).split(separator: "-", maxSplits: 2)
        guard parts.count == 3, parts[0].utf8.count == 16, parts[1].utf8.count == 16,
            let number = UInt64(parts[0], radix: 16), let lane = UInt64(parts[1], radix: 16),
            let id = UUID(uuidString: String(parts[2]))
        else { return nil }
        self.init(number: number, lane: lane == 0 ? nil : lane, id: id)
        guard self.file == file, number <= OutboxName.largest else { return nil }
    }

    /// The name of the entry's file.
    package var file: String {
        "\(number.hexadecimal)-\((lane ?? 0).hexadecimal)-\(id.uuidString.lowercased()).entry"
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(number) }

    package static func < (one: OutboxName, other: OutboxName) -> Bool {
        one.number != other.number
            ? one.number < other.number : one.number == other.number && one.id.uuidString < other.id.uuidString
    }
}
