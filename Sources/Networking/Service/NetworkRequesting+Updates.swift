public import Foundation

extension NetworkRequesting {
    /// Reads a value, changes it, and writes it back only if no other client has changed it meanwhile. If another
    /// client has changed it, the method reads the new value and applies the change to that value.
    ///
    /// ```swift
    /// try await service.update(ItemEndpoint.fetch(7)) { (item: Item) in
    ///     ItemEndpoint.replace(7, with: item.renamed("Lamp"))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - resource: The endpoint that reads the value. This read does not use a cache. The response must have a strong
    ///     `ETag`, or a `Last-Modified`: see ``RequestSettings/ifUnchanged(since:)-swift.method``.
    ///   - attempts: The maximum number of writes, at least 1. Default: 3.
    ///   - settings: Settings for each of the calls. An idempotency key and a meter in these settings are ignored,
    ///     because each belongs to one call. Default: no changes.
    ///   - isolation: The actor on which the closure runs. Default: the actor of the caller.
    ///   - change: Returns the endpoint that writes the changed value. It is called again with the new value after a
    ///     conflict. An error that it throws ends the update.
    /// - Returns: The response to the write.
    /// - Throws: ``Response/Conflict`` if all writes were refused, or if an earlier attempt of a refused write may have
    ///   been executed. All other errors are those of the calls. Even after such an error, for example a lost
    ///   connection, the write may have been executed. On Apple platforms, `URLSession` may send a PUT twice on its
    ///   own; if the server refuses the second PUT, the method treats this as a conflict. The read and the write belong
    ///   to one session: if another user logs in between them, the write is not sent.
    @discardableResult
    public func update<Value: Decodable & Sendable, Write: Endpoint>(
        _ resource: some Endpoint<Untyped>, attempts: Int = 3, with settings: RequestSettings = RequestSettings(),
        isolation: isolated (any Actor)? = #isolation, _ change: (Value) throws -> Write
    ) async throws -> HTTPResponse {
        try await update(
            resource, as: .automatic(), attempts: attempts, with: settings, isolation: isolation, change)
    }

    /// Reads a value with a converter, changes it, and writes it back only if no other client has changed it meanwhile:
    /// see ``update(_:attempts:with:isolation:_:)``.
    @discardableResult
    public func update<Value: Sendable, Write: Endpoint>(
        _ resource: some Endpoint, as converter: ResponseConverter<Value>, attempts: Int = 3,
        with settings: RequestSettings = RequestSettings(), isolation: isolated (any Actor)? = #isolation,
        _ change: (Value) throws -> Write
    ) async throws -> HTTPResponse {
        let session = client.sessionNumber
        var reading = settings
        // These values belong to one call, but an update makes several calls.
        (reading.condition, reading.idempotencyKey, reading.progress) = (nil, nil, nil)
        let writing = reading
        reading.caching = .reload
        // All calls share one scope, so that a reset or the end of the enclosing call also ends the update between two
        // of its calls.
        let (outer, scope) = (CallScope.current, CallScope())
        outer?.add(scope)
        client.calls.enter(scope, resource)
        defer {
            scope.detach()
            outer?.remove(scope)
            client.calls.leave(scope)
        }
        return try await CallScope.Position.$current.withValue(
            .inside(scope),
            operation: {
                var count = 0
                while true {
                    let current = try await response(resource, as: converter, with: reading, inSession: session)
                    let endpoint = try change(current.value)
                    count += 1
                    switch try await write(endpoint, with: writing.ifUnchanged(since: current.http), inSession: session)
                    {
                    case .done(let response): return response
                    case .refused(let error, let isInDoubt):
                        guard isInDoubt || count >= attempts else { continue }
                        // If the value cannot be read, the conflict is thrown without it.
                        let found = try? await response(resource, as: converter, with: reading, inSession: session)
                        throw Response<Value>.Conflict(
                            current: found, attempts: count, mayHaveBeenWritten: isInDoubt, underlying: error)
                    }
                }
            }, isolation: isolation)
    }

    /// Sends a request that belongs to a session.
    private func response<Value: Sendable>(
        _ endpoint: some Endpoint, as converter: ResponseConverter<Value>, with settings: RequestSettings,
        inSession session: Int?
    ) async throws -> Response<Value> {
        let call = client.pipeline(endpoint, as: converter, with: settings, inSession: session)
        let (value, outcome) = try await call.value(converter)
        return Response(value, outcome)
    }

    /// Sends a conditional write that belongs to a session.
    private func write(
        _ endpoint: some Endpoint, with settings: RequestSettings, inSession session: Int?
    ) async throws -> UpdateOutcome {
        let call = client.pipeline(endpoint, as: .void, with: settings, inSession: session)
        do {
            let response = Response((), try await call.value(.void).1).http
            guard response.status == .preconditionFailed else { return .done(response) }
            // The validators of the call accept every status.
            let error = NetworkError(.unacceptableStatus, request: response.request, response: response)
            return .refused(error, isInDoubt: call.history.contains(where: \.mayHaveBeenExecuted))
        } catch {
            guard call.scope.interruption == nil, call.history.last?.response?.status == .preconditionFailed else {
                throw error
            }
            return .refused(error, isInDoubt: call.history.dropLast().contains(where: \.mayHaveBeenExecuted))
        }
    }
}

/// The outcome of a conditional write.
private enum UpdateOutcome: Sendable {
    case done(HTTPResponse)
    /// The resource has changed. If `isInDoubt` is true, an earlier attempt of this write may have changed it.
    case refused(any Error, isInDoubt: Bool)
}

extension RequestAttempt {
    /// Whether the server may have executed the request of this attempt, even if the call was repeated.
    fileprivate var mayHaveBeenExecuted: Bool {
        if let status = response?.status { return !status.isClientError || status == .requestTimeout }
        return queued != nil && (error as? NetworkError)?.isUnprocessed != true
    }
}

extension Response {
    /// The error of an update that has failed because another client changed the value at the same time.
    public struct Conflict: Error, LocalizedError {
        /// The current value with its response; nil if the value could not be read.
        public let current: Response?
        /// The number of writes that were refused.
        public let attempts: Int
        /// Whether an earlier attempt of the last write may have been executed. This is so if the response to that
        /// attempt was lost or was a server error, and the write was sent again. Compare ``current`` with the value
        /// that was to be written.
        public let mayHaveBeenWritten: Bool
        /// The error of the last write.
        public let underlying: any Error

        /// The reason, for the person who uses the app.
        public var errorDescription: String? {
            mayHaveBeenWritten
                ? "It is not certain whether your change was saved."
                : "This has been changed elsewhere at the same time."
        }
    }
}

extension Response.Conflict: RedactedReflectable {
    /// A text with the number of writes, and with the response from which the current value was read. It does not show
    /// the value.
    var redactedDescription: String {
        "conflict after \(attempts) \(attempts == 1 ? "write" : "writes")"
            + (mayHaveBeenWritten ? ", of which one may have been executed" : "") + (current.map { " (\($0))" } ?? "")
    }
}
