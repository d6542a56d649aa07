import Networking

/// A request adapter that calls a closure.
struct ClosureAdapter: RequestAdapter {
    private let change: @Sendable (inout HTTPRequest, any Endpoint) async throws -> Void

    /// Creates an adapter that calls `change`.
    init(_ change: @escaping @Sendable (inout HTTPRequest, any Endpoint) async throws -> Void) {
        self.change = change
    }

    func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) async throws {
        try await change(&request, endpoint)
    }
}

/// An error handler that calls a closure.
struct ClosureErrorHandler: ErrorHandler {
    private let answer: @Sendable (RequestFailure) async -> ErrorHandlingResult

    /// Creates a handler that calls `answer`.
    init(_ answer: @escaping @Sendable (RequestFailure) async -> ErrorHandlingResult) {
        self.answer = answer
    }

    func handle(_ failure: RequestFailure) async -> ErrorHandlingResult {
        await answer(failure)
    }
}
