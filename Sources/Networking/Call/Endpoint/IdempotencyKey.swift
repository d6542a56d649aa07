import Foundation

/// What a call sends as its `Idempotency-Key`
/// ([draft-ietf-httpapi-idempotency-key-header](https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/)):
/// with one, also a POST is sent again by a retry policy.
public struct IdempotencyKey: Hashable, Sendable, ExpressibleByStringLiteral {
    private enum Content: Hashable, Sendable {
        case none
        case minted
        case given(String)
    }

    private let content: Content

    private init(content: Content) {
        self.content = content
    }

    /// The call has none.
    public static let none = IdempotencyKey(content: .none)
    /// A new UUID for each call, the same in all of its attempts: retries, and repeats with a new token.
    public static let unique = IdempotencyKey(content: .minted)

    /// One of the app's own, to repeat a call of an earlier process, for instance. An empty one ends the call before
    /// anything is sent.
    public static func value(_ key: String) -> IdempotencyKey { IdempotencyKey(content: .given(key)) }

    /// One of the app's own: see ``value(_:)``.
    public init(stringLiteral key: String) {
        self = .value(key)
    }

    /// Whether it is one of the app's own, the same for each call.
    var isGiven: Bool { if case .given = content { true } else { false } }

    /// The field's value for one call; nil if it has none.
    func value(using random: RandomSource) -> String? {
        switch content {
        case .none: nil
        case .minted: random.uuid().uuidString.lowercased()
        case .given(let key): key
        }
    }
}

extension IdempotencyKey: RedactedReflectable {
    /// Which kind it is, without a key of the app's own.
    var redactedDescription: String {
        switch content {
        case .none: "none"
        case .minted: "unique"
        case .given: "a key of the app's own"
        }
    }
}
