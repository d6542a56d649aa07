import Foundation

/// What a call sends as its `Idempotency-Key`
/// ([draft-ietf-httpapi-idempotency-key-header](https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/)): with one, also a
/// POST is sent again by a retry policy.
public struct IdempotencyKey: Hashable, Sendable {
    private enum Content: Hashable, Sendable {
        case none
        case minted
        case given(String)
    }

    private let content: Content

    /// The call has none.
    public static let none = IdempotencyKey(content: .none)
    /// A new UUID for each call, the same in all of its attempts: retries, and repeats with a new token.
    public static let unique = IdempotencyKey(content: .minted)

    /// One of the app's own, to repeat a call of an earlier process, for instance. An empty one ends the call before anything is sent.
    public static func value(_ key: String) -> IdempotencyKey { IdempotencyKey(content: .given(key)) }

    /// The field's value for one call; nil where it has none.
    func value(using random: RandomSource) -> String? {
        switch content {
        case .none: nil
        case .minted: IdempotencyKey.uuid(random).uuidString.lowercased()
        case .given(let key): key
        }
    }

    /// A random UUID, RFC 9562 section 5.4.
    private static func uuid(_ random: RandomSource) -> UUID {
        let high = random.next()
        let low = random.next()
        func byte(_ bits: UInt64, _ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: bits >> (8 * index)) }
        return UUID(
            uuid: (
                byte(high, 7), byte(high, 6), byte(high, 5), byte(high, 4), byte(high, 3), byte(high, 2),
                byte(high, 1) & 0x0F | 0x40, byte(high, 0), byte(low, 7) & 0x3F | 0x80, byte(low, 6), byte(low, 5),
                byte(low, 4), byte(low, 3), byte(low, 2), byte(low, 1), byte(low, 0)
            ))
    }
}
