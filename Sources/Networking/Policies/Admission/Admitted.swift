/// An attempt that has entered every policy. It holds the permits of the policies until it ends.
///
/// The value cannot be copied, and `end(_:)` consumes it, so the compiler rejects code that ends an attempt twice. If
/// the value is dropped without `end(_:)`, the attempt ends as cancelled.
package struct Admitted: ~Copyable, Sendable {
    /// The permits. A transfer may take them over: see ``TransferContext``.
    private let slots: Slots

    /// An attempt that enters no policy.
    init() {
        slots = Slots(nil, [])
    }

    /// - Parameter permits: The permits of the policies; nil for a policy that was not entered.
    init(by admission: Admission, _ permits: [AdmissionPermit?]) {
        slots = Slots(admission, permits)
    }

    /// Lets the transfers of a call take the permits over.
    func lend(to context: TransferContext) { context.admission = slots }

    /// Returns every permit to its policy, in the reverse order of entry, unless a transfer has taken the permits over.
    package consuming func end(_ outcome: AdmissionPermit.Outcome) {
        slots.end(outcome)
    }

    deinit {
        // Does nothing after `end(_:)`: the permits have been returned.
        guard slots.isHeld else { return }
        slots.end(.failed(NetworkError(.cancelled, reason: "the permits of the attempt were dropped")))
    }

    /// The permits of an attempt. Each policy receives the head of the response at most once, and then gets its permit
    /// back once.
    private final class Slots: TransferAdmission {
        /// Whether the policies have received the head of the response.
        private enum Head {
            case unknown
            /// A thread is passing the head to the policies. If the attempt ends meanwhile, this thread returns the
            /// permits afterwards.
            case told(ending: AdmissionPermit.Outcome?)
            case known
        }

        private struct Holding {
            var admission: Admission?
            var permits: [AdmissionPermit?] = []
            var head = Head.unknown
            /// The number of the owner who may return the permits. 0 is the call. Higher numbers are transfers, each of
            /// which has taken over the permits from the previous owner. Nil if there is no owner, because the attempt
            /// has ended.
            var owner: Int? = 0

            func isHeld(by owner: Int) -> Bool { self.owner == owner && !permits.isEmpty }
        }

        /// Emptied when the permits are returned. Otherwise, a stored response could retain the permits of its request
        /// and the policies.
        private let holding: Locked<Holding>

        init(_ admission: Admission?, _ permits: [AdmissionPermit?]) {
            holding = Locked(Holding(admission: admission, permits: permits))
        }

        package var isHeld: Bool { isHeld(by: 0) }

        func isHeld(by owner: Int) -> Bool { holding.withLock { $0.isHeld(by: owner) } }

        func end(_ outcome: AdmissionPermit.Outcome, by owner: Int = 0) {
            let ended: Holding? = holding.withLock { holding in
                guard holding.isHeld(by: owner) else { return nil }
                if case .told = holding.head {
                    (holding.head, holding.owner) = (.told(ending: outcome), nil)
                    return nil
                }
                defer { holding = Holding() }
                return holding
            }
            guard let ended else { return }
            if case .unknown = ended.head, let response = outcome.response {
                ended.admission?.hear(ended.permits, response)  // the transport has reported no head
            }
            ended.admission?.leave(ended.permits, outcome)
        }

        func end(after outcome: Result<HTTPResponse, any Error>?) { end(.after(outcome)) }

        func hear(_ head: () -> HTTPResponse) {
            let told: Holding? = holding.withLock { holding in
                guard case .unknown = holding.head, !holding.permits.isEmpty else { return nil }
                holding.head = .told(ending: nil)
                return holding
            }
            guard let told else { return }
            told.admission?.hear(told.permits, head())
            let ended: (Holding, AdmissionPermit.Outcome)? = holding.withLock { holding in
                guard case .told(let outcome?) = holding.head else {
                    holding.head = .known
                    return nil
                }
                defer { holding = Holding() }
                return (holding, outcome)
            }
            if let (ended, outcome) = ended { ended.admission?.leave(ended.permits, outcome) }
        }

        func handOver() -> (any TransferAdmission)? { handOver(from: 0) }

        func handOver(from owner: Int) -> (any TransferAdmission)? {
            let isMoved = holding.withLock { holding in
                guard holding.isHeld(by: owner) else { return false }
                holding.owner = owner + 1
                return true
            }
            return isMoved ? MovedSlots(slots: self, owner: owner + 1) : nil
        }
    }

    /// Permits that a transfer has taken over from a call.
    private final class MovedSlots: TransferAdmission {
        private let slots: Slots
        private let owner: Int

        init(slots: Slots, owner: Int) {
            (self.slots, self.owner) = (slots, owner)
        }

        package var isHeld: Bool { slots.isHeld(by: owner) }

        func hear(_ head: () -> HTTPResponse) { slots.hear(head) }

        func end(after outcome: Result<HTTPResponse, any Error>?) { slots.end(.after(outcome), by: owner) }

        func handOver() -> (any TransferAdmission)? { slots.handOver(from: owner) }

        deinit {
            slots.end(.notSent, by: owner)
        }
    }
}

extension AdmissionPermit.Outcome {
    /// Returns the outcome of an attempt that got a response of any status.
    static func after(_ response: HTTPResponse) -> AdmissionPermit.Outcome {
        guard response.source == .cache else { return .responded(response.withoutStream) }
        return switch response.replaced {
        case .success(let received): .responded(received)
        case .failure(let error): .failed(error)
        case nil: .notSent  // a stored response says nothing about the server, the token or the load
        }
    }

    /// Returns the outcome of a transfer; nil means that no request with these permits was sent.
    fileprivate static func after(_ outcome: Result<HTTPResponse, any Error>?) -> AdmissionPermit.Outcome {
        switch outcome {
        case .success(let response): .after(response)
        case .failure(let error): .failed(error)
        case nil: .notSent
        }
    }
}
