/// Runs a call and returns the value that its converter reads. Only this part of the pipeline is generic: the rest does
/// not know the type of the value.
///
/// The closures change a variable of their function and do not escape it, so that they need no memory of their own.
extension RequestPipeline {
    /// Runs the call in the caller's task.
    ///
    /// - Throws: The error with which the call ends.
    @inline(__always)
    func run<Value>(_ converter: ResponseConverter<Value>) async throws -> Response<Value> {
        do { return try await runReporting(converter) } catch let failed as FailedCall { throw failed.error }
    }

    /// Runs the call in the caller's task and reports its end. If the call is made inside another call, it ends when
    /// the outer call ends.
    ///
    /// - Throws: ``FailedCall``.
    @inline(__always)
    func runReporting<Value>(_ converter: ResponseConverter<Value>) async throws -> Response<Value> {
        var value: Value?
        let outcome = try await runReporting {
            value = try converter.convertNow($0, $1)
            return value != nil
        } read: {
            value = try await converter.convert($0, decoder: $1)
        }
        return try Response(value, outcome)
    }

    /// Runs the call in the current task and inside the scope that ends its waits. It reports every event except the
    /// end of the call.
    ///
    /// - Throws: ``FailedCall``.
    func run<Value>(
        _ converter: ResponseConverter<Value>, in scope: CallScope, reporting events: CallEvents?
    ) async throws -> Response<Value> {
        var value: Value?
        let outcome = try await run(in: scope, reporting: events) {
            value = try converter.convertNow($0, $1)
            return value != nil
        } read: {
            value = try await converter.convert($0, decoder: $1)
        }
        return try Response(value, outcome)
    }
}

extension Response {
    /// The value of a call, with the response and the record of the call.
    fileprivate init(_ value: Value?, _ outcome: RequestPipeline.Outcome) throws {
        // The call has an outcome only after the response was read, so there is a value.
        guard let value else { throw NetworkError(.unknown) }
        self.init(value, outcome.response, record: outcome.record)
    }
}
