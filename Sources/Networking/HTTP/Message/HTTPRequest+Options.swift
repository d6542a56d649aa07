extension HTTPRequest {
    /// The key of an option that an app defines. An option is a typed value that a request carries for the app's
    /// adapters, policies, transports and handlers. Options that the library reads are properties of `RequestSettings`.
    ///
    /// ```swift
    /// enum TenantOption: HTTPRequest.Option {
    ///     static let defaultValue = "public"  // if a request sets no tenant
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
        /// The type of the option's value.
        associatedtype Value: Sendable
        /// The value for a request that does not set the option.
        static var defaultValue: Value { get }
        /// Whether the option is related to credentials. Such an option is removed when a redirect, a retry or an
        /// adapter changes the origin of the request, unless the code that changed the origin has set the option.
        /// Default: false.
        static var isSensitive: Bool { get }
    }
}

extension HTTPRequest.Option {
    /// False: the option is kept if the request goes to another origin.
    public static var isSensitive: Bool { false }
}

extension HTTPRequest {
    /// The options that an app has set on one request, by their types. They are never sent and never printed.
    public struct Options: Sendable {
        /// The value of one option. It is stored under the option's type, so that the value's type is known without a
        /// dynamic cast.
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

        /// Creates a collection without options. Each option has its default value.
        package init() {}

        /// The value of an option; its `defaultValue` if it is not set.
        public subscript<Option: HTTPRequest.Option>(option: Option.Type) -> Option.Value {
            get {
                let key = ObjectIdentifier(option)
                for entry in entries where entry.key == key {
                    // This cast cannot fail: only the setter below writes entries, and it stores a box of this option
                    // for its key.
                    return unsafeDowncast(entry.box, to: Box<Option>.self).value
                }
                return Option.defaultValue
            }
            set {
                let key = ObjectIdentifier(option)
                if let index = entries.firstIndex(where: { $0.key == key }) {
                    entries[index].box = Box<Option>(newValue)
                } else {
                    entries.append(Entry(key: key, isSensitive: option.isSensitive, box: Box<Option>(newValue)))
                }
            }
        }

        /// Removes the options that are related to credentials and were copied from `others`. Keeps an option that has
        /// been set again afterwards.
        mutating func removeSensitive(of others: [HTTPRequest.Options]) {
            guard entries.contains(where: \.isSensitive) else { return }
            let old = Set(others.flatMap(\.entries).map { ObjectIdentifier($0.box) })
            entries.removeAll { $0.isSensitive && old.contains(ObjectIdentifier($0.box)) }
        }

        /// Returns these options, completed with the options of `base` that are not set here.
        func over(_ base: HTTPRequest.Options) -> HTTPRequest.Options {
            guard !base.entries.isEmpty else { return self }
            var merged = base
            for entry in entries {
                merged.entries.removeAll { $0.key == entry.key }
                merged.entries.append(entry)
            }
            return merged
        }
    }
}

extension HTTPRequest.Options: RedactedReflectable {
    /// The number of options, without their values, which may be secret.
    var redactedDescription: String { "\(entries.count) options" }
}
