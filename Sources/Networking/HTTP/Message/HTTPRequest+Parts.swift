extension HTTPRequest {
    /// An object that the library attaches to a request. It is stored with the options, but needs no box. A type that
    /// adopts this protocol is final, because the object is found by its type.
    protocol Attachment: AnyObject, Sendable {
        /// Whether a redirect to another origin removes the object.
        static var isSensitive: Bool { get }
    }
}

extension HTTPRequest.Options {
    /// The attached objects of a request, at most one of each type. Most requests have up to three of them, which need
    /// no array.
    struct Attachments: Sendable {
        private var first: (any HTTPRequest.Attachment)?
        private var second: (any HTTPRequest.Attachment)?
        private var third: (any HTTPRequest.Attachment)?
        private var others: [any HTTPRequest.Attachment] = []

        var isEmpty: Bool { first == nil && second == nil && third == nil && others.isEmpty }

        /// The object of this type; nil if there is none.
        subscript<Object: HTTPRequest.Attachment>(type: Object.Type) -> Object? {
            get {
                if let found = Self.cast(first, to: type) { return found }
                if let found = Self.cast(second, to: type) { return found }
                if let found = Self.cast(third, to: type) { return found }
                return others.isEmpty ? nil : others.lazy.compactMap { Self.cast($0, to: type) }.first
            }
            set {
                remove { $0 == type }
                if let newValue { add(newValue) }
            }
        }

        /// Adds the objects of `other`. They replace objects of the same types.
        mutating func merge(_ other: Attachments) {
            guard !other.isEmpty else { return }
            for case let object? in [other.first, other.second, other.third] + other.others {
                remove { $0 == type(of: object) }
                add(object)
            }
        }

        /// Removes the objects that are related to credentials.
        mutating func removeSensitive() {
            remove { $0.isSensitive }
        }

        private mutating func add(_ object: any HTTPRequest.Attachment) {
            if first == nil {
                first = object
            } else if second == nil {
                second = object
            } else if third == nil {
                third = object
            } else {
                others.append(object)
            }
        }

        private mutating func remove(where shouldRemove: (any HTTPRequest.Attachment.Type) -> Bool) {
            if let object = first, shouldRemove(type(of: object)) { first = nil }
            if let object = second, shouldRemove(type(of: object)) { second = nil }
            if let object = third, shouldRemove(type(of: object)) { third = nil }
            if !others.isEmpty { others.removeAll { shouldRemove(type(of: $0)) } }
        }

        /// Returns the object if it has this type. A dynamic cast would be slower.
        private static func cast<Object: HTTPRequest.Attachment>(
            _ object: (any HTTPRequest.Attachment)?, to type: Object.Type
        ) -> Object? {
            guard let object, Swift.type(of: object) == type else { return nil }
            return unsafeDowncast(object, to: Object.self)  // cannot fail: the object has exactly this type
        }
    }
}
