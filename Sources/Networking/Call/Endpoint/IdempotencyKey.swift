import Foundation

/// The `Idempotency-Key` of a call
/// ([IETF draft](https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/)). With a key, a retry
/// policy sends even a POST again.
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

    /// No key.
    public static let none = IdempotencyKey(content: .none)
    /// A new UUID for each call. It is the same in all attempts of the call, including retries and attempts with a
    /// refreshed token.
    public static let unique = IdempotencyKey(content: .minted)

    /// Returns a key that the app has chosen, for example to repeat a call of an earlier process. With an empty key,
    /// the call fails before anything is sent.
    public static func value(_ key: String) -> IdempotencyKey { IdempotencyKey(content: .given(key)) }

    /// Creates a key that the app has chosen: see ``value(_:)``.
    public init(stringLiteral key: String) {
        self = .value(key)
    }

    /// Whether the app has chosen the key, so that it is the same for each call.
    var isGiven: Bool { if case .given = content { true } else { false } }

    /// Returns the field's value for one call; nil for ``none``.
    func value(using random: RandomSource) -> String? {
        switch content {
        case .none: nil
        case .minted: random.uuid().uuidString.lowercased()
        case .given(let key): key
        }
    }
}

extension IdempotencyKey: RedactedReflectable {
    /// The kind of the key, without the value of a key that the app has chosen.
    var redactedDescription: String {
        switch content {
        case .none: "none"
        case .minted: "unique"
        case .given: "a key of the app's own"
        }
    }
}
