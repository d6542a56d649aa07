extension HTTPRequest {
    /// What one room of the library adds to a request, such as the rules of the call for the cache, or the ticket of
    /// the session. A room is a folder of the sources; each room has at most one part.
    ///
    /// A part defines what remains of it when its request goes to another origin, and when its request leaves the call.
    /// These properties have no default implementation, so that no part leaves the origin or the call by oversight.
    /// Only the code in the room of a part changes the part. All other code copies and drops parts with
    /// ``HTTPRequest/leavingOrigin(of:)``, ``HTTPRequest/leavingCall()`` and ``HTTPRequest/inCall(of:)``.
    package protocol Part: Sendable {
        /// The part as the request carries it to another origin; nil if nothing remains.
        var outsideOrigin: Self? { get }
        /// What remains of the part after its call, and in requests that do not belong to the call; nil if nothing
        /// remains. A response may leave its call twice, so the `outsideCall` of the returned part must be the same
        /// part again.
        var outsideCall: Self? { get }
        /// The values that two requests must have in common to be duplicates. They must also have these values in
        /// common to use the same stored response, in memory or on disk. Empty if the part makes no difference.
        var identity: [String] { get }
    }

    /// A part whose values come from the settings of a call, of its endpoint and of its service.
    package protocol Order: Part {
        /// Creates an order that sets nothing.
        init()
        /// Returns this order. Values that it does not set are taken from `base`, except values that belong to a single
        /// attempt.
        func over(_ base: Self) -> Self
    }
}

extension HTTPRequest {
    /// The parts of a request, or of settings: at most one of each type.
    package struct Parts: Sendable {
        private var all: [PartBox] = []

        package init() {}

        /// The part of this type. Only the code in the room of the part changes the part.
        package subscript<Wanted: HTTPRequest.Part>(type: Wanted.Type) -> Wanted? {
            get { box(of: ObjectIdentifier(type)).map { PartBox.Of<Wanted>.part($0) } }
            set {
                let index = all.firstIndex { $0.type == ObjectIdentifier(type) }
                if let part = consume newValue {
                    put(PartBox.Of(part), at: index)
                } else if let index {
                    all.remove(at: index)
                }
            }
        }

        /// Reads a value of the part of this type, without a copy of the part; nil if there is none.
        func read<Wanted: HTTPRequest.Part, Value>(_ type: Wanted.Type, _ value: (Wanted) -> Value?) -> Value? {
            // Not `box(of:)`, which retains the part.
            all.withUnsafeBufferPointer { boxes in
                for index in boxes.indices where boxes[index].type == ObjectIdentifier(type) {
                    return PartBox.Of<Wanted>.read(boxes[index], value)
                }
                return nil
            }
        }

        /// The order of this type; an order that sets nothing if there is none.
        package subscript<Wanted: HTTPRequest.Order>(order type: Wanted.Type) -> Wanted {
            get { self[type] ?? Wanted() }
            set { self[type] = newValue }
        }

        /// Whether both contain the same instance of the part of this type. Equal parts are not enough.
        func share(_ type: any HTTPRequest.Part.Type, with other: Parts) -> Bool {
            box(of: ObjectIdentifier(type)) === other.box(of: ObjectIdentifier(type))
        }

        private func box(of type: ObjectIdentifier) -> PartBox? {
            all.withUnsafeBufferPointer { boxes in
                for index in boxes.indices where boxes[index].type == type { return boxes[index] }
                return nil
            }
        }

        private mutating func put(_ box: PartBox, at index: Int?) {
            guard let index else {
                if all.isEmpty { all.reserveCapacity(4) }  // most requests have three or four parts
                return all.append(box)
            }
            all[index] = box
        }

        /// Returns these parts, and those parts of `base` whose types do not occur among these parts. An order takes
        /// the values that it does not set from the order of `base`.
        func over(_ base: Parts) -> Parts {
            guard !base.all.isEmpty else { return self }
            var merged = base
            for box in all {
                let index = base.all.firstIndex { $0.type == box.type }
                merged.put(box.completed(with: index.map { base.all[$0] }), at: index)
            }
            return merged
        }

        fileprivate var outsideOrigin: Parts {
            var left = Parts()
            for box in all { if let part = box.outsideOrigin { left.all.append(part) } }
            return left
        }

        fileprivate var outsideCall: Parts {
            var left = Parts()
            for box in all { if let part = box.outsideCall { left.all.append(part) } }
            return left
        }

        /// Returns these parts and the parts of `other`. A part of `other` replaces a part of the same type. An order
        /// is not replaced: it keeps the values that it sets, and takes the other values from the order of `other`.
        fileprivate func joined(to other: Parts) -> Parts {
            var joined = other
            for box in all {
                let index = other.all.firstIndex { $0.type == box.type }
                guard box.isOrder || index == nil else { continue }
                joined.put(box.completed(with: index.map { other.all[$0] }), at: index)
            }
            return joined
        }

        /// Returns the values that two requests must have in common to share a transfer or a stored response.
        ///
        /// - Parameter own: The type of a part to omit, because the part's room compares it in another way.
        func identity(without own: (any HTTPRequest.Part.Type)? = nil) -> [String] {
            let left = own.map { ObjectIdentifier($0) }
            var values: [String] = []
            for box in all where box.type != left { values += box.identity }
            return values.count < 2 ? values : values.sorted()
        }
    }
}

/// A part whose type is not known. A reference to an object is cheaper to copy than a value of a protocol type, and a
/// request is copied often.
private class PartBox: @unchecked Sendable {  // because neither this class nor its only subclass has variables
    let type: ObjectIdentifier

    init(_ type: ObjectIdentifier) { self.type = type }

    // Only the subclass is created, and it overrides these members.
    var outsideOrigin: PartBox? { nil }
    var outsideCall: PartBox? { nil }
    var identity: [String] { [] }
    var isOrder: Bool { false }
    func completed(with base: PartBox?) -> PartBox { self }

    final class Of<Part: HTTPRequest.Part>: PartBox, @unchecked Sendable {  // because it has no variables
        private let part: Part

        init(_ part: Part) {
            self.part = part
            super.init(ObjectIdentifier(Part.self))
        }

        static func part(_ box: PartBox) -> Part {
            unsafeDowncast(box, to: Of<Part>.self).part  // cannot fail: a box contains a part of its `type`
        }

        static func read<Value>(_ box: PartBox, _ value: (Part) -> Value?) -> Value? {
            value(unsafeDowncast(box, to: Of<Part>.self).part)  // as in `part(_:)`
        }

        override var outsideOrigin: PartBox? { if let left = part.outsideOrigin { Of(left) } else { nil } }
        override var outsideCall: PartBox? { if let left = part.outsideCall { Of(left) } else { nil } }
        override var identity: [String] { part.identity }
        override var isOrder: Bool { part is any HTTPRequest.Order }

        /// Returns this part; if it is an order, completed with the values of another order of its type.
        override func completed(with base: PartBox?) -> PartBox {
            guard let order = part as? any HTTPRequest.Order else { return self }
            return order.completed(with: base)
        }
    }
}

extension HTTPRequest.Order {
    fileprivate func completed(with base: PartBox?) -> PartBox {
        PartBox.Of(over(base.map { PartBox.Of<Self>.part($0) } ?? Self()))
    }
}

extension HTTPRequest {
    /// Returns the request without the fields, options and parts that the server of another origin must not receive.
    /// Does nothing if the request goes to the same origin as the given requests.
    ///
    /// A field is kept if it is harmless. It is also kept if no earlier request to another origin contains it with this
    /// value: the field was then set by the code that changed the origin, or by later code. Fields of the environment
    /// are never treated as harmless.
    ///
    /// - Parameter earlier: The requests from which this request was made. This request has the parts of the first of
    ///   them.
    package func leavingOrigin(of earlier: HTTPRequest...) -> HTTPRequest { leavingOrigin(of: earlier) }

    func leavingOrigin(of earlier: [HTTPRequest]) -> HTTPRequest {
        let others = earlier.filter { $0.origin != origin }
        guard !others.isEmpty else { return self }
        let own = earlier.filter { $0.origin == origin }
        var request = self
        request.headers.removeAll { field in
            // A write without its condition could overwrite the changes of another user.
            (method.isSafe || !HTTPHeader.Name.conditions.contains(field.name))
                && field.staysAtOrigin && others.contains { $0.has(field) } && !own.contains { $0.has(field) }
        }
        request.options.removeSensitive(of: others.map(\.options))
        if earlier.first?.origin != origin { request.parts = parts.outsideOrigin }
        return request
    }

    /// Returns the request for use outside its call: replaces each part with its `outsideCall`.
    package func leavingCall() -> HTTPRequest {
        var request = self
        request.parts = parts.outsideCall
        return request
    }

    /// Returns the request as part of the call of another request: with the parts of `other`, and with those options
    /// and orders of `other` that this request does not set.
    package func inCall(of other: HTTPRequest) -> HTTPRequest {
        var request = self
        request.options = options.over(other.options)
        request.parts = parts.joined(to: other.parts)
        request.networkAccess = networkAccess ?? other.networkAccess
        return request
    }
}

extension HTTPRequest {
    private func has(_ field: HTTPHeader) -> Bool {
        headers.contains { $0.name == field.name && $0.value == field.value }
    }
}

extension HTTPHeader {
    /// Whether the field was meant for the server of one origin: it is a credential, it was added by an environment or
    /// a session, or it is not known to be harmless elsewhere.
    fileprivate var staysAtOrigin: Bool {
        isSensitive || isFromEnvironment || isFromSession || !name.mayLeaveOrigin
            || HTTPHeader.Name.ofOneOrigin.contains(name)
    }
}

extension HTTPRequest {
    /// Returns a copy of the request for a record. Its body is the body that ``HTTPBody/kept(bytes:)`` returns.
    package func kept(bytes limit: Int) -> HTTPRequest {
        if let data = body.data, data.count <= limit { return self }
        var request = self
        request.body = body.kept(bytes: limit)
        return request
    }
}
