extension BodySequence {
    /// Returns the same sequence with limits for the time until an element arrives. If an element arrives too late, the
    /// loop throws ``NetworkError/Kind/idleTimedOut``. The transfer ends when nothing retains the sequence.
    ///
    /// The idle timeout of a call (60 seconds by default) applies to bytes, so a server that only sends comments is
    /// never idle. The limits of this method apply to elements, in addition to the idle timeout. For a limit that is
    /// longer than the idle timeout, raise `timeouts.idle`, too. The time in which the loop processes an element does
    /// not count. If you write a transport, it must wait with ``withCallCancellation(_:)``, so that a limit can end the
    /// wait.
    ///
    /// - Parameters:
    ///   - first: The longest time for the first element. Default: nil; there is no limit.
    ///   - between: The longest time for each further element. Default: nil; there is no limit.
    ///   - clock: The clock that measures the time. Default: ``NetworkClock/continuous``.
    public func timingOut(
        first: Duration? = nil, between: Duration? = nil, clock: NetworkClock = .continuous
    ) -> BodySequence {
        BodySequence { .init(TimedElements(self.makeAsyncIterator(), first: first, between: between, clock: clock)) }
    }

    /// Reads the sequence to its end, and returns the joined texts of its elements.
    ///
    /// ```swift
    /// let answer = try await service.request(call, as: .events(Delta.self, endingWith: "[DONE]")).joined(\.text)
    /// ```
    ///
    /// - Parameters:
    ///   - limit: The maximum size of the text in bytes, in UTF-8. Default: 32 MiB. For a longer text, the method
    ///     throws ``NetworkError/Kind/responseTooLarge``.
    ///   - text: Returns the text of an element.
    public func joined(
        upTo limit: Int = 32 << 20, _ text: @Sendable (Element) throws -> String
    ) async throws -> String {
        var joined = ""
        for try await element in self {
            let next = try text(element)
            guard next.utf8.count <= limit - joined.utf8.count else {
                throw NetworkError.responseTooLarge(limit: limit)
            }
            joined += next
        }
        return joined
    }
}

/// Reads elements, each within a limited time.
private struct TimedElements<Element: Sendable>: AsyncIteratorProtocol {
    private var base: BodySequence<Element>.Iterator?
    private let first: Duration?
    private let between: Duration?
    private let clock: NetworkClock
    private var hasFirst = false

    init(_ base: BodySequence<Element>.Iterator, first: Duration?, between: Duration?, clock: NetworkClock) {
        (self.base, self.first, self.between, self.clock) = (base, first, between, clock)
    }

    mutating func next() async throws -> Element? {
        guard var reader = base else { return nil }
        base = nil  // an iterator that has failed is released
        guard let limit = hasFirst ? between : first else {
            let element = try await reader.next()
            (base, hasFirst) = (reader, true)
            return element
        }
        // The waits of the reader end when this scope ends, just as the waits of a call end at its deadline.
        let outer = CallScope.current
        let scope = CallScope(deadline: Deadline(after: limit, on: clock))
        outer?.add(scope)
        defer {
            outer?.remove(scope)
            scope.detach()
        }
        do {
            let element = try await CallScope.Position.$current.withValue(.inside(scope)) { try await reader.next() }
            _ = scope.completeUnchecked()
            (base, hasFirst) = (reader, true)
            return element
        } catch {
            guard scope.completeUnchecked() == .deadlineExceeded else { throw error }
            throw NetworkError(
                .idleTimedOut, reason: "no \(hasFirst ? "further" : "first") element within \(limit.shortText)")
        }
    }
}
