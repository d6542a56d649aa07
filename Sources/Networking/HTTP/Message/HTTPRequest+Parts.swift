extension HTTPRequest {
    /// What one room of the library adds to a request, such as the order of a call to its cache, or the ticket of its
    /// session. A room is a folder of the sources; each has at most one part.
    ///
    /// A part says what is left of it at the two borders that a request can cross. There is no default, so that no part
    /// crosses a border because somebody has forgotten it. Only the room of a part writes it. All other code copies and
    /// drops parts with ``HTTPRequest/leavingOrigin(of:)``, ``HTTPRequest/leavingCall()`` and
    /// ``HTTPRequest/inCall(of:)``.
    package protocol Part: Sendable {
        /// What is left of the part if the request goes to another origin; nil: nothing.
        var outsideOrigin: Self? { get }
        /// What is left of the part after its call, and in requests that do not belong to the call; nil: nothing.
        var outsideCall: Self? { get }
        /// The values in which two requests must agree, so that they are duplicates, and so that a response to one of
        /// them may be stored for the other, also on disk. Empty: the part makes no difference.
        var identity: [String] { get }
    }

    /// A part whose values the settings of a call, of its endpoint and of its service contain.
    package protocol Order: Part {
        /// Creates an order that sets nothing.
        init()
        /// Returns this order. Values that it does not set are taken from `base`. What belongs to one attempt only is no
        /// order, and is not left.
        func over(_ base: Self) -> Self
    }
}

extension HTTPRequest {
    /// The parts of a request, or of settings: at most one of each type.
    package struct Parts: Sendable {
        private var all: [any HTTPRequest.Part] = []

        package init() {}

        /// The part of this type. Only the file that declares the type writes it.
        package subscript<Wanted: HTTPRequest.Part>(type: Wanted.Type) -> Wanted? {
            get {
                for part in all { if let found = part.cast(to: type) { return found } }
                return nil
            }
            set {
                let index = all.firstIndex { $0.has(type) }
                switch (index, newValue) {
                case (let index?, let part?): all[index] = part
                case (let index?, nil): all.remove(at: index)
                case (nil, let part?): append(part)
                case (nil, nil): break
                }
            }
        }

        /// The order of this type; an order that sets nothing if there is none.
        package subscript<Wanted: HTTPRequest.Order>(order type: Wanted.Type) -> Wanted {
            get { self[type] ?? Wanted() }
            set { self[type] = newValue }
        }

        private mutating func append(_ part: any HTTPRequest.Part) {
            if all.isEmpty { all.reserveCapacity(4) }  // most requests have three or four parts
            all.append(part)
        }

        /// Returns these parts, and the parts of `base` of other types. An order takes the values that it does not set
        /// from the order of `base`.
        func over(_ base: Parts) -> Parts {
            guard !base.all.isEmpty else { return self }
            var merged = base
            for part in all {
                let index = merged.all.firstIndex { $0.has(type(of: part)) }
                if let index { merged.all[index] = part.over(merged.all[index]) } else { merged.append(part) }
            }
            return merged
        }

        fileprivate var outsideOrigin: Parts { replacing { $0.outsideOrigin } }
        fileprivate var outsideCall: Parts { replacing { $0.outsideCall } }

        private func replacing(_ change: (any HTTPRequest.Part) -> (any HTTPRequest.Part)?) -> Parts {
            var left = Parts()
            left.all = all.compactMap(change)
            return left
        }

        /// Returns these parts, and the parts of `other`, which replace parts of the same types. An order keeps the
        /// values that it sets.
        fileprivate func joined(to other: Parts) -> Parts {
            var joined = other
            for part in all {
                let index = joined.all.firstIndex { $0.has(type(of: part)) }
                guard let order = part as? any HTTPRequest.Order else {
                    if index == nil { joined.append(part) }
                    continue
                }
                if let index {
                    joined.all[index] = order.completed(with: joined.all[index])
                } else {
                    joined.append(order.completed(with: nil))
                }
            }
            return joined
        }

        /// Returns the values in which two requests must agree.
        ///
        /// - Parameter own: The type of a part that is left out, because its room compares it in another way.
        func identity(without own: (any HTTPRequest.Part.Type)? = nil) -> [String] {
            var values: [String] = []
            for part in all where own == nil || !part.has(own ?? type(of: part)) { values += part.identity }
            return values.count < 2 ? values : values.sorted()
        }
    }
}

extension HTTPRequest {
    /// Returns the request without what the server of another origin must not receive. Does nothing if the request goes
    /// to the same origin as the given requests.
    ///
    /// A field stays if it is harmless, or if the earlier requests to other origins do not contain it with this value:
    /// the code that changed the origin, or later code, has then set it. A field of the environment does not stay, even
    /// if it is harmless.
    ///
    /// - Parameter earlier: The requests from which this request was made.
    package func leavingOrigin(of earlier: HTTPRequest...) -> HTTPRequest { leavingOrigin(of: earlier) }

    func leavingOrigin(of earlier: [HTTPRequest]) -> HTTPRequest {
        let others = earlier.filter { $0.origin != origin }
        guard !others.isEmpty else { return self }
        let own = earlier.filter { $0.origin == origin }
        var request = self
        request.headers.removeAll { field in
            field.staysAtOrigin && others.contains { $0.has(field) } && !own.contains { $0.has(field) }
        }
        request.options.removeSensitive(of: others.map(\.options))
        request.parts = parts.outsideOrigin
        return request
    }

    /// Returns the request as somebody keeps it, or sends it, who does not belong to its call.
    package func leavingCall() -> HTTPRequest {
        var request = self
        request.parts = parts.outsideCall
        return request
    }

    /// Returns the request as a request of the same call as another request: with that request's parts, and with its
    /// options and orders if this request does not set them.
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
    /// Whether the field was meant for the server of one origin: it is a credential, it was added by an environment, or
    /// it is not known to be harmless elsewhere.
    fileprivate var staysAtOrigin: Bool {
        isSensitive || isFromEnvironment || !name.mayLeaveOrigin
            || [.host, .traceparent, .tracestate].contains(name)
    }
}

extension HTTPRequest.Part {
    fileprivate func has(_ type: any HTTPRequest.Part.Type) -> Bool { Self.self == type }

    /// Returns the part if it has this type. A dynamic cast would be slower.
    fileprivate func cast<Wanted: HTTPRequest.Part>(to type: Wanted.Type) -> Wanted? {
        guard Self.self == type else { return nil }
        return unsafeBitCast(self, to: Wanted.self)  // cannot fail: the part has exactly this type
    }

    /// Returns this part, completed with the values of a part of the same type if both are orders.
    fileprivate func over(_ base: any HTTPRequest.Part) -> any HTTPRequest.Part {
        guard let order = self as? any HTTPRequest.Order else { return self }
        return order.completed(with: base)
    }
}

extension HTTPRequest.Order {
    fileprivate func completed(with base: (any HTTPRequest.Part)?) -> any HTTPRequest.Part {
        over(base?.cast(to: Self.self) ?? Self())
    }
}
