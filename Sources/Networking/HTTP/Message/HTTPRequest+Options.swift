extension HTTPRequest {
    /// The key of an option of the app's own: a typed value that travels with a request, for the app's adapters, policies,
    /// transports and handlers to read. What the library reads is a property of `RequestSettings`.
    ///
    /// ```swift
    /// enum TenantOption: HTTPRequest.Option {
    ///     static let defaultValue = "public"  // of a request for which none is set
    /// }
    ///
    /// extension HTTPRequest.Options {
    ///     var tenant: String {
    ///         get { self[TenantOption.self] }
    ///         set { self[TenantOption.self] = newValue }
    ///     }
    /// }
    ///
    /// func news(_ service: NetworkService) async throws {
    ///     try await service.request(.get("news"), with: RequestSettings { $0.options.tenant = "acme" })
    /// }
    /// ```
    public protocol Option {
        /// The type of the setting.
        associatedtype Value: Sendable
        /// The setting of a request that says nothing.
        static var defaultValue: Value { get }
        /// Whether the setting is about credentials: it is left behind, as they are, when a redirect leads to another
        /// origin.
        static var isSensitive: Bool { get }
    }
}

extension HTTPRequest.Option {
    /// False: the setting stays with the request.
    public static var isSensitive: Bool { false }
}

extension HTTPRequest {
    /// The options of one request, by their type. They are never sent and never printed.
    public struct Options: Sendable {
        /// The value of one option. It is found by the option's type, so that its own type is known without a cast that
        /// looks for it.
        private final class Box<Option: HTTPRequest.Option>: Sendable {
            let value: Option.Value

            init(_ value: Option.Value) {
                self.value = value
            }
        }

        private struct Entry: Sendable {
            let key: ObjectIdentifier
            let isSensitive: Bool
            var box: any AnyObject & Sendable
        }

        private var entries: [Entry] = []

        /// Makes a collection without options: each has its default.
        package init() {}

        /// The setting of an option.
        public subscript<Option: HTTPRequest.Option>(option: Option.Type) -> Option.Value {
            get {
                let key = ObjectIdentifier(option)
                for entry in entries where entry.key == key {
                    // Cannot fail: the setter below, the only one, puts a box of this option under the option's key.
                    return unsafeDowncast(entry.box, to: Box<Option>.self).value
                }
                return Option.defaultValue
            }
            set {
                let key = ObjectIdentifier(option)
                if let index = entries.firstIndex(where: { $0.key == key }) {
                    entries[index].box = Box<Option>(newValue)
                } else {
                    if entries.isEmpty { entries.reserveCapacity(4) }  // a call has about as many
                    entries.append(Entry(key: key, isSensitive: option.isSensitive, box: Box<Option>(newValue)))
                }
            }
        }

        /// Removes an option: the endpoint, or the service, sets it.
        mutating func remove<Option: HTTPRequest.Option>(_ option: Option.Type) {
            entries.removeAll { $0.key == ObjectIdentifier(option) }
        }

        /// Sets an option, or leaves it to the endpoint or the service.
        mutating func set<Option: HTTPRequest.Option, Value>(_ option: Option.Type, _ value: Value?)
        where Option.Value == Value? {
            if let value { self[option] = value } else { remove(option) }
        }

        /// Forgets the options that are about credentials.
        mutating func removeSensitive() {
            entries.removeAll(where: \.isSensitive)
        }

        /// These options, with those of `base` where nothing is said here.
        func over(_ base: HTTPRequest.Options) -> HTTPRequest.Options {
            guard !base.entries.isEmpty else { return self }
            var merged = base
            merged.merge(self)
            return merged
        }

        /// Takes over the options that `other` sets.
        mutating func merge(_ other: HTTPRequest.Options) {
            for entry in other.entries {
                entries.removeAll { $0.key == entry.key }
                entries.append(entry)
            }
        }
    }
}

extension HTTPRequest.Options: RedactedReflectable {
    /// How many there are; not their values, which may be secret.
    var redactedDescription: String { "\(entries.count) options" }
}
