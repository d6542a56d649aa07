/// The deadline of the operation that the current task runs for a caller, such as the handling of a request on a
/// server.
///
/// A caller that has stopped waiting needs no answer. If a server handles a request with the deadline of the request,
/// all calls that the handler makes end at this deadline, with ``NetworkError/Kind/deadlineTimedOut``. A retry or a
/// wait that would not end before the deadline is not started.
///
/// ```swift
/// try await CallDeadline.withValue(from: request.headers, in: .milliseconds("X-Timeout-Ms"), default: .seconds(10)) {
///     try await payments.request(PaymentEndpoint.capture(id))
/// }
/// ```
///
/// For a stream, the call ends when the head of the response has arrived, so the deadline does not interrupt the body.
///
/// Work that several calls share does not inherit the deadline. Such work is a token refresh, a transfer that several
/// identical calls wait for, or the background validation of a stored response.
public struct CallDeadline: Sendable {
    private let deadline: Deadline

    /// The deadline of the calls that the current task makes; nil if there is none.
    public static var current: CallDeadline? { Deadline.inherited.map { CallDeadline(deadline: $0) } }

    /// The remaining time; zero or negative after the deadline.
    public var remaining: Duration { deadline.remaining }

    /// Runs an operation with a deadline. If the current task already has an earlier deadline, the earlier deadline
    /// applies.
    ///
    /// - Parameters:
    ///   - limit: The time after which the calls of the operation end. If it is zero or negative, no call is sent.
    ///   - clock: The clock that measures the time. Default: ``NetworkClock/continuous``.
    ///   - isolation: The actor on which the operation runs. Default: the actor of the caller.
    ///   - operation: The operation. It continues after the deadline; only its calls end.
    public static func withValue<Result>(
        _ limit: Duration, on clock: NetworkClock = .continuous, isolation: isolated (any Actor)? = #isolation,
        operation: () async throws -> Result
    ) async rethrows -> Result {
        let limit = min(limit, current?.remaining ?? limit)
        let deadline = Deadline(after: max(limit, .zero), on: clock, isInherited: true)
        return try await Deadline.$inherited.withValue(deadline, operation: operation, isolation: isolation)
    }

    /// Runs an operation with the deadline of a received request.
    ///
    /// - Parameters:
    ///   - headers: The header fields of the received request.
    ///   - field: The field that contains the time for which the caller still waits.
    ///   - limit: The longest time until the deadline. It applies if the field is absent, has several values, cannot be
    ///     read, or contains a longer time.
    ///   - clock: The clock that measures the time. Default: ``NetworkClock/continuous``.
    ///   - isolation: The actor on which the operation runs. Default: the actor of the caller.
    ///   - operation: The operation. It continues after the deadline; only its calls end.
    public static func withValue<Result>(
        from headers: HTTPHeaders, in field: Field, default limit: Duration, on clock: NetworkClock = .continuous,
        isolation: isolated (any Actor)? = #isolation, operation: () async throws -> Result
    ) async rethrows -> Result {
        let found = headers[field.name].flatMap { field.duration(of: $0) }
        return try await withValue(
            min(found ?? limit, limit), on: clock, isolation: isolation, operation: operation)
    }
}

extension CallDeadline {
    /// A header field that contains the time for which a caller still waits. There is no standard field, so the app has
    /// to name the field that is read or sent.
    public struct Field: Hashable, Sendable {
        private enum Format: Hashable, Sendable { case milliseconds, grpc }

        let name: HTTPHeader.Name
        private let format: Format

        /// A field with a whole number of milliseconds, such as `250`.
        public static func milliseconds(_ name: HTTPHeader.Name) -> Field { Field(name: name, format: .milliseconds) }

        /// The field `grpc-timeout`: at most eight digits and a unit, such as `250m` for 250 milliseconds
        /// ([gRPC over HTTP/2](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md)).
        public static let grpcTimeout = Field(name: "grpc-timeout", format: .grpc)

        /// Returns the time that a value contains; nil if it cannot be read.
        func duration(of value: String) -> Duration? {
            let digits = value.utf8.prefix { (0x30...0x39).contains($0) }
            let rest = value.utf8.dropFirst(digits.count)
            // A number of more than 18 digits is not read, because it may not fit into `Int64`. Such a time is longer
            // than any default.
            guard !digits.isEmpty, digits.count <= 18, let number = Int64(String(decoding: digits, as: UTF8.self))
            else {
                return nil
            }
            switch format {
            case .milliseconds: return rest.isEmpty ? .milliseconds(number) : nil
            case .grpc:
                guard digits.count <= 8, rest.count == 1, let unit = rest.first else { return nil }
                return Field.units.first { $0.symbol == unit }.map { $0.duration * number }
            }
        }

        /// Returns the value for a time. The value is rounded down, but is at least 1.
        func value(of time: Duration) -> String {
            func count(_ unit: Duration) -> Int64 { max(time.nanoseconds / unit.nanoseconds, 1) }
            switch format {
            case .milliseconds: return "\(count(.milliseconds(1)))"
            case .grpc:
                // The smallest unit, milliseconds or larger, in which the number has at most eight digits.
                for unit in Field.units.dropFirst(2) where count(unit.duration) <= 99_999_999 {
                    return "\(count(unit.duration))\(Character(Unicode.Scalar(unit.symbol)))"
                }
                return "99999999H"
            }
        }

        private static let units: [(symbol: UInt8, duration: Duration)] = [
            (UInt8(ascii: "n"), .nanoseconds(1)), (UInt8(ascii: "u"), .microseconds(1)),
            (UInt8(ascii: "m"), .milliseconds(1)), (UInt8(ascii: "S"), .seconds(1)), (UInt8(ascii: "M"), .seconds(60)),
            (UInt8(ascii: "H"), .seconds(3_600)),
        ]
    }

    /// An adapter that passes the remaining time of the call to the server, in a header field.
    ///
    /// The value is the time until the call ends: until ``CallDeadline/current`` or until the end of the call's total
    /// timeout, whichever is earlier. A call without a deadline gets no field, and a field that is already set is not
    /// changed. By default, only requests to the server of the environment get the field. Requests with different
    /// values are not duplicates of each other, unless ``DuplicateRequestPolicy`` ignores the field. In this case, the
    /// request of the shared transfer contains the value of the call that began the transfer.
    public struct Adapter: SynchronousRequestAdapter, FieldAdapter {
        private let field: Field
        private let includesOtherOrigins: Bool

        /// Creates an adapter.
        ///
        /// - Parameters:
        ///   - field: The field that the server reads.
        ///   - includesOtherOrigins: Whether requests to other servers also get the field. Default: false.
        public init(_ field: Field, includesOtherOrigins: Bool = false) {
            self.field = field
            self.includesOtherOrigins = includesOtherOrigins
        }

        /// Sets the field.
        public func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) {
            guard includesOtherOrigins || !request.isForeign, !request.headers.contains(field.name),
                let deadline = CallScope.current?.deadline
            else { return }
            request.headers[field.name] = field.value(of: deadline.remaining)
        }
    }
}

extension Deadline {
    /// Returns the deadline of a call that begins now: the end of its total timeout, or the inherited deadline if that
    /// is earlier. Nil if there is neither.
    ///
    /// - Parameter total: The total timeout; nil if there is none. A timeout that is not positive is rejected later,
    ///   when the request is created.
    static func ofCall(within total: Duration?, on clock: NetworkClock) -> Deadline? {
        let own = total.flatMap { $0 > .zero ? $0 : nil }
        if let left = Deadline.inherited?.remaining, own.map({ left < $0 }) ?? true {
            return Deadline(after: left, on: clock, isInherited: true)
        }
        return own.map { Deadline(after: $0, on: clock) }
    }
}
