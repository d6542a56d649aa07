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
        /// Whether the option is related to credentials. A redirect to another origin removes such options, as it
        /// removes credentials. Default: false.
        static var isSensitive: Bool { get }
    }
}

extension HTTPRequest.Option {
    /// False: a redirect keeps the option.
    public static var isSensitive: Bool { false }
}

extension HTTPRequest {
    /// The options of one request, by their types. They are never sent and never printed.
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
        private var attachments = Attachments()
        /// The value of an `Accept` field that was added because the request had none. The field may have been replaced
        /// since.
        var defaultAccept: String?

        private var isEmpty: Bool { entries.isEmpty && attachments.isEmpty && defaultAccept == nil }

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

        /// An object of the library; nil if it is not set.
        subscript<Object: HTTPRequest.Attachment>(attachment attachment: Object.Type) -> Object? {
            get { attachments[attachment] }
            set { attachments[attachment] = newValue }
        }

        /// Removes an option, so that the value of the endpoint or the service applies.
        mutating func remove<Option: HTTPRequest.Option>(_ option: Option.Type) {
            entries.removeAll { $0.key == ObjectIdentifier(option) }
        }

        /// Sets an option. Nil removes it, so that the value of the endpoint or the service applies.
        mutating func set<Option: HTTPRequest.Option, Value>(_ option: Option.Type, _ value: Value?)
        where Option.Value == Value? {
            if let value { self[option] = value } else { remove(option) }
        }

        /// Removes the options that are related to credentials.
        mutating func removeSensitive() {
            entries.removeAll(where: \.isSensitive)
            attachments.removeSensitive()
        }

        /// Returns these options, completed with the options of `base` that are not set here.
        func over(_ base: HTTPRequest.Options) -> HTTPRequest.Options {
            guard !base.isEmpty else { return self }
            var merged = base
            merged.merge(self)
            return merged
        }

        /// Sets the options that `other` contains. These options replace options of the same type.
        mutating func merge(_ other: HTTPRequest.Options) {
            for entry in other.entries {
                entries.removeAll { $0.key == entry.key }
                entries.append(entry)
            }
            attachments.merge(other.attachments)
            defaultAccept = other.defaultAccept ?? defaultAccept
        }
    }
}

extension HTTPRequest.Options: RedactedReflectable {
    /// The number of options, without their values, which may be secret.
    var redactedDescription: String { "\(entries.count) options" }
}
